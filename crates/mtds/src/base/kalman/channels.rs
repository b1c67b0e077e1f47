//! Outputs observed together as channels with independent noise of variance 1.
//!
//! ```text
//! L = lower factor of S_oo,  W = L⁻¹      ỹ = W (y_o − D_o u − d_o)      H = W C_o      log |det W| joins log p
//! M = W̄ Wᵀ = H̄ Hᵀ + Σ_t ỹ̄_t ỹ_tᵀ + (steps with o) I
//! C̄_o += Wᵀ H̄      S̄_oo = −½ Wᵀ (Φ(M) + Φ(M)ᵀ) W,  Φ: lower triangle with half the diagonal
//! ```
//! The last line is the adjoint of a Cholesky factor (Murray 2016, "Differentiation of the Cholesky decomposition", eq 10),
//! written for W. Shapes: W and M |o| × |o|, H |o| × n; a diagonal S has diagonal W and M, kept as |o| numbers.

use super::Matrices;
use super::root::triangularise;
use super::system::SystemGradient;
use crate::base::NoiseForm;
use crate::kernel::Scalar;

/// One set o of outputs that occur together.
#[derive(Clone, Debug)]
pub(super) struct Channels<S> {
    observed: Vec<usize>,
    form: NoiseForm,
    /// W.
    whiten: Vec<S>,
    /// H: |o| × n.
    pub rows: Vec<S>,
    /// log |det W|.
    pub log_scale: S,
}

/// Gradients with respect to channels, added up over steps and sequences.
#[derive(Clone, Debug)]
pub(super) struct ChannelsGradient<S> {
    /// H̄.
    pub rows: Vec<S>,
    /// Σ ỹ̄ ỹᵀ; of a diagonal S its diagonal.
    pub outer: Vec<S>,
}

impl<S: Scalar> Channels<S> {
    #[inline(always)]
    pub(super) fn new(system: &Matrices<S>, observed: &[usize]) -> Self {
        let (n, size) = (system.d_state, observed.len());
        let whiten = match system.noise_form {
            NoiseForm::Diagonal => inverse_deviations(system, observed),
            NoiseForm::Full => inverse_factor(system, observed),
        };
        let mut this = Self {
            observed: observed.to_vec(),
            form: system.noise_form,
            whiten,
            rows: vec![S::zero(); size * n],
            log_scale: S::zero(),
        };
        for i in 0..size {
            this.log_scale += this.weight(i, i).abs().ln();
            for j in this.support(i) {
                let w = this.weight(i, j);
                for k in 0..n {
                    this.rows[i * n + k] =
                        w.mul_add(system.emission[observed[j] * n + k], this.rows[i * n + k]);
                }
            }
        }
        this
    }

    /// W_ij.
    #[inline(always)]
    fn weight(&self, i: usize, j: usize) -> S {
        match self.form {
            NoiseForm::Diagonal => self.whiten[i],
            NoiseForm::Full => self.whiten[i * self.observed.len() + j],
        }
    }

    /// Columns in which row i of W is not zero.
    #[inline(always)]
    fn support(&self, i: usize) -> std::ops::Range<usize> {
        match self.form {
            NoiseForm::Diagonal => i..i + 1,
            NoiseForm::Full => 0..i + 1,
        }
    }

    /// ỹ of one step, from the outputs (p, missing ones ignored) and what inputs add to them (p).
    #[inline(always)]
    pub(super) fn whiten(&self, values: &[S::Real], push: &[S], out: &mut [S]) {
        for i in 0..out.len() {
            out[i] = S::zero();
            for j in self.support(i) {
                let o = self.observed[j];
                out[i] = self.weight(i, j).mul_add(S::splat(values[o]) - push[o], out[i]);
            }
        }
    }

    /// Adds the gradient with respect to what inputs add, −Wᵀ ỹ̄, given ỹ̄.
    #[inline(always)]
    pub(super) fn push_adjoint(&self, d_whitened: &[S], d_push: &mut [S]) {
        for i in 0..d_whitened.len() {
            for j in self.support(i) {
                let o = self.observed[j];
                d_push[o] = (-self.weight(i, j)).mul_add(d_whitened[i], d_push[o]);
            }
        }
    }

    #[inline(always)]
    pub(super) fn gradient(&self) -> ChannelsGradient<S> {
        ChannelsGradient { rows: vec![S::zero(); self.rows.len()], outer: vec![S::zero(); self.whiten.len()] }
    }

