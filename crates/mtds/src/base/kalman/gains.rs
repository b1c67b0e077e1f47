//! What the filter needs from θ and the pattern of observed outputs alone: gains, variances of innovations, covariances.
//!
//! Cost: O(n³ + p n²) per step; memory (n² + p n + p) per step, because of the state only its factor after each step is kept.

use super::channels::Channels;
use super::root;
use super::sum::{LogProduct, Sum};
use super::{Matrices, Pattern, StochasticLds, expect_len};
use crate::Result;
use crate::base::BaseModel;
use crate::base::emission::HALF_LN_2PI;
use crate::kernel::{Outlined, Scalar};

/// The filter of one pack, without means: serves every sequence with the same pattern.
#[derive(Clone, Debug)]
pub struct Gains<S> {
    pub(super) model: StochasticLds,
    pub(super) pattern: Pattern,
    pub(super) system: Matrices<S>,
    pub(super) channels: Vec<Channels<S>>,
    /// k of every observed value: n_observed × n.
    pub(super) gains: Vec<S>,
    /// 1 / f of every observed value.
    pub(super) precisions: Vec<S>,
    /// F after 0, 1, …, T steps: (n_time + 1) × n × n.
    pub(super) factors: Vec<S>,
    /// The part of log p that no output changes.
    pub(super) log_norm: S,
}

impl<S: Scalar> Gains<S> {
    /// Runs the covariances over a pattern, from P_0 = F_0 F_0ᵀ (`start_factor`, n × n), or else from 0.
    ///
    /// # Errors
    /// θ, factor or pattern of a size that is not the model's.
    pub fn new(
        model: &StochasticLds,
        theta: &[S],
        pattern: &Pattern,
        start_factor: Option<&[S]>,
    ) -> Result<Self> {
        model.validate()?;
        let n = model.lds.d_state;
        expect_len("raw parameters of the linear system", model.theta_len(), theta.len())?;
        expect_len("outputs of the pattern", model.lds.d_obs, pattern.d_obs())?;
        expect_len("factor of the covariance at the start", n * n, start_factor.map_or(n * n, <[S]>::len))?;
        Ok(S::outline::<Filter, _>((model, theta, pattern, start_factor)))
    }

    /// The matrices that the gains were made from.
    #[must_use]
    pub fn system(&self) -> &Matrices<S> {
        &self.system
    }

    /// F with F Fᵀ the covariance of x_t given y_{1:t}, n × n; `None` beyond the last step. t = 0 is the start.
    #[must_use]
    pub fn factor(&self, t: usize) -> Option<&[S]> {
        let size = self.system.d_state * self.system.d_state;
        self.factors.get(t * size..(t + 1) * size)
    }

    /// Covariance of x_t given y_{1:t}, n × n; `None` beyond the last step.
    #[cfg(test)]
    pub fn covariance(&self, t: usize) -> Option<Vec<S>> {
        let factor = self.factor(t)?;
        Some(super::factor::square(factor, self.system.d_state))
    }

    #[inline(always)]
    pub(super) fn step_gains(&self, t: usize) -> &[S] {
        let (n, places) = (self.system.d_state, self.pattern.places(t));
        &self.gains[places.start * n..places.end * n]
    }

    #[inline(always)]
    pub(super) fn step_channels(&self, t: usize) -> &Channels<S> {
        &self.channels[self.pattern.set_of(t)]
    }

    #[inline(always)]
    fn run(&mut self) {
        let (n, n_time) = (self.system.d_state, self.pattern.n_time());
        let (mut work, mut phi) = (vec![S::zero(); 2 * n * n], vec![S::zero(); n]);
        let (mut log_norm, mut variances) = (Sum::zero(), LogProduct::one());
        for t in 0..n_time {
            let channels = &self.channels[self.pattern.set_of(t)];
            let places = self.pattern.places(t);
            let (past, future) = self.factors.split_at_mut((t + 1) * n * n);
            let factor = &mut future[..n * n];
            factor.copy_from_slice(&past[t * n * n..]);
            root::predict(&self.system, factor, &mut work);
            log_norm.add(channels.log_scale - S::constant(places.len() as f64 * HALF_LN_2PI));
            for (c, at) in places.enumerate() {
                let gain = &mut self.gains[at * n..(at + 1) * n];
                let (q, root) = root::take_in(&channels.rows[c * n..(c + 1) * n], factor, gain, &mut phi);
                self.precisions[at] = q;
                variances.multiply(root);
            }
        }
        self.log_norm = log_norm.total() - variances.half_log();
    }
}

enum Filter {}
type GainsOf<'a, S> = (&'a StochasticLds, &'a [S], &'a Pattern, Option<&'a [S]>);

impl<'a, S: Scalar> Outlined<GainsOf<'a, S>> for Filter {
    type Output = Gains<S>;

    #[inline(always)]
    fn run((model, theta, pattern, start_factor): GainsOf<'a, S>) -> Gains<S> {
        let system = Matrices::of_checked(model, theta);
        let (n, n_observed) = (system.d_state, pattern.n_observed());
        let mut channels = Vec::with_capacity(pattern.sets().len());
        for set in pattern.sets() {
            channels.push(Channels::new(&system, set));
        }
        let mut factors = vec![S::zero(); (pattern.n_time() + 1) * n * n];
        if let Some(start) = start_factor {
            factors[..n * n].copy_from_slice(start);
        }
        let (gains, precisions) = (vec![S::zero(); n_observed * n], vec![S::zero(); n_observed]);
        let log_norm = S::zero();
        let (model, pattern) = (model.clone(), pattern.clone());
        let mut this = Gains { model, pattern, system, channels, gains, precisions, factors, log_norm };
        this.run();
        this
    }
}
