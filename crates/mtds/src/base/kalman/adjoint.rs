//! From gradients with respect to gains back through the covariances to θ.
//!
//! ```text
//! for each channel, last first, P before it and P' after it, V = P̄ (symmetric), w the weight of all sequences:
//!     h̄ −= 2 P' V' k        V = (I − k hᵀ)ᵀ V' (I − k hᵀ)                       from P' = P − P h hᵀ P / f
//!     f̄ = −½ w / f − q̄ / f² − k̄ᵀ k / f                                            q = 1 / f,  k = P h / f
//!     h̄ += P k̄ / f + 2 f̄ f k          V += ½ (k̄ hᵀ + h k̄ᵀ) / f + f̄ h hᵀ          f = 1 + hᵀ P h
//! then, P the covariance after the step before:  R̄ += V      Ā += 2 V A P      V ← Aᵀ V A
//! ```
//! The first line uses that k minimises P', so that P' does not change with k to first order. Products with P go through
//! its factor, which is computed again from the one that was kept of the step before.

use super::means::GainsGradient;
use super::{Gains, expect_len, root};
use crate::Result;
use crate::base::RolloutInputs;
use crate::kernel::{Outlined, Scalar};

impl<S: Scalar> Gains<S> {
    /// Adds the gradients with respect to θ, all but m_0, and to the inputs, unless that is empty, given the sum of what sequences
    /// pulled.
    ///
    /// # Errors
    /// Inputs, θ or its gradient of a length that does not fit.
    pub fn add_to_theta(
        &self,
        theta: &[S],
        drive: RolloutInputs<'_, S>,
        gradient: GainsGradient<S>,
        (d_theta, d_inputs): (&mut [S], &mut [S]),
    ) -> Result<()> {
        let n_time = self.pattern.n_time();
        expect_len("raw parameters of the linear system", self.model.theta_len(), theta.len())?;
        expect_len("gradient of the raw parameters", theta.len(), d_theta.len())?;
        expect_len("steps of the inputs", n_time, drive.quiet.len())?;
        expect_len("inputs", n_time * self.system.d_input, drive.inputs.len())?;
        expect_len("gradient of the gains", self.gains.len(), gradient.gains.len())?;
        if !d_inputs.is_empty() {
            expect_len("gradient of the inputs", drive.inputs.len(), d_inputs.len())?;
        }
        S::outline::<Backwards, _>((self, theta, drive, gradient, (d_theta, d_inputs)));
        Ok(())
    }

    #[inline(always)]
    fn covariance_adjoint(&self, d: &mut GainsGradient<S>) {
        let n = self.system.d_state;
        let mut sweep = Sweep::new(n, self.system.d_obs);
        for t in (0..self.pattern.n_time()).rev() {
            let places = self.pattern.places(t);
            let set = self.pattern.set_of(t);
            sweep.replay(self, t);
            for (c, at) in places.enumerate().rev() {
                let k = &self.gains[at * n..(at + 1) * n];
                let channel = Channel {
                    h: &self.channels[set].rows[c * n..(c + 1) * n],
                    k,
                    q: self.precisions[at],
                    d_k: &d.gains[at * n..(at + 1) * n],
                    d_q: d.precisions[at],
                };
                sweep.channel(c, &channel, d.weight, &mut d.channels[set].rows[c * n..(c + 1) * n]);
            }
            for (total, &v) in d.system.process.iter_mut().zip(&sweep.v) {
                *total += v;
            }
            let past = &self.factors[t * n * n..(t + 1) * n * n];
            sweep.predict(&self.system.transition, past, &mut d.system.transition);
        }
    }

    #[inline(always)]
    fn finish(
        &self,
        theta: &[S],
        drive: RolloutInputs<'_, S>,
        mut d: GainsGradient<S>,
        (d_theta, d_inputs): (&mut [S], &mut [S]),
    ) {
        self.covariance_adjoint(&mut d);
        for (set, channels) in self.channels.iter().enumerate() {
            let weight = d.weight * S::constant(self.pattern.n_steps_with(set) as f64);
            channels.pull_back(&d.channels[set], weight, &mut d.system);
        }
        d.system.add_to_theta((&self.model, &self.system), theta, (&d.pushes, drive), d_theta);
        self.system.add_to_inputs(&d.pushes, d_inputs);
    }
}

/// One channel and the gradients with respect to its gain and precision.
struct Channel<'a, S> {
    h: &'a [S],
    k: &'a [S],
    q: S,
    d_k: &'a [S],
    d_q: S,
}

/// V, and room to work.
struct Sweep<S> {
    n: usize,
    v: Vec<S>,
    /// Factors before each channel of a step and after the last: (p + 1) × n × n.
    factors: Vec<S>,
    square: Vec<S>,
    other_square: Vec<S>,
    vectors: [Vec<S>; 3],
}

impl<S: Scalar> Sweep<S> {
    fn new(n: usize, p: usize) -> Self {
        let zeros = |len: usize| vec![S::zero(); len];
        Self {
            n,
            v: zeros(n * n),
            factors: zeros((p + 1) * n * n),
            square: zeros(2 * n * n),
            other_square: zeros(n * n),
            vectors: [zeros(n), zeros(n), zeros(n)],
        }
    }

