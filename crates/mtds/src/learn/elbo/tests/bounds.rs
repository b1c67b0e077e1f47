//! Bounds against exact evidence.

use super::*;
use crate::family::{Sequence, Signal};
use crate::system::{Codes, OwnPull, OwnResult};

/// One code dimension, so that the evidence is an integral on a line.
fn narrow() -> System {
    let spec = Architecture::new(Lds::new(2, 2, 1), 1).hidden(&[4], Activation::Tanh);
    System::initialise(spec, Scaling::identity(2, 1), &mut stream(4, 0)).unwrap()
}

/// log ∫ p(Y_i | z) p(z) dz of every sequence, by the trapezoid rule.
fn evidence(model: &System, batch: &OwnBatch) -> Vec<f64> {
    let (n, h) = (1600, 0.01);
    let z = |s: usize| (s as f64 - n as f64 / 2.0) * h;
    let codes = Codes::from_fn(batch.n_seq() * n, 1, |m, _| z(m % n));
    let found = model.own_gradient(model.parameters(), &codes, batch, OwnPull::Nothing);
    let of_sequence = |likelihoods: &[f64]| {
        let terms: Vec<f64> = likelihoods.iter().enumerate().map(|(s, l)| l - 0.5 * z(s) * z(s)).collect();
        let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = terms.iter().map(|t| (t - largest).exp()).sum();
        largest + (sum * h / std::f64::consts::TAU.sqrt()).ln()
    };
    found.log_likelihoods.chunks(n).map(of_sequence).collect()
}

#[test]
fn bounds_rise_with_draws_towards_the_exact_evidence() {
    let model = narrow();
    let family = family(true);
    let batch = OwnBatch::new(&family);
    let exact = evidence(&model, &batch);
    let data = Coded { batch, code_of: vec![0, 1, 2] };
    // A belief that is off, so that the gap of the ELBO shows.
    let q = Gaussians { d_code: 1, mean: vec![0.8, -0.5, 0.3], log_std_dev: vec![-0.2, -0.1, 0.3] };
    let mut sobol = ShiftedSobol::new(1).unwrap();
    let mut mean_bound = |estimator: Estimator, n_draws: usize, rounds: u64, spacing| -> Vec<f64> {
        let mut means = vec![0.0; 3];
        for round in 0..rounds {
            let noise = standard_normals(&mut sobol, (3, n_draws, 1), spacing, round);
            let drawn = Drawn { beliefs: &q, noise: &noise };
            let found = bound::bounds(&model, model.parameters(), drawn, &data, estimator);
            means.iter_mut().zip(found).for_each(|(m, b)| *m += b / rounds as f64);
        }
        means
    };
    let weighted = Estimator::ImportanceWeighted(WeightedGradient::Plain);
    let (free, even) = (Spacing::Independent, Spacing::Even);
    let elbo = mean_bound(Estimator::Elbo, 4096, 4, even);
    let (few, more) = (mean_bound(weighted, 16, 1024, free), mean_bound(weighted, 128, 1024, free));
    let many = mean_bound(weighted, 16_384, 8, even);
    for i in 0..3 {
        let chain = [elbo[i], few[i], more[i], exact[i]];
        // Standard errors are below 0.01 for 16 draws and 0.003 for 128; the seeds are fixed.
        assert!(elbo[i] < few[i] && few[i] < more[i] && more[i] < exact[i] + 0.01, "{i}: {chain:?}");
        assert!(exact[i] - elbo[i] > 0.02, "{chain:?}");
        assert!((many[i] - exact[i]).abs() < 5e-3, "{} {}", many[i], exact[i]);
    }
}

/// y_t = d + w z + s e: the posterior of z is Gaussian.
struct Conjugate {
    model: System,
    family: Family,
    posterior: Gaussians,
    /// Σ_i log p(Y_i).
    evidence: f64,
}

