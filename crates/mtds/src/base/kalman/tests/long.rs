//! Ten thousand steps, in f32 and f64, and why covariances are kept as factors.

use super::*;
use crate::kernel::Real;

const N_TIME: usize = 10_000;

/// Nearly undamped, outputs far more precise than the process: the hardest case for a covariance in few digits.
fn hard(log_noise: f64, gaps: usize) -> Case {
    let mut case = Case::new([4, 2, 1, N_TIME], FORMS[0], 0.2).with_gaps(gaps);
    let places = case.model.lds.places();
    case.theta[places.decay].fill(4.0);
    case.theta[places.noise].fill(log_noise);
    let process = case.model.process_range();
    case.theta[process].copy_from_slice(&[0.0, -1.0, -4.0, -0.5]);
    case
}

fn narrow<R: Real>(v: &[f64]) -> Vec<R> {
    v.iter().map(|&x| R::from_f64(x)).collect()
}

struct Outcome {
    log_likelihood: f64,
    d_theta: Vec<f64>,
    /// Diagonal of the covariance after the last step.
    variances: Vec<f64>,
}

fn run<R: Real>(case: &Case) -> Outcome {
    let [theta, start, factor, inputs, values] =
        [&case.theta, &case.start, &case.start_factor, &case.inputs, &case.values].map(|v| narrow::<R>(v));
    let (pattern, drive) = (case.pattern(), RolloutInputs { inputs: &inputs, quiet: &case.quiet });
    let sequences = [(R::one(), values)];
    let given = (&theta[..], &start[..], &factor[..]);
    let (total, d_theta, _) = weighted_gradient(&case.model, given, &pattern, drive, &sequences);
    let gains = Gains::new(&case.model, &theta, &pattern, Some(&factor)).unwrap();
    let last = gains.covariance(N_TIME).unwrap();
    Outcome {
        log_likelihood: total.to_f64(),
        d_theta: d_theta.iter().map(|d| d.to_f64()).collect(),
        variances: (0..4).map(|i| last[i * 5].to_f64()).collect(),
    }
}

#[test]
fn ten_thousand_steps_keep_their_digits_in_f32() {
    for (log_noise, gaps) in [(0.0, 1), (-3.0, 0), (-7.0, 2)] {
        let case = hard(log_noise, gaps);
        let (single, double) = (run::<f32>(&case), run::<f64>(&case));
        let close = |a: f64, b: f64, slack: f64| (a - b).abs() < slack * (1.0 + b.abs());
        assert!(
            close(single.log_likelihood, double.log_likelihood, 1e-3),
            "{log_noise}: {} {}",
            single.log_likelihood,
            double.log_likelihood
        );
        for (s, d) in single.variances.iter().zip(&double.variances) {
            assert!(*s > 0.0 && (s - d).abs() < 1e-2 * d, "{log_noise}: variance {s} {d}");
        }
        let largest = double.d_theta.iter().fold(0.0f64, |m, d| m.max(d.abs()));
        for (s, d) in single.d_theta.iter().zip(&double.d_theta) {
            assert!(s.is_finite() && d.is_finite(), "{log_noise}: gradient {s} {d}");
            assert!((s - d).abs() < 1e-2 * largest, "{log_noise}: gradient {s} {d} of {largest}");
        }
    }
}

#[test]
fn ten_thousand_steps_without_outputs_stay_finite() {
    let mut case = hard(0.0, 0);
    case.mask.fill(false);
    case.mask[2 * N_TIME - 1] = true;
    case.values.fill(0.4);
    for outcome in [run::<f32>(&case), run::<f64>(&case)] {
        assert!(outcome.log_likelihood.is_finite() && outcome.log_likelihood < 0.0);
        assert!(outcome.d_theta.iter().all(|d| d.is_finite()));
    }
}

