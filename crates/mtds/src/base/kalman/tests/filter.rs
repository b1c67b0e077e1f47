//! Log likelihoods and covariances against the oracle; degenerate cases; lanes; what is refused.

use proptest::prelude::*;

use super::dense::Joint;
use super::*;
use crate::base::emission::Group;
use crate::base::{BaseModel, Noise};
use crate::family::Signal;
use crate::kernel::{Arch, Kernel, LANES, Lanes, Level, Pack, dispatch_at};

fn case() -> impl Strategy<Value = Case> {
    let sizes = (1usize..6, 1usize..5, 0usize..3, 1usize..9);
    (sizes, 0usize..4, 0.0..6.0f64, prop::collection::vec(any::<bool>(), 40)).prop_map(
        |((n, p, m, n_time), form, phase, mask)| {
            let mut case = Case::new([n, p, m, n_time], FORMS[form], phase);
            case.mask = mask[..n_time * p].to_vec();
            case
        },
    )
}

proptest! {
    #[test]
    fn log_likelihood_is_that_of_the_dense_gaussian(case in case()) {
        let want = Joint::new(&case).log_density(&case.mask, &case.values);
        let got = case.log_likelihood();
        prop_assert!((got - want).abs() < 1e-9 * (1.0 + want.abs()), "{got} {want}");
    }
}

#[test]
fn missing_outputs_are_never_looked_at() {
    for (seed, forms) in FORMS.into_iter().enumerate() {
        let case = Case::new([3, 3, 1, 9], forms, 0.4).with_gaps(seed);
        assert!(case.values.iter().any(|y| y.is_nan()) && case.mask.iter().any(|&o| o));
        let want = Joint::new(&case).log_density(&case.mask, &case.values);
        assert!((case.log_likelihood() - want).abs() < 1e-9, "{forms:?}");
    }
}

#[test]
fn nothing_observed_says_nothing() {
    for n_time in [0, 1, 5] {
        let mut case = Case::new([2, 2, 1, n_time], FORMS[3], 0.1);
        case.mask.fill(false);
        assert_eq!(case.log_likelihood(), 0.0);
    }
}

#[test]
fn without_process_noise_it_is_the_likelihood_of_the_rollout() {
    for forms in FORMS {
        for [n, p, m, n_time] in [[1, 1, 0, 1], [3, 2, 1, 12], [9, 3, 2, 20]] {
            let mut case = Case::new([n, p, m, n_time], forms, 0.3).with_gaps(1);
            case.start_factor.fill(0.0);
            let process = case.model.process_range();
            case.theta[process.clone()].fill(0.0);
            case.theta[process.start..process.start + n].fill(-45.0);
            let lds = &case.model.lds;
            let mut trace = lds.trace(n_time);
            lds.rollout(&case.theta, Some(&case.start), case.drive(), &mut trace);
            let noise: Noise = lds.noise();
            let outputs = Signal::new(n_time, p, case.values.clone()).unwrap();
            let group: Group<f64> = Group::single(&outputs, None, 0).unwrap();
            let mut want = [0.0];
            noise.log_density(&case.theta, &trace.outputs, &group, &mut want);
            let got = case.log_likelihood();
            assert!((got - want[0]).abs() < 1e-9 * (1.0 + want[0].abs()), "{forms:?} {got} {}", want[0]);
        }
    }
}

#[test]
fn a_sequence_filtered_in_two_parts_is_the_whole() {
    let case = Case::new([3, 2, 1, 10], FORMS[3], 0.8).with_gaps(2);
    let part = |range: std::ops::Range<usize>, start: Vec<f64>, start_factor: Vec<f64>| Case {
        start,
        start_factor,
        inputs: case.inputs[range.clone()].to_vec(),
        quiet: case.quiet[range.clone()].to_vec(),
        values: case.values[range.start * 2..range.end * 2].to_vec(),
        mask: case.mask[range.start * 2..range.end * 2].to_vec(),
        ..case.clone()
    };
    let first = part(0..4, case.start.clone(), case.start_factor.clone());
    let pattern = first.pattern();
    let gains = Gains::new(&first.model, &first.theta, &pattern, Some(&first.start_factor)).unwrap();
    let mut means = Means::new(&gains);
    let pushes = gains.system().pushes(first.drive()).unwrap();
    let head = gains.means(&pushes, Some(&first.start), &first.values, &mut means).unwrap();
    let belief = gains.belief(&means, 4).unwrap();
    let tail = part(4..10, belief.mean, belief.factor).log_likelihood();
    assert!((head + tail - case.log_likelihood()).abs() < 1e-10);
}

