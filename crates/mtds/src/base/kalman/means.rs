//! Means of the state for one sequence, its log likelihood, and what that pulls on gains and system.
//!
//! ```text
//! forward    x = A x_{t−1} + B u_t + b;  for each channel  e = ỹ − hᵀ x,  x ← x + k e,  log p −= ½ e² / f
//! adjoint    for each channel, last first, λ the gradient with respect to x, w the weight of the sequence, q = 1 / f:
//!            k̄ += λ e      q̄ −= ½ w e²      ē = λᵀ k − w q e      ỹ̄ += ē      h̄ −= ē x      λ ← λ − ē h
//!            then  Ā += λ x_{t−1}ᵀ,  b̄ and B̄ by the push,  λ ← Aᵀ λ
//! ```

use super::channels::ChannelsGradient;
use super::sum::Sum;
use super::system::SystemGradient;
use super::{Gains, Pushes, expect_len};
use crate::kernel::{Outlined, Real, Scalar};
use crate::{Error, Result};

/// The filtered means of one sequence.
#[derive(Clone, Debug)]
pub struct Means<S> {
    /// E x_t given y_{1:t} after 0, 1, …, T steps: (n_time + 1) × n.
    pub states: Vec<S>,
    /// e of every observed value, in whitened units: each given those before it.
    pub innovations: Vec<S>,
    /// log p(y_{1:T} | θ).
    pub log_likelihood: S,
}

/// Gradients with respect to gains and system, added up over sequences.
#[derive(Clone, Debug)]
pub struct GainsGradient<S> {
    /// k̄ of every observed value.
    pub(super) gains: Vec<S>,
    /// q̄ of every observed value.
    pub(super) precisions: Vec<S>,
    pub(super) channels: Vec<ChannelsGradient<S>>,
    pub(super) pushes: Pushes<S>,
    pub(super) system: SystemGradient<S>,
    /// Σ of the weights of the sequences.
    pub(super) weight: S,
}

impl<S: Scalar> Means<S> {
    /// Room for a sequence with the pattern of `gains`.
    #[must_use]
    pub fn new(gains: &Gains<S>) -> Self {
        Self {
            states: vec![S::zero(); (gains.pattern.n_time() + 1) * gains.system.d_state],
            innovations: vec![S::zero(); gains.pattern.n_observed()],
            log_likelihood: S::zero(),
        }
    }
}

impl<S: Scalar> GainsGradient<S> {
    /// Zero, in the shape of `gains`.
    #[must_use]
    pub fn new(gains: &Gains<S>) -> Self {
        let (n, p, n_time) = (gains.system.d_state, gains.system.d_obs, gains.pattern.n_time());
        let zeros = |len: usize| vec![S::zero(); len];
        Self {
            gains: zeros(gains.gains.len()),
            precisions: zeros(gains.precisions.len()),
            channels: gains.channels.iter().map(super::channels::Channels::gradient).collect(),
            pushes: Pushes { states: zeros(n_time * n), outputs: zeros(n_time * p) },
            system: SystemGradient::zero(n, p),
            weight: S::zero(),
        }
    }
}

impl<S: Scalar> Gains<S> {
    /// Filters one sequence: fills `means` and returns log p(y_{1:T} | θ).
    ///
    /// # Shapes
    /// `values`: n_time × p, missing ones ignored; `start`: m_0 (n), else that in θ; `means` from [`Means::new`].
    ///
    /// # Errors
    /// A shape that is not that of the gains; an observed value that is not finite.
    pub fn means(
        &self,
        pushes: &Pushes<S>,
        start: Option<&[S]>,
        values: &[S::Real],
        means: &mut Means<S>,
    ) -> Result<S> {
        let (n, p, n_time) = (self.system.d_state, self.system.d_obs, self.pattern.n_time());
        let start = start.unwrap_or(&self.system.start);
        expect_len("initial state", n, start.len())?;
        expect_len("outputs", n_time * p, values.len())?;
        self.expect_shapes(pushes, means)?;
        self.expect_finite(values)?;
        means.states[..n].copy_from_slice(start);
        S::outline::<Filter, _>((self, pushes, values, &mut *means));
        Ok(means.log_likelihood)
    }

