use proptest::prelude::*;

use super::*;
use crate::kernel::{Arch, Kernel, LANES, Lanes, Level, Pack, dispatch_at};

fn wave(n: usize, phase: f64) -> Vec<f64> {
    (0..n).map(|i| 0.9 * ((i as f64) * 1.37 + phase).sin()).collect()
}

fn theta_len(lds: &Lds) -> usize {
    lds.blocks().iter().map(|b| b.len).sum()
}

/// One rollout by the equations of the module, with dense matrices and no shortcuts.
fn textbook(lds: &Lds, theta: &[f64], start: Option<&[f64]>, inputs: &[f64], n_time: usize) -> Vec<f64> {
    let (n, p, m) = (lds.d_state, lds.d_obs, lds.d_input);
    let places = lds.places();
    let a = transition_matrix(lds, theta);
    let b: Vec<f64> = (0..n * m)
        .map(|i| {
            let bounded = theta[places.input.start + i].tanh();
            match lds.input_map {
                InputMap::Tanh => bounded,
                InputMap::Sparse => bounded / (1.0 + (-theta[places.input_gate.start + i]).exp()),
            }
        })
        .collect();
    let mut x = start.unwrap_or(&theta[places.initial_state.clone()]).to_vec();
    let mut y = vec![];
    for t in 0..n_time {
        let u = &inputs[t * m..(t + 1) * m];
        x = (0..n)
            .map(|i| {
                let recurrent: f64 = (0..n).map(|j| a[i * n + j] * x[j]).sum();
                let driven: f64 = (0..m).map(|j| b[i * m + j] * u[j]).sum();
                recurrent + driven + theta[places.state_bias.start + i]
            })
            .collect();
        for o in 0..p {
            let emitted: f64 = (0..n).map(|j| theta[places.emission.start + o * n + j] * x[j]).sum();
            let through: f64 = (0..m).map(|j| theta[places.feedthrough.start + o * m + j] * u[j]).sum();
            y.push(emitted + through + theta[places.offset.start + o]);
        }
    }
    y
}

fn transition_matrix(lds: &Lds, theta: &[f64]) -> Vec<f64> {
    let (n, places) = (lds.d_state, lds.places());
    let (mut a, mut q) = (vec![0.0; n * n], vec![0.0; n * n]);
    transition::forward(&theta[places.decay], &theta[places.rotation], &mut a, &mut q);
    a
}

/// Largest singular value by power iteration on AᵀA, from several starts.
fn spectral_norm(a: &[f64], n: usize) -> f64 {
    let mut best: f64 = 0.0;
    for s in 0..3 {
        let mut v: Vec<f64> = (0..n).map(|i| 1.0 + ((i + s) as f64 * 2.3).sin()).collect();
        for _ in 0..300 {
            let w: Vec<f64> = (0..n).map(|i| (0..n).map(|j| a[i * n + j] * v[j]).sum()).collect();
            let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            best = best.max(w.iter().map(|x| x * x).sum::<f64>().sqrt() / norm.max(1e-300));
            v = (0..n).map(|j| (0..n).map(|i| a[i * n + j] * w[i]).sum()).collect();
            let size = v.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-300);
            v.iter_mut().for_each(|x| *x /= size);
        }
    }
    best
}

fn case() -> impl Strategy<Value = (Lds, usize)> {
    (1usize..11, 1usize..4, 0usize..3, 1usize..12, any::<bool>()).prop_map(|(n, p, m, t, sparse)| {
        let input_map = if sparse { InputMap::Sparse } else { InputMap::Tanh };
        (Lds { input_map, ..Lds::new(n, p, m) }, t)
    })
}

struct RolloutF32<'a> {
    lds: &'a Lds,
    theta: &'a [f64],
    inputs: &'a [f64],
    n_time: usize,
}

impl Kernel for RolloutF32<'_> {
    type Output = Vec<f64>;
    #[inline(always)]
    fn run<A: Arch>(self) -> Vec<f64> {
        // Lane l has θ scaled by 1 − l/100, so that lanes differ.
        let theta: Vec<Pack<f32, A>> =
            self.theta.iter().map(|&x| Pack::from_fn(|l| (x * (1.0 - l as f64 / 100.0)) as f32)).collect();
        let inputs: Vec<Pack<f32, A>> = self.inputs.iter().map(|&u| Pack::splat(u as f32)).collect();
        let quiet = vec![false; self.n_time];
        let mut trace = self.lds.trace(self.n_time);
        self.lds.rollout(&theta, None, RolloutInputs { inputs: &inputs, quiet: &quiet }, &mut trace);
        (0..LANES).flat_map(|l| trace.outputs.iter().map(move |y| f64::from(y.lane(l)))).collect()
    }
}