#[test]
fn a_certain_state_has_finite_gradients_in_f32() {
    for log_process in [-45.0, -200.0] {
        let mut case = hard(-2.0, 1);
        let process = case.model.process_range();
        case.theta[process].fill(log_process);
        case.start_factor.fill(0.0);
        let (single, double) = (run::<f32>(&case), run::<f64>(&case));
        let error = (single.log_likelihood - double.log_likelihood).abs();
        assert!(error < 1e-3 * double.log_likelihood.abs(), "{error} of {}", double.log_likelihood);
        assert!(single.d_theta.iter().chain(&double.d_theta).all(|d| d.is_finite()));
    }
}

/// How P is updated in few digits.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// P − f k kᵀ.
    Plain,
    /// (I − k hᵀ) P (I − k hᵀ)ᵀ + k kᵀ.
    Joseph,
}

/// The covariance in f32 after each step, all outputs observed, without factors.
fn covariances(case: &Case, form: Form) -> Vec<Vec<f32>> {
    let system = Matrices::<f32>::new(&case.model, &narrow(&case.theta)).unwrap();
    let (n, p) = (system.d_state, system.d_obs);
    let times = |x: &[f32], y: &[f32]| -> Vec<f32> {
        (0..n * n).map(|at| (0..n).map(|k| x[at / n * n + k] * y[k * n + at % n]).sum()).collect()
    };
    let turned = |x: &[f32]| -> Vec<f32> { (0..n * n).map(|at| x[at % n * n + at / n]).collect() };
    let mut cov = vec![0.0f32; n * n];
    let step = |_| {
        let moved = times(&times(&system.transition, &cov), &turned(&system.transition));
        cov = moved.iter().zip(factor::square(&system.process_factor, n)).map(|(a, r)| a + r).collect();
        for o in 0..p {
            let s = system.noise_factor[o * p + o];
            let h: Vec<f32> = (0..n).map(|i| system.emission[o * n + i] / s).collect();
            let v: Vec<f32> = (0..n).map(|i| (0..n).map(|j| cov[i * n + j] * h[j]).sum()).collect();
            let f = 1.0 + (0..n).map(|i| h[i] * v[i]).sum::<f32>();
            if form == Form::Plain {
                (0..n * n).for_each(|at| cov[at] -= v[at / n] * v[at % n] / f);
                continue;
            }
            let k = |at: usize| v[at / n] / f * h[at % n];
            let rest: Vec<f32> = (0..n * n).map(|at| f32::from(u8::from(at / n == at % n)) - k(at)).collect();
            cov = times(&times(&rest, &cov), &turned(&rest));
            (0..n * n).for_each(|at| cov[at] += v[at / n] / f * (v[at % n] / f));
        }
        cov.clone()
    };
    (0..N_TIME).map(step).collect()
}

/// Largest error of a variance relative to the exact one, over all steps.
fn largest_error(case: &Case, got: impl Fn(usize) -> Vec<f32>) -> f64 {
    let (pattern, n) = (case.pattern(), case.model.lds.d_state);
    let exact = Gains::new(&case.model, &case.theta, &pattern, None).unwrap();
    let error = |t: usize| {
        let (want, got) = (exact.covariance(t).unwrap(), got(t));
        (0..n).map(|i| (f64::from(got[i * n + i]) / want[i * n + i] - 1.0).abs()).fold(0.0, f64::max)
    };
    (1..=N_TIME).map(error).fold(0.0, f64::max)
}

/// The case that decided for factors: all states are seen, far more precisely than they move.
#[test]
fn factors_keep_digits_that_other_forms_lose_in_f32() {
    let mut case = Case::new([4, 4, 0, N_TIME], FORMS[0], 0.2);
    let places = case.model.lds.places();
    case.theta[places.noise].fill(-7.0);
    let (theta, pattern) = (narrow::<f32>(&case.theta), case.pattern());
    let gains = Gains::new(&case.model, &theta, &pattern, None).unwrap();
    let factors = largest_error(&case, |t| gains.covariance(t).unwrap());
    println!("largest relative error of a variance: factors {factors:.1e}");
    for form in [Form::Plain, Form::Joseph] {
        let others = covariances(&case, form);
        let error = largest_error(&case, |t| others[t - 1].clone());
        println!("{form:?} {error:.1e}");
        assert!(factors < 2e-3 && error > 50.0 * factors, "{form:?}: {error:e}, factors {factors:e}");
    }
}
