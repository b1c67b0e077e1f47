//! Sequences that are followed: each by a tracker of its own, with random numbers of its own.

use super::line::{Observation, Widths};
use super::{Arguments, FutureName};
use anyhow::{Result, bail};
use mtds::parts::{
    Attribute, ExpectedStep, Follower, Misfit, ModelTrackerState, TrackerState, WatchRules, Watched,
    WatchedState, WatchedStep,
};
use mtds::random::{Stream, stream};
use mtds::{Forecast, Model, ModelTracker, Online};
use mtds_data::{FAR_OUTSIDE, Step, time_step_of};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Most steps that may lie between two lines: each is an update.
const LONGEST_GAP: f64 = 200.0;
/// How far the time of a line may be from its step without being told, in steps.
const SAID: f64 = 0.1;

/// One sequence.
struct Series {
    watched: Watched,
    at: Standing,
}

/// Where a sequence stands in time, and what was said of it.
#[derive(Debug, Clone, Default)]
struct Standing {
    /// The time of the last line.
    time: Option<Value>,
    /// The first time that a line gave, and the number of its step, from 0.
    start: Option<(Value, usize)>,
    /// Whether it was far outside of what the family does.
    was_outside: bool,
}

/// What steps and attributes mean to a model.
struct Rules {
    step: Option<Step>,
    attributes: Vec<Attribute>,
    inputs: WatchRules,
}

/// One sequence, as stored.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredSeries {
    tracker: ModelTrackerState,
    at: StoredStanding,
}

/// [`Standing`] and [`WatchedState`] in one record.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredStanding {
    time: Option<Value>,
    start: Option<(Value, usize)>,
    inputs: Vec<f64>,
    known: Vec<f64>,
    log_evidence: Option<f64>,
    expected: ExpectedStep,
    misfit: Misfit,
    was_outside: bool,
}

/// All sequences.
pub(super) struct AllSeries {
    follower: Follower,
    rules: Rules,
    seed: u64,
    by_name: BTreeMap<String, Series>,
}

impl AllSeries {
    /// None yet.
    ///
    /// # Errors
    /// Inference settings that do not fit the model.
    pub(super) fn new(model: &Model, online: &Online, seed: u64) -> Result<Self> {
        let (attributes, inputs) = (model.columns.attributes.clone(), WatchRules::of(model));
        let rules = Rules { step: time_step_of(model), attributes, inputs };
        Ok(Self { follower: model.follower(online)?, rules, seed, by_name: BTreeMap::new() })
    }

    /// Those of a snapshot.
    ///
    /// # Errors
    /// A state that does not fit the model.
    pub(super) fn restore(&mut self, stored: BTreeMap<String, StoredSeries>) -> Result<()> {
        for (name, StoredSeries { tracker, at }) in stored {
            self.by_name.insert(name, Series::restored(self.follower.restore(tracker)?, at));
        }
        Ok(())
    }

    /// As they are to be stored: every line brings an update, before which draws are not asked for.
    pub(super) fn stored(&self) -> BTreeMap<String, StoredSeries> {
        let one = |(name, series): (&String, &Series)| (name.clone(), series.stored());
        self.by_name.iter().map(one).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Sizes of a line.
    pub(super) fn widths(&self, horizon: usize) -> Widths {
        let system = &self.follower.ensemble().candidates()[0].model;
        let inputs = system.d_input() - self.rules.inputs.n_known();
        Widths { outputs: system.base().d_obs(), inputs, horizon }
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
            let series =
                Series { watched: Watched::new(self.follower.start(random)?), at: Standing::default() };
            self.by_name.insert(seen.series.clone(), series);
        }
        let Some(series) = self.by_name.get_mut(&seen.series) else { bail!("no such series") };
        let answer = series.observe(seen, asked, &self.rules);
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
            Some(series) => Ok(json!({ "n": series.watched.tracker().n_observed_steps(), "ended": true })),
            None => bail!("no line of series `{name}` came before its end"),
        }
    }
}

impl Series {
    fn restored(tracker: ModelTracker, stored: StoredStanding) -> Self {
        let StoredStanding { time, start, inputs, known, log_evidence, expected, misfit, was_outside } =
            stored;
        let state = WatchedState { inputs, known, log_evidence, expected, misfit };
        Self { watched: Watched::restore(tracker, state), at: Standing { time, start, was_outside } }
    }

    fn stored(&self) -> StoredSeries {
        let mut tracker = self.watched.tracker().state();
        tracker.trackers = tracker.trackers.into_iter().map(TrackerState::without_draws).collect();
        let Standing { time, start, was_outside } = self.at.clone();
        let WatchedState { inputs, known, log_evidence, expected, misfit } = self.watched.state().clone();
        let at = StoredStanding { time, start, inputs, known, log_evidence, expected, misfit, was_outside };
        StoredSeries { tracker, at }
    }

    fn observe(&mut self, seen: &Observation, asked: &Arguments, rules: &Rules) -> Result<Value> {
        self.check_time(seen)?;
        let n = self.watched.tracker().n_observed_steps();
        let (missed, off) = self.at.before(seen, n, rules.step)?;
        let known = rules.known(seen, &self.watched.state().known)?;
        let next = seen.future.as_ref().and_then(|future| future.get(..seen.inputs.len()));
        let (outputs, changing) = (&seen.outputs[..], &seen.inputs[..]);
        self.watched
            .observe(&rules.inputs, WatchedStep { missed, outputs, changing, known: &known, next })?;
        self.at.take(seen, self.watched.tracker().n_observed_steps() - 1);
        let mut answer = self.posterior();
        self.tell_misfit(seen, asked, &mut answer);
        if missed > 0 {
            answer["missed"] = json!(missed);
        }
        if off > SAID {
            answer["off"] = json!(off);
        }
        if asked.horizon > 0 {
            answer["forecast"] = self.forecast(seen, asked, rules)?;
        }
        Ok(answer)
    }

