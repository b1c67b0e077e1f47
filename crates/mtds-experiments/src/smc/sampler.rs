//! The stages: take in as much of the likelihood as the particles bear, then resample and move them.

use mtds::random::Random;
use mtds::{Error, Result};
use rand::RngExt;

use super::chains::{Chains, Ended};
use super::weights::{log_mean_exp, normalised, systematic, tempered_ess};
use super::{Reach, Settings, Stop, Terms, Work};

/// Terms that are evaluated at once, before it is known how many of them can be taken in.
const LOOKAHEAD: usize = 8;
/// Halvings after which the part of a term is as good as nothing.
const MOST_HALVINGS: usize = 200;
/// Bisections between the part that can be taken in and twice that.
const BISECTIONS: usize = 5;

/// Particles on their way from the prior to the posterior.
pub(super) struct Sampler<'a, const D: usize, L> {
    likelihood: &'a L,
    settings: &'a Settings,
    points: Vec<[f64; D]>,
    /// Relative to the evidence of the stages before.
    log_weights: Vec<f64>,
    reach: Reach,
    /// Evidence of the stages that have ended.
    log_evidence: f64,
    /// Effective sample size that ends the stage.
    least_ess: f64,
    work: Work,
}

/// What became of the terms on offer.
#[derive(PartialEq)]
enum Absorbed {
    All,
    Part,
}

impl<'a, const D: usize, L: Terms<D>> Sampler<'a, D, L> {
    pub(super) fn new(likelihood: &'a L, settings: &'a Settings, random: &mut Random) -> Self {
        Self {
            likelihood,
            settings,
            points: sobol_points(settings.prior_points, random),
            log_weights: vec![0.0; settings.prior_points],
            reach: Reach::default(),
            log_evidence: 0.0,
            least_ess: settings.prior_ess,
            work: Work::default(),
        }
    }

    /// # Errors
    /// [`Error::NotFinite`] for a term that is not finite.
    pub(super) fn advance_to(&mut self, n_terms: usize, random: &mut Random) -> Result<()> {
        while self.reach.whole < n_terms {
            let until = (self.reach.whole + LOOKAHEAD).min(n_terms);
            if self.absorb(until)? == Absorbed::Part {
                self.refresh(random);
            }
        }
        Ok(())
    }

    /// The weighted particles as they are.
    pub(super) fn stop(&self) -> Stop<D> {
        let weights = normalised(&self.log_weights);
        Stop {
            n_terms: self.reach.whole,
            points: self.points.clone(),
            ess: 1.0 / weights.iter().map(|w| w * w).sum::<f64>(),
            weights,
            log_evidence: self.log_evidence + log_mean_exp(&self.log_weights),
            work: self.work,
        }
    }

    /// Takes in terms below `until` while enough particles stay effective.
    fn absorb(&mut self, until: usize) -> Result<Absorbed> {
        let first = self.reach.whole;
        let width = until - first;
        let terms = self.likelihood.terms(&self.points, first..until);
        self.work.evaluations += self.points.len();
        if let Some(k) = terms.iter().position(|term| !term.is_finite()) {
            let what = format!("log likelihood term {}", first + k % width);
            return Err(Error::NotFinite { what, value: terms[k], hint: "; check the observations" });
        }
        for k in 0..width {
            let column: Vec<f64> = terms.iter().skip(k).step_by(width).copied().collect();
            let rest = 1.0 - self.reach.share;
            let share = self.bearable_share(&column, rest);
            self.log_weights.iter_mut().zip(&column).for_each(|(x, term)| *x += share * term);
            if share < rest {
                self.reach.share += share;
                return Ok(Absorbed::Part);
            }
            self.reach = Reach { whole: self.reach.whole + 1, share: 0.0 };
        }
        Ok(Absorbed::All)
    }

    /// The largest share of a term, up to `rest`, that leaves enough particles effective.
    fn bearable_share(&self, column: &[f64], rest: f64) -> f64 {
        let bearable = |share| tempered_ess(&self.log_weights, column, share) >= self.least_ess;
        if self.work.stages >= self.settings.max_stages || bearable(rest) {
            return rest;
        }
        let mut low = 0.5 * rest;
        for _ in 0..MOST_HALVINGS {
            if bearable(low) {
                break;
            }
            low *= 0.5;
        }
        let mut high = 2.0 * low;
        for _ in 0..BISECTIONS {
            let middle = f64::midpoint(low, high);
            if bearable(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Ends the stage: its mean weight joins the evidence, and chains from resampled particles give the next.
    fn refresh(&mut self, random: &mut Random) {
        self.log_evidence += log_mean_exp(&self.log_weights);
        let weights = normalised(&self.log_weights);
        // Every other draw begins a chain; those between are the pool that proposals are made from.
        let chosen = systematic(&weights, 2 * self.settings.chains, random.random());
        let every_other =
            |from: usize| chosen.iter().skip(from).step_by(2).map(|&i| self.points[i]).collect();
        let mut chains = Chains::new(every_other(0), every_other(1), self.likelihood, self.reach);
        let ended = chains.run(self.settings, random);
        self.work.stages += 1;
        self.work.slow_stages += usize::from(ended == Ended::BySweeps);
        self.work.sweeps += chains.n_sweeps();
        self.work.evaluations += self.settings.chains * (1 + chains.n_sweeps());
        self.points = chains.into_points();
        self.log_weights = vec![0.0; self.points.len()];
        self.least_ess = self.settings.ess_share * self.points.len() as f64;
    }
}

/// Even draws of the prior, `n` of at most 65 536: scrambled Sobol points of the unit cube under a random shift. Every one of them is
/// uniform, together they are spread evenly.
fn sobol_points<const D: usize>(n: usize, random: &mut Random) -> Vec<[f64; D]> {
    let scramble: u32 = random.random();
    // The generator has 24 bits; the shift fills the rest.
    let shift: [f64; D] = std::array::from_fn(|_| random.random());
    let coordinate = |m: usize, d: usize| {
        let u = f64::from(sobol_burley::sample(m as u32, d as u32, scramble)) + shift[d];
        u - u.floor()
    };
    (0..n).map(|m| std::array::from_fn(|d| coordinate(m, d))).collect()
}
