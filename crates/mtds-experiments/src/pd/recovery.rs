//! What codes say of true parameters: regression from codes, and the parameters that the generator makes of them.
//!
//! ```text
//! from codes        R² = 1 − Σ (p − p̂)² / Σ (p − p̄)²,   p̂ by least squares on [1, z] of the patients in other folds
//! from θ = h_φ(z)   the same with p̂ read off θ, no regression:   log ν = log(−log 2 / log k),   log s = log(g U / unit of u),
//!                   e in units of y,   d in units of y
//! ```
//! z is the posterior mean given all steps of a held-out patient.

use mtds::evaluate::Estimate;
use mtds::parts::{explained_share, regressed_on_codes};
use mtds::random::{Stream, stream};
use mtds::{Error, Online, Result, Signal, System};
use mtds_data::pharmacodynamics::PatientParameters;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Learned, Patients, Settings};

/// How well one parameter is recovered after one way of learning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecoveryRow {
    /// The way.
    pub method: String,
    /// The parameter, on the scale on which patients were drawn.
    pub parameter: String,
    /// Share of its variance that a linear regression on codes explains, cross-validated.
    pub r2_codes: f64,
    /// Its standard error over repetitions.
    pub r2_codes_se: Option<f64>,
    /// Share that θ itself explains, without any regression.
    pub r2_theta: f64,
    /// Its standard error over repetitions.
    pub r2_theta_se: Option<f64>,
}

impl RecoveryRow {
    /// The mean of repetitions; `None` for none.
    pub(super) fn over_repetitions(rows: &[Self]) -> Option<Self> {
        let of = |value: fn(&Self) -> f64| Estimate::of(&rows.iter().map(value).collect::<Vec<_>>());
        let (codes, theta) = (of(|row| row.r2_codes)?, of(|row| row.r2_theta)?);
        let mut mean = rows.first()?.clone();
        (mean.r2_codes, mean.r2_codes_se) = (codes.mean, codes.std_error);
        (mean.r2_theta, mean.r2_theta_se) = (theta.mean, theta.std_error);
        Some(mean)
    }
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
        Ok(RecoveryRow {
            method: method.to_owned(),
            parameter: (*name).to_owned(),
            r2_codes: explained_share(&truth, &regressed_on_codes(&codes, &truth)?),
            r2_codes_se: None,
            r2_theta: explained_share(&truth, &read),
            r2_theta_se: None,
        })
    };
    PatientParameters::TRANSFORMED.iter().enumerate().map(row).collect()
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
    let theta = model.theta(code)?;
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
