//! Every kernel on a card against plain numbers: likelihoods, and gradients against central differences of them. Skipped, in words, where
//! there is no card.

mod plain;
#[path = "../../mtds-mocap/tests/all/skip/mod.rs"]
mod skip;

use mtds_cuda::{Activation, Error, Front, Gpu, Network, Products, Pull, Shape, check_kernels};
use plain::Numbers;

fn gpu() -> Option<Gpu> {
    match Gpu::open(0, None) {
        Ok(gpu) => Some(gpu),
        Err(why) => {
            skip::skip("tests of kernels", &why.to_string());
            None
        }
    }
}

fn shapes() -> Vec<Shape> {
    let front = |d_input, units, bottleneck, skip| Some(Front { d_input, units, bottleneck, skip });
    let tanh = |width| (width, Activation::Tanh);
    let mut all = vec![
        plain::shape([2, 3, 2, 1], None, &[], false),
        plain::shape([1, 1, 0, 1], None, &[], true),
        plain::shape([3, 5, 4, 2], front(3, 5, 4, false), &[], false),
        plain::shape([3, 20, 9, 7], front(5, 17, 4, true), &[tanh(6), (4, Activation::Identity)], true),
        plain::shape([4, 32, 16, 33], front(20, 96, 16, false), &[(5, Activation::Softplus)], false),
        plain::shape([2, 150, 6, 5], front(4, 130, 6, false), &[(3, Activation::Sigmoid)], true),
        plain::shape(
            [2, 128, 24, 64],
            front(32, 256, 24, false),
            &[tanh(30), (7, Activation::Identity)],
            false,
        ),
    ];
    all[1].unscored = 0;
    all
}

/// Sequences, and codes of each.
const BATCHES: [(&[usize], usize); 4] = [(&[4], 1), (&[7, 1, 9], 2), (&[12; 18], 1), (&[3, 20], 5)];

#[test]
fn likelihoods_and_gradients_are_those_of_plain_numbers() {
    let Some(gpu) = gpu() else { return };
    for (which, shape) in shapes().into_iter().enumerate() {
        let mut network = Network::new(&gpu, shape.clone()).unwrap();
        for (steps, draws) in BATCHES {
            let numbers = &mut Numbers::new(which as u64 + 1);
            let parameters = plain::parameters(&shape, numbers);
            let data = plain::data(&shape, steps, numbers);
            let (k, n_pairs) = (shape.d_code, steps.len() * draws);
            let codes = numbers.many(n_pairs * k, 1.0);
            let weights = numbers.many(n_pairs, 1.0);
            let mut weigh = |pairs: std::ops::Range<usize>, _: &[f64]| weights[pairs].to_vec();
            let pull = Pull { weigh: &mut weigh, parameters: true };
            let shifts = numbers.many(n_pairs, 0.5);
            let found = network.own(&parameters, (&data, steps), (&codes, &shifts), Some(pull)).unwrap();

            let values: Vec<f64> = parameters.iter().map(|&x| f64::from(x)).collect();
            let points: Vec<f64> = codes.iter().map(|&x| f64::from(x)).collect();
            let raised: Vec<f64> = shifts.iter().map(|&x| f64::from(x)).collect();
            let plain = |parameters: &[f64], codes: &[f64], shifts: &[f64]| -> Vec<f64> {
                let (m, p) = (shape.d_input(), shape.d_obs);
                let mut first = 0;
                let mut all = vec![];
                for (i, n) in steps.iter().enumerate() {
                    let rows = first..first + n;
                    first += n;
                    let own = (
                        &data.inputs[rows.start * m..rows.end * m],
                        &data.outputs[rows.start * p..rows.end * p],
                    );
                    let code = |s: usize| &codes[(i * draws + s) * k..(i * draws + s + 1) * k];
                    let shift = |s: usize| shifts[i * draws + s];
                    all.extend(
                        (0..draws)
                            .map(|s| plain::log_likelihood(&shape, parameters, own, (code(s), shift(s)))),
                    );
                }
                all
            };
            let expected = plain(&values, &points, &raised);
            let about = format!("shape {which}, {steps:?} × {draws}");
            for (got, want) in found.log_likelihoods.iter().zip(&expected) {
                assert!((got - want).abs() < 2e-5 * (1.0 + want.abs()), "{about}: {got}, expected {want}");
            }
            let weighed = |parameters: &[f64], codes: &[f64]| -> f64 {
                plain(parameters, codes, &raised).iter().zip(&weights).map(|(l, &w)| l * f64::from(w)).sum()
            };
            // Along a direction of every part, and of the codes: a part that is wrong shows in its own.
            for part in parts(&shape) {
                let direction: Vec<f64> = part.clone().map(|_| numbers.next()).collect();
                let (up, down) = (
                    moved(&values, part.start, &direction, 1e-5),
                    moved(&values, part.start, &direction, -1e-5),
                );
                let want = (weighed(&up, &points) - weighed(&down, &points)) / 2e-5;
                let own = found.parameters[part.clone()].iter().zip(&direction);
                let got: f64 = own.clone().map(|(&g, d)| f64::from(g) * d).sum();
                let size: f64 = own.map(|(&g, d)| (f64::from(g) * d).powi(2)).sum::<f64>().sqrt();
                assert!(
                    (got - want).abs() < 2e-4 * (1.0 + size + want.abs()),
                    "{about}, parameters {part:?}: {got}, expected {want}"
                );
            }
            let direction: Vec<f64> = points.iter().map(|_| numbers.next()).collect();
            let along = |by: f64| weighed(&values, &moved(&points, 0, &direction, by));
            let want = (along(1e-5) - along(-1e-5)) / 2e-5;
            let got: f64 = found.codes.iter().zip(&direction).map(|(&g, d)| f64::from(g) * d).sum();
            assert!((got - want).abs() < 2e-4 * (1.0 + want.abs()), "{about}, codes: {got}, expected {want}");
            let direction: Vec<f64> = raised.iter().map(|_| numbers.next()).collect();
            let along = |by: f64| -> f64 {
                let found = plain(&values, &points, &moved(&raised, 0, &direction, by));
                found.iter().zip(&weights).map(|(l, &w)| l * f64::from(w)).sum()
            };
            let want = (along(1e-5) - along(-1e-5)) / 2e-5;
            let got: f64 = found.shifts.iter().zip(&direction).map(|(&g, d)| f64::from(g) * d).sum();
            assert!(
                (got - want).abs() < 2e-4 * (1.0 + want.abs()),
                "{about}, shifts: {got}, expected {want}"
            );
        }
    }
}

