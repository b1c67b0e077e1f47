//! Sequences that are followed: each by a tracker of its own, with random numbers of its own.

use super::line::{Observation, Widths};
use super::{Arguments, FutureName};
use anyhow::{Result, bail};
use mtds::parts::{Follower, ModelTrackerState};
use mtds::random::{Stream, stream};
use mtds::{Forecast, Model, ModelTracker, Online, Signal, TrackerState};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// One sequence.
struct Series {
    tracker: ModelTracker,
    time: Option<Value>,
}

/// One sequence, as stored.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredSeries {
    tracker: ModelTrackerState,
    time: Option<Value>,
}

/// All sequences.
pub(super) struct AllSeries {
    follower: Follower,
    seed: u64,
    by_name: BTreeMap<String, Series>,
}

impl AllSeries {
    /// None yet.
    ///
    /// # Errors
    /// Inference settings that do not fit the model.
    pub(super) fn new(model: &Model, online: &Online, seed: u64) -> Result<Self> {
        Ok(Self { follower: model.follower(online)?, seed, by_name: BTreeMap::new() })
    }

    /// Those of a snapshot.
    ///
    /// # Errors
    /// A state that does not fit the model.
    pub(super) fn restore(&mut self, stored: BTreeMap<String, StoredSeries>) -> Result<()> {
        for (name, StoredSeries { tracker, time }) in stored {
            let tracker = self.follower.restore(tracker)?;
            self.by_name.insert(name, Series { tracker, time });
        }
        Ok(())
    }

    /// As they are to be stored: every line brings an update, before which draws are not asked for.
    pub(super) fn stored(&self) -> BTreeMap<String, StoredSeries> {
        let one = |(name, series): (&String, &Series)| {
            let (mut tracker, time) = (series.tracker.state(), series.time.clone());
            tracker.trackers = tracker.trackers.into_iter().map(TrackerState::without_draws).collect();
            (name.clone(), StoredSeries { tracker, time })
        };
        self.by_name.iter().map(one).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Sizes of a line.
    pub(super) fn widths(&self, horizon: usize) -> Widths {
        let system = &self.follower.ensemble().candidates()[0].model;
        Widths { outputs: system.base().d_obs(), inputs: system.d_input(), horizon }
    }

    /// Takes one step and says what is known then. On an error the sequence is as it was.
    ///
    /// # Errors
    /// Too many sequences; a time that does not rise; numbers beyond single precision in model units.
    pub(super) fn observe(&mut self, seen: &Observation, asked: &Arguments) -> Result<Value> {
        let is_new = !self.by_name.contains_key(&seen.series);
        if is_new && self.len() >= asked.most_series {
            bail!(
                "{} sequences are followed already; end one with {{\"series\": …, \"end\": true}}, or raise --most-series",
                self.len()
            );
        }
        if is_new {
            let random = stream(self.seed, Stream::Series(fnv(seen.series.as_bytes()) >> 1));
            let tracker = self.follower.start(random)?;
            self.by_name.insert(seen.series.clone(), Series { tracker, time: None });
        }
        let Some(series) = self.by_name.get_mut(&seen.series) else { bail!("no such series") };
        let answer = series.observe(seen, asked);
        if is_new && answer.is_err() {
            self.by_name.remove(&seen.series);
        }
        answer
    }

    /// Forgets a sequence; says how many steps it had.
    ///
    /// # Errors
    /// A sequence that is not followed.
    pub(super) fn end(&mut self, name: &str) -> Result<Value> {
        match self.by_name.remove(name) {
            Some(series) => Ok(json!({ "n": series.tracker.n_observed_steps(), "ended": true })),
            None => bail!("no line of series `{name}` came before its end"),
        }
    }
}

impl Series {
    fn observe(&mut self, seen: &Observation, asked: &Arguments) -> Result<Value> {
        self.check_time(seen)?;
        self.tracker.observe(&seen.outputs, &seen.inputs)?;
        self.time.clone_from(&seen.time);
        let mut answer = self.posterior();
        if asked.horizon > 0 {
            answer["forecast"] = self.forecast(seen, asked)?;
        }
        Ok(answer)
    }

    fn check_time(&self, seen: &Observation) -> Result<()> {
        let number = |time: &Option<Value>| time.as_ref().and_then(Value::as_f64);
        match (number(&self.time), number(&seen.time)) {
            (Some(last), Some(now)) if now <= last => {
                bail!("`t`: found {now} after {last}; lines of a sequence come in the order of time")
            }
            _ => Ok(()),
        }
    }

    /// What is known of the code.
    fn posterior(&self) -> Value {
        let Some(posterior) = self.tracker.posterior() else { return json!({}) };
        let k = self.tracker.systems().trackers()[0].model().d_code();
        let quality = posterior.diagnostics();
        json!({
            "n": self.tracker.n_observed_steps(),
            "z": { "mean": &posterior.mean()[..k], "sd": &posterior.std_dev()[..k] },
            "log_evidence": self.tracker.log_evidence(),
            "ess": quality.ess,
            "status": quality.status,
        })
    }

    fn forecast(&mut self, seen: &Observation, asked: &Arguments) -> Result<Value> {
        let (how, inputs) = future_inputs(seen, asked);
        let width = seen.inputs.len();
        let inputs = inputs.map(|values| Signal::new(asked.horizon, width, values)).transpose()?;
        let forecast = self.tracker.forecast(asked.horizon, inputs.as_ref())?;
        described(&forecast, &asked.quantiles, how)
    }
}

/// Inputs of the steps to come and where they are from; none for a model without inputs.
fn future_inputs(seen: &Observation, asked: &Arguments) -> (Option<&'static str>, Option<Vec<f64>>) {
    let n = asked.horizon * seen.inputs.len();
    match (&seen.future, asked.future) {
        _ if n == 0 => (None, None),
        (Some(future), _) => (Some("given"), Some(future.clone())),
        (None, FutureName::Hold) => (Some("held"), Some(seen.inputs.repeat(asked.horizon))),
        (None, FutureName::Zero) => (Some("zero"), Some(vec![0.0; n])),
    }
}

fn described(forecast: &Forecast, levels: &[f64], inputs: Option<&str>) -> Result<Value> {
    let rows = |values: Vec<f64>| values.chunks(forecast.d_obs()).map(<[f64]>::to_vec).collect::<Vec<_>>();
    let quantile = |&level: &f64| -> Result<(String, Value)> {
        Ok((level.to_string(), json!(rows(forecast.quantile(level)?))))
    };
    let quantiles = levels.iter().map(quantile);
    let quantiles = quantiles.collect::<Result<serde_json::Map<_, _>>>()?;
    let mut described = json!({ "mean": rows(forecast.mean()), "quantiles": quantiles });
    if let Some(inputs) = inputs {
        described["inputs"] = json!(inputs);
    }
    Ok(described)
}

/// 64-bit FNV-1a: a stream of random numbers by name, whatever other sequences there are; a name for a model.
pub(super) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
