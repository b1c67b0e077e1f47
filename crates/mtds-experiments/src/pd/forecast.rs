//! Forecasts of held-out patients after a few steps, beside those that know less, and one that knows everything.

use mtds::evaluate::{Baseline, Forecaster, Origin, Origins, ScoreRow, evaluate, from_each_origin};
use mtds::parts::{BaselineSettings, Codes, DrawNoise, Following, Proposed, Updates};
use mtds::random::{Stream, stream};
use mtds::{Control, Family, Forecast, Result, System};

use super::{Learned, Patients, Settings};

/// Scores of a learned model that follows each patient step by step; and, where it was learned with a network, of the model when
/// this proposes the codes and importance weights correct it.
pub(super) fn scores(
    method: &str,
    learned: &Learned,
    settings: &Settings,
    patients: &Patients,
) -> Result<Vec<ScoreRow>> {
    let Learned { model, online, network, .. } = learned;
    let following = Following {
        system: model.clone(),
        online: online.clone(),
        updates: Updates::AsSet,
        random: (settings.seed, Stream::PatientForecast),
    };
    let mut all = rows(method, &following, settings, patients)?;
    if let Some(network) = network {
        let proposed = from_each_origin(|family, i, Origin { seen, n_time }| {
            let mut random = stream(settings.seed, Stream::PatientForecast(i as u64));
            let (outputs, inputs) = (family.sequence(i).outputs().slice(0..seen), family.inputs_of(i));
            let past = inputs.map(|inputs| inputs.slice(0..seen));
            let given = (&outputs, past.as_ref());
            let posterior =
                model.infer_amortised(network, given, online.noise, &Proposed::default(), &mut random)?;
            model.forecast(&posterior, &outputs, inputs, n_time, &mut random)
        });
        all.extend(rows("amortised, by its network", &proposed, settings, patients)?);
    }
    Ok(all)
}

/// Scores of one system for all, of the last value, and of the true parameters.
pub(super) fn reference_scores(
    pooled: &System,
    settings: &Settings,
    patients: &Patients,
) -> Result<Vec<ScoreRow>> {
    let last = Baseline::LastValue;
    let origins = Origins::after(&settings.seen);
    let asked = BaselineSettings::of((&origins, &patients.test), settings.seed);
    let last_value = last.learn(pooled, Some(&patients.training), &asked, &mut |_| Control::Continue)?;
    let for_all = from_each_origin(|family, i, origin| pooled_forecast(pooled, family, i, origin));
    let truth = from_each_origin(|family, i, Origin { seen, .. }| {
        let doses = family.inputs_of(i).map_or(&[][..], |doses| doses.values());
        let means = patients.truth[i].means(doses)[seen..].to_vec();
        Forecast::new(seen, 1, vec![1.0], means, DrawNoise::Diagonal(vec![patients.noise_std]))
    });
    let mut all = rows(Baseline::Pooled.title(), &for_all, settings, patients)?;
    all.extend(rows(last.title(), &last_value, settings, patients)?);
    all.extend(rows("true parameters", &truth, settings, patients)?);
    Ok(all)
}

/// Every origin is a new beginning: what is forecast from one changes nothing in the next.
fn rows(
    method: &str,
    forecaster: &dyn Forecaster,
    settings: &Settings,
    patients: &Patients,
) -> Result<Vec<ScoreRow>> {
    let every: Vec<usize> = (0..patients.test.n_seq()).collect();
    let mut all = vec![];
    for &seen in &settings.seen {
        let (test, origin) = ((&patients.test, &every[..]), Origins::after(&[seen]));
        let found = evaluate((method, forecaster), test, &origin, &mut |_| Control::Continue)?;
        all.extend(found.into_iter().map(|evaluated| evaluated.row));
    }
    Ok(all)
}

/// What was seen changes nothing in the forecast of one system for all.
fn pooled_forecast(pooled: &System, family: &Family, i: usize, origin: Origin) -> Result<Forecast> {
    let (Origin { seen, n_time }, scaling) = (origin, pooled.scaling());
    let inputs = family.inputs_of(i).map(|u| scaling.inputs_to_model(u)).transpose()?;
    let codes = Codes::from_fn(1, 0, |_, _| 0.0);
    let rollout = pooled.simulate(&codes, None, inputs.as_ref(), seen + n_time)?;
    let noise = DrawNoise::Diagonal(vec![rollout.noise_factors[0]]);
    Forecast::new(seen, 1, vec![1.0], rollout.outputs[seen..].to_vec(), noise)?
        .rescaled(&[scaling.offset(0)], &[scaling.scale(0)])
}
