//! One step of a recurrent layer for one block of sixteen units: product, gates and states in one pass.
//!
//! ```text
//! tanh layer                                  its adjoint, ḣ the gradient with respect to h_t
//!   h_t = tanh(a_t + W h_{t−1})                 ā = ḣ (1 − h_t²)
//!
//! gated recurrent unit [1]                    its adjoint
//!   r = σ(a_r + W_r h_{t−1})                    ā_z = ḣ (h_{t−1} − n) z (1 − z)
//!   z = σ(a_z + W_z h_{t−1})                    ā_n = ḣ (1 − z) (1 − n²)
//!   c = b_c + W_n h_{t−1}                       c̄   = ā_n r
//!   n = tanh(a_n + r c)                         ā_r = ā_n c r (1 − r)
//!   h_t = n + z (h_{t−1} − n)                   and ḣ z goes on to h_{t−1}
//! ```
//! a are the contributions of inputs and biases, computed for all steps before; c̄ and the ā replace
//! the values that they were computed from. A block reads the states of all units and writes its own, so the
//! blocks of a step can run on any thread, and a step needs one meeting of the threads.
//!
//! Reference: \[1\] Cho et al. (2014), in the variant whose reset gate acts after the product, as in cuDNN and PyTorch.

use super::dispatch::Kernel;
use super::pack::{Arch, Pack};
use super::panels::{PanelsRef, Sixteen};
use super::product::accumulate;
use super::scalar::{Real, Scalar};

/// A step of the tanh layer, forward.
pub(crate) struct TanhStep<'a, R> {
    /// Panel of W that gives these units, a row per unit of h_{t−1}.
    pub weights: &'a [Sixteen<R>],
    /// h_{t−1} of all units.
    pub before: PanelsRef<'a, R>,
    /// a_t, and after the step h_t.
    pub states: &'a mut [Sixteen<R>],
    /// h_t again, where the next step reads it.
    pub after: &'a mut [Sixteen<R>],
}

impl<R: Real> Kernel for TanhStep<'_, R> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arch>(self) {
        accumulate::<R, A>(self.before, &mut [(self.weights, &mut *self.states)]);
        for (state, after) in self.states.iter_mut().zip(self.after) {
            *state = store(load::<R, A>(*state).tanh());
            *after = *state;
        }
    }
}

/// A step of the tanh layer, backward.
pub(crate) struct TanhAdjoint<'a, R> {
    /// Panel of Wᵀ that gives these units, a row per unit of ā.
    pub weights: &'a [Sixteen<R>],
    /// ā of the step after, of all units; nothing after the last step.
    pub pulls: Option<PanelsRef<'a, R>>,
    /// Gradient of whatever reads h_t.
    pub d_states: &'a [Sixteen<R>],
    /// h_t.
    pub states: &'a [Sixteen<R>],
    /// Becomes ā.
    pub d_inner: &'a mut [Sixteen<R>],
    /// ā again, where the next step (back in time) reads it.
    pub next_pulls: &'a mut [Sixteen<R>],
}

impl<R: Real> Kernel for TanhAdjoint<'_, R> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arch>(self) {
        self.d_inner.copy_from_slice(self.d_states);
        if let Some(pulls) = self.pulls {
            accumulate::<R, A>(pulls, &mut [(self.weights, &mut *self.d_inner)]);
        }
        for i in 0..self.d_inner.len() {
            let h = load::<R, A>(self.states[i]);
            let d = load::<R, A>(self.d_inner[i]) * (-h).mul_add(h, Pack::one());
            self.d_inner[i] = store(d);
            self.next_pulls[i] = self.d_inner[i];
        }
    }
}

/// The gates of one block at one step: r, z and n.
pub(crate) struct Gates<'a, R> {
    pub reset: &'a mut [Sixteen<R>],
    pub update: &'a mut [Sixteen<R>],
    pub new: &'a mut [Sixteen<R>],
}

impl<'a, R> Gates<'a, R> {
    /// Rows `at .. at + n` of a block's gates, which lie one after the other, all their rows each.
    pub(crate) fn of(block: &'a mut [Sixteen<R>], at: usize, n: usize) -> Self {
        let n_rows = block.len() / 3;
        let (reset, rest) = block.split_at_mut(n_rows);
        let (update, new) = rest.split_at_mut(n_rows);
        let range = at..at + n;
        Self { reset: &mut reset[range.clone()], update: &mut update[range.clone()], new: &mut new[range] }
    }
}