    fn check_time(&self, seen: &Observation) -> Result<()> {
        let number = |time: &Option<Value>| time.as_ref().and_then(Value::as_f64);
        match (number(&self.at.time), number(&seen.time)) {
            (Some(last), Some(now)) if now <= last => {
                bail!("`t`: found {now} after {last}; lines of a sequence come in the order of time")
            }
            _ => Ok(()),
        }
    }

    /// Says how large errors are, and once on stderr when they become so large that the sequence is no member.
    fn tell_misfit(&mut self, seen: &Observation, asked: &Arguments, answer: &mut Value) {
        let misfit = self.watched.state().misfit;
        answer["misfit"] = json!(misfit.size());
        let is_outside = misfit.is_far_outside();
        if is_outside {
            answer["far_outside"] = json!(FAR_OUTSIDE);
            if !self.at.was_outside {
                asked.common.say(format_args!("note: series `{}`: {FAR_OUTSIDE}", seen.series));
            }
        }
        self.at.was_outside = is_outside;
    }

    /// What is known of the code.
    fn posterior(&self) -> Value {
        let tracker = self.watched.tracker();
        let Some(posterior) = tracker.posterior() else { return json!({}) };
        let k = tracker.systems().trackers()[0].model().d_code();
        let quality = posterior.diagnostics();
        json!({
            "n": tracker.n_observed_steps(),
            "z": { "mean": &posterior.mean()[..k], "sd": &posterior.std_dev()[..k] },
            "log_evidence": tracker.log_evidence(),
            "ess": quality.ess,
            "status": quality.status,
        })
    }

    fn forecast(&mut self, seen: &Observation, asked: &Arguments, rules: &Rules) -> Result<Value> {
        let (how, changing) = future_inputs(seen, asked);
        let changing = changing.unwrap_or_default();
        let forecast = self.watched.forecast(&rules.inputs, asked.horizon, &changing)?;
        described(&forecast, &asked.quantiles, how)
    }
}

impl Rules {
    /// The inputs of what does not change within a sequence: as this line says, else as the first one did.
    ///
    /// # Errors
    /// An attribute that is not there, not known, or another than before.
    fn known(&self, seen: &Observation, before: &[f64]) -> Result<Vec<f64>> {
        let names = || self.attributes.iter().map(|of| of.column.as_str()).collect::<Vec<_>>().join(", ");
        if let Some(name) =
            seen.attributes.keys().find(|name| self.attributes.iter().all(|of| of.column != **name))
        {
            let known = if self.attributes.is_empty() { "none".to_owned() } else { names() };
            bail!("`attributes`: this model has no `{name}`; there are: {known}");
        }
        if seen.attributes.is_empty() && (!before.is_empty() || self.attributes.is_empty()) {
            return Ok(before.to_vec());
        }
        let mut known = vec![];
        for of in &self.attributes {
            match (seen.attributes.get(&of.column), of.levels.is_empty()) {
                (Some(Value::Number(value)), true) => {
                    known.extend(value.as_f64().filter(|value| value.is_finite()))
                }
                (Some(Value::String(level)), false) => match of.indicators(level) {
                    Some(values) => known.extend(values),
                    None => bail!(
                        "`attributes`: expected `{}` to be one of {}, found `{level}`",
                        of.column,
                        of.levels.join(", ")
                    ),
                },
                (Some(found), is_number) => {
                    let expected = if is_number { "a number" } else { "text" };
                    bail!("`attributes`: expected {expected} as `{}`, found {found}", of.column)
                }
                (None, _) => {
                    bail!("`attributes`: no `{}`; the first line of a sequence gives {}", of.column, names())
                }
            }
        }
        match before.is_empty() || before == known {
            true => Ok(known),
            false => {
                bail!("`attributes`: others than in the first line; they do not change within a sequence")
            }
        }
    }
}

impl Standing {
    /// Steps between the last line and this one, and how far its time is from its step, in steps.
    ///
    /// # Errors
    /// A time on a step that is over, or far away.
    fn before(&self, seen: &Observation, n: usize, step: Option<Step>) -> Result<(usize, f64)> {
        let text = |time: &Value| time.as_str().map_or_else(|| time.to_string(), str::to_owned);
        let (Some(step), Some((start, first)), Some(now)) = (step, &self.start, &seen.time) else {
            return Ok((0, 0.0));
        };
        let Some(count) = step.count(&text(start), &text(now)) else { return Ok((0, 0.0)) };
        let place = *first as f64 + count;
        let missed = place.round() - n as f64;
        if missed < 0.0 {
            bail!(
                "`t`: found {now}, nearer to the step of the line before than to the next; a step of this model is {step}. Send a line \
                 a step, or leave `t` out"
            );
        }
        if missed > LONGEST_GAP {
            bail!(
                "`t`: found {now}, {missed} steps of {step} after the next one; expected at most {LONGEST_GAP}. Give `t` as in the data that \
                 the model was learned from, or end the sequence and begin anew"
            );
        }
        Ok((missed as usize, (place - place.round()).abs()))
    }

    /// After a line, which was step `n` from 0.
    fn take(&mut self, seen: &Observation, n: usize) {
        self.time.clone_from(&seen.time);
        self.start = self.start.take().or_else(|| Some((seen.time.clone()?, n)));
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
