//! How hard each model tries: all settings that a cell's result depends on, apart from the protocol.

use mtds::Wishes;
use mtds::parts::{
    ClassifierSettings, GruSettings, HeldOut, Interpolation, Loop, Schedule, TrainingPlan, WarmUp,
};
use mtds::{Error, Result};
use serde::{Deserialize, Serialize};

use super::cell::{Method, Task};
use super::protocol::Protocol;
use crate::Scale;

/// Steps of the model at an effort of 1, as its recipe has them: rivals learn for as many.
const STEPS: f64 = 4000.0;
/// Learning rate of the rivals at its height and at its end: from 5e-4, the paper's for 1024 units, higher as for the model.
const RATE: f64 = 2e-3;
const LAST_RATE: f64 = 2e-5;

/// The settings of all models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// What is asked of the model; all else follows from the family, as in `mtds fit`.
    pub model: Wishes,
    /// Units of every layer of the rivals.
    pub units: usize,
    /// Steps of the rivals.
    pub steps: u64,
    /// The classifier of the third experiment.
    pub classifier: ClassifierSettings,
}

impl Settings {
    /// Those of a scale, with a factor on all steps.
    ///
    /// # Errors
    /// A factor that is not above 0.
    pub fn new(scale: Scale, effort: f64) -> Result<Self> {
        if !(effort.is_finite() && effort > 0.0) {
            let why = format!("found {effort}; expected above 0");
            return Err(Error::Setting { name: "effort".into(), why });
        }
        let effort = effort * if scale == Scale::Quick { 0.15 } else { 1.0 };
        let steps = |usual: f64| ((usual * effort / 10.0).round() as u64 * 10).max(10);
        let (units, of_classifier) = match scale {
            Scale::Quick => (96, (64, 48)),
            Scale::Full => (128, (128, 96)),
        };
        let usual = ClassifierSettings::default();
        Ok(Self {
            model: Wishes { effort: Some(effort), ..Wishes::default() },
            units,
            steps: steps(STEPS),
            classifier: ClassifierSettings {
                units: of_classifier.0,
                hidden: of_classifier.1,
                batch: 32,
                plan: TrainingPlan { steps: steps(2000.0), ..usual.plan.clone() },
                ..usual
            },
        })
    }

    /// Those of the cells of a task.
    ///
    /// # Errors
    /// None in practice: the numbers are literals.
    pub fn of(&self, task: Task, protocol: &Protocol) -> Result<serde_json::Value> {
        let value = |settings: serde_json::Result<serde_json::Value>| {
            // Names and numbers only: every value has a form in JSON.
            settings.expect("settings have a form in JSON")
        };
        Ok(match task {
            Task::Efficiency(method, _) | Task::Novel(method, _) => match method {
                Method::Mtds => value(serde_json::to_value(&self.model)),
                Method::Simple => serde_json::Value::Null,
                rival => value(serde_json::to_value(self.rival(rival, task, protocol)?)),
            },
            Task::Transfer => value(serde_json::to_value((&self.model, &self.classifier))),
            Task::Map => value(serde_json::to_value(self.map())),
        })
    }

    /// What is asked of the model of the map: a code of two numbers.
    #[must_use]
    pub fn map(&self) -> Wishes {
        Wishes { code: Some(2), ..self.model.clone() }
    }

    /// A rival as it is learned in a task: its kinds, penalties and batches are the paper's.
    ///
    /// # Errors
    /// None in practice: the numbers are literals.
    pub fn rival(&self, method: Method, task: Task, protocol: &Protocol) -> Result<GruSettings> {
        let n_layers = if matches!(method, Method::Gru2Open | Method::Gru2Closed) { 2 } else { 1 };
        let training = match method {
            Method::GruClosed | Method::Gru2Closed => Loop::Closed,
            Method::GruFed => Loop::Fed,
            _ => Loop::Open,
        };
        let published = GruSettings::published(training, n_layers)?;
        // Networks of one style each see less, and learn for a quarter of the steps, as in the paper.
        let steps = if method == Method::GruStyles { (self.steps / 4).max(10) } else { self.steps };
        let reads_outputs = method != Method::GruInputs;
        // Small shares have stretches that are no longer than what is seen.
        let shortest = if matches!(task, Task::Efficiency(..)) { protocol.least / 4 } else { protocol.seen };
        let mut plan = published.plan.clone();
        plan.learning_rate =
            Schedule::new(Interpolation::Cosine, vec![(1, RATE), (steps.max(2), LAST_RATE)])?;
        (plan.steps, plan.stopping.every) = (steps, (steps / 20).max(1));
        plan.clip_norm = Some(5.0);
        let form = match method {
            Method::GruDirect | Method::GruInputs => direct(),
            _ => published.clone(),
        };
        Ok(GruSettings {
            units: vec![self.units; n_layers],
            output: form.output,
            training,
            warm_up: match reads_outputs {
                true => WarmUp { shortest, longest: protocol.seen.max(shortest) },
                false => WarmUp { shortest: 1, longest: 1 },
            },
            // 16 segments of 128 rows are a step: as many rows as 32 segments of 64, which the model takes.
            segments: published.segments.filter(|_| reads_outputs),
            held_out: HeldOut::Nothing,
            plan,
            ..published
        })
    }
}

/// Settings of a network that emits outputs, not their changes: the form has a name in JSON alone.
fn direct() -> GruSettings {
    serde_json::from_value(serde_json::json!({ "output": "direct" })).expect("a form that there is")
}
