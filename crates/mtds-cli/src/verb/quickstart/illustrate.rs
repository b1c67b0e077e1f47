//! The pictures of the quickstart as numbers: forecasts of new members, the map of codes, a morph.

use anyhow::{Context, Result};
use mtds::predict::{CodePath, Forecast};
use mtds::store::{Member, Model};
use mtds_data::oscillators::OscillatorParameters;

use super::compute::{Families, Forecasts, SEEN};
use mtds_report::chart::{Band, Trace};
use mtds_report::quickstart::{CodeMap, CodePoint, ForecastPanel, MorphPath, QuickstartReport};

/// Test members shown on the page: the first two, whoever they are.
const SHOWN: [usize; 2] = [0, 1];
/// Intervals of the fans, widest first.
const BANDS: [f64; 3] = [0.95, 0.8, 0.5];
/// Codes on the morph, both ends included.
const MORPH_STEPS: usize = 11;

/// A report with everything that is drawn, and nothing else.
pub(super) fn report(families: &Families, bundle: &Model, tested: &[Forecasts]) -> Result<QuickstartReport> {
    let mut panels = vec![];
    for (k, seen) in SEEN.into_iter().enumerate() {
        for i in SHOWN {
            panels.push(panel(families, i, seen, &tested[i][k])?);
        }
    }
    let dims = map_dims(families, bundle);
    Ok(QuickstartReport {
        panels,
        map: map(families, bundle, dims),
        morph: morph(families, bundle, dims)?,
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

/// The two dimensions of the code that go most with the true frequency: a view chosen for the picture alone.
fn map_dims(families: &Families, bundle: &Model) -> (usize, usize) {
    let truth: Vec<f64> = families.truth.iter().map(|t| t.omega_rad[0]).collect();
    let strength = |d: usize| {
        let code: Vec<f64> = bundle.members.iter().map(|m| m.code_mean[d]).collect();
        correlation(&code, &truth).abs()
    };
    let mut dims: Vec<usize> = (0..bundle.system.d_code()).collect();
    dims.sort_by(|&a, &b| strength(b).total_cmp(&strength(a)));
    (dims[0], dims[1.min(dims.len() - 1)])
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let product = |x: &[f64], mx: f64, y: &[f64], my: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum()
    };
    product(a, ma, b, mb) / (product(a, ma, a, ma) * product(b, mb, b, mb)).sqrt()
}

fn map(families: &Families, bundle: &Model, dims: (usize, usize)) -> CodeMap {
    let point = |(member, truth): (&Member, &OscillatorParameters)| CodePoint {
        name: member.id.clone(),
        at: (member.code_mean[dims.0], member.code_mean[dims.1]),
        value: truth.omega_rad[0],
    };
    CodeMap {
        codes: bundle.members.iter().zip(&families.truth).map(point).collect(),
        colour: "true frequency of the first oscillator, rad per step".into(),
        dims: (dims.0 + 1, dims.1 + 1),
    }
}

/// From the slowest training member to the fastest.
fn morph(families: &Families, bundle: &Model, dims: (usize, usize)) -> Result<MorphPath> {
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
        let values = bundle.system.generate(&code, inputs, families.training.max_time())?.values().to_vec();
        let label = match step {
            0 => from.id.clone(),
            _ if step == MORPH_STEPS - 1 => to.id.clone(),
            _ => format!("{:.0} %", 100.0 * position),
        };
        morph.codes.push((code[dims.0], code[dims.1]));
        morph.traces.push(Trace { label, position, values });
    }
    Ok(morph)
}
