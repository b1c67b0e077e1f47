//! How much of each output the code explains, and the directions in which codes differ.
//!
//! ```text
//! share(z) = 1 − Σ (y − ŷ(z))² / Σ (y − ȳ)²             per output, over all observed values; ȳ: its mean over the family
//! with     z_i, the code of each sequence               without    z̄, the centre of the prior, for all of them
//! alone_d  z̄, but with dimension d of z_i
//! known    1 − Σ (p − p̂)² / Σ (p − p̄)²                  of a number p of each sequence, p̂ by regression on the codes of others
//! ```
//! What the code explains is the difference between `with` and `without`. A share below 0 means: worse than the mean.

use crate::algebra::{Matrix, cholesky, dot, solve_factored, symmetric_eigen};
use crate::family::Family;
use crate::system::System;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Folds of cross-validation.
const FOLDS: usize = 5;
/// Ridge that keeps a regression on unused dimensions solvable, relative to the number of codes.
const RIDGE: f64 = 1e-6;

/// The shares of the variance of one output that rollouts explain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explained {
    /// Its name.
    pub output: String,
    /// With the code of each sequence.
    #[serde(with = "crate::store::number")]
    pub with_code: f64,
    /// With the same code for all, at the centre of the prior.
    #[serde(with = "crate::store::number")]
    pub without_code: f64,
    /// With one dimension of the code at a time, the others at the centre: d_code values.
    #[serde(with = "crate::store::number::list")]
    pub alone: Vec<f64>,
}

impl System {
    /// How much of each output the codes explain; an output that never varies or is never observed is left out.
    ///
    /// # Shapes
    /// `codes`: one per sequence of the family, d_code values each; result: up to d_obs.
    ///
    /// # Errors
    /// Another number of codes, or codes of another length; outputs or inputs that the model cannot take.
    pub fn explained(&self, family: &Family, codes: &[Vec<f64>]) -> Result<Vec<Explained>> {
        if codes.len() != family.n_seq() {
            return Err(Error::shape("codes", format!("{}, one per sequence", family.n_seq()), codes.len()));
        }
        if family.d_obs() != self.base().d_obs() {
            return Err(Error::shape("outputs", self.base().d_obs(), family.d_obs()));
        }
        let k = self.d_code();
        let centre = self.prior().mixture(k)?.mean();
        let with_code = self.squares(family, |i| codes[i].clone())?;
        let without_code = self.squares(family, |_| centre.clone())?;
        let alone = (0..k).map(|d| {
            self.squares(family, |i| {
                let mut code = centre.clone();
                code[d] = codes[i][d];
                code
            })
        });
        let alone = alone.collect::<Result<Vec<_>>>()?;
        let shares = |c: usize, total: f64| Explained {
            output: family.output_names()[c].clone(),
            with_code: 1.0 - with_code[c] / total,
            without_code: 1.0 - without_code[c] / total,
            alone: alone.iter().map(|squares| 1.0 - squares[c] / total).collect(),
        };
        let totals = total_squares(family).into_iter().enumerate();
        Ok(totals.filter(|(_, total)| *total > 0.0).map(|(c, total)| shares(c, total)).collect())
    }

    /// Squared errors of rollouts, by output.
    fn squares(&self, family: &Family, code: impl Fn(usize) -> Vec<f64>) -> Result<Vec<f64>> {
        let mut sums = vec![0.0; family.d_obs()];
        for (i, sequence) in family.sequences().iter().enumerate() {
            let inputs = family.inputs_of(i).filter(|_| self.d_input() > 0);
            let predicted = self.generate(&code(i), inputs, sequence.n_time())?;
            for (y, predicted) in sequence.outputs().rows().zip(predicted.rows()) {
                let each = y.iter().zip(predicted).zip(&mut sums).filter(|((y, _), _)| !y.is_nan());
                each.for_each(|((y, p), sum)| *sum += (y - p) * (y - p));
            }
        }
        Ok(sums)
    }
}

/// Squared differences from the mean over all observed values, by output.
fn total_squares(family: &Family) -> Vec<f64> {
    let observed = |c: usize| {
        let all = family.sequences().iter().flat_map(move |s| s.outputs().rows().map(move |row| row[c]));
        all.filter(|y| !y.is_nan())
    };
    let each = |c: usize| {
        let (n, sum) = observed(c).fold((0.0, 0.0), |(n, sum), y| (n + 1.0, sum + y));
        observed(c).map(|y| (y - sum / n).powi(2)).sum()
    };
    (0..family.d_obs()).map(each).collect()
}

/// The share of the variance of `truth` that `found` explains, R²; below zero where the mean would have been nearer.
#[must_use]
pub fn explained_share(truth: &[f64], found: &[f64]) -> f64 {
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let total: f64 = truth.iter().map(|p| (p - mean) * (p - mean)).sum();
    let left: f64 = truth.iter().zip(found).map(|(p, q)| (p - q) * (p - q)).sum();
    1.0 - left / total
}