fn conjugate() -> Conjugate {
    let (w, d, s) = ([0.8, -0.5], [0.2, 0.1], 0.6f64);
    let spec = Architecture::new(Lds::new(1, 2, 0), 1).adapt("offset");
    let spec = ["decay", "rotation", "input", "state_bias", "emission", "feedthrough", "initial_state"]
        .into_iter()
        .fold(spec, |spec, block| spec.fix(block, 0.0))
        .share("noise");
    let model = System::initialise(spec, Scaling::identity(2, 0), &mut stream(1, 0)).unwrap();
    let parameters = [w[0], w[1], d[0], d[1], s.ln(), s.ln()].map(|x| x as f32).to_vec();
    let outputs = [vec![1.0, 0.3, 0.4, f64::NAN, 1.3, -0.2], vec![-1.0, 0.8]];
    let sequences = outputs.iter().enumerate().map(|(i, y)| {
        Sequence::new(format!("{i}"), Signal::new(y.len() / 2, 2, y.clone()).unwrap()).unwrap()
    });
    let family = Family::new(sequences.collect()).unwrap();
    let (mut posterior, mut evidence) = (Gaussians::zeros(2, 1), 0.0);
    for (i, y) in outputs.iter().enumerate() {
        let seen = || y.iter().enumerate().filter(|(_, y)| !y.is_nan());
        let precision = 1.0 + seen().map(|(at, _)| w[at % 2] * w[at % 2]).sum::<f64>() / (s * s);
        let pull = seen().map(|(at, y)| w[at % 2] * (y - d[at % 2])).sum::<f64>() / (s * s);
        let square = seen().map(|(at, y)| (y - d[at % 2]).powi(2)).sum::<f64>() / (s * s);
        posterior.mean[i] = pull / precision;
        posterior.log_std_dev[i] = -0.5 * precision.ln();
        evidence -= 0.5 * (square - pull * pull / precision + precision.ln());
        evidence -= seen().count() as f64 * (s.ln() + 0.5 * std::f64::consts::TAU.ln());
    }
    Conjugate { model: model.with_parameters(parameters).unwrap(), family, posterior, evidence }
}

#[test]
fn on_a_conjugate_case_the_best_belief_is_the_exact_posterior() {
    let Conjugate { model, family, posterior, evidence } = conjugate();
    let held = GroupRule { rate: 0.0, l2: 0.0 };
    let settings = Variational { generator: held, shared: held, draws: 64, ..Variational::default() };
    let objective = VariationalObjective::new(model, &family, None, settings).unwrap();
    let start = objective.first_parameters(&mut stream(2, 0));
    let rate = Schedule::new(crate::learn::Interpolation::Log, vec![(1, 0.05), (1500, 1e-4)]).unwrap();
    let plan = TrainingPlan { steps: 1500, learning_rate: rate, ..TrainingPlan::default() };
    let mut trainer = Trainer::new(objective, start, plan, stream(3, 0)).unwrap();
    let outcome = trainer.run(&mut |p| go_on(p)).unwrap();
    let fitted = learned(trainer.into_objective(), outcome);
    for i in 0..2 {
        let (found, exact) = (&fitted.codes, &posterior);
        assert!((found.mean[i] - exact.mean[i]).abs() < 5e-3, "{found:?} {exact:?}");
        assert!((found.log_std_dev[i] - exact.log_std_dev[i]).abs() < 5e-3, "{found:?} {exact:?}");
    }
    let last = fitted.outcome.history.steps().last().unwrap().bound * family.n_observed() as f64;
    assert!((last - evidence).abs() < 0.02, "{last} {evidence}");
    assert_eq!(fitted.usage.status, UsageStatus::Used);
}

/// Where q is the posterior all weights are equal, whatever the draws: bound and doubly reparameterised gradient have no
/// noise, while the plain gradient still has.
#[test]
fn at_the_exact_posterior_the_doubly_reparameterised_gradient_vanishes() {
    let Conjugate { model, family, posterior, evidence } = conjugate();
    let data = Coded { batch: OwnBatch::new(&family), code_of: vec![0, 1] };
    let noise = standard_normals(&mut ShiftedSobol::new(1).unwrap(), (2, 16, 1), Spacing::Independent, 1);
    let drawn = Drawn { beliefs: &posterior, noise: &noise };
    let largest = |path: WeightedGradient| {
        let terms = Terms::plain(Estimator::ImportanceWeighted(path));
        let trial = (&model, model.parameters());
        let found = bound::evaluate(trial, drawn, &data, terms, &mut OwnResult::default());
        assert!((found.total - evidence).abs() < 1e-4, "{} {evidence}", found.total);
        let pulled = found.beliefs.mean.into_iter().chain(found.beliefs.log_std_dev);
        pulled.fold(0.0, |largest: f64, g| largest.max(g.abs()))
    };
    assert!(largest(WeightedGradient::DoublyReparameterised) < 1e-4);
    assert!(largest(WeightedGradient::Plain) > 0.05);
}
