use proptest::prelude::*;

use super::*;
use crate::family::{Family, Sequence, Signal};
use crate::kernel::{Arch, Kernel, LANES, Level, Pack, dispatch_at};

const N_TIME: usize = 5;

fn wave(n: usize, phase: f64) -> Vec<f64> {
    (0..n).map(|i| ((i as f64) * 1.1 + phase).sin()).collect()
}

/// Three sequences of different lengths, with gaps, all without inputs.
fn family(p: usize) -> Family {
    let sequence = |name: &str, n_time: usize, gaps: &[usize], phase| {
        let mut values = wave(n_time * p, phase);
        gaps.iter().filter(|&&g| g < n_time * p).for_each(|&g| values[g] = f64::NAN);
        Sequence::new(name, Signal::new(n_time, p, values).unwrap()).unwrap()
    };
    Family::new(vec![
        sequence("whole", N_TIME, &[], 0.1),
        sequence("short", N_TIME - 2, &[1], 0.7),
        sequence("gaps", N_TIME, &[0, 2, p, p + 1, 2 * p - 1], 1.3),
    ])
    .unwrap()
}

fn noise(form: NoiseForm, p: usize) -> Noise {
    Noise { form, d_obs: p, range: 1..1 + form.n_raw(p) }
}

/// The density of the observed part of each step, by the textbook formula with a dense covariance.
fn textbook(noise: &Noise, theta: &[f64], outputs: &[f64], sequence: &Sequence) -> f64 {
    let p = noise.d_obs;
    let l = noise.cholesky(theta, 0);
    let covariance = |i: usize, j: usize| (0..p).map(|k| l[i * p + k] * l[j * p + k]).sum::<f64>();
    let mut total = 0.0;
    for t in 0..sequence.n_time() {
        let seen: Vec<usize> = (0..p).filter(|&d| sequence.is_observed(t, d)).collect();
        // Sequential conditioning: log p(y_1) + log p(y_2 | y_1) + …, by elimination.
        let n = seen.len();
        let mut s: Vec<Vec<f64>> =
            seen.iter().map(|&i| seen.iter().map(|&j| covariance(i, j)).collect()).collect();
        let mut e: Vec<f64> =
            seen.iter().map(|&d| sequence.outputs().get(t, d) - outputs[t * p + d]).collect();
        for c in 0..n {
            total -= 0.5 * e[c] * e[c] / s[c][c] + 0.5 * s[c][c].ln() + HALF_LN_2PI;
            for r in c + 1..n {
                let f = s[r][c] / s[c][c];
                e[r] -= f * e[c];
                for k in c..n {
                    let x = s[c][k];
                    s[r][k] -= f * x;
                }
            }
        }
    }
    total
}

#[test]
fn scores_equal_the_textbook_density() {
    for (form, p) in
        [(NoiseForm::Diagonal, 1), (NoiseForm::Diagonal, 3), (NoiseForm::Full, 1), (NoiseForm::Full, 3)]
    {
        let (family, noise) = (family(p), noise(form, p));
        let batch = Batch::<f64>::new(&family);
        let (theta, outputs) = (wave(1 + form.n_raw(p), 0.4), wave(N_TIME * p, 2.0));
        let mut scores = vec![0.0; 3];
        noise.scores(&theta, &outputs, &batch.groups[0], &mut scores);
        for (i, score) in scores.iter().enumerate() {
            let want = textbook(&noise, &theta, &outputs, family.sequence(i));
            assert!((score - want).abs() < 1e-10, "{form:?} {p} {i}: {score} {want}");
            let n_time = family.sequence(i).n_time();
            let single = Group::<f64>::single(family.sequence(i).outputs(), None, 0).unwrap();
            let mut direct = [0.0];
            noise.log_density(&theta, &outputs[..n_time * p], &single, &mut direct);
            assert!((direct[0] - want).abs() < 1e-10);
        }
    }
}

