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
//!
//! How much that is differs from member to member: next to nothing where a member is like those that were learned from, nearly all where it is like none
//! of them. So λ may be a sequence's own, the one under which parts of the steps seen tell the rest:
//!
//! ```text
//! λ = argmin Σ_a Σ_c mean over the steps beyond a of (r_t − f_t · W_a)²       W_a: of the steps up to a;  a: 3/8 … 3/4 of the steps, and the same from the end
//! ```
//! over all outputs together, with r that of the mean of the draws. A likelihood would not do: what is left over hangs together from step to step, so that it takes
//! for lasting what is slow.

use serde::{Deserialize, Serialize};

use crate::algebra::{cholesky, dot, solve_factored};
use crate::family::{Phase, Signal};
use crate::{Error, Result};

/// Harmonics of the phase.
const HARMONICS: usize = 2;
/// Weights of which a sequence has its own, and the one of sequences that are too short to tell.
const WEIGHTS: [f64; 7] = [4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
const USUAL: f64 = 32.0;
/// Eighths of the steps seen that tell the rest, and fewest steps of which eighths are taken.
const EIGHTHS: [usize; 4] = [3, 4, 5, 6];
const FEWEST: usize = 8;

/// The weight of a prior: how much of what is left over lasts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PriorWeight {
    /// The same for all sequences, in steps.
    Steps(f64),
    /// Each sequence's own.
    Found(Own),
}

/// What tells the weight of a prior.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Own {
    /// The steps that were seen.
    Own,
}

