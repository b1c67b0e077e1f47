//! The likelihood and the forecasts against one dense Gaussian over all values; the gradient against central differences.

use super::*;
use crate::Sequence;
use crate::algebra::log_diagonal_sum;

const NAN: f64 = f64::NAN;

/// Ragged members with gaps, two of which show the same steps.
fn curves() -> Curves {
    let rows = [
        vec![0.3, 1.1, NAN, 2.2, 2.0],
        vec![-0.5, NAN, 0.7, 0.4],
        vec![1.3, 1.0, NAN, 1.6, 2.9],
        vec![NAN, NAN, 0.1, 0.2, NAN],
    ];
    let sequence =
        |(i, y): (usize, &Vec<f64>)| Sequence::new(format!("{i}"), Signal::column(y.clone())).unwrap();
    let family = Family::new(rows.iter().enumerate().map(sequence).collect()).unwrap();
    Curves::of(&family, "gp", 2).unwrap()
}

const LOGS: [f64; 6] = [0.2, 0.6, -0.9, 0.3, -1.5, -2.5];
const JITTER: f64 = 1e-6;

/// Every value of the family: member, time, value.
fn values(curves: &Curves) -> Vec<(usize, f64, f64)> {
    let of = |(i, values): (usize, &Vec<f64>)| {
        let shown = values.iter().enumerate().filter(|(_, y)| !y.is_nan());
        shown.map(|(t, y)| (i, t as f64, *y)).collect::<Vec<_>>()
    };
    curves.members.iter().enumerate().flat_map(of).collect()
}

/// The covariance of any values of any members, with what numerics add to m at the steps of the family.
fn dense(kernels: &Kernels, values: &[(usize, f64, f64)], n_family: usize) -> Matrix {
    Matrix::from_fn(values.len(), values.len(), |a, b| {
        let ((i, t, _), (j, u, _)) = (values[a], values[b]);
        let own = if i == j { kernels.own(t, u) } else { 0.0 };
        let grid = if t == u && a < n_family && b < n_family { JITTER } else { 0.0 };
        kernels.common(t, u) + own + grid + if a == b { kernels.noise() } else { 0.0 }
    })
}

#[test]
fn the_likelihood_is_that_of_the_dense_gaussian() {
    let curves = curves();
    let problem = Problem::of(&curves, 0);
    let (kernels, all) = (problem.kernels(&LOGS), values(&curves));
    let n = all.len();
    let chol = cholesky(&dense(&kernels, &all, n).values, n).unwrap();
    let y: Vec<f64> = all.iter().map(|(_, _, y)| *y).collect();
    let expected = -0.5 * dot(&y, &solve_factored(&chol, y.clone()))
        - log_diagonal_sum(&chol, n)
        - 0.5 * (2.0 * std::f64::consts::PI).ln() * n as f64;
    let found = problem.evidence(&kernels).unwrap().log_likelihood;
    assert!((found - expected).abs() < 1e-8, "{found} {expected}");
}

