//! What every inference method returns: weighted draws, a mixture where there is one, and their quality.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::mixture::systematic_counts;
use super::weighted::{WeightedDraws, effective_size};
use super::{ChainReport, GaussianMixture, Points, pareto_shape};
use crate::random::Random;
use crate::{Error, Result};

/// How a posterior was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Method {
    /// Iterated adaptive importance sampling.
    AdaptiveImportance,
    /// Modes by optimisation, Laplace at each, importance weights.
    MapLaplace,
    /// Hamiltonian Monte Carlo without U-turns.
    Nuts,
    /// An inference network.
    Amortised,
}

/// Whether a posterior can be relied on. Not an error: the best that was found is always returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// The method reached what its settings ask for.
    Converged,
    /// Fewer effective draws than asked for, after all retries: widen the start or draw more.
    LowEffectiveSampleSize,
    /// The optimiser or sampler used up its iterations first.
    IterationLimit,
    /// Too many trajectories of a Hamiltonian sampler diverged, so parts of the posterior may be missing: raise
    /// `target_accept`.
    Divergent,
    /// Markov chains, or their halves, do not agree: warm up for longer, or give starts at more modes.
    ChainsDisagree,
    /// No draw had a finite log density: draws are those of the proposal, equally weighted, and mean nothing.
    NoSupport,
}

/// Quality and cost of a posterior.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// How it was found.
    pub method: Method,
    /// Whether it can be relied on.
    pub status: Status,
    /// Effective number of draws: 1 / Σ w², or for Markov chains the bulk effective sample size of the coordinate
    /// where it is smallest; 0 without support.
    pub ess: f64,
    /// Pareto shape of the weights; above 0.7 look twice: the largest weights may hide a heavier tail. `None` where weights are equal by
    /// construction or too few.
    pub pareto_k: Option<f64>,
    /// Rounds of adaptation, over all retries.
    pub passes: usize,
    /// Restarts after too low an effective sample size.
    pub retries: usize,
    /// Points at which the log density alone was evaluated.
    pub evaluations: usize,
    /// Points at which the gradient was evaluated, too.
    pub gradient_evaluations: usize,
    /// Evaluations that gave NaN or `+inf`, taken as impossible.
    pub nonfinite: usize,
    /// How Markov chains went; `None` for other methods.
    #[serde(default)]
    pub chains: Option<ChainReport>,
}

impl Diagnostics {
    /// No work done yet.
    #[must_use]
    pub fn new(method: Method) -> Self {
        Self {
            method,
            status: Status::Converged,
            ess: 0.0,
            pareto_k: None,
            passes: 0,
            retries: 0,
            evaluations: 0,
            gradient_evaluations: 0,
            nonfinite: 0,
            chains: None,
        }
    }
}

/// A posterior over points of `R^d`: draws with weights that sum to one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct Posterior {
    draws: Points,
    weights: Vec<f64>,
    mixture: Option<GaussianMixture>,
    log_evidence: Option<f64>,
    diagnostics: Diagnostics,
}

/// Stored form, checked on the way in.
#[derive(Deserialize)]
struct Parts {
    draws: Points,
    weights: Vec<f64>,
    mixture: Option<GaussianMixture>,
    log_evidence: Option<f64>,
    diagnostics: Diagnostics,
}

impl TryFrom<Parts> for Posterior {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Self> {
        let Parts { draws, weights, mixture, log_evidence, diagnostics } = parts;
        if weights.len() != draws.len() || draws.is_empty() {
            return Err(Error::shape("posterior weights", "one per draw, one or more", weights.len()));
        }
        let sum: f64 = weights.iter().sum();
        if weights.iter().any(|&w| w < 0.0) || sum.is_nan() || (sum - 1.0).abs() > 1e-6 {
            let why = format!("they sum to {sum}; they must not be negative and must sum to one");
            return Err(Error::setting("posterior weights", why));
        }
        Ok(Self { draws, weights, mixture, log_evidence, diagnostics })
    }
}

