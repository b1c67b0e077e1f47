//! Adam on flat f32 vectors, with rates per group, L2 penalties, clipping and a momentum that may change.
//!
//! ```text
//! g ← ∇loss + λ w                                  λ of the group
//! g ← g · min(1, c / ‖g‖)                          optional, over all groups together
//! m ← β₁ₜ m + (1 − β₁ₜ) g        m̂ = m / (1 − Π β₁ₛ)
//! v ← β₂  v + (1 − β₂ ) g²       v̂ = v / (1 − β₂ᵗ)
//! w ← w − η ρ m̂ / (√v̂ + ε)                         ρ the rate of the group
//! ```
//!
//! Reference: \[1\] Kingma & Ba (2015), Adam: a method for stochastic optimization, algorithm 1.
//! Differs from \[1\]: β₁ may depend on the step, so the weights in m sum to 1 − Π β₁ₛ over the steps taken,
//! which is 1 − β₁ᵗ when β₁ is constant.

use rayon::prelude::*;

use super::objective::ParameterGroup;

/// Numbers that one thread works on at a time; sums are taken over as many and then added in order, so that they do not depend on the
/// threads.
const SHARE: usize = 1 << 16;

/// Parameters together with the optimiser's memory of past gradients.
#[derive(Clone, Debug, PartialEq)]
pub struct AdamState {
    /// The parameters w.
    pub parameters: Vec<f32>,
    /// Running mean m of the gradient, same length.
    pub first_moment: Vec<f32>,
    /// Running mean v of the squared gradient, same length.
    pub second_moment: Vec<f32>,
    /// Product of every β₁ used so far.
    pub beta1_product: f64,
    /// Product of every β₂ used so far.
    pub beta2_product: f64,
}

/// The settings of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    /// Learning rate η.
    pub learning_rate: f64,
    /// Momentum β₁, in [0, 1).
    pub beta1: f64,
    /// Decay β₂ of the second moment, in [0, 1).
    pub beta2: f64,
    /// Floor ε under the root of the second moment.
    pub epsilon: f64,
}

impl AdamState {
    /// A fresh optimiser at `parameters`.
    #[must_use]
    pub fn new(parameters: Vec<f32>) -> Self {
        let zeros = vec![0.0; parameters.len()];
        Self {
            parameters,
            first_moment: zeros.clone(),
            second_moment: zeros,
            beta1_product: 1.0,
            beta2_product: 1.0,
        }
    }

    /// Writes the state after one step into `next`, so that a step that turns out bad costs nothing to drop.
    ///
    /// `next` and `gradient` have the length of the parameters, and `groups` tile it.
    pub fn step_into(
        &self,
        next: &mut AdamState,
        gradient: &[f32],
        groups: &[ParameterGroup],
        settings: &AdamStep,
    ) {
        next.beta1_product = self.beta1_product * settings.beta1;
        next.beta2_product = self.beta2_product * settings.beta2;
        let step_size = settings.learning_rate / (1.0 - next.beta1_product);
        let root_scale = (1.0 / (1.0 - next.beta2_product)).sqrt() as f32;
        let (b1, b2, epsilon) = (settings.beta1 as f32, settings.beta2 as f32, settings.epsilon as f32);
        // 1 − β is formed in f64: in f32, 1 − 0.999 is off by 5e-5 of its size.
        let (c1, c2) = ((1.0 - settings.beta1) as f32, (1.0 - settings.beta2) as f32);
        for group in groups {
            let size = (step_size * f64::from(group.rate)) as f32;
            let at = group.range.clone();
            let old = self.parameters[at.clone()]
                .par_chunks(SHARE)
                .zip(self.first_moment[at.clone()].par_chunks(SHARE))
                .zip(self.second_moment[at.clone()].par_chunks(SHARE))
                .zip(gradient[at.clone()].par_chunks(SHARE));
            let new = next.parameters[at.clone()]
                .par_chunks_mut(SHARE)
                .zip(next.first_moment[at.clone()].par_chunks_mut(SHARE))
                .zip(next.second_moment[at].par_chunks_mut(SHARE));
            old.zip(new).for_each(|((((w, m), v), g), ((w_new, m_new), v_new))| {
                let new = w_new.iter_mut().zip(m_new).zip(v_new);
                for ((((w, m), v), g), ((w_new, m_new), v_new)) in w.iter().zip(m).zip(v).zip(g).zip(new) {
                    *m_new = b1 * m + c1 * g;
                    *v_new = b2 * v + c2 * g * g;
                    *w_new = w - size * *m_new / (v_new.sqrt() * root_scale + epsilon);
                }
            });
        }
    }
}