/// How what a code leaves over goes on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remainder {
    /// λ: the weight of the prior of what lasts.
    pub weight: PriorWeight,
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
        let weight = match self.weight {
            PriorWeight::Steps(steps) => steps,
            PriorWeight::Found(Own::Own) => USUAL,
        };
        for (name, found) in [("weight", weight), ("fading", self.fading)] {
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
    /// `outputs`: n_past × d_obs (NaN where missing); `fitted`: n_draws × n_past × d_obs, what each draw says of them, and how much each draw
    /// counts; `past` and `future`: f by step. The first `skip` steps say nothing.
    pub(crate) fn added(
        &self,
        outputs: &Signal,
        (fitted, weights): (&[f64], &[f64]),
        (past, future): (&[f64], &[f64]),
        skip: usize,
    ) -> Vec<f64> {
        let (n, d, w) = (outputs.n_time(), outputs.width(), self.width());
        let n_future = future.len() / w;
        let n_draws = weights.len();
        let mut added = vec![0.0; n_draws * n_future * d];
        let weight = match self.weight {
            PriorWeight::Steps(steps) => steps,
            PriorWeight::Found(Own::Own) => {
                own_weight(&residuals(outputs, (fitted, weights)), (past, w), skip)
            }
        };
        for c in 0..d {
            let seen = observed(outputs, c, skip.min(n)..n);
            let Some(&last) = seen.last() else { continue };
            let Some(factor) = factor((past, w), &seen, weight) else { continue };
            for i in 0..n_draws {
                let left = |t: usize| outputs.get(t, c) - fitted[(i * n + t) * d + c];
                let lasting = lasting(&factor, (past, w), &seen, left);
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

    /// A forecast by other means, with what it leaves over of the steps seen: the same for rivals.
    ///
    /// # Shapes
    /// `seen`: s × d; `inputs`: s + n steps; `fitted`: (s + n) × d, of which the first s steps say what the forecast makes of those seen; `unit`: d, by which
    /// outputs are compared. The result is n × d.
    #[must_use]
    pub fn beside(&self, seen: &Signal, inputs: &Signal, fitted: &[f64], unit: &[f64]) -> Vec<f64> {
        let (s, d, w) = (seen.n_time(), seen.width(), self.width());
        let scaled =
            |values: &[f64]| values.iter().zip(unit.iter().cycle()).map(|(y, u)| y / u).collect::<Vec<f64>>();
        let outputs = Signal::new(s, d, scaled(seen.values())).expect("as many values as before");
        let rows = self.rows(Some(inputs), fitted.len() / d);
        let added = self.added(&outputs, (&scaled(&fitted[..s * d]), &[1.0]), rows.split_at(s * w), 0);
        let ahead = fitted[s * d..].iter().zip(added.iter().zip(unit.iter().cycle()));
        ahead.map(|(mean, (added, unit))| mean + added * unit).collect()
    }
}

/// What the mean of the draws leaves over.
fn residuals(outputs: &Signal, (fitted, weights): (&[f64], &[f64])) -> Signal {
    let mut left = outputs.values().to_vec();
    for (of_draw, weight) in fitted.chunks_exact(left.len()).zip(weights) {
        left.iter_mut().zip(of_draw).for_each(|(left, fitted)| *left -= weight * fitted);
    }
    Signal::new(outputs.n_time(), outputs.width(), left).expect("as many values as outputs")
}

/// Steps at which an output was observed.
fn observed(outputs: &Signal, c: usize, steps: std::ops::Range<usize>) -> Vec<usize> {
    steps.filter(|&t| !outputs.get(t, c).is_nan()).collect()
}

/// The weight under which parts of the steps seen tell the rest; the largest of equals.
fn own_weight(left: &Signal, past: (&[f64], usize), skip: usize) -> f64 {
    let n = left.n_time();
    if n < skip + FEWEST {
        return USUAL;
    }
    let at = |eighths: usize| skip + (n - skip) * eighths / 8;
    let parts = EIGHTHS.iter().flat_map(|&eighths| {
        [(skip..at(eighths), at(eighths)..n), (at(8 - eighths)..n, skip..at(8 - eighths))]
    });
    let mut errors = [0.0; WEIGHTS.len()];
    for (known, asked) in parts {
        for c in 0..left.width() {
            let (known, asked) = (observed(left, c, known.clone()), observed(left, c, asked.clone()));
            if known.is_empty() || asked.is_empty() {
                continue;
            }
            for (error, &weight) in errors.iter_mut().zip(&WEIGHTS) {
                *error += mean_error((left, c), past, (&known, &asked), weight);
            }
        }
    }
    let best = (0..WEIGHTS.len()).rev().min_by(|&a, &b| errors[a].total_cmp(&errors[b]));
    WEIGHTS[best.expect("there are weights")]
}

/// Mean squared error at steps that are asked, of what lasts of steps that are known.
fn mean_error(
    (left, c): (&Signal, usize),
    (past, w): (&[f64], usize),
    (known, asked): (&[usize], &[usize]),
    weight: f64,
) -> f64 {
    let Some(factor) = factor((past, w), known, weight) else { return 0.0 };
    let lasting = lasting(&factor, (past, w), known, |t| left.get(t, c));
    let square = |&t: &usize| (left.get(t, c) - dot(&past[t * w..(t + 1) * w], &lasting)).powi(2);
    asked.iter().map(square).sum::<f64>() / asked.len() as f64
}

/// W of one output.
fn lasting(
    factor: &[f64],
    (past, w): (&[f64], usize),
    seen: &[usize],
    left: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let mut right = vec![0.0; w];
    for &t in seen {
        let r = left(t);
        right.iter_mut().zip(&past[t * w..(t + 1) * w]).for_each(|(sum, f)| *sum += f * r);
    }
    solve_factored(factor, right)
}

/// The Cholesky factor of Σ f fᵀ + λ I over the steps seen.
fn factor((past, w): (&[f64], usize), seen: &[usize], weight: f64) -> Option<Vec<f64>> {
    let mut gram = vec![0.0; w * w];
    (0..w).for_each(|j| gram[j * w + j] = weight);
    for &t in seen {
        let f = &past[t * w..(t + 1) * w];
        for i in 0..w {
            (0..w).for_each(|j| gram[i * w + j] += f[i] * f[j]);
        }
    }
    cholesky(&gram, w)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(n: usize) -> Signal {
        Signal::new(n, 2, (0..n).flat_map(|t| [(0.4 * t as f64).cos(), (0.4 * t as f64).sin()]).collect())
            .unwrap()
    }

    const CYCLE: Remainder =
        Remainder { weight: PriorWeight::Steps(1e-6), fading: 5.0, phase: Some(Phase { cos: 0, sin: 1 }) };

    /// With next to no prior, what is an offset and two harmonics goes on as it is.
    #[test]
    fn what_lasts_goes_on() {
        let (n, h) = (30, 12);
        let truth = |t: usize| 0.7 + 0.3 * (0.4 * t as f64).cos() - 0.2 * (0.8 * t as f64).sin();
        let outputs = Signal::column((0..n).map(truth).collect());
        let rows = CYCLE.rows(Some(&inputs(n + h)), n + h);
        let added = CYCLE.added(&outputs, (&vec![0.0; n], &[1.0]), rows.split_at(n * CYCLE.width()), 0);
        for (k, found) in added.iter().enumerate() {
            assert!((found - truth(n + k)).abs() < 1e-5, "{k}: {found} {}", truth(n + k));
        }
    }

    /// With a prior that lets nothing last, the rest of the last step fades from where it was.
    #[test]
    fn what_does_not_last_fades_without_a_jump() {
        let firm = Remainder { weight: PriorWeight::Steps(1e12), ..CYCLE };
        let outputs = Signal::column(vec![0.0, 0.0, 1.0]);
        let rows = firm.rows(Some(&inputs(13)), 13);
        let added = firm.added(&outputs, (&[0.0; 3], &[1.0]), rows.split_at(3 * firm.width()), 0);
        for (h, found) in added.iter().enumerate() {
            assert!((found - (-(h as f64 + 1.0) / 5.0).exp()).abs() < 1e-9, "{h}: {found}");
        }
        let slow = Remainder { fading: 1e9, ..firm };
        let added = slow.added(&outputs, (&[0.0; 3], &[1.0]), rows.split_at(3 * slow.width()), 0);
        assert!(added.iter().all(|found| (found - 1.0).abs() < 1e-6), "{added:?}");
    }

    /// The posterior mean of a Gaussian offset under n observations of noise 1: n / (n + λ) of their mean.
    #[test]
    fn the_prior_shrinks_as_a_normal_one_does() {
        let offset = Remainder { weight: PriorWeight::Steps(3.0), fading: 1e-3, phase: None };
        let outputs = Signal::column(vec![9.0, 2.0, f64::NAN, 1.0, 3.0]);
        let rows = offset.rows(None, 8);
        // The first step is not asked; of the other three the mean is 2.
        let added = offset.added(&outputs, (&[0.0; 5], &[1.0]), rows.split_at(5), 1);
        assert!(added.iter().all(|found| (found - 2.0 * 3.0 / 6.0).abs() < 1e-12), "{added:?}");
    }

    #[test]
    fn nothing_seen_adds_nothing_and_draws_are_apart() {
        let offset = Remainder { weight: PriorWeight::Steps(1.0), fading: 1e-3, phase: None };
        let none = Signal::new(0, 1, vec![]).unwrap();
        assert!(offset.added(&none, (&[], &[]), (&[], &[1.0, 1.0]), 0).is_empty());
        let blank = Signal::column(vec![f64::NAN; 2]);
        assert_eq!(offset.added(&blank, (&[0.0; 2], &[1.0]), (&[1.0; 2], &[1.0; 2]), 0), [0.0; 2]);
        let outputs = Signal::column(vec![1.0]);
        let added = offset.added(&outputs, (&[0.0, 1.0], &[0.5, 0.5]), (&[1.0], &[1.0]), 0);
        assert!((added[0] - 0.5).abs() < 1e-12 && added[1].abs() < 1e-12, "{added:?}");
    }

    /// Of an offset that is there in all steps nearly all goes on; of a slope, whose parts say the contrary of each other, next to nothing.
    #[test]
    fn a_sequence_tells_how_much_lasts() {
        let own = Remainder { weight: PriorWeight::Found(Own::Own), fading: 1e-3, phase: None };
        let after = |n: usize, value: &dyn Fn(usize) -> f64| {
            let outputs = Signal::column((0..n).map(value).collect());
            own.added(&outputs, (&vec![0.0; n], &[1.0]), (&vec![1.0; n], &[1.0]), 0)[0]
        };
        let offset = |t: usize| 10.0 + ((7 * t) % 5) as f64 - 2.0;
        let slope = |t: usize| -1.0 + 2.5 * t as f64 / 39.0;
        assert!((after(40, &offset) - 10.0 * 40.0 / 44.0).abs() < 1e-9, "{}", after(40, &offset));
        assert!((after(40, &slope) - 0.25 * 40.0 / 296.0).abs() < 1e-9, "{}", after(40, &slope));
        // Of seven steps nobody can tell: the usual weight.
        let mean = (0..7).map(offset).sum::<f64>() / 7.0;
        assert!((after(7, &offset) - mean * 7.0 / (7.0 + USUAL)).abs() < 1e-9);
    }

    /// Gaps in one output leave the others as they are, and an output without any value is passed over.
    #[test]
    fn weights_are_found_from_what_was_observed() {
        let own = Remainder { weight: PriorWeight::Found(Own::Own), fading: 1e-3, phase: None };
        let rows = (0..24).map(|t| vec![5.0 + ((3 * t) % 4) as f64, f64::NAN]).collect();
        let outputs = Signal::from_rows(rows).unwrap();
        let added = own.added(&outputs, (&[0.0; 48], &[1.0]), (&[1.0; 24], &[1.0]), 0);
        assert!(added[0] > 5.5 && added[1] == 0.0, "{added:?}");
    }

    /// A rival's forecast is treated as a draw is, in any unit.
    #[test]
    fn beside_a_forecast_it_is_the_same_in_any_unit() {
        let own = Remainder { weight: PriorWeight::Found(Own::Own), fading: 4.0, phase: None };
        let values: Vec<f64> = (0..20).flat_map(|t| [3.0 + f64::from(t % 3), -f64::from(t % 4)]).collect();
        let (inputs, fitted) = (Signal::column(vec![0.0; 26]), vec![0.5; 52]);
        let found = |unit: f64| {
            let by = |values: &[f64]| values.iter().map(|y| y * unit).collect::<Vec<f64>>();
            let seen = Signal::new(20, 2, by(&values)).unwrap();
            own.beside(&seen, &inputs, &by(&fitted), &[unit, 2.0 * unit])
        };
        let (ones, thousands) = (found(1.0), found(1000.0));
        assert_eq!(ones.len(), 12);
        for (one, thousand) in ones.iter().zip(&thousands) {
            assert!((one - thousand / 1000.0).abs() < 1e-9, "{one} {thousand}");
        }
        assert!(ones[0] > 3.0 && ones[1] < 0.0, "{ones:?}");
    }

    /// Models that were stored before had a number.
    #[test]
    fn a_weight_is_stored_as_a_number_or_as_a_word() {
        for weight in [PriorWeight::Steps(32.0), PriorWeight::Found(Own::Own)] {
            let text = serde_json::to_string(&Remainder { weight, ..CYCLE }).unwrap();
            assert_eq!(serde_json::from_str::<Remainder>(&text).unwrap().weight, weight, "{text}");
        }
        assert!(serde_json::from_str::<Remainder>(r#"{"weight":"other","fading":8.0}"#).is_err());
        assert!(serde_json::from_str::<Remainder>(r#"{"fading":8.0}"#).is_err());
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        assert!(CYCLE.check(2).is_ok() && CYCLE.check(1).is_err());
        assert!(Remainder { weight: PriorWeight::Steps(0.0), ..CYCLE }.check(2).is_err());
        assert!(Remainder { fading: f64::NAN, ..CYCLE }.check(2).is_err());
    }
}