impl Posterior {
    /// Draws that all count the same, as from Markov chains. The effective sample size is the one in
    /// `diagnostics`, or the number of draws where that is 0.
    ///
    /// # Errors
    /// [`Error::Shape`] for no draws, [`Error::NotFinite`] for a draw that is not finite.
    pub fn from_equal_draws(
        draws: Points,
        mixture: Option<GaussianMixture>,
        mut diagnostics: Diagnostics,
    ) -> Result<Self> {
        if draws.is_empty() {
            return Err(Error::shape("draws", "one or more", 0));
        }
        if let Some(&value) = draws.values().iter().find(|x| !x.is_finite()) {
            return Err(Error::NotFinite { what: "posterior draw".into(), value, hint: "" });
        }
        if diagnostics.ess == 0.0 {
            diagnostics.ess = draws.len() as f64;
        }
        let weights = vec![1.0 / draws.len() as f64; draws.len()];
        Ok(Self { draws, weights, mixture, log_evidence: None, diagnostics })
    }

    /// A point that is known, such as a code that was chosen: one draw, a mode without spread.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for a point that is not finite.
    pub fn known(point: &[f64]) -> Result<Self> {
        let draws = Points::from_points(point.len(), &[point.to_vec()])?;
        Self::from_equal_draws(draws, None, Diagnostics::new(Method::MapLaplace))
    }

    /// Importance draws; fills in effective sample size, Pareto shape and, without support, the status.
    pub(super) fn from_weighted(
        weighted: WeightedDraws,
        mixture: Option<GaussianMixture>,
        mut diagnostics: Diagnostics,
    ) -> Self {
        let (weights, log_evidence) = match weighted.normalised() {
            Some(found) => {
                diagnostics.ess = found.ess;
                diagnostics.pareto_k = pareto_shape(&found.weights);
                (found.weights, Some(found.log_evidence))
            }
            None => {
                diagnostics.ess = 0.0;
                diagnostics.status = Status::NoSupport;
                (vec![1.0 / weighted.draws.len() as f64; weighted.draws.len()], None)
            }
        };
        Self { draws: weighted.draws, weights, mixture, log_evidence, diagnostics }
    }

    /// The draws, `n` points of `R^d`.
    #[must_use]
    pub fn draws(&self) -> &Points {
        &self.draws
    }

    /// One weight per draw; they sum to one.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The parametric approximation, where the method has one.
    #[must_use]
    pub fn mixture(&self) -> Option<&GaussianMixture> {
        self.mixture.as_ref()
    }

    /// `log p(y)`, where the method estimates it.
    #[must_use]
    pub fn log_evidence(&self) -> Option<f64> {
        self.log_evidence
    }

    /// Quality and cost.
    #[must_use]
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// The same, with the work of another stage counted, too.
    pub(crate) fn after(mut self, stage: &Diagnostics) -> Self {
        self.diagnostics.passes += stage.passes;
        self.diagnostics.evaluations += stage.evaluations;
        self.diagnostics.gradient_evaluations += stage.gradient_evaluations;
        self.diagnostics.nonfinite += stage.nonfinite;
        self
    }

