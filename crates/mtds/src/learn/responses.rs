//! A start from the data: what tells the responses of sequences to their inputs apart becomes the first codes.
//!
//! ```text
//! W_i = argmin ‖Y_i − F_i W‖² + λ ‖W‖²        F_i = [1, f_i], by sequence or segment, model units
//! μ_i = √N u_i                                 u: left singular vectors of the centred W, the k largest; the rest is 0
//! f   = the inputs that are named; cos φ, sin φ of the phase φ where inputs tell one; else inputs that change within a sequence
//! ```
//! From codes near zero a network over the inputs learns what all members have in common first and leaves the code unused. The model
//! itself begins as it was drawn: codes that differ in what matters pull the generator along.

use serde::{Deserialize, Serialize};

use super::Proposal;
use crate::algebra::{Matrix, cholesky, solve_factored, symmetric_eigen};
use crate::family::{Family, Phase, Signal};
use crate::system::System;
use crate::{Error, Result};

/// Weight λ of the ridge, in steps.
const RIDGE: f64 = 4.0;
/// Harmonics of a phase.
const HARMONICS: usize = 1;
/// Share of an input's variance that lies within sequences where it counts as one that changes.
const WITHIN: f64 = 0.5;
/// Most inputs that are fitted on.
const MOST_INPUTS: usize = 8;

/// A start from responses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResponsesStart {
    /// Deviation of the first beliefs.
    pub std_dev: f64,
    /// Names of the inputs that outputs are fitted on; empty for the phase, or those that change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
}

impl ResponsesStart {
    /// What is believed of the code of each sequence of `family` (data units) before the first step.
    ///
    /// # Errors
    /// A family that does not fit the model, or lacks a named input.
    pub(super) fn codes(&self, first: &System, family: &Family) -> Result<Vec<Proposal>> {
        let (k, n) = (first.d_code(), family.n_seq());
        let functions = Functions::of(family, &self.inputs)?;
        let scaled = first.in_model_units(family)?;
        let fitted: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let rows = functions.rows(family.inputs_of(i), family.sequence(i).n_time());
                ridge(&rows, functions.width(), scaled.sequence(i).outputs())
            })
            .collect();
        let means = whitened(&fitted, k);
        let proposal = |i: usize| {
            let mut belief = Proposal::prior(k);
            belief.mean.copy_from_slice(means.row(i));
            belief.covariance.iter_mut().for_each(|c| *c *= self.std_dev * self.std_dev);
            belief
        };
        Ok((0..n).map(proposal).collect())
    }
}

/// What responses are fitted on.
enum Functions {
    /// Harmonics of a phase.
    Cycle(Phase),
    /// Inputs by column, with what is taken from each and what it is then divided by.
    Inputs(Vec<(usize, f64, f64)>),
}

impl Functions {
    fn of(family: &Family, named: &[String]) -> Result<Self> {
        let names = family.input_names();
        let column = |name: &String| {
            let known = || Error::Unknown { kind: "input", name: name.clone(), known: names.join(", ") };
            names.iter().position(|other| other == name).ok_or_else(known)
        };
        Ok(match Phase::of(names) {
            _ if !named.is_empty() => {
                let columns = named.iter().map(column).collect::<Result<Vec<_>>>()?;
                let all = spread_within(family);
                Self::Inputs(columns.into_iter().map(|c| all[c].1).collect())
            }
            Some(phase) => Self::Cycle(phase),
            None => Self::Inputs(changing_inputs(family)),
        })
    }

    fn width(&self) -> usize {
        1 + match self {
            Self::Cycle(_) => 2 * HARMONICS,
            Self::Inputs(columns) => columns.len(),
        }
    }

    /// F, n_time × width.
    fn rows(&self, inputs: Option<&Signal>, n_time: usize) -> Vec<f64> {
        let mut rows = Vec::with_capacity(n_time * self.width());
        for t in 0..n_time {
            rows.push(1.0);
            let Some(row) = inputs.map(|inputs| inputs.row(t)) else { continue };
            match self {
                Self::Cycle(phase) => rows.extend(phase.harmonics(row, HARMONICS)),
                Self::Inputs(columns) => {
                    rows.extend(columns.iter().map(|&(c, mean, std)| (row[c] - mean) / std))
                }
            }
        }
        rows
    }
}

