//! What figures of single test sequences need, kept with the scores of the first repetition.
//!
//! ```text
//! after 15 steps    futures drawn with their noise            as in the paper's figure of samples
//! after 30 steps    predictive mean and 95 % interval         as in its figure of posterior predictives
//! ```
//!
//! They are made once all test sequences are scored, from streams of their own, and nothing is computed from them.

use mtds::evaluate::{Forecaster, Origin};
use mtds::random::{Stream, stream};
use mtds::{Error, Result};
use serde::{Deserialize, Serialize};

use super::cell::check_number;
use super::protocol::TestSet;

/// The repetition whose sequences are shown.
pub const REPETITION: usize = 0;
/// How many of its test sequences, from the first.
pub const SHOWN: usize = 2;
/// Observations before the draws, and before the interval.
const SAMPLES_AFTER: usize = 15;
const INTERVAL_AFTER: usize = 30;
/// Draws of a sequence.
const DRAWS: usize = 30;
/// Ends of the interval.
const ENDS: [f64; 2] = [0.025, 0.975];

/// One test sequence as a model sees it, rounded to what a picture can show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Illustration {
    /// Number of the test sequence, from 0.
    pub sequence: usize,
    /// The whole sequence.
    pub outputs: Vec<f64>,
    /// What may follow its beginning; `None` where a sequence is too short.
    pub samples: Option<Samples>,
    /// The forecast after more of it; `None` where a sequence is too short.
    pub interval: Option<Interval>,
}

/// Futures drawn from a forecast, with observation noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// Observations seen before.
    pub seen: usize,
    /// The futures, each from the first step that was not seen to the last.
    pub draws: Vec<Vec<f64>>,
}

/// A forecast as its mean and the central 95 % interval, one value per step that was not seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Observations seen before.
    pub seen: usize,
    /// Predictive mean.
    pub mean: Vec<f64>,
    /// Lower end.
    pub lower: Vec<f64>,
    /// Upper end.
    pub upper: Vec<f64>,
}

/// The first test sequences as a forecaster sees them.
///
/// # Errors
/// Those of the forecaster.
pub fn illustrate(forecaster: &dyn Forecaster, test: &TestSet, seed: u64) -> Result<Vec<Illustration>> {
    let one = |i: usize| {
        let outputs = test.outputs(i);
        let is_left = |seen: &usize| *seen < outputs.len();
        let origin = |seen: usize| Origin { seen, n_time: outputs.len() - seen };
        let origins: Vec<Origin> =
            [SAMPLES_AFTER, INTERVAL_AFTER].into_iter().filter(is_left).map(origin).collect();
        let forecasts = forecaster.forecasts(test.family(), i, &origins)?;
        let after = |seen: usize| forecasts.iter().find(|forecast| forecast.first_step() == seen);
        let samples = after(SAMPLES_AFTER).map(|forecast| {
            let mut random = stream(seed, Stream::Illustration(i as u64));
            let draws = rounded(forecast.draws(DRAWS, &mut random));
            let draws = draws.chunks_exact(forecast.n_time()).map(<[f64]>::to_vec).collect();
            Samples { seen: SAMPLES_AFTER, draws }
        });
        let interval = after(INTERVAL_AFTER).map(|forecast| {
            let [lower, upper] = ENDS.map(|end| forecast.quantile(end).map(rounded));
            let (seen, mean) = (INTERVAL_AFTER, rounded(forecast.mean()));
            Ok::<_, Error>(Interval { seen, mean, lower: lower?, upper: upper? })
        });
        let interval = interval.transpose()?;
        Ok(Illustration { sequence: i, outputs: rounded(outputs.to_vec()), samples, interval })
    };
    (0..test.n_seq().min(SHOWN)).map(one).collect()
}

/// Four decimals: a thousandth of the height of a picture is finer than its lines.
fn rounded(values: Vec<f64>) -> Vec<f64> {
    values.into_iter().map(|value| (value * 1e4).round() / 1e4).collect()
}

impl Illustration {
    /// Checks that it is whole, for sequences of `n_time` steps.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of steps.
    pub(super) fn check(&self, n_time: usize) -> Result<()> {
        let expect = |what, seen: usize, values: &Vec<f64>| {
            check_number(what, n_time.saturating_sub(seen), values.len())
        };
        expect("steps of an illustrated sequence", 0, &self.outputs)?;
        if let Some(Samples { seen, draws }) = &self.samples {
            draws.iter().try_for_each(|draw| expect("steps of an illustrated draw", *seen, draw))?;
        }
        let Some(Interval { seen, mean, lower, upper }) = &self.interval else { return Ok(()) };
        [mean, lower, upper]
            .into_iter()
            .try_for_each(|values| expect("steps of an illustrated interval", *seen, values))
    }
}

#[cfg(test)]
#[path = "illustration_tests.rs"]
mod tests;
