//! Checkpoints: all of a run in bytes, from which it goes on to the same bits.
//!
//! ```text
//! a safetensors archive
//!   F32 parameters, first_moment, second_moment      [n_parameters]
//!   F32 best_parameters                              [n_parameters], once a held-out bound was measured
//!   F32 average                                      [n_parameters], where parameters are averaged
//!   metadata `mtds-checkpoint`                       JSON: version, step, plan, groups, random state, …
//! ```

use std::collections::HashMap;

use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::{Deserialize, Serialize};

use super::adam::AdamState;
use super::history::History;
use super::objective::{ParameterGroup, check_groups};
use super::plan::TrainingPlan;
use super::stopping::{Best, Stopping};
use crate::random::Random;
use crate::{Error, Result};

const VERSION: u32 = 1;
// One entry only: the archive writes its metadata in an order that changes from call to call.
const METADATA_KEY: &str = "mtds-checkpoint";
const PARAMETERS: &str = "parameters";
const BEST_PARAMETERS: &str = "best_parameters";
const AVERAGE: &str = "average";
const FIRST_MOMENT: &str = "first_moment";
const SECOND_MOMENT: &str = "second_moment";

/// A run between two steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Steps taken.
    pub step: u64,
    /// The plan; may be changed before resuming.
    pub plan: TrainingPlan,
    pub(crate) groups: Vec<ParameterGroup>,
    pub(crate) state: AdamState,
    pub(crate) average: Option<Vec<f32>>,
    pub(crate) stopping: Stopping,
    pub(crate) history: History,
    pub(crate) random: Random,
    pub(crate) objective: serde_json::Value,
}

/// What is not an array.
#[derive(Serialize, Deserialize)]
struct TrainerState {
    version: u32,
    step: u64,
    plan: TrainingPlan,
    groups: Vec<ParameterGroup>,
    beta1_product: f64,
    beta2_product: f64,
    checks_without_gain: u64,
    best: Option<StoredBest>,
    history: History,
    random: Random,
    objective: serde_json::Value,
}

#[derive(Serialize, Deserialize)]
struct StoredBest {
    step: u64,
    bound: f64,
}

/// The one field that every version has.
#[derive(Deserialize)]
struct VersionOnly {
    version: u32,
}

impl Checkpoint {
    /// The parameters after [`step`](Self::step) steps.
    #[must_use]
    pub fn parameters(&self) -> &[f32] {
        &self.state.parameters
    }

    /// The best held-out bound so far, with its parameters.
    #[must_use]
    pub fn best(&self) -> Option<&Best> {
        self.stopping.best.as_ref()
    }