    /// Adds the gradient of `weight` · log p of one sequence to `gradient` and to that with respect to its m_0 (n).
    ///
    /// [`Gains::add_to_theta`] turns the sum over sequences into a gradient with respect to θ. Where m_0 came from θ, its
    /// gradient belongs at [`BaseModel::start_range`](crate::base::BaseModel::start_range).
    ///
    /// # Errors
    /// A shape that is not that of the gains.
    pub fn pull(
        &self,
        pushes: &Pushes<S>,
        means: &Means<S>,
        weight: S,
        gradient: &mut GainsGradient<S>,
        d_start: &mut [S],
    ) -> Result<()> {
        expect_len("gradient of the initial state", self.system.d_state, d_start.len())?;
        expect_len("gradient of the gains", self.gains.len(), gradient.gains.len())?;
        self.expect_shapes(pushes, means)?;
        S::outline::<PullBack, _>((self, pushes, means, weight, (gradient, d_start)));
        Ok(())
    }

    fn expect_shapes(&self, pushes: &Pushes<S>, means: &Means<S>) -> Result<()> {
        let (n, n_time) = (self.system.d_state, self.pattern.n_time());
        expect_len("pushes of the states", n_time * n, pushes.states.len())?;
        expect_len("pushes of the outputs", n_time * self.system.d_obs, pushes.outputs.len())?;
        expect_len("means of the states", (n_time + 1) * n, means.states.len())?;
        expect_len("innovations", self.pattern.n_observed(), means.innovations.len())
    }

