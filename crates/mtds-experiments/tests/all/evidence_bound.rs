//! The paper's architecture and inference for the oscillators, learned by the evidence lower bound, beside Algorithm 1.
//!
//! ```text
//! q_i = N(μ_i, diag σ_i²) of every training sequence, 16 draws per step, gradient norm at most 100
//! log s ~ N(mean, 0.05²), mean −0.3 → −1.5 in a straight line      rates: η, 5 η for μ and log σ, 0.3 η for A
//! ```
//! The noise begins higher than in Algorithm 1: a belief follows gradients, and under wide noise the likelihood has few
//! modes in which it could stay.

use mtds::evaluate::SequenceScore;
use mtds::parts::{
    Candidate, Ensemble, FollowingEnsemble, GroupRule, Interpolation, NoiseRule, ScalingRule, Schedule,
    Trainer, TrainingPlan, Variational, VariationalObjective,
};
use mtds::random::{Stream, stream};
use mtds::{Control, Result, System};
use mtds_experiments::dho::recipe::{Paper, paper};
use mtds_experiments::dho::{Protocol, Scale, TrainingSet, scores};

/// Mean of log s at the start and in the end.
const LOG_NOISE: [f64; 2] = [-0.3, -1.5];
/// Learning rate until half of the steps are taken; a twentieth of it in the end.
const RATE: f64 = 2e-3;

/// Learns the model of `paper` by the bound in so many steps; the noise is down after a quarter of them.
fn learn_by_bound(paper: &Paper, steps: u64, training: &TrainingSet, seed: u64) -> Result<Candidate> {
    let mean = Schedule::new(Interpolation::Linear, [1, steps / 4].into_iter().zip(LOG_NOISE).collect())?;
    let settings = Variational {
        noise: NoiseRule::Prior { mean, std_dev: 0.05 },
        first_std_dev: [0.5, 0.5],
        beliefs: GroupRule { rate: 5.0, l2: 0.0 },
        rates: ["decay", "rotation"].map(|block| (block.to_string(), 0.3)).to_vec(),
        ..Variational::default()
    };
    let points = vec![(1, RATE), (steps / 2, RATE), (steps, RATE / 20.0)];
    let plan = TrainingPlan {
        steps,
        learning_rate: Schedule::new(Interpolation::Log, points)?,
        clip_norm: Some(100.0),
        ..TrainingPlan::default()
    };
    let (family, mut random) = (training.family(), stream(seed, Stream::Initialise));
    let model = System::initialise(paper.spec(), ScalingRule::Identity.scaling(family)?, &mut random)?;
    let objective = VariationalObjective::new(model, family, None, settings)?;
    let mut parameters = objective.first_parameters(&mut random);
    let noise = objective.model().tensors().into_iter().find(|tensor| tensor.name == "shared.noise");
    parameters[noise.expect("s is shared").range()].fill(LOG_NOISE[0] as f32);
    let mut trainer = Trainer::new(objective, parameters, plan, stream(seed, Stream::Training))?;
    let outcome = trainer.run(&mut |_| Control::Continue)?;
    let model = trainer.objective().model_at(&outcome.parameters)?;
    let online = paper.online_for(&model)?;
    Ok(Candidate::new(model, online))
}

/// Mean RMSE over test sequences after each number of observations, by Algorithm 1 and by the bound in twice as many steps.
fn rmse_of_both(protocol: &Protocol, repetition: usize, n: usize, paper: &Paper) -> [Vec<f64>; 2] {
    let (training, seed) = (protocol.training(repetition, n).unwrap(), repetition as u64);
    let carlo = paper.learn(&training, seed, &mut |_| Control::Continue).unwrap().members;
    let bound = vec![learn_by_bound(paper, 2 * paper.start.plan.steps, &training, seed).unwrap()];
    [carlo, bound].map(|members| {
        let random: (u64, fn(u64) -> Stream) = (1, |i| Stream::Item(i << 16));
        let mtlds = FollowingEnsemble { ensemble: Ensemble::new(members).unwrap(), random };
        let scores = scores(&mtlds, &protocol.test(repetition).unwrap()).unwrap();
        let mean = |all: &Vec<SequenceScore>| all.iter().map(|s| s.rmse).sum::<f64>() / all.len() as f64;
        scores.iter().map(mean).collect()
    })
}

/// A small case of the measurement below: few steps, a narrow generator.
#[test]
fn the_evidence_bound_comes_near_the_monte_carlo_objective() {
    let paper = Paper { hidden: 24, ..Paper::new(1000).unwrap() };
    let [carlo, bound] = rmse_of_both(&Protocol::new(Scale::Quick, 5), 0, 24, &paper);
    for (carlo, bound) in carlo.iter().zip(&bound) {
        assert!(*bound < 1.1 * carlo, "RMSE by the bound {bound}, by Algorithm 1 {carlo}");
    }
}

#[test]
#[ignore = "a measurement: the evidence bound beside Algorithm 1 at full length, on a seed of its own"]
fn the_evidence_bound_beside_the_monte_carlo_objective() {
    let protocol = Protocol { repetitions: 2, ..Protocol::new(Scale::Full, 987_654_321) };
    let paper = Paper { hidden: 64, ..Paper::new(paper::STEPS).unwrap() };
    let mut sums = [vec![0.0; 3], vec![0.0; 3]];
    for repetition in 0..2 {
        let found = rmse_of_both(&protocol, repetition, 64, &paper);
        println!("repetition {repetition}: RMSE by Algorithm 1 and by the evidence bound {found:.3?}");
        for (sum, found) in sums.iter_mut().flatten().zip(found.iter().flatten()) {
            *sum += found / 2.0;
        }
    }
    println!("means of both: RMSE by Algorithm 1 and by the evidence bound {sums:.3?}");
    // Within a tenth of Algorithm 1, after each number of observations.
    assert!(sums[1].iter().zip(&sums[0]).all(|(bound, carlo)| *bound < 1.1 * carlo), "{sums:?}");
}
