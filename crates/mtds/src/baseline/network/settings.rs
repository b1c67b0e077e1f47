//! How a gated recurrent forecaster is built and learned.

use serde::{Deserialize, Serialize};

use crate::family::SegmentPlan;
use crate::learn::{ScalingRule, Schedule, StoppingRule, TrainingPlan};
use crate::{Error, Result};

/// Most lengths of the seed at which errors are measured.
const MOST_MEASURED: usize = 4;

/// What a network sees of the outputs after the seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loop {
    /// Nothing, in learning and in forecasts.
    #[default]
    Open,
    /// Its own predictions, in learning and in forecasts.
    Fed,
    /// The output before, in learning (teacher forcing); in forecasts its own prediction of it.
    Closed,
}

/// What the decoder's output means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputForm {
    /// The output.
    Direct,
    /// The change since the output before, or since its prediction where that is unknown.
    #[default]
    Residual,
}

/// What is minimised, as a mean over all scored values, in model units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// (y − ŷ)².
    #[default]
    SquaredError,
    /// ½ ((y − ŷ) / s)² + log s + ½ log 2π, with a deviation s of each output that is learned, too.
    Gaussian,
}

/// The length τ of the seed: drawn evenly between two bounds for each sequence of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WarmUp {
    /// The shortest seed, at least 1.
    pub shortest: usize,
    /// The longest seed; a forecast reads no more of the past.
    pub longest: usize,
}

/// What learning is judged by, unless held-out sequences are handed over.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldOut {
    /// Nothing: the last parameters are kept.
    Nothing,
    /// A fraction of the sequences, whole ones, labels (if there are any) spread evenly.
    Sequences(f64),
    /// The last part of each sequence, a fraction of its steps: for few, long sequences.
    Ends(f64),
}

/// A forecaster and how it is learned. Every field can be left out of the JSON form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GruSettings {
    /// Units of each layer, the one that reads first.
    pub units: Vec<usize>,
    /// What is seen after the seed.
    pub training: Loop,
    /// What the decoder's output means.
    pub output: OutputForm,
    /// What is minimised.
    pub criterion: Criterion,
    /// The length of the seed.
    pub warm_up: WarmUp,
    /// How long sequences are cut, after some were held out; `None` learns from whole ones.
    pub segments: Option<SegmentPlan>,
    /// Segments per step, drawn without replacement.
    pub batch: usize,
    /// Coefficient λ of the penalty ½ λ ‖w‖² on all weights.
    pub l2: f64,
    /// From data units to model units.
    pub scaling: ScalingRule,
    /// What learning is judged by.
    pub held_out: HeldOut,
    /// Steps, rates, clipping, stopping. Bounds are minus the criterion.
    pub plan: TrainingPlan,
}

impl Default for GruSettings {
    /// A network for one processor: 128 units, seeds of 16 to 64 steps.
    fn default() -> Self {
        let stopping = StoppingRule { every: 50, patience: Some(20), min_gain: 0.0 };
        Self {
            units: vec![128],
            training: Loop::default(),
            output: OutputForm::default(),
            criterion: Criterion::default(),
            warm_up: WarmUp { shortest: 16, longest: 64 },
            segments: Some(SegmentPlan { length: 128, overlap: 64 }),
            batch: 16,
            l2: 0.0,
            scaling: ScalingRule::All,
            held_out: HeldOut::Sequences(0.125),
            plan: TrainingPlan { steps: 2000, clip_norm: Some(5.0), stopping, ..TrainingPlan::default() },
        }
    }
}

impl GruSettings {
    /// The settings of the paper's motion-capture section for one or two layers of 1024 units: seeds of 64 frames, 64
    /// to predict, residual outputs, 20 000 steps of 16 segments, the best of a check every 1 000 steps kept.
    ///
    /// Rates and penalties are those of its table of hyper-parameters; a network with more layers gets those of two. That
    /// the second layer has 1024 units, too, is an assumption.
    ///
    /// # Errors
    /// No layer.
    pub fn published(training: Loop, n_layers: usize) -> Result<Self> {
        let stopping = StoppingRule { every: 1000, patience: None, min_gain: 0.0 };
        let learning_rate = Schedule::constant(if n_layers == 1 { 5e-4 } else { 1e-4 })?;
        let settings = Self {
            units: vec![1024; n_layers],
            training,
            warm_up: WarmUp { shortest: 64, longest: 64 },
            l2: if training == Loop::Closed { 5e-4 } else { 0.0 },
            plan: TrainingPlan { steps: 20_000, learning_rate, stopping, ..TrainingPlan::default() },
            ..Self::default()
        };
        settings.check()?;
        Ok(settings)
    }

    /// Checks every setting against its range.
    ///
    /// # Errors
    /// [`Error::Setting`] naming the first setting that cannot be used.
    pub fn check(&self) -> Result<()> {
        if self.units.is_empty() || self.units.contains(&0) {
            let why = format!("found {:?}; expected one or more layers of at least 1 unit", self.units);
            return Err(Error::setting("units", why));
        }
        self.warm_up.check()?;
        let shortest = self.warm_up.shortest;
        if let Some(plan) = self.segments.filter(|plan| plan.length <= shortest) {
            let why = format!("found {}; expected more than the shortest seed, {shortest}", plan.length);
            return Err(Error::setting("segments.length", why));
        }
        check_learning(self.batch, self.l2, &self.held_out, &self.plan)
    }
}

impl WarmUp {
    fn check(&self) -> Result<()> {
        let Self { shortest, longest } = *self;
        if shortest == 0 {
            return Err(Error::setting("warm_up.shortest", "found 0; expected at least 1 step"));
        }
        if longest < shortest {
            let why = format!("found {longest}; expected at least the shortest, {shortest}");
            return Err(Error::setting("warm_up.longest", why));
        }
        Ok(())
    }

    /// Lengths at which errors are measured, rising: a few, evenly spaced from the shortest to the longest.
    pub(super) fn measured(&self) -> Vec<usize> {
        let (first, range) = (self.shortest, self.longest - self.shortest);
        let n = range.min(MOST_MEASURED - 1);
        (0..=n).map(|k| first + k * range / n.max(1)).collect()
    }

    /// The bounds of τ in a segment of `n_time` steps, of which one at least is left to predict.
    pub(super) fn bounds(&self, n_time: usize) -> (usize, usize) {
        (self.shortest, self.longest.min(n_time - 1).max(self.shortest))
    }
}

impl HeldOut {
    fn check(&self) -> Result<()> {
        let fraction = match *self {
            Self::Nothing => return Ok(()),
            Self::Sequences(fraction) | Self::Ends(fraction) => fraction,
        };
        if fraction > 0.0 && fraction < 1.0 {
            return Ok(());
        }
        let why = format!("found {fraction}; expected a fraction above 0 and below 1, or nothing");
        Err(Error::setting("held_out", why))
    }
}

/// What forecasters and classifiers have in common.
pub(super) fn check_learning(batch: usize, l2: f64, held_out: &HeldOut, plan: &TrainingPlan) -> Result<()> {
    if batch == 0 {
        return Err(Error::setting("batch", "found 0; expected 1 or more segments per step"));
    }
    if !(l2.is_finite() && l2 >= 0.0) {
        return Err(Error::setting("l2", format!("found {l2}; expected a finite number, 0 or more")));
    }
    held_out.check()?;
    plan.check()
}
