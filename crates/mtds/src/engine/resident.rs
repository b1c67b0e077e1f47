//! Learning whose steps an engine takes whole: parameters, optimiser and sequences stay where it computes; what a step is made of goes
//! there, what it came to comes back.

use std::ops::Range;

use crate::Result;
use crate::learn::ParameterGroup;
use crate::learn::adam::{AdamState, AdamStep};
use crate::system::System;

/// Rows of sequences: all inputs, all outputs, and where each sequence begins.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// What drives the system, step by step.
    pub(crate) inputs: Vec<f32>,
    /// Outputs, NaN where missing or told.
    pub(crate) outputs: Vec<f32>,
    /// First row of each sequence.
    pub(crate) first: Vec<usize>,
    /// Rows of each.
    pub(crate) n_rows: Vec<usize>,
}

/// Learning as an engine sees it before its first step.
#[derive(Debug)]
pub struct ResidentTask<'a> {
    pub(crate) system: &'a System,
    pub(crate) rows: &'a Rows,
    /// Whether the first outputs of a sequence are among the rows and are not to be scored.
    pub(crate) has_seeds: bool,
    /// Codes in all; beliefs about them stand behind the parameters of the system, means, then log deviations.
    pub(crate) n_codes: usize,
    /// Codes of a step, a sequence each.
    pub(crate) batch: usize,
    /// Steps of the longest sequence.
    pub(crate) n_time: usize,
    /// Draws of each code.
    pub(crate) draws: usize,
    /// Noise that does not go by its gradient.
    pub(crate) matched: Option<MatchedNoise>,
}

/// Log deviations of the noise that follow the residuals.
#[derive(Clone, Debug)]
pub struct MatchedNoise {
    /// Where they lie among the parameters.
    pub(crate) places: Range<usize>,
    /// Observed values of each output in all sequences.
    pub(crate) counts: Vec<f64>,
    /// Part of the way to the residuals that a step goes.
    pub(crate) damping: f64,
}

/// What a step is made of.
#[derive(Clone, Debug)]
pub struct StepOrder {
    /// Its codes.
    pub(crate) places: Vec<usize>,
    /// First row, and rows, of the sequence of each.
    pub(crate) first_rows: Vec<usize>,
    pub(crate) n_rows: Vec<usize>,
    /// Standard normal draws: by code, draw, dimension.
    pub(crate) noise: Vec<f32>,
    pub(crate) temperature: f64,
    pub(crate) divergence_weight: f64,
    /// Whether deviations are held.
    pub(crate) is_hard: bool,
    /// Least log s of noise that is matched.
    pub(crate) noise_floor: f64,
    /// Values that are scored.
    pub(crate) n_observed: usize,
}

/// How the optimiser takes it.
#[derive(Clone, Copy, Debug)]
pub struct StepRule {
    pub(crate) adam: AdamStep,
    /// Π β₁ and Π β₂, this step included.
    pub(crate) products: [f64; 2],
    /// Share of the average that is kept.
    pub(crate) kept: f64,
    pub(crate) clip: Option<f64>,
}

/// What it came to.
#[derive(Clone, Copy, Debug)]
pub struct StepDone {
    /// Σ over codes of the bound, with temperature and weight, and without.
    pub(crate) total: f64,
    pub(crate) bound: f64,
    /// ½ λ ‖w‖².
    pub(crate) penalty: f64,
    /// Norm of the gradient before it was clipped.
    pub(crate) norm: f64,
    /// Whether all of it was finite; if not, the state is that before the step.
    pub(crate) is_finite: bool,
}

/// Learning in progress where an engine computes.
pub trait Resident: Send + Sync {
    /// Takes a step.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    fn step(&mut self, order: &StepOrder, rule: &StepRule) -> Result<StepDone>;
    /// Brings parameters, the optimiser's memory and the average home, into what is given.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    fn bring_home(&self, state: &mut AdamState, average: Option<&mut Vec<f32>>) -> Result<()>;
    /// Goes on from these.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    fn go_on_from(&mut self, state: &AdamState, average: Option<&[f32]>) -> Result<()>;
    /// The gradient of the last step, to see what broke.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    fn gradient(&self) -> Result<Vec<f32>>;
}

/// Where learning begins: groups of the parameters, the state, and the average, if there is one.
pub(crate) type Beginning<'a> = (&'a [ParameterGroup], &'a AdamState, Option<&'a [f32]>);
