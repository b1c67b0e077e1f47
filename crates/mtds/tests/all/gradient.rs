//! Gradients of the posterior density against central differences; single against double precision.

use crate::common::{LOG_NOISE, draw_member, group, model, normals, own_inputs, parameters_f64, with_gaps};
use mtds::custom::{NoiseForm, Role};
use mtds::parts::{
    Activation, CodeTarget, FeatureMap, GaussianMixture, Lds, LogTarget, NoiseBelief, Skip, SmoothTarget,
    StochasticLds,
};
use mtds::random::stream;
use mtds::{Architecture, Points, Signal, System};

const N_TIME: usize = 24;
const D_CODE: usize = 3;

/// Two outputs, gaps, one's own inputs.
struct Case {
    name: &'static str,
    model: System,
    outputs: Signal,
    inputs: Signal,
    prior: GaussianMixture,
}

fn case(name: &'static str, spec: Architecture, prior: GaussianMixture) -> Case {
    let mut random = stream(70, 0);
    // Outputs come from a model with diagonal noise, whatever the noise of the one under test.
    let source = model(Architecture::new(Lds::new(3, 2, 1), D_CODE), 1.0, LOG_NOISE, 71);
    let inputs = own_inputs(N_TIME, &mut random);
    let (_, outputs) = draw_member(&source, &inputs, N_TIME, &mut random);
    let outputs = with_gaps(&outputs, 0.2, &mut random);
    Case { name, model: model(spec, 1.0, LOG_NOISE, 72), outputs, inputs, prior }
}

/// Three clusters, as an aggregate posterior has.
fn aggregate() -> GaussianMixture {
    let mut random = stream(73, 0);
    let means = (0..3).map(|_| normals(D_CODE, &mut random)).collect();
    let covariance = |s: f64| vec![s, 0.1, 0.0, 0.1, 1.5 * s, -0.1, 0.0, -0.1, 0.8 * s];
    GaussianMixture::new(vec![0.5, 0.3, 0.2], means, [0.3, 0.5, 0.9].map(covariance).to_vec()).unwrap()
}

fn cases() -> Vec<Case> {
    let standard = GaussianMixture::standard_normal(D_CODE).unwrap();
    let uncertain = NoiseBelief::Uncertain { mean: -0.2, std_dev: 0.5 };
    let diagonal = || Architecture::new(Lds::new(3, 2, 1), D_CODE);
    let full = || Architecture::new(Lds { noise_form: NoiseForm::Full, ..Lds::new(3, 2, 1) }, D_CODE);
    let random_state = |form| {
        let lds = Lds { noise_form: form, ..Lds::new(3, 2, 1) };
        Architecture::new(StochasticLds { lds, process_noise: form }, D_CODE).adapt("process_noise")
    };
    let deep = diagonal()
        .features(FeatureMap::Trigonometric)
        .hidden(&[6, 4], Activation::Tanh)
        .skip(Skip::Affine)
        .role("initial_state", Role::Adapted)
        .role("feedthrough", Role::Shared);
    vec![
        case("diagonal", diagonal(), standard.clone()),
        case("diagonal, δ", diagonal(), uncertain.extend(&standard).unwrap()),
        case("full", full(), standard.clone()),
        case("full, δ", full(), uncertain.extend(&standard).unwrap()),
        case(
            "full and adapted, δ",
            full().role("noise", Role::Adapted),
            uncertain.extend(&standard).unwrap(),
        ),
        case("random state", random_state(NoiseForm::Diagonal), standard.clone()),
        case("random state, full, δ", random_state(NoiseForm::Full), uncertain.extend(&standard).unwrap()),
        case("aggregate posterior", diagonal(), aggregate()),
        case("aggregate posterior, full, δ", full(), uncertain.extend(&aggregate()).unwrap()),
        case("trigonometric, deep, skip", deep.clone(), standard),
        case("trigonometric, aggregate, δ", deep, uncertain.extend(&aggregate()).unwrap()),
    ]
}

/// 37 points, more than two packs and not a whole number of them.
fn points(dim: usize) -> Points {
    let mut random = stream(74, 0);
    Points::from_values(dim, 37, normals(dim * 37, &mut random).iter().map(|x| 0.7 * x).collect()).unwrap()
}