impl AdamState {
    /// Multiplies one parameter by `factor`, as if it had been measured in that unit from the start.
    pub fn change_unit(&mut self, place: usize, factor: f32) {
        self.parameters[place] *= factor;
        self.first_moment[place] /= factor;
        self.second_moment[place] /= factor * factor;
    }
}

/// Writes a running average that has moved towards the parameters into `next`: a w̄ + (1 − a) w.
pub(crate) fn average_into(next: &mut [f32], average: &[f32], parameters: &[f32], kept: f64) {
    let (kept, taken) = (kept as f32, (1.0 - kept) as f32);
    let old = average.par_chunks(SHARE).zip(parameters.par_chunks(SHARE));
    next.par_chunks_mut(SHARE).zip(old).for_each(|(next, (average, parameters))| {
        for ((n, &a), &w) in next.iter_mut().zip(average).zip(parameters) {
            *n = kept * a + taken * w;
        }
    });
}

/// Adds λ w to the gradient and returns the penalty ½ λ ‖w‖², summed over the groups.
pub(crate) fn add_l2(groups: &[ParameterGroup], parameters: &[f32], gradient: &mut [f32]) -> f64 {
    let mut penalty = 0.0;
    for group in groups.iter().filter(|group| group.l2 > 0.0) {
        let shares = gradient[group.range.clone()].par_chunks_mut(SHARE);
        let squares =
            shares.zip(parameters[group.range.clone()].par_chunks(SHARE)).map(|(gradient, weights)| {
                let mut square = 0.0;
                for (g, &w) in gradient.iter_mut().zip(weights) {
                    *g += group.l2 * w;
                    square += f64::from(w) * f64::from(w);
                }
                square
            });
        penalty += 0.5 * f64::from(group.l2) * squares.collect::<Vec<f64>>().iter().sum::<f64>();
    }
    penalty
}

/// The Euclidean norm, accumulated in f64 where no finite f32 can overflow it.
pub(crate) fn norm(gradient: &[f32]) -> f64 {
    let square = |part: &[f32]| {
        // Sums side by side: none waits for the last addition of another.
        let mut sums = [0.0; 8];
        for eight in part.chunks(8) {
            for (sum, &g) in sums.iter_mut().zip(eight) {
                *sum += f64::from(g) * f64::from(g);
            }
        }
        sums.iter().sum::<f64>()
    };
    gradient.par_chunks(SHARE).map(square).collect::<Vec<f64>>().iter().sum::<f64>().sqrt()
}

/// Fills with zeros.
pub(crate) fn clear(gradient: &mut [f32]) {
    gradient.par_chunks_mut(SHARE).for_each(|part| part.fill(0.0));
}

/// Whether every number is good; generic, so that a loop over millions of them calls nothing.
pub(crate) fn all_good(values: &[f32], is_good: impl Fn(f32) -> bool + Sync) -> bool {
    let good = |part: &[f32]| part.iter().fold(true, |all, &value| all & is_good(value));
    values.par_chunks(SHARE).all(|share| share.chunks(1024).all(good))
}

