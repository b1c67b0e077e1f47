//! Variational bounds for given beliefs and draws, with their gradients.
//!
//! ```text
//! ℓ_js = Σ_{i of code j} log p(Y_i | h_φ(z_js)),    z_js = μ_j + σ_j ε_js,   s = 1 … S      τ temperature, β weight
//!
//! ELBO   L_j = τ (1/S) Σ_s ℓ_js − β KL_j                                                            [1]
//! IWAE   L_j = log (1/S) Σ_s exp(τ ℓ_js + β r_js),   r = log p(z) − log q_j(z)                      [2]
//!        v_s: the terms of the sum, normalised;   ∂L/∂φ = Σ_s v_s τ ∂ℓ_s/∂φ
//!        pathwise              ∂L/∂λ = Σ_s v_s d/dλ (τ ℓ_s + β r_s)
//!        doubly reparam. [3]   ∂L/∂λ = Σ_s ((1 − β) v_s + β v_s²) ∂(τ ℓ_s + β r_s)/∂z ∂z_s/∂λ
//! ```
//! \[1\] Kingma & Welling (2014); \[2\] Burda, Grosse & Salakhutdinov (2016); \[3\] Tucker et al. (2019), eq. 8.
//! Differs from \[3\]: β ≠ 1 leaves the share 1 − β of the score of q in the bound, so that only the share β of it
//! turns into v².

use super::{Estimator, Gaussians, WeightedGradient};
use crate::system::{Codes, Importance, OwnBatch, OwnPull, OwnResult, OwnWeights, System};

/// What is maximised at one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) estimator: Estimator,
    /// τ.
    pub(crate) temperature: f64,
    /// β.
    pub(crate) divergence_weight: f64,
}

impl Terms {
    /// The bound itself.
    pub(crate) fn plain(estimator: Estimator) -> Self {
        Self { estimator, temperature: 1.0, divergence_weight: 1.0 }
    }
}

/// Sequences, and the code of each.
#[derive(Clone, Debug)]
pub(crate) struct Coded {
    pub(crate) batch: OwnBatch,
    /// By sequence; codes are numbered from 0 and each has one sequence at least.
    pub(crate) code_of: Vec<usize>,
}

/// Beliefs and draws.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawn<'a> {
    pub(crate) beliefs: &'a Gaussians,
    /// ε, N × S × k.
    pub(crate) noise: &'a [f64],
}

/// What one evaluation found.
#[derive(Clone, Debug)]
pub(crate) struct Evaluation {
    /// The bound of each code at τ = β = 1, in nats.
    pub(crate) bounds: Vec<f64>,
    /// Σ_j L_j.
    pub(crate) total: f64,
    /// Mean effective number of draws, for importance weights.
    pub(crate) ess: Option<f64>,
    /// ∂ Σ_j L_j with respect to the beliefs.
    pub(crate) beliefs: Gaussians,
}

impl Drawn<'_> {
    fn n_draws(&self) -> usize {
        self.noise.len() / self.beliefs.mean.len()
    }

    /// ε of code j, S × k.
    fn noise_of(&self, j: usize) -> &[f64] {
        let each = self.n_draws() * self.beliefs.d_code;
        &self.noise[j * each..(j + 1) * each]
    }

    fn code(&self, j: usize, s: usize, d: usize) -> f64 {
        let e = self.noise_of(j)[s * self.beliefs.d_code + d];
        self.beliefs.mean_of(j)[d] + self.beliefs.log_std_dev_of(j)[d].exp() * e
    }

    /// The codes that sequences are scored with.
    fn own_codes(&self, code_of: &[usize]) -> Codes {
        let n = self.n_draws();
        Codes::from_fn(code_of.len() * n, self.beliefs.d_code, |m, d| self.code(code_of[m / n], m % n, d))
    }

    /// r_js of code j, S values; constants of p and q cancel.
    fn log_ratios(&self, j: usize) -> Vec<f64> {
        let (k, volume) = (self.beliefs.d_code, self.beliefs.log_std_dev_of(j).iter().sum::<f64>());
        let square = |e: f64, z: f64| 0.5 * (e * e - z * z);
        let of_draw = |(s, e): (usize, &[f64])| {
            volume + e.iter().enumerate().map(|(d, &e)| square(e, self.code(j, s, d))).sum::<f64>()
        };
        self.noise_of(j).chunks_exact(k).enumerate().map(of_draw).collect()
    }
}