#[test]
fn the_gradient_is_that_of_central_differences() {
    let problem = Problem::of(&curves(), 0);
    let found = problem.evidence(&problem.kernels(&LOGS)).unwrap().gradient;
    for k in 0..Kernels::COUNT {
        let at = |step: f64| {
            let mut logs = LOGS;
            logs[k] += step;
            problem.evidence(&problem.kernels(&logs)).unwrap().log_likelihood
        };
        let expected = (at(1e-4) - at(-1e-4)) / 2e-4;
        assert!((found[k] - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{k}: {} {expected}", found[k]);
    }
}

#[test]
fn forecasts_are_conditionals_of_the_dense_gaussian() {
    let curves = curves();
    let problem = Problem::of(&curves, 0);
    let kernels = problem.kernels(&LOGS);
    let fitted = Fitted { mean: problem.evidence(&kernels).unwrap().mean, kernels: kernels.clone() };
    let (shown, future) = ([(0.0, 0.4), (2.0, -0.3)], [3.0, 4.0, 5.5]);
    let found = fitted.conditional(&shown, &future).unwrap();
    let mut all = values(&curves);
    let n_family = all.len();
    all.extend(shown.map(|(t, y)| (9, t, y)));
    let n = all.len();
    for (k, &t) in future.iter().enumerate() {
        let mut with = all.clone();
        with.push((9, t, NAN));
        let covariance = dense(&kernels, &with, n_family);
        let chol = cholesky(&covariance.leading(n, n).values, n).unwrap();
        let across = &covariance.row(n)[..n];
        let y: Vec<f64> = all.iter().map(|(_, _, y)| *y).collect();
        let mean = dot(across, &solve_factored(&chol, y));
        let variance = covariance[(n, n)] - dot(across, &solve_factored(&chol, across.to_vec()));
        assert!(
            (found[k].0 - mean).abs() < 1e-7 && (found[k].1 - variance).abs() < 1e-7,
            "{found:?} {mean} {variance}"
        );
    }
    // Nothing seen leaves the family's own.
    let prior = fitted.conditional(&[], &future).unwrap();
    assert!(prior[0].1 > found[0].1);
}

/// Members drawn from the processes: noise and offsets are found again, within what 40 members of 30 steps tell.
#[test]
fn learning_finds_noise_and_offsets() {
    use crate::random::stream;
    use rand::RngExt;
    use rand_distr::StandardNormal;
    let mut random = stream(11, 0);
    let rows = (0..40).map(|i| {
        let offset: f64 = random.sample(StandardNormal);
        let y = (0..30).map(|t| {
            (f64::from(t) / 5.0).sin() + 2.0 * offset + 0.2 * random.sample::<f64, _>(StandardNormal)
        });
        Sequence::new(format!("{i}"), Signal::column(y.collect())).unwrap()
    });
    let curves = Curves::of(&Family::new(rows.collect()).unwrap(), "gp", 2).unwrap();
    let problem = Problem::of(&curves, 0);
    let fitted = Fitted::of(&curves, 0, &mut |_| Control::Continue).unwrap();
    let at_start = problem.evidence(&problem.kernels(&problem.start())).unwrap().log_likelihood;
    let best = problem.evidence(&fitted.kernels).unwrap().log_likelihood;
    assert!(best > at_start + 100.0, "{best} {at_start}");
    // In units of the outputs: their variance is that of the offsets, 4, and of the sine, about ½.
    let noise = fitted.kernels.noise().sqrt() * 4.5f64.sqrt();
    assert!((0.17..0.24).contains(&noise), "{noise}");
    // Far apart in time only offsets are in common, and slow processes.
    let offsets = fitted.kernels.own(0.0, 29.0) * 4.5;
    assert!((1.5..9.0).contains(&offsets), "{offsets}");
}

#[test]
fn too_many_steps_and_members_are_thinned() {
    let rows = (0..60).map(|i| {
        let y = (0..250).map(|t| if (t * 7 + i * 3) % 11 == i % 11 { NAN } else { f64::from((t + i) % 17) });
        Sequence::new(format!("{i}"), Signal::column(y.collect())).unwrap()
    });
    let curves = Curves::of(&Family::new(rows.collect()).unwrap(), "gp", 2).unwrap();
    let problem = Problem::of(&curves, 0);
    let (n_times, work) = problem.size();
    assert!(n_times == 84 && work <= 40_000_000, "{n_times} {work}");
}

/// Every third step of a grid was taken, and with it a third of what members of a family show that were all measured at the same thirty.
#[test]
fn values_on_a_sparse_grid_in_common_are_all_learned_from() {
    let member = |i: usize| {
        let y = (0..190).map(|t| if t % 19 % 6 == 0 { ((t + 7 * i) % 23) as f64 } else { NAN });
        Sequence::new(format!("{i}"), Signal::column(y.collect())).unwrap()
    };
    let curves = Curves::of(&Family::new((0..9).map(member).collect()).unwrap(), "gp", 2).unwrap();
    let observed = curves.members[0].iter().filter(|y| !y.is_nan()).count();
    let problem = Problem::of(&curves, 0);
    assert_eq!((observed, problem.size()), (40, (40, 40usize.pow(3))));
}

/// Members that show twenty steps of their own of three hundred: each keeps those that are no two at one step, moved by two at most.
#[test]
fn values_at_steps_of_their_own_are_moved_to_those_that_are_kept() {
    let rows = (0..40).map(|i| {
        let y = (0..300).map(|t| if t % 15 == (i * 4 + t / 15) % 15 { f64::from(t) } else { NAN });
        Sequence::new(format!("{i}"), Signal::column(y.collect())).unwrap()
    });
    let curves = Curves::of(&Family::new(rows.collect()).unwrap(), "gp", 2).unwrap();
    let problem = Problem::of(&curves, 0);
    let (mean, std_dev) = (149.5, 86.6);
    let kept = problem.values();
    assert!(problem.size().0 == 100 && kept.len() >= 740, "{} of 800", kept.len());
    for (time, value) in kept {
        let at = mean + std_dev * value;
        assert!((time - at).abs() < 2.5, "{time}: the value of step {at}");
    }
}

/// k₀ − k₀ R k₀ᵀ was off by more than the noise, and no forecast came.
#[test]
fn a_mean_that_many_members_show_without_noise_has_a_covariance() {
    let rows = (0..100).map(|i| {
        let y = (0..50).map(|t| (f64::from(t) * (0.05 + 0.001 * f64::from(i))).sin());
        Sequence::new(format!("{i}"), Signal::column(y.collect())).unwrap()
    });
    let rival = SharedProcess::fit(&Family::new(rows.collect()).unwrap()).unwrap();
    let past = (0..10).map(|t| (f64::from(t) * 0.1005).sin());
    let found = rival.forecast(&Signal::column(past.collect()), 40).unwrap();
    let truth: Vec<f64> = (10..50).map(|t| (f64::from(t) * 0.1005).sin()).collect();
    let errors: Vec<f64> = found.mean().iter().zip(&truth).map(|(a, b)| (a - b).abs()).collect();
    assert!(errors[0] < 0.02, "{errors:?}");
    let inside = |(error, variance): (&f64, f64)| *error < 5.0 * variance.sqrt();
    assert!(errors.iter().zip(found.variance()).all(inside), "{errors:?} {:?}", found.variance());
}
