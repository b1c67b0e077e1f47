//! Kernels of linear systems on a card against plain numbers: scores, evidence, resampled codes, and gradients against central differences.
//! Skipped, in words, where there is no card.

#[path = "../plain/numbers.rs"]
mod numbers;
mod plain;
#[path = "../../../mtds-mocap/tests/all/skip/mod.rs"]
mod skip;

use mtds_cuda::{
    Activation, Error, Features, Gpu, Linear, LinearData, LinearGradient, LinearShape, LinearWeights, Pull,
    check_linear_kernels,
};
use numbers::Numbers;

fn gpu() -> Option<Gpu> {
    match Gpu::open(0, None) {
        Ok(gpu) => Some(gpu),
        Err(why) => {
            skip::skip("tests of kernels of linear systems", &why.to_string());
            None
        }
    }
}

fn shapes() -> Vec<LinearShape> {
    use Features::{Identity, Trigonometric};
    let tanh = |width| (width, Activation::Tanh);
    vec![
        plain::shape([1, 1, 0, 1], Identity, &[]),
        plain::shape([4, 4, 1, 1], Trigonometric, &[(33, Activation::Sigmoid)]),
        plain::shape([2, 2, 3, 2], Identity, &[tanh(6), (4, Activation::Identity)]),
        plain::shape([3, 5, 2, 3], Trigonometric, &[]),
        plain::shape([2, 8, 1, 4], Identity, &[(5, Activation::Softplus)]),
        plain::shape([2, 11, 2, 5], Identity, &[(7, Activation::Relu)]),
    ]
}

/// Lengths of the sequences, whether they share inputs, codes.
const BATCHES: [(&[usize], bool, usize); 6] = [
    (&[4], true, 1),
    (&[1], false, 3),
    (&[17, 5, 9], true, 70),
    (&[7, 1, 9, 12], false, 37),
    (&[12; 41], true, 333),
    (&[21; 18], false, 300),
];

/// One case: parameters, codes and sequences in both precisions.
struct Case {
    shape: LinearShape,
    about: String,
    parameters: Vec<f32>,
    codes: Vec<f32>,
    data: LinearData,
    values: Vec<f64>,
    points: Vec<Vec<f64>>,
}

impl Case {
    fn new(which: usize, shape: &LinearShape, batch: usize) -> Self {
        let (steps, shares_inputs, n) = BATCHES[batch];
        let numbers = &mut Numbers::new((100 * which + batch + 1) as u64);
        let parameters = numbers.many(shape.n_parameters(), 0.5);
        let codes = numbers.many(n * shape.d_code, 1.5);
        Self {
            about: format!("shape {which}, {steps:?}, shared inputs: {shares_inputs}, {n} codes"),
            data: plain::data(shape, steps, shares_inputs, numbers),
            values: parameters.iter().map(|&x| f64::from(x)).collect(),
            points: codes.chunks(shape.d_code).map(|z| z.iter().map(|&x| f64::from(x)).collect()).collect(),
            shape: shape.clone(),
            parameters,
            codes,
        }
    }

    fn log_likelihood(&self, values: &[f64], code: usize, sequence: usize) -> f64 {
        plain::log_likelihood(&self.shape, values, (&self.data, sequence), (&self.points[code], 0.0))
    }

    /// The gradient along a direction of every part, against central differences of Σ w log p.
    fn check_gradient(&self, found: &LinearGradient, pairs: &[(usize, usize, f64)], how: &str) {
        let weighed = |values: &[f64]| -> f64 {
            pairs.iter().map(|&(m, i, w)| w * self.log_likelihood(values, m, i)).sum()
        };
        let about = format!("{}, {how}", self.about);
        near(found.weighted_log_likelihood, weighed(&self.values), 2e-5, &about);
        let numbers = &mut Numbers::new(17);
        for part in plain::parts(&self.shape) {
            let direction: Vec<f64> = part.clone().map(|_| numbers.next()).collect();
            let moved = |by: f64| {
                let mut moved = self.values.clone();
                moved[part.clone()].iter_mut().zip(&direction).for_each(|(x, d)| *x += by * d);
                weighed(&moved)
            };
            let want = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            let own = found.parameters[part.clone()].iter().zip(&direction);
            let got: f64 = own.clone().map(|(&g, d)| f64::from(g) * d).sum();
            let size: f64 = own.map(|(&g, d)| (f64::from(g) * d).powi(2)).sum::<f64>().sqrt();
            assert!(
                (got - want).abs() < 2e-4 * (1.0 + size + want.abs()),
                "{about}, parameters {part:?}: {got}, expected {want}"
            );
        }
    }
}

