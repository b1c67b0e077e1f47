//! The pictures of the quickstart as numbers: forecasts of new members, the map of codes, a morph.

use anyhow::{Context, Result};
use mtds::base::Lds;
use mtds::predict::{CodePath, Forecast};
use mtds::store::ModelBundle;

use super::compute::{Families, Forecasts, SEEN};
use crate::chart::{Band, Trace};
use crate::report::quickstart::{CodeMap, CodePoint, ForecastPanel, MorphPath, QuickstartReport};

/// Test members shown on the page: the first two, whoever they are.
const SHOWN: [usize; 2] = [0, 1];
/// Intervals of the fans, widest first.
const BANDS: [f64; 3] = [0.95, 0.8, 0.5];
/// Codes on the morph, both ends included.
const MORPH_STEPS: usize = 11;

/// A report with everything that is drawn, and nothing else.
pub(super) fn report(
    families: &Families,
    bundle: &ModelBundle<Lds>,
    tested: &[Forecasts],
) -> Result<QuickstartReport> {
    let mut panels = vec![];
    for (k, seen) in SEEN.into_iter().enumerate() {
        for i in SHOWN {
            panels.push(panel(families, i, seen, &tested[i][k])?);
        }
    }
    Ok(QuickstartReport {
        panels,
        map: map(families, bundle),
        morph: morph(families, bundle)?,
        ..QuickstartReport::default()
    })
}

fn panel(families: &Families, i: usize, seen: usize, forecast: &Forecast) -> Result<ForecastPanel> {
    let sequence = families.test.sequence(i);
    let at = |t: usize| ((t + 1) as f64, sequence.outputs().get(t, 0));
    let band = |level: f64| -> Result<Band> {
        let edge = |q: f64| forecast.quantile(q);
        Ok(Band { level, lower: edge(0.5 - level / 2.0)?, upper: edge(0.5 + level / 2.0)? })
    };
    Ok(ForecastPanel {
        member: sequence.id().to_owned(),
        seen,
        observed: (0..seen).map(at).collect(),
        truth: (seen..sequence.n_time()).map(at).collect(),
        times: (seen..sequence.n_time()).map(|t| (t + 1) as f64).collect(),
        bands: BANDS.into_iter().map(band).collect::<Result<_>>()?,
        median: forecast.quantile(0.5)?,
    })
}

fn map(families: &Families, bundle: &ModelBundle<Lds>) -> CodeMap {
    let point =
        |(member, truth): (&mtds::store::Member, &mtds_data::oscillators::OscillatorParameters)| CodePoint {
            name: member.id.clone(),
            at: (member.code_mean[0], member.code_mean[1]),
            value: truth.omega_rad[0],
        };
    CodeMap {
        codes: bundle.members.iter().zip(&families.truth).map(point).collect(),
        colour: "true frequency of the first oscillator, rad per step".into(),
    }
}

/// From the slowest training member to the fastest.
fn morph(families: &Families, bundle: &ModelBundle<Lds>) -> Result<MorphPath> {
    let speed = |i: &usize| families.truth[*i].omega_rad[0];
    let by_speed = |a: &usize, b: &usize| speed(a).total_cmp(&speed(b));
    let all = 0..bundle.members.len();
    let (from, to) = (all.clone().min_by(by_speed), all.max_by(by_speed));
    let (from, to) = from.zip(to).context("a family has members")?;
    let (from, to) = (&bundle.members[from], &bundle.members[to]);
    let path = CodePath::new(vec![from.code_mean.clone(), to.code_mean.clone()])?;
    let inputs = families.training.inputs_of(0);
    let mut morph = MorphPath { from: from.id.clone(), to: to.id.clone(), ..MorphPath::default() };
    for step in 0..MORPH_STEPS {
        let position = step as f64 / (MORPH_STEPS - 1) as f64;
        let code = path.at(position);
        let values = bundle.model.generate(&code, inputs, families.training.max_time())?.values().to_vec();
        let label = match step {
            0 => from.id.clone(),
            _ if step == MORPH_STEPS - 1 => to.id.clone(),
            _ => format!("{:.0} %", 100.0 * position),
        };
        morph.codes.push((code[0], code[1]));
        morph.traces.push(Trace { label, position, values });
    }
    Ok(morph)
}