/// By input: the share of its variance that lies within sequences, and the column with its mean and deviation.
fn spread_within(family: &Family) -> Vec<(f64, (usize, f64, f64))> {
    let all: Vec<&Signal> = (0..family.n_seq()).filter_map(|i| family.inputs_of(i)).collect();
    let column = |c: usize| {
        let (mut total, mut square, mut within, mut count) = (0.0, 0.0, 0.0, 0.0);
        for signal in &all {
            let n = signal.n_time().max(1) as f64;
            let sum: f64 = signal.rows().map(|row| row[c]).sum();
            let own: f64 = signal.rows().map(|row| (row[c] - sum / n).powi(2)).sum();
            let squares: f64 = signal.rows().map(|row| row[c] * row[c]).sum();
            (total, square, within, count) = (total + sum, square + squares, within + own, count + n);
        }
        let mean = total / f64::max(count, 1.0);
        let var = square / f64::max(count, 1.0) - mean * mean;
        let share = if var > 1e-12 * (1.0 + mean * mean) { within / count / var } else { 0.0 };
        (share, (c, mean, var.max(f64::MIN_POSITIVE).sqrt()))
    };
    (0..family.d_input()).map(column).collect()
}

/// Inputs that change within sequences more than from one to the next, those that do most first.
fn changing_inputs(family: &Family) -> Vec<(usize, f64, f64)> {
    let mut found = spread_within(family);
    found.retain(|(share, _)| *share >= WITHIN);
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.truncate(MOST_INPUTS);
    found.into_iter().map(|(_, column)| column).collect()
}

/// W by output, each a row of `width`; what is missing has no say.
fn ridge(rows: &[f64], width: usize, outputs: &Signal) -> Vec<f64> {
    let mut fitted = vec![];
    for c in 0..outputs.width() {
        let (mut gram, mut right) = (vec![0.0; width * width], vec![0.0; width]);
        (0..width).for_each(|j| gram[j * width + j] = RIDGE);
        for (t, f) in rows.chunks_exact(width).enumerate() {
            let y = outputs.get(t, c);
            if y.is_nan() {
                continue;
            }
            for i in 0..width {
                right[i] += f[i] * y;
                (0..width).for_each(|j| gram[i * width + j] += f[i] * f[j]);
            }
        }
        fitted.extend(match cholesky(&gram, width) {
            Some(factor) => solve_factored(&factor, right),
            None => vec![0.0; width],
        });
    }
    fitted
}