fn near(got: f64, want: f64, tolerance: f64, about: &str) {
    assert!((got - want).abs() < tolerance * (1.0 + want.abs()), "{about}: {got}, expected {want}");
}

/// Weights of the codes for each sequence, log evidence and effective number of codes.
fn weigh(scores: &[f64]) -> (Vec<f64>, f64, f64) {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let e: Vec<f64> = scores.iter().map(|s| (s - largest).exp()).collect();
    let total: f64 = e.iter().sum();
    let weights: Vec<f64> = e.iter().map(|e| e / total).collect();
    let ess = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
    (weights, largest + total.ln() - (scores.len() as f64).ln(), ess)
}

#[test]
fn scores_and_gradients_are_those_of_plain_numbers() {
    let Some(gpu) = gpu() else { return };
    for (which, shape) in shapes().iter().enumerate() {
        let mut linear = Linear::new(&gpu, shape.clone()).unwrap();
        let mut scores = linear.scores().unwrap();
        for batch in 0..BATCHES.len() {
            let case = Case::new(which, shape, batch);
            let (n, n_seq) = (case.points.len(), case.data.steps.len());
            let stored = linear.store(&case.data).unwrap();
            let at = (&case.parameters[..], &case.codes[..]);
            let summary = linear.score(at, &stored, &mut scores).unwrap();
            let found = scores.to_host().unwrap();
            let mut weights = vec![];
            for i in 0..n_seq {
                let plain: Vec<f64> = (0..n).map(|m| case.log_likelihood(&case.values, m, i)).collect();
                for (got, want) in found[i * n..(i + 1) * n].iter().zip(&plain) {
                    near(f64::from(*got), *want, 2e-5, &case.about);
                }
                let (own, log_evidence, ess) = weigh(&plain);
                near(summary.log_evidence[i], log_evidence, 1e-4, &case.about);
                near(summary.effective_codes[i], ess, 1e-3, &case.about);
                weights.push(own);
            }
            let dense: Vec<_> = (0..n)
                .flat_map(|m| (0..n_seq).map(move |i| (m, i)))
                .map(|(m, i)| (m, i, weights[i][m] / n_seq as f64))
                .collect();
            let gradient = linear.gradient(at, &stored, LinearWeights::Normalised(&scores)).unwrap();
            case.check_gradient(&gradient, &dense, "weighted");

            let numbers = &mut Numbers::new(5);
            let uniforms: Vec<f64> = (0..3 * n_seq).map(|_| 0.5 + 0.5 * numbers.next()).collect();
            let pick = |i: usize, u: f64| {
                let mut sum = 0.0;
                let reached = |w: &f64| {
                    sum += w;
                    sum >= u
                };
                weights[i].iter().position(reached).unwrap_or(n - 1)
            };
            let chosen: Vec<_> =
                (0..3 * n_seq).map(|q| (pick(q / 3, uniforms[q]), q / 3, 1.0 / (3 * n_seq) as f64)).collect();
            let resampled =
                LinearWeights::Resampled { scores: &scores, per_sequence: 3, uniforms: &uniforms };
            let gradient = linear.gradient(at, &stored, resampled).unwrap();
            case.check_gradient(&gradient, &chosen, "resampled");

            let pairs: Vec<(usize, usize, f32)> =
                (0..2 * n).map(|q| (q % n, (q * 5) % n_seq, numbers.next() as f32)).collect();
            let gradient = linear.gradient(at, &stored, LinearWeights::Pairs(&pairs)).unwrap();
            let wide: Vec<_> = pairs.iter().map(|&(m, i, w)| (m, i, f64::from(w))).collect();
            case.check_gradient(&gradient, &wide, "pairs");
        }
    }
}