    /// Adds the gradients with respect to C and S; `weight` is that of log |det W|.
    #[inline(always)]
    pub(super) fn pull_back(&self, gradient: &ChannelsGradient<S>, weight: S, d: &mut SystemGradient<S>) {
        let size = self.observed.len();
        if size == 0 {
            return;
        }
        let (n, p) = (self.rows.len() / size, d.noise.len().isqrt());
        let mut middle = vec![S::zero(); size * size];
        for i in 0..size {
            for j in self.support(i) {
                let w = self.weight(i, j);
                let c = self.observed[j] * n;
                for k in 0..n {
                    d.emission[c + k] = w.mul_add(gradient.rows[i * n + k], d.emission[c + k]);
                }
                // Φ(M) + Φ(M)ᵀ: the lower triangle of M, mirrored.
                let m = self.middle_entry(gradient, (i, j)) + if i == j { weight } else { S::zero() };
                middle[i * size + j] = m;
                middle[j * size + i] = m;
            }
        }
        self.add_congruent(&middle, &mut d.noise, p);
    }

    /// (H̄ Hᵀ + Σ ỹ̄ ỹᵀ)_ij.
    #[inline(always)]
    fn middle_entry(&self, gradient: &ChannelsGradient<S>, (i, j): (usize, usize)) -> S {
        let size = self.observed.len();
        let n = self.rows.len() / size;
        let mut dot = match self.form {
            NoiseForm::Diagonal => gradient.outer[i],
            NoiseForm::Full => gradient.outer[i * size + j],
        };
        for k in 0..n {
            dot = gradient.rows[i * n + k].mul_add(self.rows[j * n + k], dot);
        }
        dot
    }

    /// Adds −½ Wᵀ X W to the entries oo of a p × p matrix.
    #[inline(always)]
    fn add_congruent(&self, x: &[S], out: &mut [S], p: usize) {
        let size = self.observed.len();
        let mut product = vec![S::zero(); size * size];
        for i in 0..size {
            for j in self.support(i) {
                let w = self.weight(i, j);
                for k in 0..size {
                    product[j * size + k] = w.mul_add(x[i * size + k], product[j * size + k]);
                }
            }
        }
        for i in 0..size {
            for j in self.support(i) {
                let w = S::constant(-0.5) * self.weight(i, j);
                for k in 0..size {
                    let at = self.observed[k] * p + self.observed[j];
                    out[at] = product[k * size + i].mul_add(w, out[at]);
                }
            }
        }
    }
}

impl<S: Scalar> ChannelsGradient<S> {
    /// Adds ỹ̄ ỹᵀ of one step, as much of it as counts.
    #[inline(always)]
    pub(super) fn add_outer(&mut self, form: NoiseForm, d_whitened: &[S], whitened: &[S]) {
        let size = whitened.len();
        for i in 0..size {
            match form {
                NoiseForm::Diagonal => {
                    self.outer[i] = d_whitened[i].mul_add(whitened[i], self.outer[i]);
                }
                NoiseForm::Full => {
                    for j in 0..=i {
                        let at = i * size + j;
                        self.outer[at] = d_whitened[i].mul_add(whitened[j], self.outer[at]);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn inverse_deviations<S: Scalar>(system: &Matrices<S>, observed: &[usize]) -> Vec<S> {
    let mut inverse = vec![S::zero(); observed.len()];
    for (i, &o) in observed.iter().enumerate() {
        inverse[i] = S::one() / system.noise_factor[o * system.d_obs + o];
    }
    inverse
}

/// Inverse of a lower factor of S_oo. Its diagonal may be negative, which changes no covariance.
#[inline(always)]
fn inverse_factor<S: Scalar>(system: &Matrices<S>, observed: &[usize]) -> Vec<S> {
    let (p, size) = (system.d_obs, observed.len());
    let mut lower = vec![S::zero(); size * p];
    for (i, &o) in observed.iter().enumerate() {
        lower[i * p..(i + 1) * p].copy_from_slice(&system.noise_factor[o * p..(o + 1) * p]);
    }
    triangularise(&mut lower, p, p);
    let mut inverse = vec![S::zero(); size * size];
    for i in 0..size {
        let diagonal = S::one() / lower[i * p + i];
        inverse[i * size + i] = diagonal;
        for j in 0..i {
            let mut dot = S::zero();
            for k in j..i {
                dot = lower[i * p + k].mul_add(inverse[k * size + j], dot);
            }
            inverse[i * size + j] = -(dot * diagonal);
        }
    }
    inverse
}
