//! Steps ahead against the conditional of the dense Gaussian, and draws against both.

use super::dense::{Joint, product, transpose};
use super::*;
use crate::kernel::{Arch, Kernel, LANES, Lanes, Pack, dispatch};
use crate::random::stream;

/// The case's first `n_seen` steps, and the rest with nothing observed.
fn cut(case: &Case, n_seen: usize) -> (Case, Case) {
    let (p, m) = (case.model.lds.d_obs, case.model.lds.d_input);
    let mut head = case.clone();
    head.inputs.truncate(n_seen * m);
    head.quiet.truncate(n_seen);
    head.values.truncate(n_seen * p);
    head.mask.truncate(n_seen * p);
    let mut all = case.clone();
    all.mask[n_seen * p..].fill(false);
    (head, all)
}

fn belief_after(head: &Case) -> (Matrices<f64>, Belief<f64>) {
    let pattern = head.pattern();
    let gains = Gains::new(&head.model, &head.theta, &pattern, Some(&head.start_factor)).unwrap();
    let pushes = gains.system().pushes(head.drive()).unwrap();
    let mut means = Means::new(&gains);
    gains.means(&pushes, Some(&head.start), &head.values, &mut means).unwrap();
    (gains.system().clone(), gains.belief(&means, head.quiet.len()).unwrap())
}

fn future_drive(case: &Case, n_seen: usize) -> RolloutInputs<'_, f64> {
    RolloutInputs { inputs: &case.inputs[n_seen * case.model.lds.d_input..], quiet: &case.quiet[n_seen..] }
}

fn close(got: &[f64], want: &[f64], slack: f64) {
    assert_eq!(got.len(), want.len());
    for (g, w) in got.iter().zip(want) {
        assert!((g - w).abs() < slack * (1.0 + w.abs()), "{g} {w}");
    }
}

#[test]
fn steps_ahead_are_those_of_the_dense_conditional() {
    for (seed, forms) in FORMS.into_iter().enumerate() {
        for (sizes, n_seen) in [([1, 1, 0, 2], 1), ([3, 2, 1, 9], 5), ([2, 3, 2, 7], 0), ([4, 1, 1, 8], 7)] {
            let case = Case::new(sizes, forms, 0.6).with_gaps(seed);
            let (head, all) = cut(&case, n_seen);
            let (system, belief) = belief_after(&head);
            let outlook = system.outlook(&belief, future_drive(&case, n_seen)).unwrap();
            let (joint, p) = (Joint::new(&all), sizes[1]);
            for t in n_seen..sizes[3] {
                let wanted: Vec<usize> = (t * p..(t + 1) * p).collect();
                let (mean, covariance) = joint.given(&all.mask, &all.values, &wanted);
                let ahead = t - n_seen;
                close(&outlook.means[ahead * p..(ahead + 1) * p], &mean, 1e-9);
                close(&outlook.covariances()[ahead * p * p..(ahead + 1) * p * p], &covariance, 1e-9);
            }
        }
    }
}

#[test]
fn covariances_of_the_state_are_those_behind_the_outputs() {
    // C = I and D = 0: the covariance of the next outputs is A P Aᵀ + R + S.
    let mut case = Case::new([3, 3, 0, 6], FORMS[2], 0.6).with_gaps(1);
    let emission = case.model.lds.places().emission;
    for (i, at) in emission.enumerate() {
        case.theta[at] = f64::from(u8::from(i % 4 == 0));
    }
    let pattern = case.pattern();
    let gains = Gains::new(&case.model, &case.theta, &pattern, Some(&case.start_factor)).unwrap();
    let (system, joint) = (gains.system(), Joint::new(&case));
    let own = |factor: &[f64]| product(factor, &transpose(factor, 3), 3);
    for t in 0..5 {
        let p = gains.covariance(t).unwrap();
        let (_, all) = cut(&case, t);
        let wanted: Vec<usize> = (t * 3..t * 3 + 3).collect();
        let (_, want) = joint.given(&all.mask, &all.values, &wanted);
        let moved = product(&product(&system.transition, &p, 3), &transpose(&system.transition, 3), 3);
        let added = own(&system.process_factor).into_iter().zip(own(&system.noise_factor));
        let got: Vec<f64> = moved.iter().zip(added).map(|(a, (r, s))| a + r + s).collect();
        close(&got, &want, 1e-9);
    }
}