#[test]
fn pull_is_the_weighted_sum_and_its_gradient() {
    for (form, p) in [(NoiseForm::Diagonal, 2), (NoiseForm::Full, 3)] {
        let (family, noise) = (family(p), noise(form, p));
        let group = &Batch::<f64>::new(&family).groups[0];
        let (theta, outputs) = (wave(1 + form.n_raw(p), 0.4), wave(N_TIME * p, 2.0));
        let weights = [0.3, 1.1, 0.6];
        let loss = |theta: &[f64], outputs: &[f64]| {
            let mut scores = vec![0.0; 3];
            noise.scores(theta, outputs, group, &mut scores);
            scores.iter().zip(weights).map(|(s, w)| s * w).sum::<f64>()
        };
        let pairs = [(0, 0.3), (1, 1.0), (2, 0.6), (1, 0.1)];
        for pull in [Pull::Dense(&weights[..]), Pull::Sparse(&[&pairs[..]])] {
            let (mut d_outputs, mut d_theta) = (vec![9.0; outputs.len()], vec![0.0; theta.len()]);
            let value = noise.pull(&theta, &outputs, group, pull, (&mut d_outputs, &mut d_theta));
            assert!((value - loss(&theta, &outputs)).abs() < 1e-10);
            let h = 1e-6;
            for i in 0..outputs.len() {
                let (mut up, mut down) = (outputs.clone(), outputs.clone());
                up[i] += h;
                down[i] -= h;
                let numeric = (loss(&theta, &up) - loss(&theta, &down)) / (2.0 * h);
                assert!((numeric - d_outputs[i]).abs() < 1e-6, "{form:?} output {i}");
            }
            for i in 0..theta.len() {
                let (mut up, mut down) = (theta.clone(), theta.clone());
                up[i] += h;
                down[i] -= h;
                let numeric = (loss(&up, &outputs) - loss(&down, &outputs)) / (2.0 * h);
                assert!((numeric - d_theta[i]).abs() < 1e-6, "{form:?} theta {i}: {numeric} {}", d_theta[i]);
            }
        }
    }
}

#[test]
fn shift_scales_every_deviation_and_has_its_gradient() {
    let (p, form) = (3, NoiseForm::Full);
    let noise = noise(form, p);
    let theta = wave(1 + form.n_raw(p), 0.4);
    let mut shifted = theta.clone();
    noise.shift(&mut shifted, 0.2);
    let (before, after) = (noise.cholesky(&theta, 0), noise.cholesky(&shifted, 0));
    for (b, a) in before.iter().zip(&after) {
        assert!((a - b * 0.2f64.exp()).abs() < 1e-12);
    }
    // Gradient of a linear functional of the shifted values.
    let weights = wave(theta.len(), 1.9);
    let value = |delta: f64| {
        let mut moved = theta.clone();
        noise.shift(&mut moved, delta);
        moved.iter().zip(&weights).map(|(a, b)| a * b).sum::<f64>()
    };
    let mut d_theta = weights.clone();
    let d_delta = noise.shift_adjoint(&shifted, 0.2, &mut d_theta);
    let numeric = (value(0.2 + 1e-6) - value(0.2 - 1e-6)) / 2e-6;
    assert!((numeric - d_delta).abs() < 1e-8);
}

/// Scores, weighted sum and gradients of one pack in f32; lane l has outputs moved by l/50.
struct PackF32<'a> {
    noise: &'a Noise,
    theta: &'a [f64],
    outputs: &'a [f64],
    group: &'a Group<f32>,
    weights: &'a [f64],
}

#[derive(Debug)]
struct PackResult {
    scores: Vec<[f32; LANES]>,
    total: [f32; LANES],
    d_outputs: Vec<[f32; LANES]>,
    d_theta: Vec<[f32; LANES]>,
}

