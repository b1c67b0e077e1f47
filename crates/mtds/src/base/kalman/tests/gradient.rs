//! The adjoint against central differences of the dense Gaussian's density.

use super::dense::Joint;
use super::*;

fn oracle(case: &Case, sequences: &[(f64, Vec<f64>)]) -> f64 {
    let joint = Joint::new(case);
    sequences.iter().map(|(w, y)| w * joint.log_density(&case.mask, y)).sum()
}

fn check(case: &Case) {
    let other: Vec<f64> = case.values.iter().map(|y| 0.5 - 0.8 * y).collect();
    let sequences = [(1.0, case.values.clone()), (0.6, other)];
    let given = (&case.theta[..], &case.start[..], &case.start_factor[..]);
    let (total, d_theta, d_start) =
        weighted_gradient(&case.model, given, &case.pattern(), case.drive(), &sequences);
    assert!((total - oracle(case, &sequences)).abs() < 1e-9 * (1.0 + total.abs()), "{case:?}");
    let h = 1e-5;
    let moved = |i: usize, h: f64| {
        let mut case = case.clone();
        match i.checked_sub(case.theta.len()) {
            None => case.theta[i] += h,
            Some(i) => case.start[i] += h,
        }
        oracle(&case, &sequences)
    };
    let own_start = case.model.start_range(); // not used: the start is given
    for (i, got) in d_theta.iter().chain(&d_start).enumerate() {
        let numeric = if own_start.contains(&i) { 0.0 } else { (moved(i, h) - moved(i, -h)) / (2.0 * h) };
        let slack = 2e-8 * (1.0 + total.abs()) + 1e-6 * numeric.abs();
        assert!((numeric - got).abs() < slack, "{:?} entry {i}: {numeric} {got}", case.model);
    }
}

#[test]
fn every_size_and_form_without_gaps() {
    for forms in FORMS {
        for sizes in [[1, 1, 0, 1], [1, 2, 1, 4], [2, 1, 1, 6], [3, 3, 2, 5], [5, 2, 1, 4], [2, 5, 0, 3]] {
            check(&Case::new(sizes, forms, 0.5));
        }
    }
}

#[test]
fn every_form_with_gaps() {
    for forms in FORMS {
        for (seed, sizes) in [[1, 1, 1, 7], [2, 3, 1, 8], [4, 2, 2, 7], [3, 4, 0, 6]].into_iter().enumerate()
        {
            check(&Case::new(sizes, forms, 0.9).with_gaps(seed));
        }
    }
}

#[test]
fn certain_starts_and_quiet_steps() {
    for forms in FORMS {
        let mut case = Case::new([3, 2, 2, 6], forms, 1.7).with_gaps(1);
        case.start_factor.fill(0.0);
        case.inputs[2..6].fill(0.0);
        case.quiet[1..3].fill(true);
        check(&case);
    }
}

#[test]
fn nothing_observed_pulls_nothing() {
    let mut case = Case::new([2, 2, 1, 4], FORMS[3], 0.5);
    case.mask.fill(false);
    let given = (&case.theta[..], &case.start[..], &case.start_factor[..]);
    let sequences = [(1.0, case.values.clone())];
    let (_, d_theta, d_start) =
        weighted_gradient(&case.model, given, &case.pattern(), case.drive(), &sequences);
    assert!(d_theta.iter().chain(&d_start).all(|&d| d == 0.0));
}
