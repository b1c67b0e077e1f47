//! What codes say of true parameters: regression from codes, and the parameters that the generator makes of them.
//!
//! ```text
//! from codes        R² = 1 − Σ (p − p̂)² / Σ (p − p̄)²,   p̂ by least squares on [1, z] of the patients in other folds
//! from θ = h_φ(z)   the same with p̂ read off θ, no regression:   log ν = log(−log 2 / log k),   log s = log(g U / unit of u),
//!                   e in units of y,   d in units of y
//! ```
//! z is the posterior mean given all steps of a held-out patient.

use mtds::family::Signal;
use mtds::infer::Online;
use mtds::random::{Stream, stream};
use mtds::{Error, Result, System};
use mtds_data::pharmacodynamics::PatientParameters;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Learned, Patients, Settings};

/// Folds of cross-validation.
const FOLDS: usize = 5;
/// Ridge that keeps a regression on unused dimensions solvable, relative to the number of patients.
const RIDGE: f64 = 1e-6;

/// How well one parameter is recovered after one way of learning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecoveryRow {
    /// The way.
    pub method: String,
    /// The parameter, on the scale on which patients were drawn.
    pub parameter: String,
    /// Share of its variance that a linear regression on codes explains, cross-validated.
    pub r2_codes: f64,
    /// Share that θ itself explains, without any regression.
    pub r2_theta: f64,
}

/// Recovery of all parameters.
pub(super) fn rows(
    method: &str,
    learned: &Learned,
    settings: &Settings,
    patients: &Patients,
) -> Result<Vec<RecoveryRow>> {
    let codes = codes(learned, settings, patients)?;
    let made = codes.iter().map(|code| effective(&learned.model, code)).collect::<Result<Vec<_>>>()?;
    let row = |(p, name): (usize, &&str)| {
        let truth: Vec<f64> = patients.truth.iter().map(|patient| patient.transformed()[p]).collect();
        let read: Vec<f64> = made.iter().map(|made| made[p]).collect();
        RecoveryRow {
            method: method.to_owned(),
            parameter: (*name).to_owned(),
            r2_codes: explained(&truth, &cross_validated(&codes, &truth)),
            r2_theta: explained(&truth, &read),
        }
    };
    Ok(PatientParameters::TRANSFORMED.iter().enumerate().map(row).collect())
}

/// Posterior means given all steps.
fn codes(learned: &Learned, settings: &Settings, patients: &Patients) -> Result<Vec<Vec<f64>>> {
    let (model, test) = (&learned.model, &patients.test);
    let every = settings.n_time.div_ceil(4).max(10);
    let one = |i: usize| -> Result<Vec<f64>> {
        let online = Online { every, ..learned.online.clone() };
        let random = stream(settings.seed, Stream::PatientRecovery(i as u64));
        let tracker = model.track(test.sequence(i).outputs(), test.inputs_of(i), online, random)?;
        let why = "found 0; expected steps to infer a code from";
        let nothing = || Error::Setting { name: "n_time".into(), why: why.into() };
        let posterior = tracker.posterior().ok_or_else(nothing)?;
        Ok(posterior.mean()[..model.d_code()].to_vec())
    };
    (0..test.n_seq()).into_par_iter().map(one).collect()
}

/// log ν, log s, e and d of a code, in data units.
fn effective(model: &System, code: &[f64]) -> Result<[f64; 4]> {
    let theta = theta(model, code);
    let value = |block: &str| model.layout().block(block).map_or(f64::NAN, |b| theta[b.range().start]);
    let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
    let keep = 1.0 / (1.0 + (-value("decay")).exp());
    let unit = model.scaling().inputs_to_model(&Signal::column(vec![1.0]))?.values()[0];
    let (scale, offset) = (model.scaling().scale(0), model.scaling().offset(0));
    Ok([
        (-std::f64::consts::LN_2 / keep.ln()).ln(),
        (softplus(value("slope")) * softplus(value("uptake")) * unit).ln(),
        value("effect") * scale,
        value("offset") * scale + offset,
    ])
}

/// θ = h_φ(z), raw.
fn theta(model: &System, code: &[f64]) -> Vec<f64> {
    let network = &model.spec().network;
    let parameters: Vec<f64> = model.parameters().iter().map(|&x| f64::from(x)).collect();
    let (phi, shared) = parameters.split_at(network.n_parameters());
    let (mut tape, mut adapted) = (network.tape::<f64>(1), vec![0.0; network.d_out]);
    network.forward(phi, code, (&mut tape, 0), &mut adapted);
    let mut theta = vec![0.0; model.layout().d_theta()];
    model.layout().assemble(&adapted, shared, &mut theta);
    theta
}

/// R²; below zero where the mean would have been nearer.
fn explained(truth: &[f64], found: &[f64]) -> f64 {
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let total: f64 = truth.iter().map(|p| (p - mean) * (p - mean)).sum();
    let left: f64 = truth.iter().zip(found).map(|(p, q)| (p - q) * (p - q)).sum();
    1.0 - left / total
}

/// What regressions on the other folds say of each value.
pub(super) fn cross_validated(codes: &[Vec<f64>], values: &[f64]) -> Vec<f64> {
    let mut found = vec![0.0; values.len()];
    for fold in 0..FOLDS {
        let pairs = codes.iter().zip(values).enumerate();
        let others: Vec<_> = pairs.filter(|(i, _)| i % FOLDS != fold).map(|(_, pair)| pair).collect();
        let weights = least_squares(&others);
        for i in (fold..values.len()).step_by(FOLDS) {
            let terms = codes[i].iter().zip(&weights[1..]).map(|(z, w)| z * w);
            found[i] = weights[0] + terms.sum::<f64>();
        }
    }
    found
}

/// Intercept and weights, from the normal equations by elimination.
fn least_squares(pairs: &[(&Vec<f64>, &f64)]) -> Vec<f64> {
    let d = pairs.first().map_or(0, |(code, _)| code.len()) + 1;
    // Rows of XᵀX with Xᵀy behind.
    let mut rows = vec![vec![0.0; d + 1]; d];
    for (code, value) in pairs {
        let x: Vec<f64> = std::iter::once(1.0).chain(code.iter().copied()).collect();
        for (row, a) in rows.iter_mut().zip(&x) {
            let (squares, last) = row.split_at_mut(d);
            squares.iter_mut().zip(&x).for_each(|(sum, b)| *sum += a * b);
            last[0] += a * *value;
        }
    }
    (1..d).for_each(|j| rows[j][j] += RIDGE * pairs.len() as f64);
    eliminate(rows)
}

/// Solves the positive definite system whose right side is the last column.
fn eliminate(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let d = rows.len();
    for pivot in 0..d {
        let (above, below) = rows.split_at_mut(pivot + 1);
        let source = &above[pivot];
        for row in below {
            let factor = row[pivot] / source[pivot];
            row.iter_mut().zip(source).skip(pivot).for_each(|(x, s)| *x -= factor * s);
        }
    }
    let mut weights = vec![0.0; d];
    for j in (0..d).rev() {
        let known: f64 = (j + 1..d).map(|k| rows[j][k] * weights[k]).sum();
        weights[j] = (rows[j][d] - known) / rows[j][j];
    }
    weights
}
