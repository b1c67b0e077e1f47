//! The pooled linear system on the paper's oscillators comes out where the paper says it does.

use mtds::Control;
use mtds::baseline::{PooledLds, PooledSettings};
use mtds::predict::{CENTRAL_LEVELS, Scores, score};
use mtds_data::oscillators::Oscillators;

/// Bird & Williams (2020), supplement, "Pooled-LDS-1k": steps seen, RMSE, NLL of the rest of 80 steps.
const PAPER: [(usize, f64, f64); 3] = [(10, 0.36, 0.38), (20, 0.34, 0.34), (40, 0.29, 0.22)];

#[test]
fn as_good_as_in_the_paper() {
    let training = Oscillators::default().draw(1000, 1).unwrap().family;
    let new = Oscillators::default().draw(1000, 2).unwrap().family;
    let started = std::time::Instant::now();
    let settings = PooledSettings::default();
    let pooled = PooledLds::fit(&training, None, &settings, &mut |_| Control::Continue).unwrap();
    println!(
        "{:.2} s; log likelihood per value, model units: {:.4} identified, {:.4} learned",
        started.elapsed().as_secs_f64(),
        pooled.start_log_likelihood(),
        pooled.log_likelihood()
    );
    for (seen, rmse, nll) in PAPER {
        let forecast = pooled.forecast(new.inputs_of(0), seen, 80 - seen).unwrap();
        let scored = new.sequences().iter().map(|sequence| {
            score(&forecast, &sequence.outputs().values()[seen..], &CENTRAL_LEVELS).unwrap().unwrap()
        });
        let scores = Scores::over(&scored.collect::<Vec<_>>()).unwrap();
        let share = scores.coverage[2].share.mean;
        println!(
            "t = {seen}: RMSE {:.3} ± {:.3} (paper {rmse}), NLL {:.3} ± {:.3} (paper {nll}), CRPS {:.3}, 95 % covers {share:.3}",
            scores.rmse.mean,
            scores.rmse.std_error.unwrap(),
            scores.nll.mean,
            scores.nll.std_error.unwrap(),
            scores.crps.mean,
        );
        // The paper's figures are means over 200 sequences: one standard error is about 0.01 and 0.02.
        assert!((scores.rmse.mean - rmse).abs() < 0.05, "t = {seen}");
        assert!((scores.nll.mean - nll).abs() < 0.12, "t = {seen}");
    }
}
