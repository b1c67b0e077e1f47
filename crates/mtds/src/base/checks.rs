//! What every base model must hold, as functions that tests call with one.

use super::{BaseModel, RolloutInputs, TraceGradient};
use crate::kernel::{Arch, Kernel, LANES, Lanes, Level, Pack, Scalar, dispatch_at};

/// Numbers that look random and are the same every time.
pub(super) fn wave(n: usize, phase: f64) -> Vec<f64> {
    (0..n).map(|i| 0.9 * ((i as f64) * 1.37 + phase).sin()).collect()
}

pub(super) fn theta_len<B: BaseModel>(base: &B) -> usize {
    base.blocks().iter().map(|block| block.len).sum()
}

/// Where a block lies in θ.
pub(super) fn place<B: BaseModel>(base: &B, name: &str) -> std::ops::Range<usize> {
    let blocks = base.blocks();
    let at = blocks.iter().position(|block| block.name == name).expect("a block of that name");
    let start = blocks[..at].iter().map(|block| block.len).sum();
    start..start + blocks[at].len
}

/// ŷ, n_time × p.
pub(super) fn outputs<B: BaseModel>(
    base: &B,
    theta: &[f64],
    start: Option<&[f64]>,
    inputs: &[f64],
    n_time: usize,
) -> Vec<f64> {
    let quiet = vec![false; n_time];
    let mut trace = base.trace(n_time);
    base.rollout(theta, start, RolloutInputs { inputs, quiet: &quiet }, &mut trace);
    trace.outputs
}

/// Gradients of a weighted sum of the outputs with respect to θ, x_0 and the inputs.
pub(super) fn gradient<B: BaseModel, S: Scalar>(
    base: &B,
    theta: &[S],
    start: Option<&[S]>,
    inputs: &[S],
    weights: &[S],
) -> [Vec<S>; 3] {
    let n_time = weights.len() / base.d_obs();
    let quiet = vec![false; n_time];
    let drive = RolloutInputs { inputs, quiet: &quiet };
    let mut trace = base.trace(n_time);
    base.rollout(theta, start, drive, &mut trace);
    // The start is to be overwritten.
    let (mut d_theta, mut d_start) = (vec![S::zero(); theta.len()], vec![S::one(); base.d_state()]);
    let mut d_inputs = vec![S::zero(); inputs.len()];
    let (start, inputs) = (&mut d_start[..], &mut d_inputs[..]);
    let gradient = TraceGradient { outputs: weights, theta: &mut d_theta, start, inputs };
    base.adjoint(theta, drive, &trace, gradient);
    [d_theta, d_start, d_inputs]
}

/// The adjoint against central differences of the rollout.
pub(super) fn adjoint_matches_differences<B: BaseModel>(base: &B, n_time: usize) {
    let theta = wave(theta_len(base), 0.5);
    let inputs = wave(n_time * base.d_input(), 2.1);
    let start = wave(base.d_state(), 0.9);
    let weights = wave(n_time * base.d_obs(), 3.0);
    let found = gradient(base, &theta, Some(&start), &inputs, &weights).concat();
    let all = [&theta[..], &start, &inputs].concat();
    let loss = |all: &[f64]| -> f64 {
        let (theta, rest) = all.split_at(theta.len());
        let (start, inputs) = rest.split_at(start.len());
        let y = outputs(base, theta, Some(start), inputs, n_time);
        y.iter().zip(&weights).map(|(y, w)| y * w).sum()
    };
    for (i, got) in found.iter().enumerate() {
        let moved = |h: f64| {
            let mut all = all.clone();
            all[i] += h;
            loss(&all)
        };
        let numeric = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        assert!((numeric - got).abs() < 1e-6 * (1.0 + numeric.abs()), "{base:?} {i}: {numeric} {got}");
    }
}

/// Outputs and gradients of one pack in f32; lane l has θ scaled by 1 − l/100, so that lanes differ.
struct InPacks<'a, B> {
    base: &'a B,
    theta: &'a [f64],
    inputs: &'a [f64],
    weights: &'a [f64],
}