    /// Dimension `d`.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.draws.dim()
    }

    /// Posterior mean, `d` values.
    #[must_use]
    pub fn mean(&self) -> Vec<f64> {
        self.draws.weighted_mean(&self.weights)
    }

    /// Posterior covariance, row-major `d x d`.
    #[must_use]
    pub fn covariance(&self) -> Vec<f64> {
        let (d, mean) = (self.dim(), self.mean());
        let mut covariance = vec![0.0; d * d];
        for a in 0..d {
            for b in 0..=a {
                let columns = self.draws.column(a).iter().zip(self.draws.column(b)).zip(&self.weights);
                let value = columns.map(|((x, y), w)| w * (x - mean[a]) * (y - mean[b])).sum();
                covariance[a * d + b] = value;
                covariance[b * d + a] = value;
            }
        }
        covariance
    }

    /// Posterior standard deviation of each coordinate, `d` values.
    #[must_use]
    pub fn std_dev(&self) -> Vec<f64> {
        let (d, covariance) = (self.dim(), self.covariance());
        (0..d).map(|k| covariance[k * d + k].sqrt()).collect()
    }

    /// Quantiles of one coordinate, one per probability.
    ///
    /// # Errors
    /// [`Error::Setting`] unless `dim` exists and probabilities lie in 0 … 1.
    pub fn quantiles(&self, dim: usize, probabilities: &[f64]) -> Result<Vec<f64>> {
        if dim >= self.dim() {
            return Err(Error::setting("dim", format!("found {dim}; expected less than {}", self.dim())));
        }
        if let Some(p) = probabilities.iter().find(|p| !(0.0..=1.0).contains(*p)) {
            return Err(Error::setting("probability", format!("found {p}; expected 0 to 1")));
        }
        let column = self.draws.column(dim);
        let mut order: Vec<usize> = (0..column.len()).filter(|&i| self.weights[i] > 0.0).collect();
        order.sort_by(|&i, &j| column[i].total_cmp(&column[j]));
        let sorted: Vec<(f64, f64)> = order.into_iter().map(|i| (column[i], self.weights[i])).collect();
        Ok(probabilities.iter().map(|&p| sorted_quantile(&sorted, p)).collect())
    }

    /// `n` equally weighted draws by systematic resampling, in the order of the draws.
    #[must_use]
    pub fn resample(&self, n: usize, random: &mut Random) -> Points {
        let counts = systematic_counts(&self.weights, n, random.random());
        let mut chosen = Vec::with_capacity(n);
        for (i, count) in counts.into_iter().enumerate() {
            chosen.extend(std::iter::repeat_n(i, count));
        }
        self.draws.select(&chosen)
    }

    /// The same with one draw in place of all, their mean.
    pub(super) fn without_draws(self) -> Self {
        let mean = self.mean();
        let mut draws = Points::zeros(mean.len(), 1);
        draws.set_point(0, &mean);
        Self { draws, weights: vec![1.0], ..self }
    }

    /// Number of Markov chains that it is made of, one after the other; 1 for other methods.
    #[must_use]
    pub fn n_chains(&self) -> usize {
        self.diagnostics.chains.as_ref().map_or(1, |report| report.chains.max(1))
    }

    /// Equally weighted draws, chain after chain: `n` by resampling; of several chains as many of each as make `n` or a few more,
    /// evenly spaced in it.
    #[must_use]
    pub fn thinned(&self, n: usize, random: &mut Random) -> Points {
        let n_chains = self.n_chains();
        if n_chains == 1 {
            return self.resample(n, random);
        }
        let (of_chain, wanted) = (self.draws.len() / n_chains, n.div_ceil(n_chains));
        let at = |i: usize| (i / wanted) * of_chain + (i % wanted) * of_chain / wanted;
        self.draws.select(&(0..n_chains * wanted).map(at).collect::<Vec<_>>())
    }

    /// Effective sample size of the weights alone, whatever the draws' dependence.
    #[must_use]
    pub fn weight_ess(&self) -> f64 {
        effective_size(&self.weights)
    }
}