    /// The factors of step t again.
    #[inline(always)]
    fn replay(&mut self, gains: &Gains<S>, t: usize) {
        let n = self.n;
        self.factors[..n * n].copy_from_slice(&gains.factors[t * n * n..(t + 1) * n * n]);
        root::predict(&gains.system, &mut self.factors[..n * n], &mut self.square);
        let rows = &gains.step_channels(t).rows;
        let [gain, phi, _] = &mut self.vectors;
        for c in 0..gains.pattern.places(t).len() {
            let (before, after) = self.factors[c * n * n..(c + 2) * n * n].split_at_mut(n * n);
            after.copy_from_slice(before);
            root::take_in(&rows[c * n..(c + 1) * n], after, gain, phi);
        }
    }

    /// One channel: V from after it to before it, and h̄.
    #[inline(always)]
    fn channel(&mut self, c: usize, channel: &Channel<'_, S>, weight: S, d_h: &mut [S]) {
        let (n, &Channel { h, k, q, d_k, d_q }) = (self.n, channel);
        let (before, after) = self.factors[c * n * n..(c + 2) * n * n].split_at(n * n);
        let [v_k, product, work] = &mut self.vectors;
        let (mut k_v_k, mut d_k_k) = (S::zero(), S::zero());
        multiply(k, &self.v, v_k);
        for i in 0..n {
            k_v_k = v_k[i].mul_add(k[i], k_v_k);
            d_k_k = d_k[i].mul_add(k[i], d_k_k);
        }
        root::times(after, v_k, work, product);
        for i in 0..n {
            d_h[i] = S::constant(-2.0).mul_add(product[i], d_h[i]);
        }
        let d_f = -(q * (S::constant(0.5).mul_add(weight, q * d_q) + d_k_k));
        root::times(before, d_k, work, product);
        let twice = S::constant(2.0) * d_f / q;
        for i in 0..n {
            d_h[i] = product[i].mul_add(q, d_h[i]);
            d_h[i] = twice.mul_add(k[i], d_h[i]);
        }
        // (I − k hᵀ)ᵀ V (I − k hᵀ) = V − a hᵀ − h aᵀ with a = V k − ½ (kᵀ V k) h, and the same form holds for the rest.
        let along = S::constant(0.5) * (k_v_k + d_f);
        let half_q = S::constant(0.5) * q;
        for i in 0..n {
            v_k[i] = along.mul_add(h[i], half_q.mul_add(d_k[i], -v_k[i]));
        }
        for i in 0..n {
            let row = &mut self.v[i * n..(i + 1) * n];
            for j in 0..n {
                // One sum of two products, whose order is the same for (i, j) and (j, i): V stays symmetric.
                row[j] += v_k[i] * h[j] + h[i] * v_k[j];
            }
        }
    }

    /// V from before a step's outputs to after the step before, whose factor is `past`; adds to Ā.
    #[inline(always)]
    fn predict(&mut self, a: &[S], past: &[S], d_a: &mut [S]) {
        let n = self.n;
        let (v_a, product) = (&mut self.other_square, &mut self.square[..n * n]);
        multiply(&self.v, a, v_a);
        multiply(v_a, past, product);
        // Ā += 2 (V A F) Fᵀ.
        for i in 0..n {
            let row = &mut d_a[i * n..(i + 1) * n];
            for k in 0..n {
                let twice = product[i * n + k] + product[i * n + k];
                for j in 0..n {
                    row[j] = twice.mul_add(past[j * n + k], row[j]);
                }
            }
        }
        self.v.fill(S::zero());
        for i in 0..n {
            let row = &mut self.v[i * n..(i + 1) * n];
            for k in 0..n {
                for j in 0..=i {
                    row[j] = a[k * n + i].mul_add(v_a[k * n + j], row[j]);
                }
            }
        }
        // The upper triangle is a copy, so that V is symmetric to the last bit.
        for i in 0..n {
            for j in 0..i {
                self.v[j * n + i] = self.v[i * n + j];
            }
        }
    }
}

/// out = X Y for X with any number of rows and Y n × n.
#[inline(always)]
fn multiply<S: Scalar>(x: &[S], y: &[S], out: &mut [S]) {
    let n = y.len().isqrt();
    for (row, x) in out.chunks_exact_mut(n).zip(x.chunks_exact(n)) {
        row.fill(S::zero());
        for k in 0..n {
            let other = &y[k * n..(k + 1) * n];
            for j in 0..n {
                row[j] = x[k].mul_add(other[j], row[j]);
            }
        }
    }
}

enum Backwards {}
type GradientParts<'a, S> =
    (&'a Gains<S>, &'a [S], RolloutInputs<'a, S>, GainsGradient<S>, (&'a mut [S], &'a mut [S]));

impl<'a, S: Scalar> Outlined<GradientParts<'a, S>> for Backwards {
    type Output = ();

    #[inline(always)]
    fn run((gains, theta, drive, gradient, into): GradientParts<'a, S>) {
        gains.finish(theta, drive, gradient, into);
    }
}