#[test]
fn gradients_match_central_differences() {
    for case in cases() {
        let parameters = parameters_f64(&case.model);
        let sequence = group::<f64>(&case.outputs, &case.inputs);
        let target = CodeTarget::new(&case.model, &parameters, &case.prior, sequence, None);
        let (dim, points) = (case.prior.dim(), points(case.prior.dim()));
        let (mut values, mut gradient) = (vec![0.0; points.len()], Points::zeros(dim, points.len()));
        target.log_density_and_gradient(&points, &mut values, &mut gradient);
        let mut plain = vec![0.0; points.len()];
        target.log_density(&points, &mut plain);
        for (a, b) in values.iter().zip(&plain) {
            assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{}: density {a} {b}", case.name);
        }
        for d in 0..dim {
            let numeric = differences(&target, &points, d);
            for (got, want) in gradient.column(d).iter().zip(&numeric) {
                let scale = 1.0 + want.abs();
                assert!((got - want).abs() < 2e-6 * scale, "{}, dimension {d}: {got} {want}", case.name);
            }
        }
    }
}

/// One point at a time, in plain numbers, is the same function as many in packs.
#[test]
fn single_points_agree_with_packs() {
    for case in cases() {
        let parameters = parameters_f64(&case.model);
        let sequence = group::<f64>(&case.outputs, &case.inputs);
        let target = CodeTarget::new(&case.model, &parameters, &case.prior, sequence, None);
        let (dim, points) = (case.prior.dim(), points(case.prior.dim()));
        let (mut values, mut gradient) = (vec![0.0; points.len()], Points::zeros(dim, points.len()));
        target.log_density_and_gradient(&points, &mut values, &mut gradient);
        let mut evaluate = target.evaluator();
        for i in 0..points.len() {
            let mut slope = vec![f64::NAN; dim];
            let value = evaluate(&points.point(i), &mut slope);
            let pairs = slope.iter().copied().zip(gradient.point(i)).chain([(value, values[i])]);
            for (got, want) in pairs {
                assert!((got - want).abs() < 1e-10 * (1.0 + want.abs()), "{}: {got} {want}", case.name);
            }
        }
    }
}

/// Fourth-order central differences along dimension `d`.
fn differences(target: &impl LogTarget, points: &Points, d: usize) -> Vec<f64> {
    const H: f64 = 1e-3;
    let at = |shift: f64| {
        let mut moved = points.clone();
        moved.column_mut(d).iter_mut().for_each(|x| *x += shift);
        let mut out = vec![0.0; points.len()];
        target.log_density(&moved, &mut out);
        out
    };
    let [a, b, c, e] = [-2.0, -1.0, 1.0, 2.0].map(|k| at(k * H));
    (0..points.len()).map(|i| (a[i] - 8.0 * b[i] + 8.0 * c[i] - e[i]) / (12.0 * H)).collect()
}

/// ‖z‖ has no derivative at 0: the gradient there must still be a number.
#[test]
fn the_gradient_at_the_origin_is_finite() {
    for case in cases() {
        let parameters = parameters_f64(&case.model);
        let sequence = group::<f64>(&case.outputs, &case.inputs);
        let target = CodeTarget::new(&case.model, &parameters, &case.prior, sequence, None);
        let mut gradient = Points::zeros(case.prior.dim(), 1);
        let mut value = [0.0];
        target.log_density_and_gradient(&Points::zeros(case.prior.dim(), 1), &mut value, &mut gradient);
        assert!(value[0].is_finite() && gradient.values().iter().all(|g| g.is_finite()), "{}", case.name);
    }
}

/// Single precision carries about 1e-6 of each residual: relative to the density, 2e-6 is allowed.
#[test]
fn single_precision_agrees_with_double() {
    for case in cases() {
        let parameters = parameters_f64(&case.model);
        let double = CodeTarget::new(
            &case.model,
            &parameters,
            &case.prior,
            group::<f64>(&case.outputs, &case.inputs),
            None,
        );
        let single = CodeTarget::new(
            &case.model,
            case.model.parameters(),
            &case.prior,
            group::<f32>(&case.outputs, &case.inputs),
            None,
        );
        let points = points(case.prior.dim());
        let (mut a, mut b) = (vec![0.0; points.len()], vec![0.0; points.len()]);
        double.log_density(&points, &mut a);
        single.log_density(&points, &mut b);
        let error = |(a, b): (&f64, &f64)| (a - b).abs() / (1.0 + a.abs());
        let worst = a.iter().zip(&b).map(error).fold(0.0, f64::max);
        println!("{}: {worst:.1e}", case.name);
        assert!(worst < 1e-5, "{}: {worst}", case.name);
    }
}
