//! Forecasts to draw: a few sequences, from every origin.

use super::Panel;
use crate::chart::Band;
use mtds::evaluate::{Forecaster, Origin, Origins};
use mtds::{Family, Forecast, Result};

/// Bands of a drawn forecast.
const BANDS: [f64; 3] = [0.5, 0.8, 0.95];

/// At most `shown` sequences, evenly spread over those judged, from every origin that they have; outputs take turns.
pub(super) fn panels(
    shown: usize,
    family: &Family,
    seen: &[usize],
    following: &dyn Forecaster,
) -> Result<Vec<Panel>> {
    let (n, shown) = (family.n_seq(), shown.min(family.n_seq()));
    let mut panels = vec![];
    for k in 0..shown {
        let (i, c) = (k * n / shown, k % family.d_obs());
        let origins = Origins::after(seen).of(family.sequence(i).n_time());
        let origins: Vec<Origin> = origins.into_iter().flatten().collect();
        for (origin, forecast) in origins.iter().zip(following.forecasts(family, i, &origins)?) {
            panels.push(panel((family, i, c), *origin, &forecast)?);
        }
    }
    Ok(panels)
}

/// Output `c` of sequence `i`.
fn panel((family, i, c): (&Family, usize, usize), origin: Origin, forecast: &Forecast) -> Result<Panel> {
    let (sequence, Origin { seen, n_time }) = (family.sequence(i), origin);
    let d = family.d_obs();
    let step = |t: usize| (t + 1) as f64;
    let values = |range: std::ops::Range<usize>| -> Vec<(f64, f64)> {
        range.map(|t| (step(t), sequence.outputs().get(t, c))).collect()
    };
    let column = |all: Vec<f64>| -> Vec<f64> { all.chunks_exact(d).map(|row| row[c]).collect() };
    let band = |&level: &f64| -> Result<Band> {
        let edge = |q: f64| -> Result<Vec<f64>> { Ok(column(forecast.quantile(q)?)) };
        Ok(Band { level, lower: edge(0.5 - 0.5 * level)?, upper: edge(0.5 + 0.5 * level)? })
    };
    let output = if d > 1 { format!(", {}", family.output_names()[c]) } else { String::new() };
    Ok(Panel {
        title: format!("{}{output}", sequence.id()),
        seen,
        observed: values(0..seen),
        truth: values(seen..seen + n_time),
        times: (seen..seen + n_time).map(step).collect(),
        bands: BANDS.iter().map(band).collect::<Result<_>>()?,
        median: column(forecast.quantile(0.5)?),
    })
}