    /// The checkpoint as bytes; the same checkpoint always gives the same bytes.
    ///
    /// # Errors
    /// [`Error::Store`] when the plan or the objective's state cannot be written as JSON.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let text = serde_json::to_string(&self.record()).map_err(|error| broken(error.to_string()))?;
        let state = &self.state;
        let mut arrays = vec![
            (PARAMETERS, to_le_bytes(&state.parameters)),
            (FIRST_MOMENT, to_le_bytes(&state.first_moment)),
            (SECOND_MOMENT, to_le_bytes(&state.second_moment)),
        ];
        if let Some(best) = self.best() {
            arrays.push((BEST_PARAMETERS, to_le_bytes(&best.parameters)));
        }
        if let Some(average) = &self.average {
            arrays.push((AVERAGE, to_le_bytes(average)));
        }
        let view = |bytes| TensorView::new(Dtype::F32, vec![state.parameters.len()], bytes);
        let views = arrays
            .iter()
            .map(|(name, bytes)| Ok((*name, view(bytes)?)))
            .collect::<std::result::Result<Vec<_>, _>>();
        views
            .and_then(|views| serialize(views, Some(HashMap::from([(METADATA_KEY.to_string(), text)]))))
            .map_err(|error| broken(error.to_string()))
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// [`Error::Store`] with the reason when the bytes are cut short, are no checkpoint, come from another
    /// version, or hold numbers that cannot be.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (archive, record) = open(bytes)?;
        let best = match &record.best {
            Some(StoredBest { step, bound }) => {
                Some(Best { step: *step, bound: *bound, parameters: read_array(&archive, BEST_PARAMETERS)? })
            }
            None => None,
        };
        let average = record.plan.averaging.map(|_| read_array(&archive, AVERAGE)).transpose()?;
        let checkpoint = Self {
            step: record.step,
            average,
            state: AdamState {
                parameters: read_array(&archive, PARAMETERS)?,
                first_moment: read_array(&archive, FIRST_MOMENT)?,
                second_moment: read_array(&archive, SECOND_MOMENT)?,
                beta1_product: record.beta1_product,
                beta2_product: record.beta2_product,
            },
            stopping: Stopping { best, checks_without_gain: record.checks_without_gain },
            plan: record.plan,
            groups: record.groups,
            history: record.history,
            random: record.random,
            objective: record.objective,
        };
        checkpoint.check()?;
        Ok(checkpoint)
    }

    /// # Errors
    /// [`Error::Store`] when an objective with `groups` cannot go on from here.
    pub(crate) fn check_fits(&self, groups: &[ParameterGroup]) -> Result<()> {
        let layout = |groups: &[ParameterGroup]| -> Vec<String> {
            groups.iter().map(|group| format!("`{}` {:?}", group.name, group.range)).collect()
        };
        let (stored, wanted) = (layout(&self.groups), layout(groups));
        if stored != wanted {
            let (stored, wanted) = (stored.join(", "), wanted.join(", "));
            let why = format!(
                "found the parameter groups {stored}; this model has {wanted}: resume with the settings and data of the interrupted run"
            );
            return Err(broken(why));
        }
        Ok(())
    }

    fn record(&self) -> TrainerState {
        TrainerState {
            version: VERSION,
            step: self.step,
            plan: self.plan.clone(),
            groups: self.groups.clone(),
            beta1_product: self.state.beta1_product,
            beta2_product: self.state.beta2_product,
            checks_without_gain: self.stopping.checks_without_gain,
            best: self.best().map(|best| StoredBest { step: best.step, bound: best.bound }),
            history: self.history.clone(),
            random: self.random.clone(),
            objective: self.objective.clone(),
        }
    }

    fn check(&self) -> Result<()> {
        let state = &self.state;
        let mut lengths =
            vec![(FIRST_MOMENT, state.first_moment.len()), (SECOND_MOMENT, state.second_moment.len())];
        lengths.extend(self.best().map(|best| (BEST_PARAMETERS, best.parameters.len())));
        lengths.extend(self.average.as_ref().map(|average| (AVERAGE, average.len())));
        let expected = state.parameters.len();
        if let Some((name, found)) = lengths.into_iter().find(|&(_, length)| length != expected) {
            return Err(broken(format!("`{name}`: expected {expected} numbers, found {found}")));
        }
        if state.second_moment.iter().any(|&v| v < 0.0) {
            return Err(broken(format!("`{SECOND_MOMENT}`: found a negative number among means of squares")));
        }
        for (name, product) in
            [("beta1_product", state.beta1_product), ("beta2_product", state.beta2_product)]
        {
            if !(0.0..=1.0).contains(&product) {
                return Err(broken(format!("`{name}`: found {product}; expected a number from 0 to 1")));
            }
        }
        check_groups(&self.groups, expected)
            .and_then(|()| self.plan.check())
            .map_err(|error| broken(error.to_string()))
    }
}

fn broken(why: impl Into<String>) -> Error {
    Error::Store { file: "checkpoint".into(), why: why.into() }
}

/// The arrays, still as bytes, and all the rest.
fn open(bytes: &[u8]) -> Result<(SafeTensors<'_>, TrainerState)> {
    let not_an_archive =
        |error| broken(format!("not a checkpoint, or cut short ({error}); use an earlier one"));
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(not_an_archive)?;
    let archive = SafeTensors::deserialize(bytes).map_err(not_an_archive)?;
    let text = metadata.metadata().as_ref().and_then(|entries| entries.get(METADATA_KEY));
    let text =
        text.ok_or_else(|| broken(format!("no metadata `{METADATA_KEY}`; this is another kind of file")))?;
    Ok((archive, read_record(text)?))
}

fn read_record(text: &str) -> Result<TrainerState> {
    let unreadable = |error: serde_json::Error| broken(format!("metadata `{METADATA_KEY}`: {error}"));
    let VersionOnly { version } = serde_json::from_str(text).map_err(unreadable)?;
    if version != VERSION {
        return Err(broken(format!(
            "written as version {version}, this program reads version {VERSION}; resume with the program that wrote it, or start over"
        )));
    }
    serde_json::from_str(text).map_err(unreadable)
}

fn to_le_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn read_array(archive: &SafeTensors, name: &str) -> Result<Vec<f32>> {
    let tensor = archive.tensor(name).map_err(|error| broken(error.to_string()))?;
    if tensor.dtype() != Dtype::F32 || tensor.shape().len() != 1 {
        let (dtype, shape) = (tensor.dtype(), tensor.shape());
        return Err(broken(format!("`{name}`: expected one axis of F32, found {dtype:?} {shape:?}")));
    }
    let (words, _) = tensor.data().as_chunks::<4>();
    let values: Vec<f32> = words.iter().map(|word| f32::from_le_bytes(*word)).collect();
    match values.iter().position(|value| !value.is_finite()) {
        Some(i) => Err(broken(format!("`{name}`: found {} at {i}; use an earlier checkpoint", values[i]))),
        None => Ok(values),
    }
}

#[cfg(test)]
#[path = "checkpoint_tests.rs"]
mod tests;
