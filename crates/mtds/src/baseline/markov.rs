//! Markov parameters of a family by least squares of outputs on lagged inputs.
//!
//! ```text
//! y_t = d + Σ_{k=0}^{t−1} h_k u_{t−k} + noise        h_k: p × m,   x₀ = 0,   k < n_lags
//! minimise  Σ (y − ŷ)² + Σ_k λ_k ‖h_k‖²              λ_k = λ · 10^(6k / n_lags) · Σ u²
//! ```
//! The sum is exact while t ≤ n_lags, and these steps are used alone if they are enough; later ones come in
//! otherwise, as if the response had died away after n_lags. Missing outputs drop out. Without inputs,
//! u is one impulse at t = 1, and h_k the mean response of the family.
//!
//! The penalty is tiny and grows with the lag: a prior that responses die away (Chen, Ohlsson & Ljung 2012,
//! *On the estimation of transfer functions, regularizations and Gaussian processes — revisited*). It settles
//! what data leave open: inputs that are one impulse at the start cannot tell d from a level in h. Solving
//! again for what is left over takes its effect on everything else away.

use crate::algebra::{Matrix, cholesky, dot, solve_factored};
use crate::family::{Family, Signal};
use crate::{Error, Result};

/// Growth of the penalty from the first to the last lag.
const GROWTH: f64 = 1e6;
/// Solutions for what the one before left over.
const REFINEMENTS: usize = 2;
/// Steps beyond the lags come in if those within are fewer than this many per unknown.
const ENOUGH: usize = 4;

/// The response of a family to its inputs.
#[derive(Clone, Debug)]
pub(crate) struct Markov {
    /// h_0, h_1, …, each p × m.
    pub(crate) lags: Vec<Matrix>,
    /// d, one per output.
    pub(crate) offset: Vec<f64>,
}

/// The normal equations of one output. Unknowns: d, then h_0 of every input, h_1 of every input, …
struct Normal {
    gram: Matrix,
    right: Vec<f64>,
    n_observed: usize,
}

impl Markov {
    /// Estimates at most `n_lags` parameters of a family in model units; `ridge` is λ.
    ///
    /// There are fewer where inputs never reach further back.
    ///
    /// # Errors
    /// An output that is never observed; an input that is always 0; numbers too large to square.
    pub(crate) fn estimate(family: &Family, n_lags: usize, ridge: f64) -> Result<Self> {
        let (p, m) = (family.d_obs(), family.d_input().max(1));
        let within: usize = family.sequences().iter().map(|s| s.n_time().min(n_lags)).sum();
        let steps = if within >= ENOUGH * (n_lags * m + 1) { n_lags } else { family.max_time() };
        let equations = normal_equations(family, n_lags, steps);
        let n_lags = excited_lags(&equations, family)?;
        let solve = |normal: &Normal| {
            normal.solve(1 + n_lags * m, m, ridge).ok_or_else(|| Error::NotFinite {
                what: "sums of squares of inputs and outputs".into(),
                value: f64::NAN,
                hint: "; choose larger units",
            })
        };
        let solutions = equations.iter().map(solve).collect::<Result<Vec<_>>>()?;
        let lag = |k: usize| Matrix::from_fn(p, m, |o, j| solutions[o][1 + k * m + j]);
        let offset = solutions.iter().map(|solution| solution[0]).collect();
        Ok(Self { lags: (0..n_lags).map(lag).collect(), offset })
    }
}

/// One set of equations per output, over the first `steps` steps of every sequence.
fn normal_equations(family: &Family, n_lags: usize, steps: usize) -> Vec<Normal> {
    let q = 1 + n_lags * family.d_input().max(1);
    let empty = || Normal { gram: Matrix::zeros(q, q), right: vec![0.0; q], n_observed: 0 };
    let mut equations: Vec<Normal> = (0..family.d_obs()).map(|_| empty()).collect();
    let own_inputs = family.sequences().iter().any(|s| s.inputs().is_some());
    let impulse = family
        .inputs_of(0)
        .is_none()
        .then(|| Signal::column((0..family.max_time()).map(|t| if t == 0 { 1.0 } else { 0.0 }).collect()));
    // Sequences with the same inputs have the same regressors at a step: their outputs are added first.
    let bundles: Vec<Vec<usize>> = match own_inputs {
        true => (0..family.n_seq()).map(|i| vec![i]).collect(),
        false => vec![(0..family.n_seq()).collect()],
    };
    for bundle in bundles {
        let Some(inputs) = impulse.as_ref().or(family.inputs_of(bundle[0])) else { continue };
        add_bundle(&mut equations, family, &bundle, inputs, (n_lags, steps));
    }
    equations.iter_mut().for_each(|normal| normal.mirror());
    equations
}

