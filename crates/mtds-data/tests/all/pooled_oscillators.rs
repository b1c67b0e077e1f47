//! The pooled linear system on the paper's oscillators: beside the paper's figures, and the best it could be.

use mtds::evaluate::{CENTRAL_LEVELS, score};
use mtds::parts::{PooledLds, PooledSettings, Scores, Spread, family_mean};
use mtds::{Control, Family, Forecast};
use mtds_data::oscillators::Oscillators;

/// Bird & Williams (2020), supplement, "Pooled-LDS-1k": steps seen, RMSE, NLL of the rest of 80 steps.
const PAPER: [(usize, f64, f64); 3] = [(10, 0.36, 0.38), (20, 0.34, 0.34), (40, 0.29, 0.22)];

/// Scores of one forecast for all sequences of a family, from step `seen` on.
fn scores(forecast: &Forecast, family: &Family, seen: usize) -> Scores {
    let future = family.sequences().iter().map(|sequence| &sequence.outputs().values()[seen..]);
    let scored = future.map(|y| score(forecast, y, &CENTRAL_LEVELS).unwrap().unwrap());
    Scores::over(&scored.collect::<Vec<_>>()).unwrap()
}

fn show(name: &str, scores: &Scores) {
    println!(
        "  {name:<12} RMSE {:.3} ± {:.3}   NLL {:.3} ± {:.3}   CRPS {:.3}   95 % interval covers {:.3}",
        scores.rmse.mean,
        scores.rmse.std_error.unwrap(),
        scores.nll.mean,
        scores.nll.std_error.unwrap(),
        scores.crps.mean,
        scores.coverage[2].share.mean,
    );
}

#[test]
fn near_the_papers_figures_and_near_the_best_that_ignores_the_past() {
    let training = Oscillators::default().draw(1000, 1).unwrap().family;
    let new = Oscillators::default().draw(1000, 2).unwrap().family;
    let started = std::time::Instant::now();
    let settings = PooledSettings::default();
    let pooled = PooledLds::fit(&training, None, &settings, &mut |_| Control::Continue).unwrap();
    println!(
        "fitted in {:.2} s; log likelihood per value, model units: {:.4} identified, {:.4} learned",
        started.elapsed().as_secs_f64(),
        pooled.start_log_likelihood(),
        pooled.log_likelihood()
    );
    let outputs: Vec<&[f64]> = training.sequences().iter().map(|s| s.outputs().values()).collect();
    for (seen, rmse, nll) in PAPER {
        let pooled = |spread| {
            let forecast = pooled.forecast(new.inputs_of(0), seen, 80 - seen, spread).unwrap();
            scores(&forecast, &new, seen)
        };
        let (found, by_step) = (pooled(Spread::Constant), pooled(Spread::ByStep));
        let mean = scores(&family_mean(&outputs, 1, seen, 80 - seen).unwrap(), &new, seen);
        println!("after {seen} steps (paper: RMSE {rmse}, NLL {nll})");
        show("pooled", &found);
        show("by step", &by_step);
        show("family mean", &mean);
        // The paper's figures are means over 200 sequences: their standard errors are about 0.01 and 0.02.
        assert!((found.rmse.mean - rmse).abs() < 0.04, "after {seen} steps");
        // With one s for all steps the NLL is above the paper's by more than that explains, with a spread by
        // step it is not; the paper does not say how the noise of its forecasts was set.
        assert!((found.nll.mean - nll).abs() < 0.12, "after {seen} steps");
        assert!((by_step.nll.mean - nll).abs() < 0.06, "after {seen} steps");
        // Beyond 40 steps oscillations have died down: one s for all steps covers too much there.
        assert!((by_step.coverage[2].share.mean - 0.95).abs() < 0.02, "after {seen} steps");
        // No forecast that ignores the past has a smaller error than the mean at every step.
        assert!(found.rmse.mean < 1.03 * mean.rmse.mean, "after {seen} steps");
    }
}
