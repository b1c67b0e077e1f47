//! The paper's recipe learns, is what it says, and gives the same model for the same seed.

use mtds::infer::NoiseBelief;
use mtds::learn::NoiseRule;

use super::*;
use crate::dho::fixtures::tiny_settings;
use crate::dho::predictor::Mtlds;
use crate::dho::protocol::{Protocol, Scale};
use crate::dho::score::score_predictor;

#[test]
fn the_schedule_is_that_of_the_table() {
    let paper = Paper::new(paper::STEPS).unwrap();
    let (plan, objective) = (&paper.start.plan, &paper.start.objective);
    let rates = [1, 599, 600, 999, 1000].map(|step| plan.learning_rate.value_at(step));
    assert_eq!(rates, [8e-4, 8e-4, 4e-4, 4e-4, 2e-4]);
    assert_eq!([999, 1000].map(|step| plan.beta1.value_at(step)), [0.9, 0.8]);
    assert_eq!([1, 600, 1000].map(|step| objective.particles.count_at(step)), [1000, 2000, 4000]);
    let NoiseRule::Prior { mean, .. } = &objective.noise else { panic!("the paper has a prior on log s") };
    assert_eq!([1, 200, 600, 5000].map(|step| mean.value_at(step)), [-1.0, -1.3, -1.5, -1.5]);
    let spec = paper.spec();
    assert_eq!((spec.network.d_out, spec.network.hidden[0].width), (22, 300));
}

#[test]
fn the_bound_rises_and_a_seed_decides() {
    let training = Protocol::new(Scale::Quick, 3).training(0, 16).unwrap();
    let mut settings = tiny_settings().paper;
    settings.start.plan.steps = 150;
    settings.start.plan.learning_rate = mtds::learn::Schedule::constant(2e-3).unwrap();
    let method = Method::Paper(Box::new(settings));
    let learned = |seed| learn(&method, &training, seed, &mut |_| Control::Continue).unwrap();
    let one = learned(1);
    let mean = |range: std::ops::Range<u64>| {
        let of = one.bounds.iter().filter(|(_, step, _)| range.contains(step));
        let values: Vec<f64> = of.map(|(_, _, bound)| *bound).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    assert!(mean(120..151) > mean(1..30) + 0.1, "{} {}", mean(1..30), mean(120..151));
    assert_eq!(one.members[0].model.parameters(), learned(1).members[0].model.parameters());
    assert_ne!(one.members[0].model.parameters(), learned(2).members[0].model.parameters());
    // log s ~ N(−2, 0.1²), whatever was learned.
    let NoiseBelief::Uncertain { mean, std_dev } = one.members[0].online.noise else { panic!("left open") };
    let log_s = one.members[0].model.block_values("noise").unwrap()[0];
    assert!((log_s + mean + 2.0).abs() < 1e-12 && std_dev == 0.1);
}

/// Mean RMSE over test sequences after each number of observations, of the two ways to learn the paper's model.
fn rmse_of_both(protocol: &Protocol, repetition: usize, n: usize, methods: [Method; 2]) -> [Vec<f64>; 2] {
    let training = protocol.training(repetition, n).unwrap();
    methods.map(|method| {
        let learned = learn(&method, &training, repetition as u64, &mut |_| Control::Continue).unwrap();
        let mtlds = Mtlds::new(learned.members, 1).unwrap();
        let results = score_predictor(&mtlds, &protocol.test(repetition).unwrap()).unwrap();
        let mean = |k: usize| results.iter().map(|r| r.scores[k].rmse).sum::<f64>() / results.len() as f64;
        (0..protocol.seen.len()).map(mean).collect()
    })
}

/// A small case of the measurement below: few steps, a narrow generator.
#[test]
fn the_evidence_bound_comes_near_the_monte_carlo_objective() {
    let protocol = Protocol::new(Scale::Quick, 5);
    let (mut paper, mut elbo) = (Paper::new(1000).unwrap(), Elbo::new(2000).unwrap());
    (paper.hidden, elbo.paper.hidden) = (24, 24);
    let methods = [Method::Paper(Box::new(paper)), Method::Elbo(Box::new(elbo))];
    let [carlo, bound] = rmse_of_both(&protocol, 0, 24, methods);
    for (carlo, bound) in carlo.iter().zip(&bound) {
        assert!(*bound < 1.1 * carlo, "RMSE by the bound {bound}, by Algorithm 1 {carlo}");
    }
}

#[test]
#[ignore = "a measurement: the evidence bound beside Algorithm 1 at full length, on a seed of its own"]
fn the_evidence_bound_beside_the_monte_carlo_objective() {
    let protocol = Protocol { repetitions: 2, ..Protocol::new(Scale::Full, 987_654_321) };
    let (mut paper, mut elbo) = (Paper::new(paper::STEPS).unwrap(), Elbo::new(2 * paper::STEPS).unwrap());
    (paper.hidden, elbo.paper.hidden) = (64, 64);
    let mut sums = [vec![0.0; 3], vec![0.0; 3]];
    for repetition in 0..2 {
        let methods = [Method::Paper(Box::new(paper.clone())), Method::Elbo(Box::new(elbo.clone()))];
        let found = rmse_of_both(&protocol, repetition, 64, methods);
        println!("repetition {repetition}: RMSE by Algorithm 1 and by the evidence bound {found:.3?}");
        for (sum, found) in sums.iter_mut().flatten().zip(found.iter().flatten()) {
            *sum += found / 2.0;
        }
    }
    println!("means of both: RMSE by Algorithm 1 and by the evidence bound {sums:.3?}");
    // Within a tenth of Algorithm 1, after each number of observations.
    assert!(sums[1].iter().zip(&sums[0]).all(|(bound, carlo)| *bound < 1.1 * carlo), "{sums:?}");
}

#[test]
#[ignore = "a measurement: held-out scores of the paper's recipe by number of steps, on a seed of its own"]
fn where_the_papers_schedule_stops() {
    // Not the seed of any result: these sequences serve for choosing alone.
    let protocol = Protocol { repetitions: 3, ..Protocol::new(Scale::Full, 987_654_321) };
    for (n, steps) in [4, 16, 128].into_iter().flat_map(|n| [1400, 3000, 6000].map(|steps| (n, steps))) {
        let (mut scores, mut log_s, mut bound) = ([[0.0; 2]; 3], 0.0, 0.0);
        for repetition in 0..3 {
            let method = Method::Paper(Box::new(Paper::new(steps).unwrap()));
            let training = protocol.training(repetition, n).unwrap();
            let seed = repetition as u64;
            let learned = learn(&method, &training, seed, &mut |_| Control::Continue).unwrap();
            log_s += learned.members[0].model.block_values("noise").unwrap()[0] / 3.0;
            bound += learned.bounds.last().unwrap().2 / 3.0;
            let (mtlds, held_out) =
                (Mtlds::new(learned.members, 1).unwrap(), protocol.test(repetition).unwrap());
            let results = score_predictor(&mtlds, &held_out).unwrap();
            for (k, score) in results.iter().flat_map(|result| result.scores.iter().enumerate()) {
                let share = 1.0 / (3 * results.len()) as f64;
                scores[k] = [scores[k][0] + share * score.rmse, scores[k][1] + share * score.nll];
            }
        }
        println!("N {n:>3}, {steps} steps: RMSE and NLL {scores:.2?}, log s {log_s:.2}, bound {bound:.2}");
    }
}