impl<B: BaseModel> Kernel for InPacks<'_, B> {
    type Output = [Vec<[f32; LANES]>; 2];

    #[inline(always)]
    fn run<A: Arch>(self) -> Self::Output {
        let splat = |v: &[f64]| v.iter().map(|&x| Pack::<f32, A>::splat(x as f32)).collect::<Vec<_>>();
        let scaled = |&x: &f64| Pack::<f32, A>::from_fn(|l| (x * (1.0 - l as f64 / 100.0)) as f32);
        let theta: Vec<_> = self.theta.iter().map(scaled).collect();
        let (inputs, weights) = (splat(self.inputs), splat(self.weights));
        let n_time = weights.len() / self.base.d_obs();
        let quiet = vec![false; n_time];
        let mut trace = self.base.trace(n_time);
        self.base.rollout(&theta, None, RolloutInputs { inputs: &inputs, quiet: &quiet }, &mut trace);
        let [d_theta, _, _] = gradient(self.base, &theta, None, &inputs, &weights);
        [trace.outputs, d_theta].map(|v| v.into_iter().map(Pack::to_array).collect())
    }
}

/// Packs of f32 at every instruction level against plain f64.
pub(super) fn packs_match_plain<B: BaseModel>(base: &B, n_time: usize, phase: f64) {
    // Recurrent matrices of about unit norm: larger ones make chaos of rounding errors.
    let each = 1.0 / (base.d_state() as f64).sqrt();
    let theta: Vec<f64> = wave(theta_len(base), phase).iter().map(|x| x * each).collect();
    let inputs = wave(n_time * base.d_input(), phase + 1.0);
    let weights = wave(n_time * base.d_obs(), phase + 2.0);
    let slack = 2e-5 * (base.d_state() * n_time) as f64;
    for level in Level::ALL {
        let work = InPacks { base, theta: &theta, inputs: &inputs, weights: &weights };
        let [got_outputs, got_gradient] = dispatch_at(level, work);
        for lane in [0, 7, LANES - 1] {
            let theta: Vec<f64> = theta.iter().map(|x| x * (1.0 - lane as f64 / 100.0)).collect();
            let y = outputs(base, &theta, None, &inputs, n_time);
            let [d_theta, _, _] = gradient(base, &theta, None, &inputs, &weights);
            for (got, want) in got_outputs.iter().zip(&y).chain(got_gradient.iter().zip(&d_theta)) {
                let error = (f64::from(got[lane]) - want).abs();
                assert!(error < slack * (1.0 + want.abs()), "{base:?} {level:?}: {} {want}", got[lane]);
            }
        }
    }
}

/// Steps without inputs give the same whether they are called quiet or not, outputs and gradients.
pub(super) fn quiet_steps_change_nothing<B: BaseModel>(base: &B) {
    let m = base.d_input();
    let theta = wave(theta_len(base), 0.2);
    let mut inputs = vec![0.0; 4 * m];
    inputs[..m].fill(1.0);
    let weights = wave(4 * base.d_obs(), 1.0);
    let roll = |quiet: [bool; 4]| {
        let drive = RolloutInputs { inputs: &inputs, quiet: &quiet };
        let mut trace = base.trace(4);
        base.rollout(&theta, None, drive, &mut trace);
        let (mut d_theta, mut d_start) = (vec![0.0; theta.len()], vec![0.0; base.d_state()]);
        let gradient =
            TraceGradient { outputs: &weights, theta: &mut d_theta, start: &mut d_start, inputs: &mut [] };
        base.adjoint(&theta, drive, &trace, gradient);
        (trace.outputs, d_theta)
    };
    assert_eq!(roll([false; 4]), roll([false, true, true, true]));
}

/// 10 000 driven steps from raw values `size` times the usual ones, forward and back, in f32.
pub(super) fn long_sequences_stay_finite<B: BaseModel>(base: &B, size: f64) {
    const N_TIME: usize = 10_000;
    let narrow = |v: Vec<f64>| v.into_iter().map(|x| x as f32).collect::<Vec<_>>();
    let theta = narrow(wave(theta_len(base), 0.2).iter().map(|x| x * size).collect());
    let inputs = narrow(wave(N_TIME * base.d_input(), 0.4));
    let weights = narrow(wave(N_TIME * base.d_obs(), 1.0));
    let quiet = vec![false; N_TIME];
    let mut trace = base.trace(N_TIME);
    base.rollout(&theta, None, RolloutInputs { inputs: &inputs, quiet: &quiet }, &mut trace);
    assert!(trace.outputs.iter().all(|y| y.is_finite()), "{base:?} at {size}");
    let found = gradient(base, &theta, None, &inputs, &weights).concat();
    assert!(found.iter().all(|d| d.is_finite()), "{base:?} at {size}");
}

/// Its stored form reads back as the same base model.
pub(super) fn stored_form_reads_back<B: BaseModel + PartialEq>(base: &B) {
    let text = serde_json::to_string(base).expect("written");
    assert_eq!(&serde_json::from_str::<B>(&text).expect("read"), base, "{text}");
}
