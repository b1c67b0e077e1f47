//! What the code leaves over of the steps seen, and how it goes on in a forecast: an offset and a periodic term that last, and the
//! rest of the last step, which fades.
//!
//! ```text
//! r_t = y_t − ŷ_t(z)                                   over the steps seen, for every draw of z
//! W   = argmin Σ_t (r_t − f_t · W)² + λ ‖W‖²           f = [1, cos nφ, sin nφ], n ≤ 2; 1 alone where inputs tell no phase φ
//! ŷ_{s+h} ← ŷ_{s+h}(z) + f_{s+h} · W + (r_s − f_s · W) e^{−h/κ}
//! ```
//! W has a normal prior, of which λ is the precision in units of a step's: given z it is inferred in closed form, output by output. As h
//! goes to 0 the forecast goes to the last output that was seen: it does not jump. A code says what a member has in common with others; this is
//! what it has to itself.

use serde::{Deserialize, Serialize};

use crate::algebra::{cholesky, dot, solve_factored};
use crate::family::{Phase, Signal};
use crate::{Error, Result};

/// Harmonics of the phase.
const HARMONICS: usize = 2;

/// How what a code leaves over goes on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remainder {
    /// λ: the weight of the prior of what lasts, in steps.
    pub weight: f64,
    /// κ: steps after which the rest of the last step has faded to 1/e.
    pub fading: f64,
    /// Where inputs tell the phase of a cycle, if they do.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub phase: Option<Phase>,
}

impl Remainder {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Numbers that are not above 0; a phase beyond the inputs.
    pub(crate) fn check(&self, d_input: usize) -> Result<()> {
        for (name, found) in [("weight", self.weight), ("fading", self.fading)] {
            if !(found.is_finite() && found > 0.0) {
                let why = format!("found {found}; expected above 0");
                return Err(Error::setting(format!("{name} of the remainder"), why));
            }
        }
        match self.phase {
            Some(Phase { cos, sin }) if cos.max(sin) >= d_input => {
                Err(Error::shape("columns of the phase", format!("below {d_input}"), cos.max(sin)))
            }
            _ => Ok(()),
        }
    }

    /// Width of f.
    pub(crate) fn width(&self) -> usize {
        1 + if self.phase.is_some() { 2 * HARMONICS } else { 0 }
    }

    /// f of one step, given its inputs in data units.
    pub(crate) fn functions(&self, inputs: &[f64]) -> Vec<f64> {
        let mut row = vec![1.0];
        row.extend(self.phase.iter().flat_map(|phase| phase.harmonics(inputs, HARMONICS)));
        row
    }

    /// f of all steps of a signal of inputs; of `n_time` steps where there is none.
    pub(crate) fn rows(&self, inputs: Option<&Signal>, n_time: usize) -> Vec<f64> {
        (0..n_time).flat_map(|t| self.functions(inputs.map_or(&[], |inputs| inputs.row(t)))).collect()
    }

    /// What is added to the forecasts of every draw, n_draws × n_future × d_obs.
    ///
    /// # Shapes
    /// `outputs`: n_past × d_obs (NaN where missing); `fitted`: n_draws × n_past × d_obs, what each draw says of them; `past` and `future`: f
    /// by step. The first `skip` steps say nothing.
    pub(crate) fn added(
        &self,
        (outputs, fitted): (&Signal, &[f64]),
        (past, future): (&[f64], &[f64]),
        skip: usize,
    ) -> Vec<f64> {
        let (n, d, w) = (outputs.n_time(), outputs.width(), self.width());
        let n_future = future.len() / w;
        let n_draws = fitted.len() / (n * d).max(1);
        let mut added = vec![0.0; n_draws * n_future * d];
        for c in 0..d {
            let seen: Vec<usize> = (skip.min(n)..n).filter(|&t| !outputs.get(t, c).is_nan()).collect();
            let Some(&last) = seen.last() else { continue };
            let Some(factor) = self.factor(past, &seen) else { continue };
            for i in 0..n_draws {
                let left = |t: usize| outputs.get(t, c) - fitted[(i * n + t) * d + c];
                let mut right = vec![0.0; w];
                for &t in &seen {
                    let r = left(t);
                    right.iter_mut().zip(&past[t * w..(t + 1) * w]).for_each(|(sum, f)| *sum += f * r);
                }
                let lasting = solve_factored(&factor, right);
                let rest = left(last) - dot(&past[last * w..(last + 1) * w], &lasting);
                for h in 0..n_future {
                    let ago = (n + h - last) as f64;
                    added[(i * n_future + h) * d + c] =
                        dot(&future[h * w..(h + 1) * w], &lasting) + rest * (-ago / self.fading).exp();
                }
            }
        }
        added
    }

