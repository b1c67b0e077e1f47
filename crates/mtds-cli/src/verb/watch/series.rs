//! Sequences that are followed: each by a tracker of its own, with random numbers of its own.

use super::line::{Observation, Widths};
use super::{Arguments, FutureName};
use anyhow::{Result, bail};
use mtds::parts::{Attribute, Follower, Misfit, ModelTrackerState, TrackerState};
use mtds::random::{Stream, stream};
use mtds::{Forecast, Model, ModelTracker, Online, Signal};
use mtds_data::{FAR_OUTSIDE, Step, time_step_of};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// Most steps that may lie between two lines: each is an update.
const LONGEST_GAP: f64 = 200.0;
/// How far the time of a line may be from its step without being told, in steps.
const SAID: f64 = 0.1;
/// Share of earlier errors that still counts after another line: about the last twenty lines.
const KEPT: f64 = 0.95;

/// One sequence.
struct Series {
    tracker: ModelTracker,
    at: Standing,
}

/// Where a sequence stands in time.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Standing {
    /// The time of the last line.
    time: Option<Value>,
    /// The first time that a line gave, and the number of its step, from 0.
    start: Option<(Value, usize)>,
    /// Inputs of the last line, all of them.
    inputs: Vec<f64>,
    /// Inputs that do not change within the sequence, in order.
    known: Vec<f64>,
    /// log p(y_{1:t}) after the last line, where anything fits.
    log_evidence: Option<f64>,
    /// What was expected of the next step.
    expected: Expected,
    /// Errors of forecasts one step ahead, those of the last lines above all.
    misfit: Misfit,
    /// Whether it was far outside of what the family does.
    was_outside: bool,
}

/// What is expected of a step.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    /// With these inputs.
    inputs: Vec<f64>,
    /// Mean and variance of each output.
    outputs: Vec<(f64, f64)>,
}

/// What steps and inputs mean to a model.
struct Rules {
    step: Option<Step>,
    /// Whether each input is 0 at a step without a line; else it stays as it was.
    is_pulse: Vec<bool>,
    attributes: Vec<Attribute>,
    /// For each input whether it comes from an attribute.
    is_known: Vec<bool>,
    usual_misfit: f64,
}

/// One sequence, as stored.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredSeries {
    tracker: ModelTrackerState,
    at: Standing,
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
        let columns = &model.columns;
        let is_pulse = columns.inputs.iter().map(|input| columns.pulses.contains(input)).collect();
        let known: Vec<String> = columns.attributes.iter().flat_map(Attribute::inputs).collect();
        let is_known = columns.inputs.iter().map(|input| known.contains(input)).collect();
        let attributes = columns.attributes.clone();
        let rules = Rules {
            step: time_step_of(model),
            is_pulse,
            attributes,
            is_known,
            usual_misfit: model.usual_misfit,
        };
        Ok(Self { follower: model.follower(online)?, rules, seed, by_name: BTreeMap::new() })
    }

    /// Those of a snapshot.
    ///
    /// # Errors
    /// A state that does not fit the model.
    pub(super) fn restore(&mut self, stored: BTreeMap<String, StoredSeries>) -> Result<()> {
        for (name, StoredSeries { tracker, at }) in stored {
            let tracker = self.follower.restore(tracker)?;
            self.by_name.insert(name, Series { tracker, at });
        }
        Ok(())
    }

    /// As they are to be stored: every line brings an update, before which draws are not asked for.
    pub(super) fn stored(&self) -> BTreeMap<String, StoredSeries> {
        let one = |(name, series): (&String, &Series)| {
            let (mut tracker, at) = (series.tracker.state(), series.at.clone());
            tracker.trackers = tracker.trackers.into_iter().map(TrackerState::without_draws).collect();
            (name.clone(), StoredSeries { tracker, at })
        };
        self.by_name.iter().map(one).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Sizes of a line.
    pub(super) fn widths(&self, horizon: usize) -> Widths {
        let system = &self.follower.ensemble().candidates()[0].model;
        let n_known = self.rules.is_known.iter().filter(|&&is_known| is_known).count();
        Widths { outputs: system.base().d_obs(), inputs: system.d_input() - n_known, horizon }
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
            self.by_name.insert(seen.series.clone(), Series { tracker, at: Standing::default() });
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
            Some(series) => Ok(json!({ "n": series.tracker.n_observed_steps(), "ended": true })),
            None => bail!("no line of series `{name}` came before its end"),
        }
    }
}

