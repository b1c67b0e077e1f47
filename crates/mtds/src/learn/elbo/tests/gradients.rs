//! Gradients against central differences, draws held.

use super::*;

fn check(objective: &mut VariationalObjective, step: u64, every: usize, what: &str) {
    let parameters = spread_parameters(objective);
    let (_, gradient) = loss(objective, &parameters, step);
    let n_model = objective.model().n_parameters();
    for i in (0..n_model).step_by(every).chain(n_model..parameters.len()) {
        let numeric = difference(|p| loss(objective, p, step).0, &parameters, i);
        let found = f64::from(gradient[i]);
        assert!((numeric - found).abs() < 2e-3 * (1.0 + numeric.abs()), "{what} {i}: {numeric} {found}");
    }
}

#[test]
fn gradients_match_central_differences() {
    for estimator in [Estimator::Elbo, Estimator::ImportanceWeighted(WeightedGradient::Plain)] {
        for (own_inputs, temperature, weight) in [(false, 1.0, 1.0), (true, 0.3, 0.6)] {
            let settings = Variational {
                estimator,
                temperature: constant(temperature),
                divergence_weight: constant(weight),
                draws: 20,
                ..Variational::default()
            };
            check(&mut objective(own_inputs, settings), 1, 5, &format!("{estimator:?} {own_inputs}"));
        }
    }
}

#[test]
fn segments_that_share_a_code_pull_on_it_together() {
    let segments = SegmentPlan { length: 4, overlap: 1 }.cut(&family(true)).unwrap();
    for estimator in [Estimator::Elbo, Estimator::ImportanceWeighted(WeightedGradient::Plain)] {
        let settings = Variational { estimator, ..Variational::default() };
        let make = |sharing| {
            VariationalObjective::of_segments(model(), &segments, sharing, None, settings.clone()).unwrap()
        };
        assert_eq!(make(SegmentCodes::Own).n_codes(), segments.origins.len());
        let mut shared = make(SegmentCodes::OfSequence);
        assert_eq!((shared.n_codes(), shared.data.batch.n_observed), (3, family(true).n_observed()));
        check(&mut shared, 1, 11, &format!("shared {estimator:?}"));
    }
}

#[test]
fn the_hard_phase_has_no_divergence_and_holds_deviations() {
    let hard = HardPhase { steps: 4, std_dev: 0.05, ending: HardEnding::Rescaled };
    let settings = Variational { hard: Some(hard), ..Variational::default() };
    let mut objective = objective(false, settings);
    let n_model = objective.model().n_parameters();
    let parameters = spread_parameters(&objective);
    let (_, gradient) = loss(&mut objective, &parameters, 4);
    assert!(gradient[n_model + 6..].iter().all(|&g| g == 0.0));
    for i in n_model..n_model + 6 {
        let numeric = difference(|p| loss(&mut objective, p, 4).0, &parameters, i);
        let found = f64::from(gradient[i]);
        assert!((numeric - found).abs() < 2e-3 * (1.0 + numeric.abs()), "{i}: {numeric} {found}");
    }
    // Moving all means out costs nothing but fit; after the phase it costs the divergence, too.
    let far: Vec<f32> =
        parameters.iter().enumerate().map(|(i, w)| if i < n_model { *w } else { w + 1.0 }).collect();
    let gap = loss(&mut objective, &far, 5).0 - loss(&mut objective, &far, 4).0;
    let q = objective.codes_at(&far).unwrap();
    let divergence: f64 = (0..3).flat_map(|j| q.divergence_of(j)).sum::<f64>() / 3.0;
    assert!((gap - divergence).abs() < 1e-4 * divergence, "{gap} {divergence}");
}

/// Doubly reparameterised and plain gradients agree on average.
#[test]
fn the_doubly_reparameterised_gradient_is_unbiased() {
    for weight in [1.0, 0.5] {
        let rounds = 400;
        let moments = |path: WeightedGradient| {
            let settings = Variational {
                estimator: Estimator::ImportanceWeighted(path),
                divergence_weight: constant(weight),
                ..Variational::default()
            };
            let mut objective = objective(false, settings);
            let parameters = spread_parameters(&objective);
            let n_model = objective.model().n_parameters();
            let (places, n) = ([0, 1, 2], parameters.len() - n_model);
            let (mut mean, mut square) = (vec![0.0; n], vec![0.0; n]);
            for round in 0..rounds {
                // Independent draws for both: even ones would make the plain gradient look better than it is.
                let q = objective.beliefs.gaussians(&parameters[n_model..], &places).unwrap();
                let noise = standard_normals(&mut objective.sobol, (3, 16, 2), Spacing::Independent, round);
                let drawn = Drawn { beliefs: &q, noise: &noise };
                let terms = objective.terms(1);
                let trial = (&objective.model, &parameters[..n_model]);
                let found = bound::evaluate(trial, drawn, &objective.data, terms, &mut objective.found);
                let values = found.beliefs.mean.iter().chain(&found.beliefs.log_std_dev);
                for (i, g) in values.enumerate() {
                    mean[i] += g / rounds as f64;
                    square[i] += g * g / rounds as f64;
                }
            }
            let error: Vec<f64> =
                (0..n).map(|i| ((square[i] - mean[i] * mean[i]).max(0.0) / rounds as f64).sqrt()).collect();
            (mean, error)
        };
        let (plain, plain_error) = moments(WeightedGradient::Plain);
        let (doubly, doubly_error) = moments(WeightedGradient::DoublyReparameterised);
        // 4.5 standard errors over 12 numbers: false alarm below 1e-4; the seeds are fixed.
        for i in 0..plain.len() {
            let error = plain_error[i].hypot(doubly_error[i]);
            assert!((plain[i] - doubly[i]).abs() < 4.5 * error, "{weight} {i}: {} {}", plain[i], doubly[i]);
        }
    }
}