fn add_bundle(
    equations: &mut [Normal],
    family: &Family,
    bundle: &[usize],
    inputs: &Signal,
    (n_lags, steps): (usize, usize),
) {
    let members = || bundle.iter().map(|&i| family.sequence(i).outputs());
    let longest = members().map(Signal::n_time).max().unwrap_or(0).min(steps);
    let mut regressors = vec![];
    for t in 0..longest {
        regressors.clear();
        regressors.push(1.0);
        (0..n_lags.min(t + 1)).for_each(|k| regressors.extend_from_slice(inputs.row(t - k)));
        for (output, normal) in equations.iter_mut().enumerate() {
            let rows = members().filter(|signal| t < signal.n_time()).map(|signal| signal.get(t, output));
            let (mut count, mut sum) = (0, 0.0);
            rows.filter(|y| !y.is_nan()).for_each(|y| {
                count += 1;
                sum += y;
            });
            normal.add(&regressors, count, sum);
        }
    }
}

impl Normal {
    /// Adds `count` rows with these regressors (those left out are 0), whose outputs add up to `sum`.
    fn add(&mut self, regressors: &[f64], count: usize, sum: f64) {
        if count == 0 {
            return;
        }
        self.n_observed += count;
        let (weight, q) = (count as f64, self.right.len());
        for (i, &a) in regressors.iter().enumerate().filter(|(_, a)| **a != 0.0) {
            self.right[i] += a * sum;
            let row = &mut self.gram.values[i * q..i * q + i + 1];
            row.iter_mut().zip(regressors).for_each(|(g, b)| *g += weight * a * b);
        }
    }

    /// Copies the lower triangle to the upper.
    fn mirror(&mut self) {
        for i in 0..self.right.len() {
            for j in 0..i {
                self.gram[(j, i)] = self.gram[(i, j)];
            }
        }
    }

    /// The first `q` unknowns, `m` of them per lag; `None` for numbers that are not finite.
    fn solve(&self, q: usize, m: usize, ridge: f64) -> Option<Vec<f64>> {
        let gram = self.gram.leading(q, q);
        let n_lags = ((q - 1) / m) as f64;
        let mut penalised = gram.clone();
        for i in 1..q {
            let (lag, input) = ((i - 1) / m, (i - 1) % m);
            let power = gram[(1 + input, 1 + input)];
            penalised[(i, i)] += ridge * power * GROWTH.powf(lag as f64 / n_lags);
        }
        let factor = cholesky(&penalised.values, q)?;
        let mut solution = vec![0.0; q];
        for _ in 0..=REFINEMENTS {
            let left_over: Vec<f64> = (0..q).map(|i| self.right[i] - dot(gram.row(i), &solution)).collect();
            let step = solve_factored(&factor, left_over);
            solution.iter_mut().zip(&step).for_each(|(x, dx)| *x += dx);
        }
        solution.iter().all(|x| x.is_finite()).then_some(solution)
    }
}

/// How many lags, from 0 on, the inputs excite wherever an output is observed.
fn excited_lags(equations: &[Normal], family: &Family) -> Result<usize> {
    let m = family.d_input().max(1);
    let mut fewest = usize::MAX;
    for (normal, output) in equations.iter().zip(family.output_names()) {
        if normal.n_observed == 0 {
            return Err(Error::EmptyFamily(format!("output `{output}` is never observed")));
        }
        let q = normal.right.len();
        let silent = (1..q).find(|&i| normal.gram[(i, i)] == 0.0).unwrap_or(q);
        if silent <= m {
            let name = family.input_names().get(silent - 1).map_or("", String::as_str);
            let why = format!(
                "is 0 wherever `{output}` is observed, which shows nothing of its effect; leave it out"
            );
            return Err(Error::setting(format!("input `{name}`"), why));
        }
        fewest = fewest.min((silent - 1) / m);
    }
    Ok(fewest)
}
