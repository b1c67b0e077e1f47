//! What an update costs besides the target; run with `--ignored --nocapture` on a quiet machine.

use std::hint::black_box;
use std::time::Instant;

use super::targets::{Function, gaussian, squared_and_coupled};
use crate::base::emission::Group;
use crate::baseline::SingleTask;
use crate::family::Signal;
use crate::infer::{
    AdaptiveImportance, CodeTarget, FirstMixture, GaussianMixture, LogTarget, Points, SmoothTarget,
    adaptive_importance, em, hot,
};
use crate::random::stream;

/// Costs next to nothing, and never lets the passes stop early.
struct Free;

impl LogTarget for Free {
    fn dim(&self) -> usize {
        5
    }

    fn log_density(&self, points: &Points, out: &mut [f64]) {
        out.fill(0.0);
        for d in 0..5 {
            out.iter_mut().zip(points.column(d)).for_each(|(o, x)| *o -= 4.0 * (x - 0.5) * (x - 0.5));
        }
    }
}

#[test]
#[ignore = "timing"]
fn update_in_five_dimensions() {
    let settings = AdaptiveImportance { stop_ess_fraction: 1.0, ..AdaptiveImportance::default() };
    let prior = GaussianMixture::standard_normal(5).unwrap();
    let mut random = stream(1, 0);
    let first = adaptive_importance(&settings, &Free, FirstMixture::Prior(&prior), &mut random).unwrap();
    let previous = first.mixture().unwrap();
    for (name, start) in
        [("prior", FirstMixture::Prior(&prior)), ("previous", FirstMixture::Previous(previous))]
    {
        let mut millis: Vec<f64> = (0..200)
            .map(|_| {
                let begin = Instant::now();
                let posterior = adaptive_importance(&settings, &Free, start, &mut random).unwrap();
                assert_eq!(posterior.diagnostics().evaluations, 12_000);
                1e3 * begin.elapsed().as_secs_f64()
            })
            .collect();
        millis.sort_by(f64::total_cmp);
        println!(
            "{name}: median {:.2} ms, best {:.2} ms; mixture of {}",
            millis[100],
            millis[0],
            previous.len()
        );
        // The best, since a shared machine disturbs the median.
        assert!(millis[0] < 2.5, "an update costs {} ms", millis[0]);
    }
}

/// Effective sample size and tail with and without the broad share in the proposals.
#[test]
#[ignore = "measurement"]
fn effect_of_the_defensive_share() {
    let bimodal = Function { dim: 2, function: squared_and_coupled };
    let banana = Function { dim: 4, function: super::targets::banana };
    let gaussian = gaussian(5);
    let targets: [(&str, &dyn LogTarget); 3] =
        [("bimodal", &bimodal), ("banana", &banana), ("gaussian", &gaussian)];
    for (name, target) in targets {
        for share in [0.0, 0.02, 0.05, 0.1] {
            let settings = AdaptiveImportance { defensive_share: share, ..AdaptiveImportance::default() };
            let prior = GaussianMixture::standard_normal(target.dim()).unwrap();
            let (mut ess, mut k, mut worst) = (0.0, 0.0, f64::NEG_INFINITY);
            for seed in 0..40 {
                let start = FirstMixture::Prior(&prior);
                let found = adaptive_importance(&settings, target, start, &mut stream(seed, 3)).unwrap();
                let shape = found.diagnostics().pareto_k.unwrap();
                ess += found.diagnostics().ess / 40.0;
                k += shape / 40.0;
                worst = f64::max(worst, shape);
            }
            println!("{name}: share {share}: ESS {ess:.0} of 3000, k {k:.2}, worst {worst:.2}");
        }
    }
}

/// Where the time goes: the hot loops on the 12 000 points of one update.
#[test]
#[ignore = "timing"]
fn parts_of_an_update() {
    let one = GaussianMixture::standard_normal(5).unwrap();
    let four = GaussianMixture::average(&[(1.0, &one); 4]).unwrap();
    let three = GaussianMixture::average(&[(1.0, &one); 3]).unwrap();
    let mut random = stream(1, 0);
    let n = 12_000;
    let time = |name: &str, work: &mut dyn FnMut()| {
        let mut best = f64::INFINITY;
        for _ in 0..300 {
            let begin = Instant::now();
            work();
            best = best.min(1e6 * begin.elapsed().as_secs_f64());
        }
        println!("{name}: {best:.0} us");
    };
    let draws = four.sample(n, &mut random);
    let mut out = vec![0.0; n];
    let mut joint = vec![0.0; 4 * n];
    let weights = vec![1.0 / n as f64; n];
    time("sample", &mut || {
        black_box(four.sample(n, &mut random));
    });
    time("density", &mut || four.log_density(&draws, &mut out));
    time("component densities (4)", &mut || four.component_log_densities(&draws, &mut joint));
    let kept = joint.clone();
    time("log sum exp (4)", &mut || hot::log_sum_exp(&kept, &mut out));
    time("responsibilities (4) with copy", &mut || {
        joint.copy_from_slice(&kept);
        hot::responsibilities(&mut joint, &weights);
    });
    let mut moments = vec![0.0; 36];
    time("moments (1)", &mut || hot::weighted_moments(draws.values(), &[0.1; 5], &weights, &mut moments));
    let nine = draws.select(&(0..9000).collect::<Vec<_>>());
    let even = vec![1.0 / 9000.0; 9000];
    time("em 3 x 9000", &mut || {
        black_box(em::fit(&three, &nine, &even, 3));
    });
}

/// One gradient of the 19-dimensional single-task posterior at T = 40: over plain numbers, and in a pack of
/// which one lane is used.
#[test]
#[ignore = "timing"]
fn gradient_of_a_single_task() {
    let model = SingleTask::oscillator().model().unwrap();
    let dim = model.d_code();
    let prior = GaussianMixture::standard_normal(dim).unwrap();
    let parameters = model.parameters_as::<f64>();
    let outputs = Signal::column((0..40).map(|t| (0.3 * f64::from(t)).sin()).collect());
    let inputs = Signal::column((0..40).map(|t| f64::from(u8::from(t == 0))).collect());
    let group = Group::single(&outputs, Some(&inputs), 1).unwrap();
    let target = CodeTarget::new(&model, &parameters, &prior, group, None);
    let point: Vec<f64> = (0..dim).map(|d| 0.3 * (d as f64).sin()).collect();
    let time = |name: &str, work: &mut dyn FnMut()| {
        let mut best = f64::INFINITY;
        for _ in 0..50 {
            let begin = Instant::now();
            (0..1000).for_each(|_| work());
            best = best.min(1e3 * begin.elapsed().as_secs_f64());
        }
        println!("{name}: {best:.2} us");
    };
    let (mut evaluate, mut slope) = (target.evaluator(), vec![0.0; dim]);
    time("plain numbers", &mut || {
        black_box(evaluate(&point, &mut slope));
    });
    let points = Points::from_points(dim, std::slice::from_ref(&point)).unwrap();
    let (mut out, mut slopes) = ([0.0], Points::zeros(dim, 1));
    time("a pack", &mut || target.log_density_and_gradient(&points, &mut out, &mut slopes));
}