impl Kernel for PackF32<'_> {
    type Output = PackResult;
    #[inline(always)]
    fn run<A: Arch>(self) -> PackResult {
        let splat = |v: &[f64]| v.iter().map(|&x| Pack::<f32, A>::splat(x as f32)).collect::<Vec<_>>();
        let (theta, weights) = (splat(self.theta), splat(self.weights));
        let moved = |y: &f64| Pack::from_fn(|l| (y + l as f64 / 50.0) as f32);
        let outputs: Vec<Pack<f32, A>> = self.outputs.iter().map(moved).collect();
        let mut scores = vec![Pack::zero(); weights.len()];
        self.noise.scores(&theta, &outputs, self.group, &mut scores);
        let (mut d_outputs, mut d_theta) = (outputs.clone(), vec![Pack::zero(); theta.len()]);
        let gradients = (d_outputs.as_mut_slice(), d_theta.as_mut_slice());
        let total = self.noise.pull(&theta, &outputs, self.group, Pull::Dense(&weights), gradients);
        let flat = |v: Vec<Pack<f32, A>>| v.into_iter().map(Pack::to_array).collect();
        PackResult {
            scores: flat(scores),
            total: total.to_array(),
            d_outputs: flat(d_outputs),
            d_theta: flat(d_theta),
        }
    }
}

/// Sequences of random lengths with random gaps.
fn any_family() -> impl Strategy<Value = (Family, NoiseForm)> {
    let sequence =
        |p: usize| prop::collection::vec(prop_oneof![4 => -1.0..1.0f64, 1 => Just(f64::NAN)], p..8 * p);
    let families = (1usize..4).prop_flat_map(move |p| (Just(p), prop::collection::vec(sequence(p), 1..9)));
    (families, prop_oneof![Just(NoiseForm::Diagonal), Just(NoiseForm::Full)]).prop_filter_map(
        "nothing observed",
        |((p, values), form)| {
            let signal = |v: &Vec<f64>| Signal::new(v.len() / p, p, v[..v.len() / p * p].to_vec()).unwrap();
            let named = |(i, v): (usize, &Vec<f64>)| Sequence::new(i.to_string(), signal(v)).unwrap();
            Family::new(values.iter().enumerate().map(named).collect()).ok().map(|family| (family, form))
        },
    )
}

proptest! {
    #[test]
    fn packs_equal_the_plain_version_over_random_shapes((family, form) in any_family()) {
        let (p, n_time) = (family.d_obs(), family.max_time());
        let noise = noise(form, p);
        let theta: Vec<f64> = wave(1 + form.n_raw(p), 0.4).iter().map(|x| 0.5 * x).collect();
        let (outputs, weights) = (wave(n_time * p, 2.0), wave(family.n_seq(), 0.3));
        let (plain, packed) = (Batch::<f64>::new(&family), Batch::<f32>::new(&family));
        for level in Level::ALL {
            let (theta, outputs, weights) = (&theta[..], &outputs[..], &weights[..]);
            let got = dispatch_at(
                level,
                PackF32 { noise: &noise, theta, outputs, group: &packed.groups[0], weights },
            );
            for lane in [0, 5, LANES - 1] {
                let moved: Vec<f64> = outputs.iter().map(|y| y + lane as f64 / 50.0).collect();
                let (mut d_outputs, mut d_theta) = (moved.clone(), vec![0.0; theta.len()]);
                let gradients = (d_outputs.as_mut_slice(), d_theta.as_mut_slice());
                let total = noise.pull(theta, &moved, &plain.groups[0], Pull::Dense(weights), gradients);
                let close = |got: f32, want: f64| (f64::from(got) - want).abs() < 1e-4 * (10.0 + want.abs());
                prop_assert!(close(got.total[lane], total));
                for (i, scores) in got.scores.iter().enumerate() {
                    prop_assert!(close(scores[lane], textbook(&noise, theta, &moved, family.sequence(i))));
                }
                prop_assert!(got.d_outputs.iter().zip(&d_outputs).all(|(g, w)| close(g[lane], *w)));
                prop_assert!(got.d_theta.iter().zip(&d_theta).all(|(g, w)| close(g[lane], *w)));
            }
        }
    }
}