impl Series {
    fn observe(&mut self, seen: &Observation, asked: &Arguments, rules: &Rules) -> Result<Value> {
        self.check_time(seen)?;
        let (missed, off) = self.at.before(seen, self.tracker.n_observed_steps(), rules.step)?;
        let known = rules.known(seen, &self.at.known)?;
        let inputs = rules.all_inputs(&seen.inputs, &known);
        self.tracker.check(&seen.outputs, &inputs)?;
        for _ in 0..missed {
            let between = rules.without_a_line(&self.at.inputs);
            self.tracker.observe(&vec![f64::NAN; seen.outputs.len()], &between)?;
        }
        let is_first = self.tracker.n_observed_steps() == 0;
        if is_first {
            self.at.log_evidence = Some(0.0);
        }
        // Only then are there draws that a restored tracker has as well.
        if is_first || missed > 0 {
            self.expect(inputs.clone())?;
        }
        self.tracker.observe(&seen.outputs, &inputs)?;
        self.judge(seen, &inputs, rules);
        self.at.take(seen, self.tracker.n_observed_steps() - 1);
        (self.at.inputs, self.at.known) = (inputs, known);
        self.expect(rules.next_inputs(seen, &self.at))?;
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

    /// Adds what this line says about how far the sequence is from members, once it was taken.
    ///
    /// ```text
    /// Σ_d e_d² = Σ_d (y_d − m_d)² / v_d                                              inputs as they were expected
    ///          ≈ −2 (log p(y_{1:t}) − log p(y_{1:t−1})) − Σ_d log 2π v_d              others
    /// ```
    /// m and v were forecast before the line came: a snapshot keeps no draws to forecast from once its inputs are known.
    fn judge(&mut self, seen: &Observation, inputs: &[f64], rules: &Rules) {
        let values = seen.outputs.iter().zip(&self.at.expected.outputs).filter(|(y, _)| !y.is_nan());
        let n = values.clone().count();
        let now = self.tracker.log_evidence();
        let squares = if inputs == self.at.expected.inputs {
            Some(values.map(|(y, (mean, variance))| (y - mean).powi(2) / variance).sum())
        } else {
            let entropy: f64 = values.map(|(_, (_, variance))| (TAU * variance).ln()).sum();
            let left =
                |before: f64| now.map_or(f64::INFINITY, |now| (-2.0 * (now - before) - entropy).max(0.0));
            self.at.log_evidence.map(left)
        };
        if let Some(squares) = squares {
            self.at.misfit = self.at.misfit.then(KEPT, (squares, n), rules.usual_misfit);
        }
        self.at.log_evidence = now;
    }

    /// What is expected of the next step with these inputs.
    fn expect(&mut self, inputs: Vec<f64>) -> Result<()> {
        let row = (!inputs.is_empty()).then(|| Signal::new(1, inputs.len(), inputs.clone())).transpose()?;
        let forecast = self.tracker.forecast(1, row.as_ref())?;
        let outputs = forecast.mean().into_iter().zip(forecast.variance()).collect();
        self.at.expected = Expected { inputs, outputs };
        Ok(())
    }

    /// Says how large errors are, and once on stderr when they become so large that the sequence is no member.
    fn tell_misfit(&mut self, seen: &Observation, asked: &Arguments, answer: &mut Value) {
        answer["misfit"] = json!(self.at.misfit.size());
        let is_outside = self.at.misfit.is_far_outside();
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

    fn forecast(&mut self, seen: &Observation, asked: &Arguments, rules: &Rules) -> Result<Value> {
        let (how, changing) = future_inputs(seen, asked);
        let width = rules.is_known.len();
        let rows = (0..asked.horizon).flat_map(|t| {
            let row =
                changing.as_ref().map_or(&[][..], |all| &all[t * seen.inputs.len()..][..seen.inputs.len()]);
            rules.all_inputs(row, &self.at.known)
        });
        let inputs = (width > 0).then(|| rows.collect::<Vec<f64>>());
        let inputs = inputs.map(|values| Signal::new(asked.horizon, width, values)).transpose()?;
        let forecast = self.tracker.forecast(asked.horizon, inputs.as_ref())?;
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

    /// Inputs of a step that has no line, after these.
    fn without_a_line(&self, inputs: &[f64]) -> Vec<f64> {
        inputs.iter().zip(&self.is_pulse).map(|(&u, &is_pulse)| if is_pulse { 0.0 } else { u }).collect()
    }

    /// Inputs of the next step, as far as anybody knows.
    fn next_inputs(&self, seen: &Observation, at: &Standing) -> Vec<f64> {
        match seen.future.as_ref().and_then(|future| future.get(..seen.inputs.len())) {
            Some(next) => self.all_inputs(next, &at.known),
            None => self.without_a_line(&at.inputs),
        }
    }

    /// All inputs of a step, in the order of the model.
    fn all_inputs(&self, changing: &[f64], known: &[f64]) -> Vec<f64> {
        let (mut changing, mut known) = (changing.iter(), known.iter());
        let next = |&is_known: &bool| if is_known { known.next() } else { changing.next() };
        self.is_known.iter().filter_map(next).copied().collect()
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