/// Segments of whole sequences, whose codes stay alike.
fn alike(batch: Option<usize>) -> VariationalObjective {
    let whole = family(true);
    let segments = SegmentPlan { length: 4, overlap: 1 }.cut(&whole).unwrap();
    let settings = Variational { smooth: Some(6.0), batch, ..Variational::default() };
    let objective = VariationalObjective::new(model(), &segments.family, None, settings).unwrap();
    objective.cut_from(&whole, &segments.origins).unwrap()
}

#[test]
fn codes_that_stay_alike_pull_on_each_other() {
    check(&mut alike(None), 1, 11, "alike");
    let whole = objective(true, Variational::default());
    let settings = |estimator| Variational { smooth: Some(6.0), estimator, ..Variational::default() };
    let weighted = settings(Estimator::ImportanceWeighted(WeightedGradient::Plain));
    let refused = VariationalObjective::new(model(), &family(true), None, weighted).unwrap_err();
    assert!(refused.to_string().contains("smooth"), "{refused}");
    let shared = SegmentPlan { length: 4, overlap: 1 }.cut(&family(true)).unwrap();
    let sharing = SegmentCodes::OfSequence;
    let plain = settings(Estimator::Elbo);
    let refused = VariationalObjective::of_segments(model(), &shared, sharing, None, plain).unwrap_err();
    assert!(refused.to_string().contains("smooth"), "{refused}");
    assert!(whole.chain.is_none());
}

#[test]
fn batches_average_to_the_whole() {
    let one = Variational { batch: Some(1), ..Variational::default() };
    average_to_the_whole(objective(true, Variational::default()), objective(true, one));
    average_to_the_whole(alike(None), alike(Some(2)));
}

fn average_to_the_whole(mut whole: VariationalObjective, mut part: VariationalObjective) {
    let parameters = spread_parameters(&whole);
    let (n_model, rounds) = (whole.model().n_parameters(), 600);
    let (mut mean, mut square) = (vec![0.0f64; parameters.len()], vec![0.0f64; parameters.len()]);
    let mut want = vec![0.0f64; parameters.len()];
    for round in 0..rounds {
        let mut gradient = vec![0.0; parameters.len()];
        part.gradient(&parameters, &mut gradient, 1, &mut stream(7, round)).unwrap();
        for (i, g) in gradient.iter().enumerate() {
            mean[i] += f64::from(*g) / rounds as f64;
            square[i] += f64::from(*g).powi(2) / rounds as f64;
        }
        if round % 10 == 0 {
            gradient.fill(0.0);
            whole.gradient(&parameters, &mut gradient, 1, &mut stream(9, round)).unwrap();
            gradient.iter().zip(&mut want).for_each(|(g, w)| *w += f64::from(*g) / (rounds / 10) as f64);
        }
    }
    // 5 standard errors, widened for the whole's own draws, over about 100 numbers: false alarm below 1e-4.
    for i in (0..n_model).step_by(3).chain(n_model..parameters.len()) {
        let error = ((square[i] - mean[i] * mean[i]).max(0.0) / rounds as f64).sqrt();
        assert!((mean[i] - want[i]).abs() < 6.0 * error + 1e-4, "{i}: {} {} ± {error}", mean[i], want[i]);
    }
}

/// Segments that are moved, all of them and in minibatches: the gradient is that of the loss with the same moves.
#[test]
fn moved_segments_have_gradients_of_their_own() {
    let whole = family(true);
    let segments = SegmentPlan { length: 4, overlap: 1 }.cut(&whole).unwrap();
    for batch in [None, Some(3)] {
        let settings = Variational { jitter: 2, batch, ..Variational::default() };
        let objective = VariationalObjective::new(model(), &segments.family, None, settings).unwrap();
        let mut objective = objective.cut_from(&whole, &segments.origins).unwrap();
        check(&mut objective, 1, 7, &format!("moved {batch:?}"));
    }
}

#[test]
fn segments_are_moved_anew_at_every_step_and_only_where_asked() {
    let whole = family(true);
    let segments = SegmentPlan { length: 4, overlap: 1 }.cut(&whole).unwrap();
    let losses = |jitter: usize| {
        let settings = Variational { jitter, first_std_dev: [0.5, 1e-6], ..Variational::default() };
        let objective = VariationalObjective::new(model(), &segments.family, None, settings).unwrap();
        let mut objective = objective.cut_from(&whole, &segments.origins).unwrap();
        let parameters = objective.first_parameters(&mut stream(8, 0));
        let mut random = stream(5, 0);
        let mut gradient = vec![0.0; parameters.len()];
        [1, 2].map(|step| objective.gradient(&parameters, &mut gradient, step, &mut random).unwrap().loss)
    };
    let (still, moved) = (losses(0), losses(2));
    // Draws are as good as none: what is left are the moves.
    assert!((still[0] - still[1]).abs() < 1e-3 && (moved[0] - moved[1]).abs() > 1e-2, "{still:?} {moved:?}");
    let short = SegmentPlan { length: 4, overlap: 1 }.cut(&whole.subset(&[0]).unwrap()).unwrap();
    let settings = Variational { jitter: 2, ..Variational::default() };
    let objective = VariationalObjective::new(model(), &segments.family, None, settings).unwrap();
    assert!(objective.cut_from(&whole, &short.origins).unwrap_err().to_string().contains("origins"));
}