/// Shrinks a gradient of norm `norm` to the norm `limit` where it is longer.
pub(crate) fn clip(gradient: &mut [f32], norm: f64, limit: Option<f64>) {
    if let Some(limit) = limit.filter(|&limit| norm > limit) {
        let factor = limit / norm;
        let shares = gradient.par_chunks_mut(SHARE);
        shares.for_each(|part| part.iter_mut().for_each(|g| *g = (f64::from(*g) * factor) as f32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(range: std::ops::Range<usize>, rate: f32, l2: f32) -> ParameterGroup {
        ParameterGroup { name: "g".into(), range, rate, l2 }
    }

    fn settings(beta1: f64) -> AdamStep {
        AdamStep { learning_rate: 0.1, beta1, beta2: 0.999, epsilon: 1e-8 }
    }

    fn step(state: &AdamState, gradient: &[f32], groups: &[ParameterGroup], beta1: f64) -> AdamState {
        let mut next = state.clone();
        state.step_into(&mut next, gradient, groups, &settings(beta1));
        next
    }

    /// Three steps with gradients 2, −1, 0.5 and β₁ = 0.9, 0.9, 0.5, worked by hand from the equations:
    /// m: 0.2, 0.08, 0.29              m̂: 2, 0.08/0.19, 0.29/0.595       Πβ₁: 0.9, 0.81, 0.405
    /// v: 0.004, 0.004996, 0.005241004   v̂: 4, 0.004996/0.001999, 0.005241004/0.002997001
    #[test]
    fn golden_steps_with_a_momentum_that_changes() {
        let groups = [group(0..1, 1.0, 0.0)];
        let mut state = AdamState::new(vec![1.0]);
        let expected = [0.9, 0.873_366_297, 0.836_509_531];
        for ((gradient, beta1), expected) in [(2.0, 0.9), (-1.0, 0.9), (0.5, 0.5)].into_iter().zip(expected) {
            state = step(&state, &[gradient], &groups, beta1);
            assert!(
                (state.parameters[0] - expected as f32).abs() < 1.5e-7,
                "{} {expected}",
                state.parameters[0]
            );
        }
        assert!((state.first_moment[0] - 0.29).abs() < 1e-7);
        assert!((state.second_moment[0] - 0.005_241_004).abs() < 1e-9);
        assert!((state.beta1_product - 0.405).abs() < 1e-15);
    }

    #[test]
    fn a_constant_gradient_moves_by_the_rate_whatever_the_momentum() {
        // With correct bias correction m̂ = g and √v̂ = |g| at every step.
        let groups = [group(0..1, 1.0, 0.0), group(1..2, 0.1, 0.0), group(2..3, 0.0, 0.0)];
        let mut state = AdamState::new(vec![0.0; 3]);
        for (n, beta1) in [0.9, 0.5, 0.0, 0.99, 0.8].into_iter().enumerate() {
            state = step(&state, &[3.0, -3.0, 3.0], &groups, beta1);
            let n = n as f32 + 1.0;
            assert!((state.parameters[0] + 0.1 * n).abs() < 1e-5);
            assert!((state.parameters[1] - 0.01 * n).abs() < 1e-6);
            assert_eq!(state.parameters[2], 0.0);
        }
    }

    /// Adam's path does not depend on the unit of a parameter, apart from the rate and ε.
    #[test]
    fn a_change_of_unit_takes_the_memory_along() {
        let groups = [group(0..1, 1.0, 0.0)];
        let start = step(&AdamState::new(vec![1.0]), &[2.0], &groups, 0.9);
        let straight = step(&start, &[-1.0], &groups, 0.9);
        let mut changed = start;
        changed.change_unit(0, 4.0);
        let rates = [group(0..1, 4.0, 0.0)];
        let changed = step(&changed, &[-0.25], &rates, 0.9);
        assert!((changed.parameters[0] - 4.0 * straight.parameters[0]).abs() < 1e-5);
        assert!((changed.first_moment[0] - 0.25 * straight.first_moment[0]).abs() < 1e-6);
    }

    #[test]
    fn l2_is_the_gradient_of_its_penalty() {
        let groups = [group(0..2, 1.0, 0.3), group(2..3, 1.0, 0.0)];
        let w = [1.5_f32, -2.0, 7.0];
        let mut gradient = [0.0; 3];
        let penalty = add_l2(&groups, &w, &mut gradient);
        assert!((penalty - 0.5 * 0.3 * 6.25).abs() < 1e-6);
        for i in 0..3 {
            let at = |shift: f32| {
                let mut moved = w;
                moved[i] += shift;
                add_l2(&groups, &moved, &mut [0.0; 3])
            };
            let difference = (at(0.125) - at(-0.125)) / 0.25;
            assert!((difference - f64::from(gradient[i])).abs() < 1e-6);
        }
    }

    #[test]
    fn clipping_keeps_the_direction_and_never_lengthens() {
        let mut long = [3e30_f32, 4e30];
        let length = norm(&long);
        clip(&mut long, length, Some(1.0));
        assert!((long[0] - 0.6).abs() < 1e-6 && (long[1] - 0.8).abs() < 1e-6);
        let mut short = [0.3_f32, 0.4];
        clip(&mut short, 0.5, Some(1.0));
        clip(&mut short, 0.5, None);
        assert_eq!(short, [0.3, 0.4]);
    }
}
