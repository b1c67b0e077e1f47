//! log p(Y | θ) of sequences that share inputs: by a rollout with noise around it, or by a filter where states are random.
//!
//! ```text
//! rollout   Σ_t log N(y_t | ŷ_t, S)          ŷ = g ∘ f ∘ … ∘ f (x_0)          any base model whose state is a function of θ
//! filter    Σ_t log p(y_t | y_{<t}, θ)       x integrated out                  `base::kalman`
//! ```
//! All that scores or learns goes through this one, and knows nothing of the difference. What is handed on from one
//! stretch of a sequence to the next is what is known of the state there, [`Base::d_belief`] values: the state itself, or
//! its mean and a factor of its covariance.

use super::emission::{Group, Pull};
use super::kalman::GroupFilter;
use super::{Base, RolloutInputs, Trace, TraceGradient};
use crate::kernel::{Lanes, Scalar};

/// What a likelihood is of: a system, and the sequences of a group.
#[derive(Debug)]
pub(crate) struct Subject<'a, S: Scalar> {
    pub base: &'a Base,
    pub theta: &'a [S],
    /// What is known of the state before the first step; `None` for the initial state in θ.
    pub start: Option<&'a [S]>,
    pub drive: RolloutInputs<'a, S>,
    pub group: &'a Group<S::Real>,
}

impl<S: Scalar> Clone for Subject<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Scalar> Copy for Subject<'_, S> {}

/// A group's inputs in every lane.
pub(crate) struct GroupInputs<S> {
    inputs: Vec<S>,
    /// Steps without any, where the group does not say it.
    quiet: Option<Vec<bool>>,
}

impl<S: Scalar> GroupInputs<S> {
    #[inline(always)]
    pub(crate) fn new(group: &Group<S::Real>) -> Self {
        Self { inputs: group.inputs.iter().map(|&u| S::splat(u)).collect(), quiet: None }
    }

    /// What the front made of the inputs, in every lane.
    #[inline(always)]
    pub(crate) fn of_features(features: &[S::Real], n_time: usize) -> Self {
        let inputs = features.iter().map(|&v| S::splat(v)).collect();
        Self { inputs, quiet: Some(vec![false; n_time]) }
    }

    #[inline(always)]
    pub(crate) fn drive<'a>(&'a self, group: &'a Group<S::Real>) -> RolloutInputs<'a, S> {
        RolloutInputs { inputs: &self.inputs, quiet: self.quiet.as_deref().unwrap_or(&group.quiet) }
    }
}

/// One pass over a group, kept for its adjoint.
#[derive(Clone, Debug)]
pub(crate) enum Likelihood<S> {
    Rollout { trace: Trace<S>, d_outputs: Vec<S> },
    Filter(GroupFilter<S>),
}

impl<S: Lanes> Likelihood<S> {
    /// Room for passes over a group.
    pub(crate) fn new(base: &Base, group: &Group<S::Real>) -> Self {
        if let Some(lds) = base.stochastic() {
            return Self::Filter(GroupFilter::new(lds, group));
        }
        let trace = base.trace(group.n_time);
        Self::Rollout { d_outputs: vec![S::zero(); trace.outputs.len()], trace }
    }

    /// Room for passes over another group, in the same memory if it fits.
    pub(crate) fn turn_to(&mut self, base: &Base, group: &Group<S::Real>) {
        match self {
            Self::Rollout { trace, .. } if trace.n_time == group.n_time => {}
            _ => *self = Self::new(base, group),
        }
    }

    /// Rolls the system out, or filters; what follows is about this pass.
    #[inline(always)]
    pub(crate) fn run(&mut self, of: Subject<'_, S>) {
        match self {
            Self::Rollout { trace, .. } => {
                of.base.roll_out(of.theta, of.start, of.drive, trace);
            }
            Self::Filter(filter) => filter.run(of.theta, of.start, of.drive),
        }
    }

    /// log p(Y_i | θ) of every sequence of the group, per lane.
    #[inline(always)]
    pub(crate) fn scores(&self, of: Subject<'_, S>, scores: &mut [S]) {
        match self {
            Self::Rollout { trace, .. } => {
                of.base.noise().scores(of.theta, &trace.outputs, of.group, scores);
            }
            Self::Filter(filter) => filter.scores(of.group, scores),
        }
    }

    /// log p(Y | θ) of the first sequence of the group, one value per lane, without loss of digits.
    #[inline(always)]
    pub(crate) fn log_density(&mut self, of: Subject<'_, S>, out: &mut [f64]) {
        match self {
            Self::Rollout { trace, .. } => {
                of.base.noise().log_density(of.theta, &trace.outputs, of.group, out);
            }
            Self::Filter(filter) => filter.log_density(of.group, out),
        }
    }

    /// What is known of the first sequence's state after its last step, after [`Likelihood::log_density`].
    #[inline(always)]
    pub(crate) fn end(&self) -> &[S] {
        match self {
            Self::Rollout { trace, .. } => {
                &trace.states[trace.states.len() / (trace.n_time + 1) * trace.n_time..]
            }
            Self::Filter(filter) => filter.end(),
        }
    }

    /// Σ_i w_i log p(Y_i | θ) per lane; adds its gradient to that of θ, initial state included unless one was given, and to that of
    /// the inputs, n_time × d_input, unless it is empty.
    #[inline(always)]
    pub(crate) fn pull(
        &mut self,
        of: Subject<'_, S>,
        pull: Pull<'_, S>,
        (d_theta, d_inputs): (&mut [S], &mut [S]),
    ) -> S {
        let Subject { base, theta, start, drive, group } = of;
        let mut d_start = vec![S::zero(); base.d_state()];
        let total = match self {
            Self::Rollout { trace, d_outputs } => {
                let total = base.noise().pull(theta, &trace.outputs, group, pull, (&mut *d_outputs, d_theta));
                let (start, inputs) = (&mut d_start[..], d_inputs);
                let gradient = TraceGradient { outputs: d_outputs, theta: d_theta, start, inputs };
                base.pull_back(theta, drive, trace, gradient);
                total
            }
            Self::Filter(filter) => filter.pull(theta, drive, group, pull, (d_theta, &mut d_start, d_inputs)),
        };
        if start.is_none() {
            for (at, &d) in base.start_range().zip(&d_start) {
                d_theta[at] += d;
            }
        }
        total
    }
}
