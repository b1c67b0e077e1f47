//! Draws of several rounds of importance sampling, kept as one weighted set of bounded size.
//!
//! ```text
//! w ← (E w, e w') / (E + e)            E, e: effective draws of what is kept, and of the new round
//! c solves Σ_i min(1, w_i / c) = n     w_i ≥ c: kept as it is;  else kept with probability w_i / c, to weigh c
//! ```
//! One round has too few effective draws to fit a curved posterior well; all of them together have more. Thinning
//! leaves every expectation right on average, with the least variance. Reference: Fearnhead & Clifford (2003),
//! On-line inference for hidden Markov models via particle filters, section 3.

use rand::RngExt;

use super::Points;
use super::weighted::Normalised;
use crate::random::Random;

/// The kept draws with weights that sum to one.
#[derive(Debug)]
pub(super) struct Memory {
    most: usize,
    draws: Points,
    weights: Vec<f64>,
    ess: f64,
}

impl Memory {
    /// Nothing yet of at most `most` draws in `dim` dimensions.
    pub(super) fn new(dim: usize, most: usize) -> Self {
        Self { most, draws: Points::zeros(dim, 0), weights: vec![], ess: 0.0 }
    }

    /// The kept draws.
    pub(super) fn draws(&self) -> &Points {
        &self.draws
    }

    /// One weight per draw.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Takes in a round, by its effective draws, and thins the lightest draws of all.
    pub(super) fn add(&mut self, draws: &Points, found: &Normalised, random: &mut Random) {
        let total = self.ess + found.ess;
        let (old, new) = (self.ess / total, found.ess / total);
        let both: Vec<f64> =
            self.weights.iter().map(|w| w * old).chain(found.weights.iter().map(|w| w * new)).collect();
        let kept = thin(&both, self.most, random.random());
        self.draws = self.draws.chosen_of_both(draws, kept.iter().map(|(i, _)| *i));
        self.weights = kept.into_iter().map(|(_, weight)| weight).collect();
        let sum: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|w| *w /= sum);
        self.ess = total;
    }
}

/// At most `n` (up to one by rounding) of the weights, which sum to one, by place and new weight; `u` in 0 … 1.
fn thin(weights: &[f64], n: usize, u: f64) -> Vec<(usize, f64)> {
    let level = level(weights, n);
    let mut kept = Vec::with_capacity(n + 1);
    let mut due = u;
    for (i, &weight) in weights.iter().enumerate() {
        if weight >= level && weight > 0.0 {
            kept.push((i, weight));
        } else if weight > 0.0 {
            due -= weight / level;
            if due < 0.0 {
                due += 1.0;
                kept.push((i, level));
            }
        }
    }
    kept
}

/// c with Σ min(1, w / c) = n; 0 when there are no more than `n` weights.
fn level(weights: &[f64], n: usize) -> f64 {
    if weights.len() <= n {
        return 0.0;
    }
    let mut sorted = weights.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut light: f64 = sorted.iter().sum();
    for (heavy, &weight) in sorted.iter().enumerate().take(n) {
        // With the `heavy` first kept as they are, the others share what is left of n.
        let level = light / (n - heavy) as f64;
        if weight <= level {
            return level;
        }
        light -= weight;
    }
    sorted[n - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn the_level_gives_the_wanted_number() {
        let weights: Vec<f64> = (1..=40).map(|i| f64::from(i * i)).collect();
        for n in [1, 5, 20, 39] {
            let level = level(&weights, n);
            let expected: f64 = weights.iter().map(|w| (w / level).min(1.0)).sum();
            assert!((expected - n as f64).abs() < 1e-9, "{n}: {expected}");
        }
        assert_eq!(level(&weights, 40), 0.0);
    }

    #[test]
    fn thinning_is_right_on_average_and_keeps_the_heavy() {
        let weights = [0.4, 0.3, 0.1, 0.08, 0.05, 0.03, 0.02, 0.02];
        let steps = 10_000;
        let mut mean = [0.0; 8];
        for step in 0..steps {
            let kept = thin(&weights, 4, (f64::from(step) + 0.5) / f64::from(steps));
            assert!(kept.len() <= 5 && kept.len() >= 4);
            assert_eq!(kept[..2], [(0, 0.4), (1, 0.3)]);
            kept.iter().for_each(|(i, w)| mean[*i] += w / f64::from(steps));
        }
        for (found, wanted) in mean.iter().zip(&weights) {
            assert!((found - wanted).abs() < 1e-4, "{mean:?}");
        }
    }

    #[test]
    fn rounds_count_by_their_effective_draws() {
        let round = |x: f64, weights: Vec<f64>, ess| {
            let draws = Points::from_values(1, weights.len(), vec![x; weights.len()]).unwrap();
            (draws, Normalised { weights, ess, log_evidence: 0.0 })
        };
        let mut memory = Memory::new(1, 10);
        let (first, second) = (round(1.0, vec![1.0, 0.0], 1.0), round(5.0, vec![0.25; 4], 3.0));
        memory.add(&first.0, &first.1, &mut stream(1, 0));
        memory.add(&second.0, &second.1, &mut stream(1, 1));
        assert_eq!(memory.draws().column(0), [1.0, 5.0, 5.0, 5.0, 5.0]);
        assert!(memory.weights().iter().zip([0.25; 5]).all(|(a, b)| (a - b * 4.0 / 5.0).abs() < 0.1));
        assert!((memory.draws().weighted_mean(memory.weights())[0] - 4.0).abs() < 1e-12);
    }
}