    /// The Cholesky factor of Σ f fᵀ + λ I over the steps seen.
    fn factor(&self, past: &[f64], seen: &[usize]) -> Option<Vec<f64>> {
        let w = self.width();
        let mut gram = vec![0.0; w * w];
        (0..w).for_each(|j| gram[j * w + j] = self.weight);
        for &t in seen {
            let f = &past[t * w..(t + 1) * w];
            for i in 0..w {
                (0..w).for_each(|j| gram[i * w + j] += f[i] * f[j]);
            }
        }
        cholesky(&gram, w)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(n: usize) -> Signal {
        Signal::new(n, 2, (0..n).flat_map(|t| [(0.4 * t as f64).cos(), (0.4 * t as f64).sin()]).collect())
            .unwrap()
    }

    const CYCLE: Remainder = Remainder { weight: 1e-6, fading: 5.0, phase: Some(Phase { cos: 0, sin: 1 }) };

    /// With next to no prior, what is an offset and two harmonics goes on as it is.
    #[test]
    fn what_lasts_goes_on() {
        let (n, h) = (30, 12);
        let truth = |t: usize| 0.7 + 0.3 * (0.4 * t as f64).cos() - 0.2 * (0.8 * t as f64).sin();
        let outputs = Signal::column((0..n).map(truth).collect());
        let rows = CYCLE.rows(Some(&inputs(n + h)), n + h);
        let added = CYCLE.added((&outputs, &vec![0.0; n]), rows.split_at(n * CYCLE.width()), 0);
        for (k, found) in added.iter().enumerate() {
            assert!((found - truth(n + k)).abs() < 1e-5, "{k}: {found} {}", truth(n + k));
        }
    }

    /// With a prior that lets nothing last, the rest of the last step fades from where it was.
    #[test]
    fn what_does_not_last_fades_without_a_jump() {
        let firm = Remainder { weight: 1e12, ..CYCLE };
        let outputs = Signal::column(vec![0.0, 0.0, 1.0]);
        let rows = firm.rows(Some(&inputs(13)), 13);
        let added = firm.added((&outputs, &[0.0; 3]), rows.split_at(3 * firm.width()), 0);
        for (h, found) in added.iter().enumerate() {
            assert!((found - (-(h as f64 + 1.0) / 5.0).exp()).abs() < 1e-9, "{h}: {found}");
        }
        let slow = Remainder { fading: 1e9, ..firm };
        let added = slow.added((&outputs, &[0.0; 3]), rows.split_at(3 * slow.width()), 0);
        assert!(added.iter().all(|found| (found - 1.0).abs() < 1e-6), "{added:?}");
    }

    /// The posterior mean of a Gaussian offset under n observations of noise 1: n / (n + λ) of their mean.
    #[test]
    fn the_prior_shrinks_as_a_normal_one_does() {
        let offset = Remainder { weight: 3.0, fading: 1e-3, phase: None };
        let outputs = Signal::column(vec![9.0, 2.0, f64::NAN, 1.0, 3.0]);
        let rows = offset.rows(None, 8);
        // The first step is not asked; of the other three the mean is 2.
        let added = offset.added((&outputs, &[0.0; 5]), rows.split_at(5), 1);
        assert!(added.iter().all(|found| (found - 2.0 * 3.0 / 6.0).abs() < 1e-12), "{added:?}");
    }

    #[test]
    fn nothing_seen_adds_nothing_and_draws_are_apart() {
        let offset = Remainder { weight: 1.0, fading: 1e-3, phase: None };
        let none = Signal::new(0, 1, vec![]).unwrap();
        assert!(offset.added((&none, &[]), (&[], &[1.0, 1.0]), 0).is_empty());
        let blank = Signal::column(vec![f64::NAN; 2]);
        assert_eq!(offset.added((&blank, &[0.0; 2]), (&[1.0; 2], &[1.0; 2]), 0), [0.0; 2]);
        let outputs = Signal::column(vec![1.0]);
        let added = offset.added((&outputs, &[0.0, 1.0]), (&[1.0], &[1.0]), 0);
        assert!((added[0] - 0.5).abs() < 1e-12 && added[1].abs() < 1e-12, "{added:?}");
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        assert!(CYCLE.check(2).is_ok() && CYCLE.check(1).is_err());
        assert!(Remainder { weight: 0.0, ..CYCLE }.check(2).is_err());
        assert!(Remainder { fading: f64::NAN, ..CYCLE }.check(2).is_err());
    }
}
