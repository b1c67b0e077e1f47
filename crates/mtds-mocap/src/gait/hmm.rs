//! A hidden Markov model of two states with Gaussian emissions: Baum–Welch and Viterbi.
//!
//! ```text
//! s_t ∈ {0, 1}        p(s_t = s_{t−1}) = stay        o_t | s_t ~ N(mean_s, diag(var_s))
//!
//! E   γ_t(s) = p(s_t = s | o)  by scaled forward and backward sums
//! M   mean_s, var_s, stay from the expected counts, with the first model as a prior worth some observations
//! ```
//!
//! The prior keeps a state that a sequence never visits where it was. Rabiner (1989), *A tutorial on hidden
//! Markov models*; Gauvain & Lee (1994) for the prior.

/// Number of numbers per observation.
pub const D_EMISSION: usize = 2;
/// Smallest and largest probability of staying in a state.
const STAY: [f64; 2] = [0.7, 0.98];

/// Observations of one step.
pub type Observation = [f64; D_EMISSION];

/// The model: how long states last and what they emit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoStates {
    /// Probability that the state stays for another step.
    pub stay: f64,
    /// Mean of the observations in each state.
    pub mean: [Observation; 2],
    /// Variance of the observations in each state.
    pub var: [Observation; 2],
}

/// How to learn: the steps of Baum–Welch and the strength of the prior.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learning {
    /// Most iterations; with 0 the first model stays.
    pub n_iterations: usize,
    /// Observations that the first model is worth, in each state.
    pub prior_weight: f64,
    /// Smallest variance of each number.
    pub least_var: Observation,
}

impl TwoStates {
    /// The model after Baum–Welch on sequences that share it.
    #[must_use]
    pub fn learned(&self, sequences: &[Vec<Observation>], learning: &Learning) -> Self {
        let mut model = *self;
        for _ in 0..learning.n_iterations {
            let next = model.improved(self, sequences, learning);
            let change = (0..2).flat_map(|s| (0..D_EMISSION).map(move |d| (s, d)));
            let still =
                change.map(|(s, d)| (next.mean[s][d] - model.mean[s][d]).abs()).fold(0.0, f64::max) < 1e-6;
            model = next;
            if still {
                break;
            }
        }
        model
    }

    /// One step of Baum–Welch with `prior`.
    fn improved(&self, prior: &Self, sequences: &[Vec<Observation>], learning: &Learning) -> Self {
        let kappa = learning.prior_weight;
        let (mut count, mut sum) = ([kappa; 2], prior.mean.map(|mean| mean.map(|m| kappa * m)));
        let mut stays = [kappa * prior.stay, kappa];
        let gammas: Vec<Vec<[f64; 2]>> = sequences.iter().map(|o| self.posterior(o, &mut stays)).collect();
        let all = || sequences.iter().flatten().zip(gammas.iter().flatten());
        for (o, gamma) in all() {
            for s in 0..2 {
                count[s] += gamma[s];
                (0..D_EMISSION).for_each(|d| sum[s][d] += gamma[s] * o[d]);
            }
        }
        let mean: [Observation; 2] = std::array::from_fn(|s| sum[s].map(|value| value / count[s]));
        let spread = |s: usize, d: usize| {
            let prior = kappa * (prior.var[s][d] + (prior.mean[s][d] - mean[s][d]).powi(2));
            let square = prior + all().map(|(o, gamma)| gamma[s] * (o[d] - mean[s][d]).powi(2)).sum::<f64>();
            f64::max(square / count[s], learning.least_var[d])
        };
        let var = [0, 1].map(|s| std::array::from_fn(|d| spread(s, d)));
        Self { stay: (stays[0] / stays[1]).clamp(STAY[0], STAY[1]), mean, var }
    }

    /// Probabilities of the states at every step; expected stays and steps are added to `stays`.
    fn posterior(&self, observations: &[Observation], stays: &mut [f64; 2]) -> Vec<[f64; 2]> {
        let densities: Vec<[f64; 2]> = observations.iter().map(|o| relative(self.log_densities(o))).collect();
        let mut forward: Vec<[f64; 2]> = Vec::with_capacity(densities.len());
        for density in &densities {
            let before = forward.last().map_or([0.5; 2], |&last| self.moved(last));
            forward.push(normalised([before[0] * density[0], before[1] * density[1]]));
        }
        let mut backward = [1.0; 2];
        let mut gammas = forward.clone();
        for t in (0..densities.len()).rev() {
            gammas[t] = normalised([forward[t][0] * backward[0], forward[t][1] * backward[1]]);
            let onward = [densities[t][0] * backward[0], densities[t][1] * backward[1]];
            if t > 0 {
                let joint =
                    |from: usize, to: usize| forward[t - 1][from] * self.transition(from, to) * onward[to];
                let (same, other) = (joint(0, 0) + joint(1, 1), joint(0, 1) + joint(1, 0));
                stays[0] += same / (same + other).max(f64::MIN_POSITIVE);
                stays[1] += 1.0;
            }
            backward = normalised(self.moved(onward));
        }
        gammas
    }