/// Bounds of all codes, and the gradients of their sum; that with respect to the model's parameters is left in `found`.
pub(crate) fn evaluate(
    (model, parameters): (&System, &[f32]),
    drawn: Drawn<'_>,
    data: &Coded,
    terms: Terms,
    found: &mut OwnResult,
) -> Evaluation {
    let s = drawn.n_draws();
    let beta = terms.divergence_weight;
    let log_ratios: Vec<f64> = match terms.estimator {
        Estimator::Elbo => vec![],
        Estimator::ImportanceWeighted(_) => {
            (0..drawn.beliefs.len()).flat_map(|j| drawn.log_ratios(j)).map(|r| beta * r).collect()
        }
    };
    let weights = match terms.estimator {
        Estimator::Elbo => OwnWeights::Equal(terms.temperature / s as f64),
        Estimator::ImportanceWeighted(_) => OwnWeights::Importance(Importance {
            temperature: terms.temperature,
            log_ratios: &log_ratios,
            code_of: &data.code_of,
            log_negligible: f64::NEG_INFINITY,
        }),
    };
    let codes = drawn.own_codes(&data.code_of);
    model.own_gradient_into(parameters, &codes, (&data.batch, OwnPull::Both(weights)), found);
    let totals = by_code(&found.log_likelihoods, &data.code_of, drawn);
    let (ess, beliefs) = match terms.estimator {
        Estimator::Elbo => (None, to_beliefs(found, drawn, (data, terms))),
        Estimator::ImportanceWeighted(path) => {
            let tau = terms.temperature as f32;
            if tau != 1.0 {
                found.parameters.iter_mut().for_each(|d| *d *= tau);
            }
            let weights = weights_by_code(&found.weights, &data.code_of, drawn);
            let sizes = weights.chunks_exact(s).map(|w| 1.0 / w.iter().map(|w| w * w).sum::<f64>());
            let beliefs = match path {
                WeightedGradient::Plain => pathwise(found, &weights, drawn, (data, terms)),
                WeightedGradient::DoublyReparameterised => doubly(found, &weights, drawn, (data, terms)),
            };
            (Some(sizes.sum::<f64>() / drawn.beliefs.len() as f64), beliefs)
        }
    };
    Evaluation {
        bounds: value_by_code(&totals, drawn, Terms::plain(terms.estimator)),
        total: value_by_code(&totals, drawn, terms).iter().sum(),
        ess,
        beliefs,
    }
}

/// The bounds alone.
pub(crate) fn bounds(
    model: &System,
    parameters: &[f32],
    drawn: Drawn<'_>,
    data: &Coded,
    estimator: Estimator,
) -> Vec<f64> {
    let codes = drawn.own_codes(&data.code_of);
    let found = model.own_gradient(parameters, &codes, &data.batch, OwnPull::Nothing);
    let totals = by_code(&found.log_likelihoods, &data.code_of, drawn);
    value_by_code(&totals, drawn, Terms::plain(estimator))
}

/// Likelihoods added up over the sequences of each code, N × S.
fn by_code(likelihoods: &[f64], code_of: &[usize], drawn: Drawn<'_>) -> Vec<f64> {
    let s = drawn.n_draws();
    let mut totals = vec![0.0; drawn.beliefs.len() * s];
    for (own, &j) in likelihoods.chunks_exact(s).zip(code_of) {
        totals[j * s..(j + 1) * s].iter_mut().zip(own).for_each(|(sum, l)| *sum += l);
    }
    totals
}

/// L_j of every code, from its likelihoods.
fn value_by_code(totals: &[f64], drawn: Drawn<'_>, terms: Terms) -> Vec<f64> {
    let (tau, beta, s) = (terms.temperature, terms.divergence_weight, drawn.n_draws());
    let of_code = |(j, likelihoods): (usize, &[f64])| match terms.estimator {
        Estimator::Elbo => {
            let divergence: f64 = drawn.beliefs.divergence_of(j).iter().sum();
            tau * likelihoods.iter().sum::<f64>() / s as f64 - beta * divergence
        }
        Estimator::ImportanceWeighted(_) => {
            let ratios = drawn.log_ratios(j);
            log_mean_exp(likelihoods.iter().zip(&ratios).map(|(l, r)| tau * l + beta * r))
        }
    };
    totals.chunks_exact(s).enumerate().map(of_code).collect()
}