#[test]
fn codes_of_their_own_are_those_of_plain_numbers() {
    let Some(gpu) = gpu() else { return };
    for (which, shape) in shapes().iter().enumerate() {
        let mut linear = Linear::new(&gpu, shape.clone()).unwrap();
        for (batch, draws) in [(1, 1), (3, 5), (2, 2)] {
            let mut case = Case::new(which, shape, batch);
            let n_pairs = case.data.steps.len() * draws;
            let numbers = &mut Numbers::new(9);
            case.codes = numbers.many(n_pairs * shape.d_code, 1.0);
            case.points =
                case.codes.chunks(shape.d_code).map(|z| z.iter().map(|&x| f64::from(x)).collect()).collect();
            let weights = numbers.many(n_pairs, 1.0);
            let shifts = numbers.many(n_pairs, 0.5);
            let raised: Vec<f64> = shifts.iter().map(|&x| f64::from(x)).collect();
            let mut weigh = |pairs: std::ops::Range<usize>, _: &[f64]| weights[pairs].to_vec();
            let pull = Pull { weigh: &mut weigh, parameters: true };
            let stored = linear.store(&case.data).unwrap();
            let found = linear.own(&case.parameters, &stored, (&case.codes, &shifts), Some(pull)).unwrap();
            let plain = |points: &[Vec<f64>], shifts: &[f64], r: usize| {
                let of = (&case.data, r / draws);
                plain::log_likelihood(shape, &case.values, of, (&points[r], shifts[r]))
            };
            for r in 0..n_pairs {
                let about = format!("{}, row {r}", case.about);
                near(found.log_likelihoods[r], plain(&case.points, &raised, r), 2e-5, &about);
                let weight = f64::from(weights[r]);
                for d in 0..shape.d_code {
                    let moved = |by: f64| {
                        let mut points = case.points.clone();
                        points[r][d] += by;
                        weight * plain(&points, &raised, r)
                    };
                    let want = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    near(f64::from(found.codes[r * shape.d_code + d]), want, 3e-4, &about);
                }
                let moved = |by: f64| {
                    let mut raised = raised.clone();
                    raised[r] += by;
                    weight * plain(&case.points, &raised, r)
                };
                near(f64::from(found.shifts[r]), (moved(1e-5) - moved(-1e-5)) / 2e-5, 3e-4, &about);
            }
            // Without shifts, against plain central differences of the parameters.
            let mut weigh = |pairs: std::ops::Range<usize>, _: &[f64]| weights[pairs].to_vec();
            let pull = Pull { weigh: &mut weigh, parameters: true };
            let found = linear.own(&case.parameters, &stored, (&case.codes, &[]), Some(pull)).unwrap();
            let pairs: Vec<_> = (0..n_pairs).map(|r| (r, r / draws, f64::from(weights[r]))).collect();
            let total = pairs.iter().map(|(r, _, w)| w * found.log_likelihoods[*r]).sum();
            let gradient = LinearGradient { parameters: found.parameters, weighted_log_likelihood: total };
            case.check_gradient(&gradient, &pairs, "own codes");
        }
    }
}

#[test]
fn the_same_pass_has_the_same_bits() {
    let Some(gpu) = gpu() else { return };
    let shape = &shapes()[1];
    let run = |batch: usize| {
        let case = Case::new(1, shape, batch);
        let mut linear = Linear::new(&gpu, shape.clone()).unwrap();
        let (mut scores, stored) = (linear.scores().unwrap(), linear.store(&case.data).unwrap());
        let at = (&case.parameters[..], &case.codes[..]);
        let summary = linear.score(at, &stored, &mut scores).unwrap();
        let gradient = linear.gradient(at, &stored, LinearWeights::Normalised(&scores)).unwrap();
        (summary, scores.to_host().unwrap(), gradient)
    };
    for batch in [4, 5] {
        assert_eq!(run(batch), run(batch), "batch {batch}");
    }
}

#[test]
fn kernels_compile_for_every_architecture() {
    let all = shapes();
    for (arch, shape) in
        [((8, 0), &all[0]), ((8, 9), &all[5]), ((9, 0), &all[1]), ((9, 0), &all[4]), ((12, 0), &all[3])]
    {
        match check_linear_kernels(arch, shape) {
            Ok(bytes) => assert!(bytes > 10_000, "{bytes}"),
            Err(Error::NoCompiler) => {
                return skip::skip("kernels_compile_for_every_architecture", "no NVRTC");
            }
            Err(why) => panic!("{arch:?}: {why}"),
        }
    }
}
