//! Tempered sequential Monte Carlo in the unit cube, for posteriors that need an exact answer.
//!
//! ```text
//! π_τ(u) ∝ 1{u ∈ [0, 1]^D} Π_{k ≤ ⌊τ⌋} ℓ_k(u) · ℓ_{⌊τ⌋+1}(u)^{τ − ⌊τ⌋}          τ from 0 to the number of terms
//! ```
//!
//! Particles begin as Sobol points of the prior and take in terms until too few of them are effective;
//! the last term is then taken in part, found by bisection \[1\]. After that, ancestors are resampled and each
//! starts a Metropolis chain; *all* states of the chains are the next particles \[2\]. The evidence is the product
//! of the mean weights of the stages.
//!
//! References: \[1\] Del Moral, Doucet & Jasra (2006), Sequential Monte Carlo samplers, JRSS B 68. \[2\] Dau &
//! Chopin (2022), Waste-free sequential Monte Carlo, JRSS B 84. Differs from \[2\]: chains go on until particles
//! have moved often enough, so their length changes from stage to stage, and a chain's start is left out.

mod chains;
mod sampler;
mod settings;
mod weights;

#[cfg(test)]
mod tests;

use std::ops::Range;

use mtds::random::Random;
use mtds::{Error, Result};

pub use settings::Settings;
pub(crate) use weights::log_mean_exp;
pub use weights::systematic;

/// A likelihood made of terms, one per observation, over points u of the unit cube.
pub trait Terms<const D: usize> {
    /// How many terms there are.
    fn n_terms(&self) -> usize;

    /// log ℓ_k(u) for the terms of `range` at every point, `points.len() × range.len()`; all finite.
    fn terms(&self, points: &[[f64; D]], range: Range<usize>) -> Vec<f64>;

    /// The tempered log likelihood at every point.
    fn log_likelihoods(&self, points: &[[f64; D]], reach: Reach) -> Vec<f64> {
        let n = reach.whole + usize::from(reach.share > 0.0);
        let terms = self.terms(points, 0..n);
        let total = |row: &[f64]| {
            row.iter()
                .enumerate()
                .map(|(k, term)| if k < reach.whole { *term } else { reach.share * term })
                .sum()
        };
        if n == 0 { vec![0.0; points.len()] } else { terms.chunks_exact(n).map(total).collect() }
    }
}

/// How far a likelihood is taken in: the time τ of the tempered posterior.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reach {
    /// Terms `0..whole` count in full: ⌊τ⌋.
    pub whole: usize,
    /// The exponent of term `whole`, in [0, 1): τ − ⌊τ⌋.
    pub share: f64,
}

/// The posterior after a number of terms, as weighted particles.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop<const D: usize> {
    /// How many terms were taken in.
    pub n_terms: usize,
    /// The particles.
    pub points: Vec<[f64; D]>,
    /// Their weights, summing to 1.
    pub weights: Vec<f64>,
    /// log ∫ Π_{k < n_terms} ℓ_k(u) du.
    pub log_evidence: f64,
    /// Effective sample size of the weights; states of one chain count as if they were independent.
    pub ess: f64,
    /// What it took so far.
    pub work: Work,
}

/// What a run has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Stages of resampling and moving.
    pub stages: usize,
    /// Sweeps over all chains.
    pub sweeps: usize,
    /// Stages whose chains ended at the largest number of sweeps before they had moved enough.
    pub slow_stages: usize,
    /// Points at which the likelihood was evaluated.
    pub evaluations: usize,
}

/// The posteriors after `wanted` numbers of terms, in increasing order.
///
/// # Errors
/// [`Error::Setting`] for settings outside their ranges, or `wanted` that does not increase; [`Error::Shape`]
/// when more terms are wanted than there are; [`Error::NotFinite`] for a term that is not finite.
pub fn run<const D: usize>(
    likelihood: &impl Terms<D>,
    wanted: &[usize],
    settings: &Settings,
    random: &mut Random,
) -> Result<Vec<Stop<D>>> {
    settings.check()?;
    check_wanted(wanted, likelihood.n_terms())?;
    let mut sampler = sampler::Sampler::new(likelihood, settings, random);
    let mut stop_at = |&n_terms: &usize| {
        sampler.advance_to(n_terms, random)?;
        Ok(sampler.stop())
    };
    wanted.iter().map(&mut stop_at).collect()
}

fn check_wanted(wanted: &[usize], n_terms: usize) -> Result<()> {
    if wanted.windows(2).any(|pair| pair[0] >= pair[1]) {
        let why = format!("found {wanted:?}; expected numbers of terms that increase");
        return Err(Error::Setting { name: "wanted".into(), why });
    }
    match wanted.last() {
        Some(&last) if last > n_terms => Err(Error::Shape {
            what: "wanted numbers of terms".into(),
            expected: format!("at most {n_terms}"),
            found: last.to_string(),
        }),
        _ => Ok(()),
    }
}
