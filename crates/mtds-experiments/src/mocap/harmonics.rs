//! What a forecast leaves over of the rows seen, and how it goes on: for rivals, by the rule that the model has of itself.
//!
//! ```text
//! r_t = y_t − ŷ_t                                     over the rows seen
//! W   = argmin Σ_t (r_t − f_t · W)² + λ ‖W‖²          f = [1, cos φ, sin φ, cos 2φ, sin 2φ]; 1 alone where inputs tell no phase
//! ŷ_{s+h} ← ŷ_{s+h} + f_{s+h} · W + (r_s − f_s · W) e^{−h/κ}
//! ```
//! With ŷ the mean of the rows seen it is a forecast that learns nothing but λ and κ: harmonics of the phase.
//! The rule of the library is [`mtds::parts::Remainder`]; it is written down a second time because that one works inside of a model.

use mtds::Signal;
use mtds::parts::Phase;
use serde::{Deserialize, Serialize};

/// Harmonics of the phase.
const HARMONICS: usize = 2;
/// Weights and fadings that are tried, as for the model.
const WEIGHTS: [f64; 3] = [8.0, 32.0, 128.0];
const FADINGS: [f64; 2] = [8.0, 32.0];

/// λ and κ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeedRule {
    /// λ, in rows.
    pub weight: f64,
    /// κ, in rows.
    pub fading: f64,
}

impl SeedRule {
    /// All that are tried.
    #[must_use]
    pub fn all() -> Vec<Self> {
        WEIGHTS.iter().flat_map(|&weight| FADINGS.map(|fading| Self { weight, fading })).collect()
    }

    /// A forecast with what it leaves over of the rows seen.
    ///
    /// # Shapes
    /// `seen`: s × d; `inputs`: s + n rows; `fitted`: (s + n) × d, of which the first s rows say what the forecast makes of the rows seen.
    /// The result is n × d.
    #[must_use]
    pub fn added(self, seen: &Signal, inputs: &Signal, phase: Option<Phase>, fitted: &[f64]) -> Vec<f64> {
        let (s, d) = (seen.n_time(), seen.width());
        let n_all = fitted.len() / d;
        let functions: Vec<Vec<f64>> = (0..n_all).map(|t| functions(inputs.row(t), phase)).collect();
        let factor = self.factor(&functions[..s]);
        let mut forecast = fitted[s * d..].to_vec();
        for c in 0..d {
            let left = |t: usize| seen.get(t, c) - fitted[t * d + c];
            let mut right = vec![0.0; functions[0].len()];
            for (t, f) in functions[..s].iter().enumerate() {
                right.iter_mut().zip(f).for_each(|(sum, f)| *sum += f * left(t));
            }
            let lasting = solve(&factor, right);
            let rest = left(s - 1) - dot(&functions[s - 1], &lasting);
            for t in s..n_all {
                let fade = (-((t - s + 1) as f64) / self.fading).exp();
                forecast[(t - s) * d + c] += dot(&functions[t], &lasting) + rest * fade;
            }
        }
        forecast
    }

    /// L with L Lᵀ = Σ f fᵀ + λ I, row by row.
    fn factor(self, functions: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let w = functions[0].len();
        let mut l = vec![vec![0.0; w]; w];
        for i in 0..w {
            for j in 0..=i {
                let gram: f64 = functions.iter().map(|f| f[i] * f[j]).sum();
                let own = if i == j { self.weight } else { 0.0 };
                let rest = gram + own - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
                l[i][j] = if i == j { rest.sqrt() } else { rest / l[j][j] };
            }
        }
        l
    }
}

fn functions(inputs: &[f64], phase: Option<Phase>) -> Vec<f64> {
    let mut row = vec![1.0];
    row.extend(phase.iter().flat_map(|phase| phase.harmonics(inputs, HARMONICS)));
    row
}

/// Solves L Lᵀ x = b.
fn solve(l: &[Vec<f64>], mut b: Vec<f64>) -> Vec<f64> {
    let w = b.len();
    for i in 0..w {
        b[i] = (b[i] - (0..i).map(|k| l[i][k] * b[k]).sum::<f64>()) / l[i][i];
    }
    for i in (0..w).rev() {
        b[i] = (b[i] - (i + 1..w).map(|k| l[k][i] * b[k]).sum::<f64>()) / l[i][i];
    }
    b
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHASE: Phase = Phase { cos: 0, sin: 1 };

    fn inputs(n: usize) -> Signal {
        let rows = (0..n).map(|t| vec![(0.3 * t as f64).cos(), (0.3 * t as f64).sin()]);
        Signal::from_rows(rows.collect()).expect("rows of one width")
    }

    /// With next to no prior, what is an offset and two harmonics goes on as it is, in every output.
    #[test]
    fn what_is_periodic_goes_on() {
        let (s, n) = (40, 25);
        let truth = |t: usize, c: usize| {
            let phase = 0.3 * t as f64;
            0.4 + c as f64 + 0.8 * phase.sin() - 0.1 * (2.0 * phase).cos()
        };
        let rows = |t: usize| vec![truth(t, 0), truth(t, 1)];
        let seen = Signal::from_rows((0..s).map(rows).collect()).expect("rows of one width");
        let rule = SeedRule { weight: 1e-9, fading: 4.0 };
        let found = rule.added(&seen, &inputs(s + n), Some(PHASE), &vec![0.3; 2 * (s + n)]);
        for (k, found) in found.iter().enumerate() {
            let expected = truth(s + k / 2, k % 2);
            assert!((found - expected).abs() < 1e-6, "{k}: {found} {expected}");
        }
    }

    /// Where nothing may last, the error of the last row fades from where it was; and an offset alone shrinks as under a normal prior.
    #[test]
    fn the_rest_fades_and_an_offset_shrinks() {
        let seen = Signal::column(vec![0.0, 0.0, 1.0]);
        let firm = SeedRule { weight: 1e12, fading: 5.0 };
        let found = firm.added(&seen, &inputs(10), Some(PHASE), &[0.0; 10]);
        for (h, found) in found.iter().enumerate() {
            assert!((found - (-(h as f64 + 1.0) / 5.0).exp()).abs() < 1e-9, "{h}: {found}");
        }
        let soon = SeedRule { weight: 3.0, fading: 1e-3 };
        let seen = Signal::column(vec![2.0, 1.0, 3.0]);
        let found = soon.added(&seen, &inputs(5), None, &[0.0; 5]);
        assert!(found.iter().all(|found| (found - 2.0 * 3.0 / 6.0).abs() < 1e-12), "{found:?}");
    }
}