/// The tensors of a shape.
fn parts(shape: &Shape) -> Vec<std::ops::Range<usize>> {
    let mut lens = vec![];
    let mut n_in = shape.d_code;
    for width in shape.hidden.iter().map(|(width, _)| *width).chain([shape.d_adapted()]) {
        lens.extend([width * n_in, width]);
        n_in = width;
    }
    lens.extend([if shape.skip { shape.d_adapted() * shape.d_code } else { 0 }, shape.n_shared()]);
    if let Some(Front { d_input, units, bottleneck, .. }) = shape.front {
        lens.extend([3 * units * d_input, 3 * units * units, 3 * units, 3 * units, bottleneck * units]);
    }
    let mut at = 0;
    let ranges = lens.into_iter().map(|len| {
        at += len;
        at - len..at
    });
    ranges.filter(|range| !range.is_empty()).collect()
}

fn moved(values: &[f64], at: usize, direction: &[f64], by: f64) -> Vec<f64> {
    let mut moved = values.to_vec();
    moved[at..].iter_mut().zip(direction).for_each(|(x, d)| *x += by * d);
    moved
}

#[test]
fn rounded_products_are_near_exact_ones() {
    let Some(gpu) = gpu() else { return };
    let shape = shapes().pop().unwrap();
    let numbers = &mut Numbers::new(3);
    let parameters = plain::parameters(&shape, numbers);
    let steps = [40; 16];
    let data = plain::data(&shape, &steps, numbers);
    let codes = numbers.many(16 * shape.d_code, 1.0);
    let run = |products| {
        let mut network = Network::new(&gpu, Shape { products, ..shape.clone() }).unwrap();
        let mut weigh = |pairs: std::ops::Range<usize>, _: &[f64]| vec![1.0; pairs.len()];
        let pull = Pull { weigh: &mut weigh, parameters: true };
        network.own(&parameters, (&data, &steps), (&codes, &[]), Some(pull)).unwrap()
    };
    let (exact, again, rounded) = (run(Products::Exact), run(Products::Exact), run(Products::Tf32));
    assert_eq!(exact.parameters, again.parameters, "the same bits");
    let norm = |x: &[f32]| x.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    let difference: Vec<f32> = exact.parameters.iter().zip(&rounded.parameters).map(|(a, b)| a - b).collect();
    let relative = norm(&difference) / norm(&exact.parameters);
    println!("tf32 against exact products: gradients differ by {relative:.2e} of their length");
    assert!(relative > 0.0 && relative < 5e-3, "{relative}");
}

#[test]
fn kernels_compile_for_every_architecture() {
    let all = shapes();
    let rounded = Shape { products: Products::Tf32, ..all[6].clone() };
    for (arch, shape) in
        [((8, 0), &all[6]), ((8, 9), &all[1]), ((9, 0), &rounded), ((10, 0), &all[5]), ((12, 0), &all[3])]
    {
        match check_kernels(arch, shape) {
            Ok(bytes) => assert!(bytes > 10_000, "{bytes}"),
            Err(Error::NoCompiler) => {
                return skip::skip("kernels_compile_for_every_architecture", "no NVRTC");
            }
            Err(why) => panic!("{arch:?}: {why}"),
        }
    }
}