/// What codes say of a number that is known of each sequence: for each, by least squares on [1, z] of the sequences in other folds.
///
/// # Errors
/// [`Error::Shape`] for codes of several lengths or another number of them; [`Error::NotFinite`] for numbers that are not finite.
pub fn regressed_on_codes(codes: &[Vec<f64>], values: &[f64]) -> Result<Vec<f64>> {
    if codes.len() != values.len() || codes.iter().any(|code| code.len() != codes[0].len()) {
        return Err(Error::shape("codes", format!("{} of one length", values.len()), codes.len()));
    }
    let mut found = vec![0.0; values.len()];
    for fold in 0..FOLDS.min(values.len()) {
        let others: Vec<usize> = (0..values.len()).filter(|i| i % FOLDS != fold).collect();
        let weights = least_squares(codes, values, &others).ok_or_else(|| {
            let what = "regression on codes".into();
            Error::NotFinite { what, value: f64::NAN, hint: "; check codes and values" }
        })?;
        for i in (fold..values.len()).step_by(FOLDS) {
            found[i] = weights[0] + dot(&codes[i], &weights[1..]);
        }
    }
    Ok(found)
}

/// Intercept and weights of the sequences `which`, from the normal equations.
fn least_squares(codes: &[Vec<f64>], values: &[f64], which: &[usize]) -> Option<Vec<f64>> {
    let d = codes[0].len() + 1;
    let row = |i: usize| std::iter::once(1.0).chain(codes[i].iter().copied()).collect::<Vec<f64>>();
    let (mut gram, mut right) = (Matrix::zeros(d, d), vec![0.0; d]);
    for &i in which {
        let x = row(i);
        for a in 0..d {
            (0..d).for_each(|b| gram[(a, b)] += x[a] * x[b]);
            right[a] += x[a] * values[i];
        }
    }
    (1..d).for_each(|j| gram[(j, j)] += RIDGE * which.len() as f64);
    let weights = solve_factored(&cholesky(&gram.values, d)?, right);
    weights.iter().all(|w| w.is_finite()).then_some(weights)
}

/// Codes along the directions in which they differ most.
#[derive(Clone, Debug, PartialEq)]
pub struct PrincipalAxes {
    /// Mean of the codes.
    pub centre: Vec<f64>,
    /// Unit vectors, the widest spread first; the largest entry of each is positive.
    pub directions: Vec<Vec<f64>>,
    /// Share of the total variance along each; all 0 for codes that do not differ.
    pub shares: Vec<f64>,
}

impl PrincipalAxes {
    /// The axes of codes of one length.
    ///
    /// # Errors
    /// [`Error::Shape`] for no code, or codes of several lengths.
    pub fn of(codes: &[Vec<f64>]) -> Result<Self> {
        let k = codes.first().map_or(0, Vec::len);
        if k == 0 || codes.iter().any(|code| code.len() != k) {
            return Err(Error::shape("codes", "one or more, all of one length above 0", codes.len()));
        }
        let n = codes.len() as f64;
        let centre: Vec<f64> = (0..k).map(|d| codes.iter().map(|code| code[d]).sum::<f64>() / n).collect();
        let mut covariance = vec![0.0; k * k];
        for code in codes {
            for at in 0..k * k {
                covariance[at] += (code[at / k] - centre[at / k]) * (code[at % k] - centre[at % k]) / n;
            }
        }
        let (values, vectors) = symmetric_eigen(&covariance, k);
        let mut order: Vec<usize> = (0..k).collect();
        order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
        let total: f64 = values.iter().map(|value| value.max(0.0)).sum();
        let share = |&d: &usize| if total > 0.0 { values[d].max(0.0) / total } else { 0.0 };
        let directions = order.iter().map(|&d| upright((0..k).map(|i| vectors[i * k + d]).collect()));
        Ok(Self { centre, directions: directions.collect(), shares: order.iter().map(share).collect() })
    }

    /// A code along the axes.
    #[must_use]
    pub fn along(&self, code: &[f64]) -> Vec<f64> {
        let shifted: Vec<f64> = code.iter().zip(&self.centre).map(|(z, c)| z - c).collect();
        self.directions.iter().map(|direction| dot(direction, &shifted)).collect()
    }
}