/// Gradient with respect to θ of a weighted sum of the outputs, in f32 packs.
struct AdjointF32<'a> {
    rollout: RolloutF32<'a>,
    weights: &'a [f64],
}

impl Kernel for AdjointF32<'_> {
    type Output = Vec<[f32; LANES]>;
    #[inline(always)]
    fn run<A: Arch>(self) -> Vec<[f32; LANES]> {
        let RolloutF32 { lds, theta, inputs, n_time } = self.rollout;
        let splat = |v: &[f64]| v.iter().map(|&x| Pack::<f32, A>::splat(x as f32)).collect::<Vec<_>>();
        let (theta, inputs, weights) = (splat(theta), splat(inputs), splat(self.weights));
        let quiet = vec![false; n_time];
        let drive = RolloutInputs { inputs: &inputs, quiet: &quiet };
        let mut trace = lds.trace(n_time);
        lds.rollout(&theta, None, drive, &mut trace);
        let (mut d_theta, mut d_start) = (vec![Pack::zero(); theta.len()], vec![Pack::zero(); lds.d_state]);
        let gradient =
            TraceGradient { outputs: &weights, theta: &mut d_theta, start: &mut d_start, inputs: &mut [] };
        lds.adjoint(&theta, drive, &trace, gradient);
        d_theta.into_iter().map(Pack::to_array).collect()
    }
}

proptest! {
    #[test]
    fn adjoint_in_packs_equals_the_plain_one((lds, n_time) in case(), phase in 0.0..6.0f64) {
        let theta = wave(theta_len(&lds), phase);
        let inputs = wave(n_time * lds.d_input, phase + 1.0);
        let weights = wave(n_time * lds.d_obs, phase + 2.0);
        let quiet = vec![false; n_time];
        let drive = RolloutInputs { inputs: &inputs, quiet: &quiet };
        let mut trace = lds.trace(n_time);
        lds.rollout(&theta, None, drive, &mut trace);
        let (mut d_theta, mut d_start) = (vec![0.0; theta.len()], vec![0.0; lds.d_state]);
        let gradient = TraceGradient { outputs: &weights, theta: &mut d_theta, start: &mut d_start, inputs: &mut [] };
        lds.adjoint(&theta, drive, &trace, gradient);
        for level in Level::ALL {
            let rollout = RolloutF32 { lds: &lds, theta: &theta, inputs: &inputs, n_time };
            let got = dispatch_at(level, AdjointF32 { rollout, weights: &weights });
            let slack = 1e-5 * (lds.d_state * n_time) as f64;
            for (g, w) in got.iter().zip(&d_theta) {
                prop_assert!((f64::from(g[3]) - w).abs() < slack * (1.0 + w.abs()), "{} {w}", g[3]);
            }
        }
    }

    #[test]
    fn packs_equal_the_textbook_recursion((lds, n_time) in case(), phase in 0.0..6.0f64) {
        let theta = wave(theta_len(&lds), phase);
        let inputs = wave(n_time * lds.d_input, phase + 1.0);
        for level in Level::ALL {
            let got = dispatch_at(level, RolloutF32 { lds: &lds, theta: &theta, inputs: &inputs, n_time });
            for lane in [0, 7, LANES - 1] {
                let scaled: Vec<f64> = theta.iter().map(|x| x * (1.0 - lane as f64 / 100.0)).collect();
                let want = textbook(&lds, &scaled, None, &inputs, n_time);
                for (g, w) in got[lane * want.len()..(lane + 1) * want.len()].iter().zip(&want) {
                    prop_assert!((g - w).abs() < 1e-5 * (lds.d_state * n_time) as f64, "{g} {w}");
                }
            }
        }
    }

    #[test]
    fn transition_never_expands(
        n in 1usize..10,
        raw in prop::collection::vec(prop_oneof![-1e9..1e9f64, -20.0..20.0f64, -1.0..1.0f64], 64),
    ) {
        let lds = Lds::new(n, 1, 0);
        let mut theta = vec![0.0; theta_len(&lds)];
        let len = theta.len().min(raw.len());
        theta[..len].copy_from_slice(&raw[..len]);
        let a = transition_matrix(&lds, &theta);
        prop_assert!(a.iter().all(|x| x.is_finite()));
        prop_assert!(spectral_norm(&a, n) <= 1.0 + 1e-11 * n as f64);
        // In f32, as learning runs it: orthogonal to the last digits however wild the raw values.
        let places = lds.places();
        let raw32: Vec<f32> = theta.iter().map(|&x| x as f32).collect();
        let (mut a32, mut q32) = (vec![0.0f32; n * n], vec![0.0f32; n * n]);
        transition::forward(&raw32[places.decay], &raw32[places.rotation], &mut a32, &mut q32);
        let a32: Vec<f64> = a32.into_iter().map(f64::from).collect();
        prop_assert!(spectral_norm(&a32, n) <= 1.0 + 2e-5 * n as f64, "{}", spectral_norm(&a32, n));
    }
}