    /// The likeliest states, by Viterbi.
    #[must_use]
    pub fn decode(&self, observations: &[Observation]) -> Vec<usize> {
        let mut scores = [0.0; 2];
        let mut came_from: Vec<[usize; 2]> = Vec::with_capacity(observations.len());
        for o in observations {
            let density = self.log_densities(o);
            let arrive = |to: usize, from: usize| scores[from] + self.transition(from, to).ln();
            let best = [0, 1].map(|to| if arrive(to, 1) > arrive(to, 0) { 1 } else { 0 });
            scores = [0, 1].map(|to| arrive(to, best[to]) + density[to]);
            came_from.push(best);
        }
        let mut state = usize::from(scores[1] > scores[0]);
        let mut states = vec![0; observations.len()];
        for t in (0..observations.len()).rev() {
            states[t] = state;
            state = came_from[t][state];
        }
        states
    }

    fn transition(&self, from: usize, to: usize) -> f64 {
        if from == to { self.stay } else { 1.0 - self.stay }
    }

    /// Probabilities one step later.
    fn moved(&self, now: [f64; 2]) -> [f64; 2] {
        [0, 1].map(|to| now[0] * self.transition(0, to) + now[1] * self.transition(1, to))
    }

    fn log_densities(&self, o: &Observation) -> [f64; 2] {
        let term =
            |s: usize, d: usize| (o[d] - self.mean[s][d]).powi(2) / self.var[s][d] + self.var[s][d].ln();
        [0, 1].map(|s| -0.5 * (0..D_EMISSION).map(|d| term(s, d)).sum::<f64>())
    }
}

/// Densities relative to the larger, so that neither overflows nor both vanish.
fn relative(log_densities: [f64; 2]) -> [f64; 2] {
    let top = log_densities[0].max(log_densities[1]);
    log_densities.map(|value| (value - top).exp())
}

fn normalised(values: [f64; 2]) -> [f64; 2] {
    let total = (values[0] + values[1]).max(f64::MIN_POSITIVE);
    values.map(|value| value / total)
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use rand_distr::StandardNormal;

    use super::*;

    const LEARNING: Learning = Learning { n_iterations: 50, prior_weight: 5.0, least_var: [1e-3; 2] };

    fn model(mean: [Observation; 2]) -> TwoStates {
        TwoStates { stay: 0.9, mean, var: [[0.25; 2]; 2] }
    }

    /// Sum over all paths, for a sequence short enough.
    fn posterior_by_enumeration(model: &TwoStates, observations: &[Observation]) -> Vec<[f64; 2]> {
        let n = observations.len();
        let mut totals = vec![[0.0; 2]; n];
        for path in 0..1usize << n {
            let state = |t: usize| path >> t & 1;
            let moves: f64 = (1..n).map(|t| model.transition(state(t - 1), state(t))).product();
            let emissions: f64 = (0..n).map(|t| model.log_densities(&observations[t])[state(t)]).sum();
            (0..n).for_each(|t| totals[t][state(t)] += moves * emissions.exp());
        }
        totals.into_iter().map(normalised).collect()
    }

    #[test]
    fn posteriors_are_sums_over_all_paths() {
        let model = model([[0.0, 0.0], [1.0, 0.5]]);
        let observations: Vec<Observation> =
            vec![[0.1, 0.2], [0.9, 0.1], [0.4, 0.6], [1.2, 0.3], [-0.3, 0.9]];
        let exact = posterior_by_enumeration(&model, &observations);
        for (found, exact) in model.posterior(&observations, &mut [0.0; 2]).iter().zip(&exact) {
            assert!((found[0] - exact[0]).abs() < 1e-12 && (found[1] - exact[1]).abs() < 1e-12);
        }
    }

    #[test]
    fn baum_welch_finds_states_and_viterbi_decodes_them() {
        let mut random = mtds::random::stream(5, 0);
        let states: Vec<usize> = (0..600).map(|t| t / 15 % 2).collect();
        let mut noise = || random.sample::<f64, _>(StandardNormal) * 0.4;
        let observations: Vec<Observation> =
            states.iter().map(|&s| [3.0 * s as f64 + noise(), noise()]).collect();
        let learned = model([[0.8, 0.0], [2.0, 0.0]]).learned(std::slice::from_ref(&observations), &LEARNING);
        // Standard error of a mean over 300 draws: 0.023; the bound is four of them plus the prior's pull of 0.02.
        assert!((learned.mean[0][0]).abs() < 0.12 && (learned.mean[1][0] - 3.0).abs() < 0.12, "{learned:?}");
        assert!((learned.stay - 14.0 / 15.0).abs() < 0.02);
        assert_eq!(learned.decode(&observations), states);
    }

    #[test]
    fn a_state_that_never_comes_stays_where_it_was() {
        let first = model([[0.0; 2], [5.0; 2]]);
        let learned = first.learned(&[vec![[0.1, -0.1]; 40]], &LEARNING);
        assert!((learned.mean[1][0] - 5.0).abs() < 1e-3);
        assert_eq!(learned.decode(&[[0.0; 2]; 3]), [0; 3]);
        assert!(learned.decode(&[]).is_empty());
        assert!(learned.learned(&[], &LEARNING).stay >= STAY[0]);
    }
}