/// An axis has no sign of its own: the largest entry is made positive, so that the same codes give the same picture.
fn upright(direction: Vec<f64>) -> Vec<f64> {
    let largest = direction.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(1.0);
    direction.into_iter().map(|x| x * largest.signum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Lds;
    use crate::family::{Scaling, Sequence};
    use crate::random::stream;
    use crate::system::Architecture;

    /// Sequences that the model itself makes of random codes, one output constant.
    fn made() -> (System, Family, Vec<Vec<f64>>) {
        let spec = Architecture::new(Lds::new(2, 1, 0), 2).adapt("initial_state");
        let model = System::initialise(spec, Scaling::identity(1, 0), &mut stream(1, 0)).unwrap();
        let parameters = model.parameters().iter().map(|p| 3.0 * p).collect();
        let model = model.with_parameters(parameters).unwrap();
        let codes: Vec<Vec<f64>> =
            (0..8).map(|i| vec![(f64::from(i)).sin(), (1.7 * f64::from(i)).cos()]).collect();
        let sequence = |(i, code): (usize, &Vec<f64>)| {
            Sequence::new(format!("s{i}"), model.generate(code, None, 12).unwrap()).unwrap()
        };
        let family = Family::new(codes.iter().enumerate().map(sequence).collect()).unwrap();
        (model, family, codes)
    }

    #[test]
    fn true_codes_explain_everything_and_no_code_less() {
        let (model, family, codes) = made();
        let found = model.explained(&family, &codes).unwrap();
        let found = &found[0];
        assert!(found.with_code > 1.0 - 1e-9, "{found:?}");
        assert!(found.without_code < 0.9, "{found:?}");
        assert_eq!(found.alone.len(), 2);
        assert!(found.alone.iter().all(|&alone| alone < found.with_code), "{found:?}");
        assert!(found.alone.iter().any(|&alone| alone > found.without_code), "{found:?}");
    }

    #[test]
    fn an_output_that_never_varies_has_no_shares() {
        let (model, _, _) = made();
        let flat = Sequence::new("flat", crate::Signal::column(vec![2.0; 5])).unwrap();
        let family = Family::new(vec![flat]).unwrap();
        assert_eq!(model.explained(&family, &[vec![0.0, 0.0]]).unwrap(), []);
        assert!(model.explained(&family, &[]).is_err());
    }

    #[test]
    fn regressions_find_linear_maps_and_nothing_in_noise() {
        let code = |i: usize| vec![(i as f64 * 0.7).sin(), (i as f64 * 1.9).cos(), 0.0];
        let codes: Vec<Vec<f64>> = (0..50).map(code).collect();
        let values: Vec<f64> = codes.iter().map(|z| 3.0 - 2.0 * z[0] + 0.5 * z[1]).collect();
        let found = regressed_on_codes(&codes, &values).unwrap();
        for (found, value) in found.iter().zip(&values) {
            assert!((found - value).abs() < 1e-4, "{found} {value}");
        }
        assert!(explained_share(&values, &found) > 1.0 - 1e-6);
        let alternating: Vec<f64> = (0..50).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let found = regressed_on_codes(&codes, &alternating).unwrap();
        assert!(explained_share(&alternating, &found) < 0.1);
        assert!(regressed_on_codes(&codes, &values[..9]).is_err());
        assert!(regressed_on_codes(&codes, &[f64::NAN; 50]).is_err());
        assert!(regressed_on_codes(&[], &[]).unwrap().is_empty());
    }

    /// A generator that is affine, by hand.
    #[test]
    fn theta_is_what_the_generator_makes_of_a_code() {
        let (model, _, _) = made();
        let (theta, zero) = (model.theta(&[0.5, -1.0]).unwrap(), model.theta(&[0.0, 0.0]).unwrap());
        let parameters = model.parameters();
        let block = model.layout().block("initial_state").unwrap();
        for (slot, at) in block.slots().zip(block.range()) {
            let weights = [parameters[2 * slot], parameters[2 * slot + 1]].map(f64::from);
            let expected = 0.5 * weights[0] - weights[1];
            assert!((theta[at] - zero[at] - expected).abs() < 1e-12, "{theta:?} {zero:?} {expected}");
        }
        assert!(model.theta(&[0.5]).is_err());
    }

    #[test]
    fn principal_axes_of_a_line() {
        let codes: Vec<Vec<f64>> =
            [-2.0, -1.0, 0.0, 3.0].iter().map(|t| vec![1.0 + 0.6 * t, 5.0, -0.8 * t]).collect();
        let axes = PrincipalAxes::of(&codes).unwrap();
        for (found, exact) in axes.directions[0].iter().zip([-0.6, 0.0, 0.8]) {
            assert!((found - exact).abs() < 1e-12, "{axes:?}");
        }
        assert!((axes.shares[0] - 1.0).abs() < 1e-12 && axes.shares[2].abs() < 1e-12);
        let spread: Vec<f64> = codes.iter().map(|code| axes.along(code)[0]).collect();
        for (found, t) in spread.iter().zip([-2.0, -1.0, 0.0, 3.0]) {
            assert!((found + t).abs() < 1e-12, "{spread:?}");
        }
        assert!(PrincipalAxes::of(&[]).is_err() && PrincipalAxes::of(&[vec![]]).is_err());
        assert_eq!(PrincipalAxes::of(&[vec![1.0, 2.0]]).unwrap().shares, [0.0, 0.0]);
    }
}