#[test]
fn adjoint_matches_central_differences() {
    for (n, p, m, n_time) in
        [(1, 1, 0, 1), (1, 2, 1, 4), (2, 1, 1, 6), (4, 2, 2, 7), (8, 1, 1, 5), (9, 2, 1, 5)]
    {
        for input_map in [InputMap::Tanh, InputMap::Sparse] {
            check_adjoint(&Lds { input_map, ..Lds::new(n, p, m) }, n_time);
        }
    }
}

fn check_adjoint(lds: &Lds, n_time: usize) {
    let mut theta = wave(theta_len(lds), 0.5);
    if lds.d_state > 2 {
        theta[lds.places().rotation.start] = 11.0; // beyond the linear part of the bound
    }
    let inputs = wave(n_time * lds.d_input, 2.1);
    let start = wave(lds.d_state, 0.9);
    let weights = wave(n_time * lds.d_obs, 3.0);
    let loss = |theta: &[f64], start: &[f64]| -> f64 {
        textbook(lds, theta, Some(start), &inputs, n_time).iter().zip(&weights).map(|(y, w)| y * w).sum()
    };
    let quiet = vec![false; n_time];
    let drive = RolloutInputs { inputs: &inputs, quiet: &quiet };
    let mut trace = lds.trace(n_time);
    lds.rollout(&theta, Some(&start), drive, &mut trace);
    let (mut d_theta, mut d_start) = (vec![0.0; theta.len()], vec![0.0; lds.d_state]);
    let gradient =
        TraceGradient { outputs: &weights, theta: &mut d_theta, start: &mut d_start, inputs: &mut [] };
    lds.adjoint(&theta, drive, &trace, gradient);
    let h = 1e-6;
    for i in 0..theta.len() {
        let (mut up, mut down) = (theta.clone(), theta.clone());
        up[i] += h;
        down[i] -= h;
        let numeric = (loss(&up, &start) - loss(&down, &start)) / (2.0 * h);
        assert!((numeric - d_theta[i]).abs() < 1e-6, "{lds:?} theta {i}: {numeric} {}", d_theta[i]);
    }
    for i in 0..start.len() {
        let (mut up, mut down) = (start.clone(), start.clone());
        up[i] += h;
        down[i] -= h;
        let numeric = (loss(&theta, &up) - loss(&theta, &down)) / (2.0 * h);
        assert!((numeric - d_start[i]).abs() < 1e-6, "{lds:?} start {i}");
    }
}

#[test]
fn quiet_steps_change_nothing() {
    let lds = Lds::new(3, 1, 1);
    let theta = wave(theta_len(&lds), 0.2);
    let inputs = [1.0, 0.0, 0.0, 0.0];
    let roll = |quiet: [bool; 4]| {
        let mut trace = lds.trace(4);
        lds.rollout(&theta, None, RolloutInputs { inputs: &inputs, quiet: &quiet }, &mut trace);
        trace.outputs
    };
    assert_eq!(roll([false; 4]), roll([false, true, true, true]));
}

#[test]
fn ten_thousand_steps_stay_finite() {
    let lds = Lds::new(4, 1, 0);
    let mut theta: Vec<f32> = wave(theta_len(&lds), 0.2).into_iter().map(|x| x as f32).collect();
    theta[..4].fill(40.0); // tanh is 1: no decay at all
    theta[lds.places().state_bias].fill(0.0);
    let mut trace = lds.trace(10_000);
    let quiet = vec![true; 10_000];
    lds.rollout(
        &theta,
        Some(&[1.0, 0.0, 0.0, 0.0]),
        RolloutInputs { inputs: &[], quiet: &quiet },
        &mut trace,
    );
    let last = &trace.states[10_000 * 4..];
    let norm = last.iter().map(|x| x * x).sum::<f32>().sqrt();
    assert!((0.9..1.1).contains(&norm), "a rotation keeps the norm: {norm}");
}
