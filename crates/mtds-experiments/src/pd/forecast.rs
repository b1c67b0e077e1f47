//! Forecasts of held-out patients after a few steps, beside those that know less, and one that knows everything.

use mtds::infer::{Proposed, Tracker};
use mtds::learn::LearnedNetwork;
use mtds::predict::{CENTRAL_LEVELS, DrawNoise, Forecast, Scores, SequenceScore, last_value, score};
use mtds::random::{Stream, stream};
use mtds::system::Codes;
use mtds::{Result, System};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Learned, Patients, Settings};

/// Scores of one method after some steps, over held-out patients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreRow {
    /// The method.
    pub method: String,
    /// Steps seen.
    pub t: usize,
    /// Patients.
    pub n: usize,
    /// Root mean squared error, mean over patients.
    pub rmse: f64,
    /// Its standard error.
    pub rmse_se: Option<f64>,
    /// Negative log likelihood per value.
    pub nll: f64,
    /// Its standard error.
    pub nll_se: Option<f64>,
    /// Share of values inside the 80 % interval.
    pub cover80: f64,
}

/// Scores of a learned model.
pub(super) fn scores(
    method: &str,
    learned: &Learned,
    settings: &Settings,
    patients: &Patients,
) -> Result<Vec<ScoreRow>> {
    let forecast = |i: usize, seen: usize| follow(learned, settings, patients, i, seen);
    rows(method, settings, patients, &forecast)
}

/// Scores of the model that was learned with a network, where this proposes the codes and importance weights correct it.
pub(super) fn network_scores(
    network: &LearnedNetwork,
    learned: &Learned,
    settings: &Settings,
    patients: &Patients,
) -> Result<Vec<ScoreRow>> {
    let forecast = |i: usize, seen: usize| {
        let (outputs, inputs) =
            (patients.test.sequence(i).outputs().slice(0..seen), patients.test.inputs_of(i));
        let (model, mut random) = (&learned.model, stream(settings.seed, Stream::PatientForecast(i as u64)));
        let past = inputs.map(|inputs| inputs.slice(0..seen));
        let given = (&outputs, past.as_ref());
        let noise = learned.online.noise;
        let posterior = model.infer_amortised(network, given, noise, &Proposed::default(), &mut random)?;
        model.forecast(&posterior, &outputs, inputs, settings.n_time - seen, &mut random)
    };
    rows("amortised, by its network", settings, patients, &forecast)
}

/// Scores of one system for all, of the last value, and of the true parameters.
pub(super) fn reference_scores(
    pooled: &System,
    settings: &Settings,
    patients: &Patients,
) -> Result<Vec<ScoreRow>> {
    let training: Vec<&[f64]> = patients.training.sequences().iter().map(|s| s.outputs().values()).collect();
    let of_pooled = |i: usize, seen: usize| pooled_forecast(pooled, settings, patients, i, seen);
    let of_last = |i: usize, seen: usize| {
        let past = patients.test.sequence(i).outputs().slice(0..seen);
        last_value(&training, past.values(), 1, settings.n_time - seen)
    };
    let of_truth = |i: usize, seen: usize| {
        let doses = patients.test.inputs_of(i).map_or(&[][..], |doses| doses.values());
        let means = patients.truth[i].means(doses)[seen..].to_vec();
        Forecast::new(seen, 1, vec![1.0], means, DrawNoise::Diagonal(vec![patients.noise_std]))
    };
    let mut all = rows("pooled", settings, patients, &of_pooled)?;
    all.extend(rows("last value", settings, patients, &of_last)?);
    all.extend(rows("true parameters", settings, patients, &of_truth)?);
    Ok(all)
}

type Forecasts<'a> = dyn Fn(usize, usize) -> Result<Forecast> + Sync + 'a;

fn rows(
    method: &str,
    settings: &Settings,
    patients: &Patients,
    forecast: &Forecasts,
) -> Result<Vec<ScoreRow>> {
    let row = |&seen: &usize| -> Result<ScoreRow> {
        let one = |i: usize| -> Result<Option<SequenceScore>> {
            let truth = patients.test.sequence(i).outputs().slice(seen..settings.n_time);
            score(&forecast(i, seen)?, truth.values(), &CENTRAL_LEVELS)
        };
        let each = (0..patients.test.n_seq()).into_par_iter().map(one).collect::<Result<Vec<_>>>()?;
        let scores = Scores::over(&each.into_iter().flatten().collect::<Vec<_>>())?;
        Ok(ScoreRow {
            method: method.to_owned(),
            t: seen,
            n: scores.rmse.n,
            rmse: scores.rmse.mean,
            rmse_se: scores.rmse.std_error,
            nll: scores.nll.mean,
            nll_se: scores.nll.std_error,
            cover80: scores.coverage[1].share.mean,
        })
    };
    settings.seen.iter().map(row).collect()
}

/// The patient is followed step by step, then forecast under the doses to come.
fn follow(
    learned: &Learned,
    settings: &Settings,
    patients: &Patients,
    i: usize,
    seen: usize,
) -> Result<Forecast> {
    let (outputs, inputs) = (patients.test.sequence(i).outputs(), patients.test.inputs_of(i));
    let random = stream(settings.seed, Stream::PatientForecast(i as u64));
    let mut tracker = Tracker::new(&learned.model, learned.online.clone(), random)?;
    for t in 0..seen {
        tracker.observe(outputs.row(t), inputs.map_or(&[], |inputs| inputs.row(t)))?;
    }
    let future = inputs.map(|inputs| inputs.slice(seen..settings.n_time));
    tracker.forecast(settings.n_time - seen, future.as_ref())
}

/// What was seen changes nothing in the forecast of one system for all.
fn pooled_forecast(
    pooled: &System,
    settings: &Settings,
    patients: &Patients,
    i: usize,
    seen: usize,
) -> Result<Forecast> {
    let inputs = patients.test.inputs_of(i).map(|u| pooled.scaling().inputs_to_model(u)).transpose()?;
    let codes = Codes::from_fn(1, 0, |_, _| 0.0);
    let rollout = pooled.simulate(&codes, None, inputs.as_ref(), settings.n_time)?;
    let noise = DrawNoise::Diagonal(vec![rollout.noise_factors[0]]);
    let scaling = pooled.scaling();
    Forecast::new(seen, 1, vec![1.0], rollout.outputs[seen..].to_vec(), noise)?
        .rescaled(&[scaling.offset(0)], &[scaling.scale(0)])
}
