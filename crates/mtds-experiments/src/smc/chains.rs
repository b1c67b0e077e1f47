//! Metropolis chains in the cube, with steps along differences of particles.
//!
//! ```text
//! u' = u + γ (a − b)          a, b from a pool that stands still while the chains run
//! ```
//!
//! Steps ±γ(a − b) are equally likely, so a proposal inside the cube is accepted by the ratio of likelihoods, and
//! one outside never. (Folding it back at the walls would favour some directions: a fold turns one coordinate of
//! the step around, and differences whose coordinates are correlated are not symmetric under that.) Differences
//! have the shape of the posterior, whatever it is; with γ = 1 they lead from one mode to another (ter Braak
//! 2006). γ varies, so that some steps are short enough.

use mtds::random::Random;
use rand::RngExt;

use super::{Reach, Settings, Terms};

/// Share of the proposals that are a whole difference.
const WHOLE_DIFFERENCES: f64 = 0.1;
/// Shortest and longest step, in units of the best one for a Gaussian.
const STEP_RANGE: [f64; 2] = [0.25, 1.25];

/// Chains side by side, and every state they were in.
pub(super) struct Chains<'a, const D: usize, L> {
    likelihood: &'a L,
    reach: Reach,
    pool: Vec<[f64; D]>,
    current: Vec<[f64; D]>,
    log_likelihoods: Vec<f64>,
    /// Sweep by sweep.
    visited: Vec<[f64; D]>,
    n_sweeps: usize,
    n_accepted: usize,
}

/// Why the chains ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// They had moved enough.
    ByMoves,
    /// The largest number of sweeps came first.
    BySweeps,
}

impl<'a, const D: usize, L: Terms<D>> Chains<'a, D, L> {
    /// Chains from `starts`, one each, for the posterior at `reach`.
    pub(super) fn new(starts: Vec<[f64; D]>, pool: Vec<[f64; D]>, likelihood: &'a L, reach: Reach) -> Self {
        let log_likelihoods = likelihood.log_likelihoods(&starts, reach);
        let (visited, n_sweeps, n_accepted) = (vec![], 0, 0);
        Self { likelihood, reach, pool, current: starts, log_likelihoods, visited, n_sweeps, n_accepted }
    }

    /// Sweeps over all chains until they have moved enough.
    pub(super) fn run(&mut self, settings: &Settings, random: &mut Random) -> Ended {
        let enough = settings.accepted_moves * self.current.len() as f64;
        for sweep in 1..=settings.max_sweeps {
            self.sweep(random);
            if sweep >= settings.min_sweeps && self.n_accepted as f64 >= enough {
                return Ended::ByMoves;
            }
        }
        Ended::BySweeps
    }

    fn sweep(&mut self, random: &mut Random) {
        let proposals: Vec<[f64; D]> = self.current.iter().map(|u| self.proposal(u, random)).collect();
        let log_likelihoods = self.likelihood.log_likelihoods(&proposals, self.reach);
        for i in 0..self.current.len() {
            let log_ratio = log_likelihoods[i] - self.log_likelihoods[i];
            let inside = proposals[i].iter().all(|x| (0.0..=1.0).contains(x));
            if random.random::<f64>() < log_ratio.exp() && inside {
                self.current[i] = proposals[i];
                self.log_likelihoods[i] = log_likelihoods[i];
                self.n_accepted += 1;
            }
        }
        self.visited.extend_from_slice(&self.current);
        self.n_sweeps += 1;
    }

    fn proposal(&self, u: &[f64; D], random: &mut Random) -> [f64; D] {
        let n = self.pool.len();
        let first = random.random_range(0..n);
        let second = (first + random.random_range(1..n)) % n;
        let (a, b) = (&self.pool[first], &self.pool[second]);
        let gamma = if random.random::<f64>() < WHOLE_DIFFERENCES {
            1.0
        } else {
            let [shortest, longest] = STEP_RANGE;
            let best = 2.38 / (2.0 * D as f64).sqrt();
            best * (shortest + (longest - shortest) * random.random::<f64>())
        };
        std::array::from_fn(|d| u[d] + gamma * (a[d] - b[d]))
    }

    pub(super) fn n_sweeps(&self) -> usize {
        self.n_sweeps
    }

    /// All states, chain by chain: even steps through them visit every chain.
    pub(super) fn into_points(self) -> Vec<[f64; D]> {
        let n = self.current.len();
        (0..n).flat_map(|i| self.visited[i..].iter().step_by(n).copied()).collect()
    }
}