/// Log likelihood and gradient of two weighted sequences in packs; lane l has θ scaled by 1 − l/100.
struct InPacks<'a>(&'a Case);

impl Kernel for InPacks<'_> {
    type Output = Vec<[f64; LANES]>;

    #[inline(always)]
    fn run<A: Arch>(self) -> Self::Output {
        let case = self.0;
        let splat = |v: &[f64]| v.iter().map(|&x| Pack::<f64, A>::splat(x)).collect::<Vec<_>>();
        let scaled = |&x: &f64| Pack::<f64, A>::from_fn(|l| x * (1.0 - l as f64 / 100.0));
        let theta: Vec<_> = case.theta.iter().map(scaled).collect();
        let (start, factor, inputs) = (splat(&case.start), splat(&case.start_factor), splat(&case.inputs));
        let drive = RolloutInputs { inputs: &inputs, quiet: &case.quiet };
        let sequences = sequences(case).map(|(w, y)| (Pack::splat(w), y));
        let given = (&theta[..], &start[..], &factor[..]);
        let (total, d_theta, d_start) =
            weighted_gradient(&case.model, given, &case.pattern(), drive, &sequences);
        [total].into_iter().chain(d_theta).chain(d_start).map(Pack::to_array).collect()
    }
}

fn sequences(case: &Case) -> [(f64, Vec<f64>); 2] {
    [(0.7, case.values.clone()), (1.9, case.values.iter().map(|y| 0.3 - y).collect())]
}

#[test]
fn lanes_equal_plain_numbers() {
    for forms in FORMS {
        let case = Case::new([3, 2, 1, 7], forms, 0.2).with_gaps(0);
        for level in Level::ALL {
            let packs = dispatch_at(level, InPacks(&case));
            for lane in [0, 7, LANES - 1] {
                let theta: Vec<f64> = case.theta.iter().map(|x| x * (1.0 - lane as f64 / 100.0)).collect();
                let given = (&theta[..], &case.start[..], &case.start_factor[..]);
                let (total, d_theta, d_start) =
                    weighted_gradient(&case.model, given, &case.pattern(), case.drive(), &sequences(&case));
                let plain = [total].into_iter().chain(d_theta).chain(d_start);
                for (i, (want, got)) in plain.zip(&packs).enumerate() {
                    let error = (got[lane] - want).abs();
                    assert!(error < 1e-10 * (1.0 + want.abs()), "{forms:?} {i}: {} {want}", got[lane]);
                }
            }
        }
    }
}

#[test]
fn wrong_sizes_are_named() {
    let case = Case::new([2, 2, 1, 4], FORMS[0], 0.2);
    let (pattern, other) = (case.pattern(), Pattern::new(&[true; 4], 1).unwrap());
    let said = |result: Result<Gains<f64>>| result.unwrap_err().to_string();
    assert!(said(Gains::new(&case.model, &case.theta[1..], &pattern, None)).contains("raw parameters"));
    assert!(said(Gains::new(&case.model, &case.theta, &other, None)).contains("expected 2, found 1"));
    assert!(said(Gains::new(&case.model, &case.theta, &pattern, Some(&[0.0]))).contains("covariance"));
    assert!(said(Gains::new(&StochasticLds::new(0, 1, 0), &[], &other, None)).contains("found 0"));
    let gains = Gains::new(&case.model, &case.theta, &pattern, None).unwrap();
    let (pushes, mut means) = (gains.system().pushes(case.drive()).unwrap(), Means::new(&gains));
    assert!(gains.system().pushes(RolloutInputs { inputs: &[], quiet: &[false] }).is_err());
    assert!(gains.means(&pushes, Some(&[0.0]), &case.values, &mut means).is_err());
    assert!(gains.means(&pushes, None, &case.values[1..], &mut means).is_err());
    let mut broken = case.values.clone();
    broken[5] = f64::NAN;
    let refused = gains.means(&pushes, None, &broken, &mut means).unwrap_err().to_string();
    assert!(refused.contains("output 2 at step 3: found NaN"), "{refused}");
    means.innovations.pop();
    assert!(gains.means(&pushes, None, &case.values, &mut means).is_err());
    assert!(gains.factor(4).is_some() && gains.factor(5).is_none());
}

#[test]
fn blocks_fill_theta() {
    for forms in FORMS {
        for n in [1, 4] {
            let model = Case::new([n, 2, 1, 1], forms, 0.0).model;
            let blocks = model.blocks();
            assert_eq!(blocks.iter().map(|b| b.len).sum::<usize>(), model.theta_len());
            let text = serde_json::to_string(&model).unwrap();
            assert_eq!(serde_json::from_str::<StochasticLds>(&text).unwrap(), model);
        }
    }
}