/// A step of the gated unit, forward.
pub(crate) struct GruStep<'a, R> {
    /// Panels of W_r, W_z and W_n for these units, one after the other.
    pub weights: &'a [Sixteen<R>],
    /// h_{t−1} of all units.
    pub before: PanelsRef<'a, R>,
    /// h_{t−1} of these.
    pub own_before: &'a [Sixteen<R>],
    /// a_r, a_z, a_n; after the step r, z, n.
    pub gates: Gates<'a, R>,
    /// b_c; after the step c.
    pub candidate: &'a mut [Sixteen<R>],
    /// h_t.
    pub states: &'a mut [Sixteen<R>],
    /// h_t again, where the next step reads it.
    pub after: &'a mut [Sixteen<R>],
}

impl<R: Real> Kernel for GruStep<'_, R> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arch>(self) {
        let Gates { reset, update, new } = self.gates;
        let (w_reset, w_rest) = self.weights.split_at(self.weights.len() / 3);
        let (w_update, w_new) = w_rest.split_at(w_reset.len());
        let mut targets = [(w_reset, &mut *reset), (w_update, &mut *update), (w_new, &mut *self.candidate)];
        accumulate::<R, A>(self.before, &mut targets);
        for i in 0..reset.len() {
            let (r, z) = (load::<R, A>(reset[i]).sigmoid(), load::<R, A>(update[i]).sigmoid());
            let n = r.mul_add(load(self.candidate[i]), load(new[i])).tanh();
            let h = z.mul_add(load::<R, A>(self.own_before[i]) - n, n);
            (reset[i], update[i], new[i]) = (store(r), store(z), store(n));
            self.states[i] = store(h);
            self.after[i] = store(h);
        }
    }
}

/// A step of the gated unit, backward.
pub(crate) struct GruAdjoint<'a, R> {
    /// Panel of (W_r, W_z, W_n)ᵀ that gives these units, a row per gate and unit.
    pub weights: &'a [Sixteen<R>],
    /// ā_r, ā_z, c̄ of the step after, of all blocks; nothing after the last step.
    pub pulls: Option<PanelsRef<'a, R>>,
    /// Gradient of whatever reads h_t.
    pub d_states: &'a [Sixteen<R>],
    /// h_{t−1} of these units.
    pub own_before: &'a [Sixteen<R>],
    /// r, z, n; after the step ā_r, ā_z, ā_n.
    pub gates: Gates<'a, R>,
    /// c; after the step c̄.
    pub candidate: &'a mut [Sixteen<R>],
    /// What the step after passed on directly, ḣ z; replaced by this step's.
    pub carry: &'a mut [Sixteen<R>],
    /// ā_r, ā_z, c̄ again, one after the other, where the next step (back in time) reads them.
    pub next_pulls: &'a mut [Sixteen<R>],
}

impl<R: Real> Kernel for GruAdjoint<'_, R> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arch>(self) {
        let Gates { reset, update, new } = self.gates;
        if let Some(pulls) = self.pulls {
            accumulate::<R, A>(pulls, &mut [(self.weights, &mut *self.carry)]);
        }
        let n_rows = reset.len();
        for i in 0..n_rows {
            let (r, z, n) = (load::<R, A>(reset[i]), load::<R, A>(update[i]), load::<R, A>(new[i]));
            let (c, h) = (load::<R, A>(self.candidate[i]), load::<R, A>(self.own_before[i]));
            let d = load::<R, A>(self.carry[i]) + load(self.d_states[i]);
            let d_update = d * (h - n) * (-z).mul_add(z, z);
            let d_new = d * (Pack::one() - z) * (-n).mul_add(n, Pack::one());
            let d_candidate = d_new * r;
            let d_reset = d_new * c * (-r).mul_add(r, r);
            (reset[i], update[i], new[i]) = (store(d_reset), store(d_update), store(d_new));
            self.candidate[i] = store(d_candidate);
            self.carry[i] = store(d * z);
            self.next_pulls[i] = reset[i];
            self.next_pulls[n_rows + i] = update[i];
            self.next_pulls[2 * n_rows + i] = self.candidate[i];
        }
    }
}

#[inline(always)]
fn load<R: Real, A: Arch>(value: Sixteen<R>) -> Pack<R, A> {
    Pack::new(value.0)
}

#[inline(always)]
fn store<R: Real, A: Arch>(value: Pack<R, A>) -> Sixteen<R> {
    Sixteen(value.to_array())
}