    fn expect_finite(&self, values: &[S::Real]) -> Result<()> {
        for t in 0..self.pattern.n_time() {
            for &o in self.pattern.observed(t) {
                let value = values[t * self.system.d_obs + o];
                if !value.is_finite() {
                    let what = format!("output {} at step {}", o + 1, t + 1);
                    let hint = "; leave missing outputs out of the pattern";
                    return Err(Error::NotFinite { what, value: value.to_f64(), hint });
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn filter(&self, pushes: &Pushes<S>, values: &[S::Real], means: &mut Means<S>) {
        let (n, p) = (self.system.d_state, self.system.d_obs);
        let mut log_likelihood = Sum::zero();
        log_likelihood.add(self.log_norm);
        for t in 0..self.pattern.n_time() {
            let (past, x) = means.states[t * n..(t + 2) * n].split_at_mut(n);
            self.system.advance(past, &pushes.states[t * n..(t + 1) * n], x);
            let places = self.pattern.places(t);
            let channels = self.step_channels(t);
            let e = &mut means.innovations[places.clone()];
            channels.whiten(&values[t * p..(t + 1) * p], &pushes.outputs[t * p..(t + 1) * p], e);
            let mut step = S::zero();
            for (c, at) in places.enumerate() {
                let h = &channels.rows[c * n..(c + 1) * n];
                for i in 0..n {
                    e[c] = (-h[i]).mul_add(x[i], e[c]);
                }
                for i in 0..n {
                    x[i] = self.gains[at * n + i].mul_add(e[c], x[i]);
                }
                step = (S::constant(-0.5) * self.precisions[at] * e[c]).mul_add(e[c], step);
            }
            log_likelihood.add(step);
        }
        means.log_likelihood = log_likelihood.total();
    }

    #[inline(always)]
    fn pull_back(
        &self,
        pushes: &Pushes<S>,
        means: &Means<S>,
        weight: S,
        d: &mut GainsGradient<S>,
        d_start: &mut [S],
    ) {
        let (n, p) = (self.system.d_state, self.system.d_obs);
        let mut lambda = vec![S::zero(); n];
        let mut work = Replay::new(n, p);
        d.weight += weight;
        for t in (0..self.pattern.n_time()).rev() {
            work.replay(self, pushes, means, t);
            self.channels_adjoint(t, weight, (&mut work, &mut lambda), d);
            let (set, size) = (self.pattern.set_of(t), self.pattern.places(t).len());
            let (d_whitened, whitened) = (&work.d_whitened[..size], &work.whitened[..size]);
            self.channels[set].push_adjoint(d_whitened, &mut d.pushes.outputs[t * p..(t + 1) * p]);
            d.channels[set].add_outer(self.system.noise_form, d_whitened, whitened);
            let past = &means.states[t * n..(t + 1) * n];
            let next = &mut work.x[..n];
            next.fill(S::zero());
            for i in 0..n {
                d.pushes.states[t * n + i] += lambda[i];
                for j in 0..n {
                    let at = i * n + j;
                    d.system.transition[at] = lambda[i].mul_add(past[j], d.system.transition[at]);
                    next[j] = self.system.transition[at].mul_add(lambda[i], next[j]);
                }
            }
            lambda.copy_from_slice(next);
        }
        for i in 0..n {
            d_start[i] += lambda[i];
        }
    }

    /// The channels of one step, last first; leaves λ with respect to the state before them.
    #[inline(always)]
    fn channels_adjoint(
        &self,
        t: usize,
        weight: S,
        (work, lambda): (&mut Replay<S>, &mut [S]),
        d: &mut GainsGradient<S>,
    ) {
        let (n, set, places) = (self.system.d_state, self.pattern.set_of(t), self.pattern.places(t));
        for (c, at) in places.enumerate().rev() {
            let (e, h) = (work.innovations[c], &self.channels[set].rows[c * n..(c + 1) * n]);
            let (k, x) = (&self.gains[at * n..(at + 1) * n], &work.x[c * n..(c + 1) * n]);
            let mut d_e = -(weight * self.precisions[at] * e);
            for i in 0..n {
                d.gains[at * n + i] = lambda[i].mul_add(e, d.gains[at * n + i]);
                d_e = lambda[i].mul_add(k[i], d_e);
            }
            d.precisions[at] = (S::constant(-0.5) * weight * e).mul_add(e, d.precisions[at]);
            work.d_whitened[c] = d_e;
            let d_h = &mut d.channels[set].rows[c * n..(c + 1) * n];
            for i in 0..n {
                d_h[i] = (-d_e).mul_add(x[i], d_h[i]);
                lambda[i] = (-d_e).mul_add(h[i], lambda[i]);
            }
        }
    }
}

/// One step again, with what the adjoint needs of every channel.
struct Replay<S> {
    /// x before each channel, and after the last: (p + 1) × n.
    x: Vec<S>,
    innovations: Vec<S>,
    whitened: Vec<S>,
    d_whitened: Vec<S>,
}

impl<S: Scalar> Replay<S> {
    fn new(n: usize, p: usize) -> Self {
        let zeros = |len: usize| vec![S::zero(); len];
        Self { x: zeros((p + 1) * n), innovations: zeros(p), whitened: zeros(p), d_whitened: zeros(p) }
    }

    #[inline(always)]
    fn replay(&mut self, gains: &Gains<S>, pushes: &Pushes<S>, means: &Means<S>, t: usize) {
        let n = gains.system.d_state;
        let (past, push) = (&means.states[t * n..(t + 1) * n], &pushes.states[t * n..(t + 1) * n]);
        gains.system.advance(past, push, &mut self.x[..n]);
        let (rows, k) = (&gains.step_channels(t).rows, gains.step_gains(t));
        for (c, at) in gains.pattern.places(t).enumerate() {
            let e = means.innovations[at];
            let (x, next) = self.x[c * n..(c + 2) * n].split_at_mut(n);
            self.innovations[c] = e;
            self.whitened[c] = e;
            for i in 0..n {
                self.whitened[c] = rows[c * n + i].mul_add(x[i], self.whitened[c]);
                next[i] = k[c * n + i].mul_add(e, x[i]);
            }
        }
    }
}

enum Filter {}
type Forwards<'a, S> = (&'a Gains<S>, &'a Pushes<S>, &'a [<S as Scalar>::Real], &'a mut Means<S>);

impl<'a, S: Scalar> Outlined<Forwards<'a, S>> for Filter {
    type Output = ();

    #[inline(always)]
    fn run((gains, pushes, values, means): Forwards<'a, S>) {
        gains.filter(pushes, values, means);
    }
}

enum PullBack {}
type Backwards<'a, S> =
    (&'a Gains<S>, &'a Pushes<S>, &'a Means<S>, S, (&'a mut GainsGradient<S>, &'a mut [S]));

impl<'a, S: Scalar> Outlined<Backwards<'a, S>> for PullBack {
    type Output = ();

    #[inline(always)]
    fn run((gains, pushes, means, weight, (gradient, d_start)): Backwards<'a, S>) {
        gains.pull_back(pushes, means, weight, gradient, d_start);
    }
}