/// Sums over draws of outputs with noise and of their products, 16 trajectories at a time.
struct Draws<'a> {
    model: &'a StochasticLds,
    theta: &'a [f64],
    belief: &'a Belief<f64>,
    drive: RolloutInputs<'a, f64>,
    n_packs: usize,
}

impl Kernel for Draws<'_> {
    type Output = (Vec<f64>, Vec<f64>);

    fn run<A: Arch>(self) -> Self::Output {
        let splat = |v: &[f64]| v.iter().map(|&x| Pack::<f64, A>::splat(x)).collect::<Vec<_>>();
        let (p, system) = (self.model.lds.d_obs, Matrices::new(self.model, &splat(self.theta)).unwrap());
        let belief = Belief { mean: splat(&self.belief.mean), factor: splat(&self.belief.factor) };
        let inputs = splat(self.drive.inputs);
        let drive = RolloutInputs { inputs: &inputs, quiet: self.drive.quiet };
        let size = self.drive.quiet.len() * p;
        let (mut sums, mut products) = (vec![0.0; size], vec![0.0; size * size]);
        let mut random = stream(7, 3);
        for _ in 0..self.n_packs {
            let mut outputs = system.draw(&belief, drive, &mut random).unwrap();
            system.add_noise(&mut outputs, &mut random).unwrap();
            for i in 0..size {
                sums[i] += outputs[i].sum();
                for j in 0..size {
                    products[i * size + j] += (outputs[i] * outputs[j]).sum();
                }
            }
        }
        (sums, products)
    }
}

#[test]
fn draws_have_the_exact_mean_and_covariance() {
    let case = Case::new([3, 2, 1, 8], FORMS[3], 1.1).with_gaps(0);
    let n_seen = 4;
    let (head, all) = cut(&case, n_seen);
    let (_, belief) = belief_after(&head);
    let (model, n_packs, drive) = (&case.model, 5_000, future_drive(&case, n_seen));
    let work = Draws { model, theta: &case.theta, belief: &belief, drive, n_packs };
    let (sums, products) = dispatch(work);
    let wanted: Vec<usize> = (n_seen * 2..8 * 2).collect();
    let (mean, covariance) = Joint::new(&all).given(&all.mask, &all.values, &wanted);
    let (size, count) = (wanted.len(), (n_packs * LANES) as f64);
    // 8 means and 36 covariances, each within 5 standard errors: false alarms once in 40 000 seeds (44 × 5.7e-7).
    for i in 0..size {
        let error = (sums[i] / count - mean[i]).abs();
        assert!(error < 5.0 * (covariance[i * size + i] / count).sqrt(), "mean {i}: off by {error}");
        for j in 0..=i {
            let of = |i: usize, j: usize| covariance[i * size + j];
            // E (y_i − μ_i)(y_j − μ_j), about the exact means.
            let got =
                (products[i * size + j] - mean[i] * sums[j] - mean[j] * sums[i]) / count + mean[i] * mean[j];
            let variance = (of(i, i) * of(j, j) + of(i, j) * of(i, j)) / count;
            assert!((got - of(i, j)).abs() < 5.0 * variance.sqrt(), "{i} {j}: {got} {}", of(i, j));
        }
    }
}

#[test]
fn wrong_beliefs_are_refused() {
    let case = Case::new([2, 1, 0, 3], FORMS[0], 0.1);
    let (system, mut belief) = belief_after(&case);
    let drive = RolloutInputs { inputs: &[], quiet: &[true; 2] };
    assert_eq!(system.outlook(&belief, drive).unwrap().means.len(), 2);
    belief.factor.pop();
    assert!(system.outlook(&belief, drive).is_err());
    assert!(system.draw(&belief, drive, &mut stream(1, 1)).is_err());
    let pattern = case.pattern();
    let gains = Gains::new(&case.model, &case.theta, &pattern, None).unwrap();
    assert!(gains.belief(&Means::new(&gains), 4).unwrap_err().to_string().contains("at most 3"));
}