/// Quantile of ascending `(value, weight)`: each value sits at the middle of its weight, linear in between.
fn sorted_quantile(sorted: &[(f64, f64)], p: f64) -> f64 {
    let (mut below, mut previous) = (0.0, None);
    for &(value, weight) in sorted {
        let middle = below + 0.5 * weight;
        if p <= middle {
            return match previous {
                Some((at, left)) => left + (value - left) * (p - at) / (middle - at),
                None => value,
            };
        }
        below += weight;
        previous = Some((middle, value));
    }
    previous.map_or(f64::NAN, |(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    fn four() -> Posterior {
        let draws = Points::from_values(1, 4, vec![3.0, 1.0, 2.0, 4.0]).unwrap();
        Posterior::from_equal_draws(draws, None, Diagnostics::new(Method::Nuts)).unwrap()
    }

    #[test]
    fn moments_and_quantiles_of_four_draws() {
        let posterior = four();
        assert_eq!(posterior.mean(), vec![2.5]);
        assert!((posterior.covariance()[0] - 1.25).abs() < 1e-12);
        let quantiles = posterior.quantiles(0, &[0.0, 0.125, 0.5, 1.0]).unwrap();
        assert_eq!(quantiles, vec![1.0, 1.0, 2.5, 4.0]);
        assert!(posterior.quantiles(1, &[0.5]).is_err());
        assert!(posterior.quantiles(0, &[f64::NAN]).is_err());
        assert_eq!(posterior.diagnostics().ess, 4.0);
    }

    #[test]
    fn thinning_keeps_chains_apart_and_their_draws_evenly_spaced() {
        let draws = Points::from_values(1, 12, (0..12).map(f64::from).collect()).unwrap();
        let mut diagnostics = Diagnostics::new(Method::Nuts);
        let alone = Posterior::from_equal_draws(draws.clone(), None, diagnostics.clone()).unwrap();
        diagnostics.chains =
            Some(ChainReport { chains: 2, divergences: 0, cut_short: 0, acceptance: 0.8, r_hat: None });
        let two = Posterior::from_equal_draws(draws, None, diagnostics).unwrap();
        assert_eq!((alone.n_chains(), two.n_chains()), (1, 2));
        let mut random = stream(1, 0);
        assert_eq!(alone.thinned(3, &mut random).len(), 3);
        for (n, expected) in [(6, vec![0.0, 2.0, 4.0, 6.0, 8.0, 10.0]), (3, vec![0.0, 3.0, 6.0, 9.0])] {
            assert_eq!(two.thinned(n, &mut random).values(), expected);
        }
        assert_eq!(two.thinned(12, &mut random).values(), two.draws().values());
    }

    #[test]
    fn resampling_follows_the_weights() {
        let weighted = WeightedDraws {
            draws: Points::from_values(1, 3, vec![0.0, 1.0, 2.0]).unwrap(),
            log_weights: vec![0.5_f64.ln(), f64::NEG_INFINITY, 1.5_f64.ln()],
            nonfinite: 0,
        };
        let posterior =
            Posterior::from_weighted(weighted, None, Diagnostics::new(Method::AdaptiveImportance));
        assert!((posterior.log_evidence().unwrap() - (2.0_f64 / 3.0).ln()).abs() < 1e-12);
        let draws = posterior.resample(100, &mut stream(6, 0));
        let ones = draws.column(0).iter().filter(|&&x| x == 1.0).count();
        let zeros = draws.column(0).iter().filter(|&&x| x == 0.0).count();
        assert_eq!((zeros, ones, draws.len()), (25, 0, 100));
    }

    #[test]
    fn empty_and_nonfinite_draws_are_errors() {
        let diagnostics = Diagnostics::new(Method::Nuts);
        assert!(Posterior::from_equal_draws(Points::zeros(2, 0), None, diagnostics.clone()).is_err());
        let bad = Points::from_values(1, 1, vec![f64::NAN]).unwrap();
        assert!(Posterior::from_equal_draws(bad, None, diagnostics).is_err());
    }

    #[test]
    fn a_posterior_survives_json() {
        let text = serde_json::to_string(&four()).unwrap();
        assert_eq!(serde_json::from_str::<Posterior>(&text).unwrap(), four());
        assert!(serde_json::from_str::<Posterior>(&text.replace("[0.25,", "[")).is_err());
        assert!(serde_json::from_str::<Posterior>(&text.replace("[0.25,", "[0.5,")).is_err());
    }
}