/// Whitened principal components of rows: N × k, of mean 0 and deviation 1 as far as there are components.
fn whitened(rows: &[Vec<f64>], k: usize) -> Matrix {
    let (n, width) = (rows.len(), rows.first().map_or(0, Vec::len));
    let mean: Vec<f64> = (0..width).map(|c| rows.iter().map(|row| row[c]).sum::<f64>() / n as f64).collect();
    let centred = Matrix::from_fn(n, width, |i, c| rows[i][c] - mean[c]);
    // The smaller of X Xᵀ, whose eigenvectors are u, and Xᵀ X, whose eigenvectors are v = Xᵀ u / σ.
    let is_wide = n <= width;
    let gram = match is_wide {
        true => centred.times(&centred.transposed()),
        false => centred.transposed().times(&centred),
    };
    let (values, vectors) = symmetric_eigen(&gram.values, gram.rows);
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let least = 1e-12 * order.first().map_or(0.0, |&first| values[first]);
    let mut scores = Matrix::zeros(n, k);
    for (d, &e) in order.iter().take(k).enumerate().filter(|(_, e)| values[**e] > least) {
        let vector = |j: usize| vectors[j * gram.rows + e];
        for i in 0..n {
            let u = match is_wide {
                true => vector(i),
                false => (0..width).map(|j| centred[(i, j)] * vector(j)).sum::<f64>() / values[e].sqrt(),
            };
            scores[(i, d)] = u * (n as f64).sqrt();
        }
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Lds;
    use crate::family::{Scaling, Sequence};
    use crate::random::stream;
    use crate::system::Architecture;

    /// Outputs that follow an input with a gain of their own, and a slow input that says nothing.
    fn family(names: [&str; 3]) -> Family {
        let member = |i: usize| {
            let angle = |t: usize| 0.3 * t as f64 + i as f64;
            let gain = if i.is_multiple_of(2) { 1.0 } else { -0.5 };
            let outputs = (0..40).map(|t| gain * angle(t).cos()).collect();
            let inputs = (0..40).flat_map(|t| [angle(t).cos(), angle(t).sin(), i as f64]).collect();
            let sequence = Sequence::new(format!("s{i}"), Signal::column(outputs)).unwrap();
            sequence.with_inputs(Signal::new(40, 3, inputs).unwrap()).unwrap()
        };
        Family::new((0..6).map(member).collect()).unwrap().with_input_names(names).unwrap()
    }

    fn start(inputs: &[&str]) -> ResponsesStart {
        ResponsesStart { std_dev: 0.1, inputs: inputs.iter().map(|&name| name.to_owned()).collect() }
    }

    #[test]
    fn responses_are_those_to_the_inputs_that_are_named() {
        let family = family(["u_phase_cos", "u_phase_sin", "u_slow"]);
        let spec = Architecture::new(Lds::new(2, 1, 3), 2);
        let first = System::initialise(spec, Scaling::identity(1, 3), &mut stream(3, 0)).unwrap();
        let means = |inputs: &[&str]| -> Vec<f64> {
            start(inputs).codes(&first, &family).unwrap().iter().map(|code| code.mean[0].abs()).collect()
        };
        assert_eq!(means(&["u_phase_cos", "u_phase_sin"]).len(), 6);
        assert_ne!(means(&["u_slow"]), means(&[]));
        let error = start(&["u_speed"]).codes(&first, &family).unwrap_err().to_string();
        assert!(error.contains("u_speed") && error.contains("u_slow"), "{error}");
    }

    #[test]
    fn codes_tell_responses_apart_by_phase_or_by_inputs() {
        for names in [["u_phase_cos", "u_phase_sin", "u_slow"], ["a", "b", "slow"]] {
            let family = family(names);
            let spec = Architecture::new(Lds::new(2, 1, 3), 2);
            let first = System::initialise(spec, Scaling::identity(1, 3), &mut stream(3, 0)).unwrap();
            let codes = start(&[]).codes(&first, &family).unwrap();
            let first_of = |i: usize| codes[i].mean[0];
            // The first component is the gain: alike within the two groups, whitened to ±1 between them.
            for i in 0..6 {
                assert!((first_of(i) - first_of(i % 2)).abs() < 0.2, "{names:?} {codes:?}");
            }
            assert!((first_of(0) - first_of(1)).abs() > 1.5, "{names:?} {codes:?}");
            let square: f64 = (0..6).map(|i| first_of(i).powi(2)).sum();
            assert!((square / 6.0 - 1.0).abs() < 1e-9);
            assert!((codes[0].covariance[0] - 0.01).abs() < 1e-12 && codes[0].covariance[1] == 0.0);
        }
    }

    #[test]
    fn inputs_that_stand_still_within_sequences_are_left_aside() {
        let columns: Vec<usize> =
            changing_inputs(&family(["a", "b", "slow"])).into_iter().map(|(c, ..)| c).collect();
        assert!(columns.len() == 2 && !columns.contains(&2), "{columns:?}");
    }

    #[test]
    fn one_sequence_has_nothing_to_tell() {
        let alone = family(["a", "b", "slow"]).subset(&[0]).unwrap();
        let spec = Architecture::new(Lds::new(2, 1, 3), 3);
        let first = System::initialise(spec, Scaling::identity(1, 3), &mut stream(3, 0)).unwrap();
        let codes = start(&[]).codes(&first, &alone).unwrap();
        assert_eq!(codes[0].mean, [0.0; 3]);
    }
}