fn log_mean_exp(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    let (sum, n) = terms.fold((0.0, 0.0), |(sum, n), t| (sum + (t - largest).exp(), n + 1.0));
    largest + (sum / n).ln()
}

/// d L / d (μ, ρ) of the evidence bound.
fn to_beliefs(found: &OwnResult, drawn: Drawn<'_>, (data, terms): (&Coded, Terms)) -> Gaussians {
    let (mut pulled, q) = (pull_to_beliefs(found, drawn, &data.code_of), drawn.beliefs);
    for at in 0..q.mean.len() {
        pulled.mean[at] -= terms.divergence_weight * q.mean[at];
        pulled.log_std_dev[at] -= terms.divergence_weight * (2.0 * q.log_std_dev[at]).exp_m1();
    }
    pulled
}

/// Gradients that stand at codes z_is, pulled to μ and ρ and added up by code.
fn pull_to_beliefs(found: &OwnResult, drawn: Drawn<'_>, code_of: &[usize]) -> Gaussians {
    let (q, k) = (drawn.beliefs, drawn.beliefs.d_code);
    let mut pulled = Gaussians::zeros(q.len(), k);
    for (own, &j) in found.codes.chunks_exact(drawn.n_draws() * k).zip(code_of) {
        for (at, (&d_code, e)) in own.iter().zip(drawn.noise_of(j)).enumerate() {
            let (place, d) = (j * k + at % k, f64::from(d_code));
            pulled.mean[place] += d;
            pulled.log_std_dev[place] += d * e * q.log_std_dev[place].exp();
        }
    }
    pulled
}

/// The weights of each code, N × S: all sequences of a code have the same.
fn weights_by_code(weights: &[f64], code_of: &[usize], drawn: Drawn<'_>) -> Vec<f64> {
    let s = drawn.n_draws();
    let mut all = vec![0.0; drawn.beliefs.len() * s];
    for (own, &j) in weights.chunks_exact(s).zip(code_of) {
        all[j * s..(j + 1) * s].copy_from_slice(own);
    }
    all
}

/// d L / d (μ, ρ) with the weights held to what they are: the gradient of the bound for these draws.
fn pathwise(
    found: &OwnResult,
    weights: &[f64],
    drawn: Drawn<'_>,
    (data, terms): (&Coded, Terms),
) -> Gaussians {
    let (q, k, beta) = (drawn.beliefs, drawn.beliefs.d_code, terms.divergence_weight);
    let mut pulled = pull_to_beliefs(found, drawn, &data.code_of);
    pulled.mean.iter_mut().chain(&mut pulled.log_std_dev).for_each(|d| *d *= terms.temperature);
    for (j, own) in weights.chunks_exact(drawn.n_draws()).enumerate() {
        for (s, v) in own.iter().enumerate() {
            for d in 0..k {
                let (place, z, e) = (j * k + d, drawn.code(j, s, d), drawn.noise_of(j)[s * k + d]);
                pulled.mean[place] -= v * beta * z;
                pulled.log_std_dev[place] += v * beta * (1.0 - z * e * q.log_std_dev[place].exp());
            }
        }
    }
    pulled
}

/// The doubly reparameterised estimate.
fn doubly(found: &OwnResult, weights: &[f64], drawn: Drawn<'_>, (data, terms): (&Coded, Terms)) -> Gaussians {
    let (q, k, n_draws) = (drawn.beliefs, drawn.beliefs.d_code, drawn.n_draws());
    let beta = terms.divergence_weight;
    let mut at_codes = vec![0.0; drawn.noise.len()];
    for (own, &j) in found.codes.chunks_exact(n_draws * k).zip(&data.code_of) {
        let sums = at_codes[j * n_draws * k..].iter_mut();
        sums.zip(own).for_each(|(sum, d)| *sum += terms.temperature * f64::from(*d));
    }
    let mut pulled = Gaussians::zeros(q.len(), k);
    for (at, e) in drawn.noise.iter().enumerate() {
        let (j, s, d) = (at / (n_draws * k), at / k % n_draws, at % k);
        let (place, v) = (j * k + d, weights[at / k]);
        let sigma = q.log_std_dev[place].exp();
        let slope = at_codes[at] + v * beta * (e / sigma - drawn.code(j, s, d));
        let d_code = (1.0 - beta + beta * v) * slope;
        pulled.mean[place] += d_code;
        pulled.log_std_dev[place] += d_code * sigma * e;
    }
    pulled
}
