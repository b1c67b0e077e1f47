//! What figures of single test sequences need, kept with the scores of the first repetition.
//!
//! ```text
//! after 15 steps    futures drawn with their noise            as in the paper's figure of samples
//! after 30 steps    predictive mean and 95 % interval         as in its figure of posterior predictives
//! ```
//!
//! They are made once all test sequences are scored, from streams of their own, and nothing is computed from them.

use mtds::random::{Stream, stream};
use mtds::{Error, Forecast, Result};
use serde::{Deserialize, Serialize};

use super::oracle::Oracle;
use super::protocol::TestSet;
use super::score::{Predictor, check_number};

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

/// The first test sequences as a model sees them.
///
/// # Errors
/// Those of the model.
pub fn illustrate_predictor(
    predictor: &dyn Predictor,
    test: &TestSet,
    seed: u64,
) -> Result<Vec<Illustration>> {
    let one = |i: usize| {
        let outputs = test.outputs(i);
        let (mut follower, mut shown) = (predictor.follow(i)?, 0);
        illustrate(i, outputs, seed, |t| {
            follower.observe(&outputs[shown..t])?;
            shown = t;
            follower.forecast(outputs.len() - t)
        })
    };
    (0..test.n_seq().min(SHOWN)).map(one).collect()
}

/// The first test sequences as the oracle sees them.
///
/// # Errors
/// Those of [`Oracle::infer`].
pub fn illustrate_oracle(oracle: &Oracle, test: &TestSet, seed: u64) -> Result<Vec<Illustration>> {
    let one = |i: usize| {
        let outputs = test.outputs(i);
        let random = &mut stream(seed, Stream::Illustration((SHOWN + i) as u64));
        illustrate(i, outputs, seed, |t| {
            let posterior = oracle.infer(outputs, &[t], random)?.pop().ok_or_else(no_posterior)?;
            posterior.forecast(outputs.len() - t)
        })
    };
    (0..test.n_seq().min(SHOWN)).map(one).collect()
}

/// Asks for the forecasts in the order of time.
fn illustrate(
    sequence: usize,
    outputs: &[f64],
    seed: u64,
    mut forecast_after: impl FnMut(usize) -> Result<Forecast>,
) -> Result<Illustration> {
    let is_left = |seen: &usize| *seen < outputs.len();
    let samples = Some(SAMPLES_AFTER).filter(is_left).map(|seen| {
        let mut random = stream(seed, Stream::Illustration(sequence as u64));
        let draws = rounded(forecast_after(seen)?.draws(DRAWS, &mut random));
        let draws = draws.chunks_exact(outputs.len() - seen).map(<[f64]>::to_vec).collect();
        Ok::<_, Error>(Samples { seen, draws })
    });
    let samples = samples.transpose()?;
    let interval = Some(INTERVAL_AFTER).filter(is_left).map(|seen| {
        let forecast = forecast_after(seen)?;
        let [lower, upper] = ENDS.map(|end| forecast.quantile(end).map(rounded));
        Ok::<_, Error>(Interval { seen, mean: rounded(forecast.mean()), lower: lower?, upper: upper? })
    });
    Ok(Illustration {
        sequence,
        outputs: rounded(outputs.to_vec()),
        samples,
        interval: interval.transpose()?,
    })
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

fn no_posterior() -> Error {
    Error::Shape { what: "posteriors".into(), expected: "1".into(), found: "0".into() }
}

#[cfg(test)]
#[path = "illustration_tests.rs"]
mod tests;
