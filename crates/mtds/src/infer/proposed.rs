//! The posterior from a belief that is already there, such as a network's: taken as it is, or corrected by weights.

use serde::{Deserialize, Serialize};

use super::weighted::WeightedDraws;
use super::{Diagnostics, GaussianMixture, LogTarget, Method, Posterior, Status};
use crate::random::Random;
use crate::{Error, Result};

/// What happens to the draws of a belief.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Correction {
    /// They are weighed against the target: exact in the limit, with evidence and effective sample size.
    #[default]
    Importance,
    /// They are taken as they are: no likelihood is computed, nothing says how good they are.
    None,
}

/// Settings of inference from a belief.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Proposed {
    /// Number of draws.
    pub draws: usize,
    /// What happens to them.
    pub correction: Correction,
    /// Share of the prior, collapsed to one Gaussian, among the draws that are weighed: bounds the weights.
    pub defensive_share: f64,
    /// Effective draws below which the status says so.
    pub min_ess: f64,
}

impl Default for Proposed {
    fn default() -> Self {
        Self { draws: 1024, correction: Correction::Importance, defensive_share: 0.05, min_ess: 100.0 }
    }
}

impl Proposed {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`Error::Setting`] naming the first setting that cannot be used.
    pub fn validate(&self) -> Result<()> {
        if self.draws == 0 {
            return Err(Error::setting("draws", "found 0; expected 1 or more"));
        }
        if !(0.0..1.0).contains(&self.defensive_share) {
            let why = format!("found {}; expected 0 or more, below 1", self.defensive_share);
            return Err(Error::setting("defensive_share", why));
        }
        if !(self.min_ess.is_finite() && self.min_ess >= 0.0) {
            let why = format!("found {}; expected 0 or more", self.min_ess);
            return Err(Error::setting("min_ess", why));
        }
        Ok(())
    }
}

/// The posterior of `target` from draws of `belief`. Its mixture is the belief.
///
/// Status: `LowEffectiveSampleSize` where the belief does not fit, `NoSupport` where no draw is possible.
///
/// # Errors
/// [`Error::Setting`] for settings out of range, [`Error::Shape`] when dimensions differ.
pub fn proposed(
    settings: &Proposed,
    target: &dyn LogTarget,
    belief: &GaussianMixture,
    prior: &GaussianMixture,
    random: &mut Random,
) -> Result<Posterior> {
    settings.validate()?;
    if belief.dim() != target.dim() || prior.dim() != target.dim() {
        let expected = format!("{} dimensions, like the target", target.dim());
        let found = format!("{} and {}", belief.dim(), prior.dim());
        return Err(Error::shape("belief and prior", expected, found));
    }
    let mut diagnostics = Diagnostics::new(Method::Amortised);
    if settings.correction == Correction::None {
        let draws = belief.sample(settings.draws, random);
        return Posterior::from_equal_draws(draws, Some(belief.clone()), diagnostics);
    }
    let share = settings.defensive_share;
    let proposal = match share > 0.0 {
        true => GaussianMixture::average(&[(1.0 - share, belief), (share, &prior.collapsed()?)])?,
        false => belief.clone(),
    };
    let weighted = WeightedDraws::draw(target, &proposal, settings.draws, random);
    diagnostics.evaluations = settings.draws;
    diagnostics.nonfinite = weighted.nonfinite;
    if weighted.normalised().map_or(0.0, |found| found.ess) < settings.min_ess {
        diagnostics.status = Status::LowEffectiveSampleSize;
    }
    Ok(Posterior::from_weighted(weighted, Some(belief.clone()), diagnostics))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::Points;
    use crate::random::stream;

    /// N(1, 0.5²) up to a factor 3.
    struct Known;

    impl LogTarget for Known {
        fn dim(&self) -> usize {
            1
        }

        fn log_density(&self, points: &Points, out: &mut [f64]) {
            let factor = (3.0 / (0.5 * std::f64::consts::TAU.sqrt())).ln();
            out.iter_mut().zip(points.column(0)).for_each(|(o, u)| *o = factor - 2.0 * (u - 1.0) * (u - 1.0));
        }
    }

    fn normal(mean: f64, var: f64) -> GaussianMixture {
        GaussianMixture::new(vec![1.0], vec![vec![mean]], vec![vec![var]]).unwrap()
    }

    fn run(settings: &Proposed, belief: &GaussianMixture) -> Result<Posterior> {
        let prior = GaussianMixture::standard_normal(1).unwrap();
        proposed(settings, &Known, belief, &prior, &mut stream(4, 0))
    }

    #[test]
    fn weights_correct_a_belief_that_is_off() {
        let many = Proposed { draws: 20_000, ..Proposed::default() };
        let found = run(&many, &normal(0.6, 0.4)).unwrap();
        // 20 000 draws, effective share above a third: standard errors 0.006 of the mean and 0.01 of the evidence.
        assert!((found.mean()[0] - 1.0).abs() < 0.03, "{:?}", found.mean());
        assert!((found.log_evidence().unwrap() - 3f64.ln()).abs() < 0.05);
        assert_eq!(found.diagnostics().status, Status::Converged);
        let as_it_is = run(&Proposed { correction: Correction::None, ..many }, &normal(0.6, 0.4)).unwrap();
        assert!((as_it_is.mean()[0] - 0.6).abs() < 0.03 && as_it_is.log_evidence().is_none());
    }

    #[test]
    fn a_belief_far_away_is_said() {
        let found =
            run(&Proposed { defensive_share: 0.0, ..Proposed::default() }, &normal(-6.0, 0.05)).unwrap();
        assert_eq!(found.diagnostics().status, Status::LowEffectiveSampleSize);
        let none = Proposed { draws: 0, ..Proposed::default() };
        assert!(run(&none, &normal(0.0, 1.0)).is_err());
        let share = Proposed { defensive_share: 1.0, ..Proposed::default() };
        assert!(run(&share, &normal(0.0, 1.0)).is_err());
        let ess = Proposed { min_ess: f64::NAN, ..Proposed::default() };
        assert!(run(&ess, &normal(0.0, 1.0)).is_err());
        assert!(run(&Proposed::default(), &GaussianMixture::standard_normal(2).unwrap()).is_err());
    }
}
