//! Residual checks: the place of true values within their forecasts, and the memory of what predictions one step ahead leave over.

use super::Residuals;
use mtds::evaluate::SequenceScore;
use mtds::random::{Stream, stream};
use mtds::{Error, Family, Model, Result};
use rayon::prelude::*;

/// Lags of the autocorrelation.
const LAGS: usize = 10;

/// The checks of these sequences; `scores` are of forecasts from one origin.
///
/// # Errors
/// Sequences that the model cannot take.
pub(super) fn of(model: &Model, family: &Family, seed: u64, scores: &[SequenceScore]) -> Result<Residuals> {
    let codes = codes(model, family, seed)?;
    let mut left = vec![];
    for (i, code) in codes.iter().enumerate() {
        let sequence = family.sequence(i);
        let inputs = family.inputs_of(i).filter(|_| model.system.d_input() > 0);
        let errors = model.system.innovations(code, sequence.outputs(), inputs)?;
        left.extend((0..errors.width()).map(|c| errors.rows().map(|row| row[c]).collect::<Vec<f64>>()));
    }
    let (tenths, tenth_error) = tenths(scores);
    let (autocorrelation, autocorrelation_error) = autocorrelation(&left);
    Ok(Residuals { tenths, tenth_error, autocorrelation, autocorrelation_error })
}

/// The code of every sequence: as the model knows it, or else inferred from all of it.
///
/// # Errors
/// Sequences that the model cannot take.
pub(super) fn codes(model: &Model, family: &Family, seed: u64) -> Result<Vec<Vec<f64>>> {
    let is_learned = family.sequences().iter().all(|s| model.members.iter().any(|m| m.id == s.id()));
    let one = |i: usize| -> Result<Vec<f64>> {
        let sequence = family.sequence(i);
        let known = model.members.iter().find(|member| is_learned && member.id == sequence.id());
        if let Some(member) = known {
            return Ok(member.code_mean.clone());
        }
        let settings = model.online.with_few_updates(sequence.n_time());
        let inputs = family.inputs_of(i).filter(|_| model.system.d_input() > 0);
        let tracker = model.system.track(
            sequence.outputs(),
            inputs,
            settings,
            stream(seed, Stream::Residuals(i as u64)),
        )?;
        let nothing = || Error::EmptyFamily(format!("`{}` has no step", sequence.id()));
        let posterior = tracker.posterior().ok_or_else(nothing)?;
        Ok(posterior.mean()[..model.system.d_code()].to_vec())
    };
    (0..family.n_seq()).into_par_iter().map(one).collect()
}

/// Share of values in each tenth of their forecasts, and two standard errors of a share, over sequences.
fn tenths(scores: &[SequenceScore]) -> (Vec<f64>, f64) {
    if scores.is_empty() {
        return (vec![], f64::NAN);
    }
    let share = |score: &SequenceScore, k: usize| {
        let inside = score.pit.iter().filter(|&&p| ((10.0 * p) as usize).min(9) == k).count();
        inside as f64 / score.pit.len() as f64
    };
    let n = scores.len() as f64;
    let mean = |k: usize| scores.iter().map(|score| share(score, k)).sum::<f64>() / n;
    let tenths: Vec<f64> = (0..10).map(mean).collect();
    let variance =
        |k: usize| scores.iter().map(|s| (share(s, k) - tenths[k]).powi(2)).sum::<f64>() / (n - 1.0);
    let error = (0..10).map(|k| variance(k) / n).sum::<f64>() / 10.0;
    (tenths, 2.0 * error.sqrt())
}

/// Autocorrelation over all columns, each with its own scale, and two standard errors of it without memory.
fn autocorrelation(columns: &[Vec<f64>]) -> (Vec<f64>, f64) {
    let scaled: Vec<Vec<f64>> = columns.iter().filter_map(|column| scaled(column)).collect();
    let at = |lag: usize| {
        let pairs = || {
            scaled
                .iter()
                .flat_map(|r| r.iter().zip(r.iter().skip(lag)))
                .filter(|(a, b)| !(a.is_nan() || b.is_nan()))
        };
        let (n, sum) = pairs().fold((0, 0.0), |(n, sum), (a, b)| (n + 1, sum + a * b));
        (n, sum / f64::from(n))
    };
    let found: Vec<(i32, f64)> = (1..=LAGS).map(at).take_while(|(n, _)| *n > 10).collect();
    let n = found.first().map_or(f64::NAN, |(n, _)| f64::from(*n));
    (found.into_iter().map(|(_, r)| r).collect(), 2.0 / n.sqrt())
}

/// Divided by the root mean square; `None` where nothing is left over.
fn scaled(column: &[f64]) -> Option<Vec<f64>> {
    let observed: Vec<f64> = column.iter().copied().filter(|r| !r.is_nan()).collect();
    let size = (observed.iter().map(|r| r * r).sum::<f64>() / observed.len() as f64).sqrt();
    (size > 0.0).then(|| column.iter().map(|r| r / size).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mtds::{Control, Fit, Sequence, Signal, Wishes};

    fn score(pit: Vec<f64>) -> SequenceScore {
        SequenceScore { n_observed: pit.len(), rmse: 0.0, nll: 0.0, crps: 0.0, coverage: vec![], pit }
    }

    #[test]
    fn values_fall_into_tenths() {
        let even: Vec<f64> = (0..100).map(|i| (f64::from(i) + 0.5) / 100.0).collect();
        let (found, error) = tenths(&[score(even.clone()), score(even)]);
        assert!(found.iter().all(|share| (share - 0.1).abs() < 1e-12) && error < 1e-12, "{found:?} {error}");
        let (found, error) = tenths(&[score(vec![1.0, 0.95]), score(vec![0.0])]);
        assert_eq!((found[0], found[9]), (0.5, 0.5));
        assert!(error > 0.1);
        assert!(tenths(&[]).0.is_empty());
    }

    /// Sixteen walks that fall back to 0, x_t = 0.9 x_{t−1} + e_t: their distances from any mean rollout have memory, what a filter predicts leaves none.
    #[test]
    fn predictions_of_a_random_state_leave_no_memory() {
        let mut state = 1u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let walk = |i: usize| {
            let mut x = 0.0;
            let values = (0..60).map(|_| {
                x = 0.9 * x + uniform();
                x
            });
            Sequence::new(format!("walk {i}"), Signal::column(values.collect())).expect("numbers")
        };
        let family = Family::new((0..16).map(walk).collect()).expect("one width");
        let wishes = Wishes {
            base: Some("kalman".into()),
            code: Some(1),
            state: Some(1),
            effort: Some(0.3),
            ..Wishes::default()
        };
        let fit = Fit { wishes, ..Fit::default() };
        let model = fit.run(&family, &mut |_| Control::Continue).expect("learned").expect("not stopped");
        let found = of(&model, &family, 1, &[]).expect("its own family");
        let own: Vec<Vec<f64>> = family.sequences().iter().map(|s| s.outputs().values().to_vec()).collect();
        let of_walks = autocorrelation(&own).0[0];
        assert!(
            of_walks > 0.8 && found.autocorrelation[0].abs() < 0.2,
            "{of_walks} {:?}",
            found.autocorrelation
        );
    }

    #[test]
    fn memory_shows() {
        let wave: Vec<f64> = (0..400).map(|t| (0.1 * f64::from(t)).sin()).collect();
        let (found, _) = autocorrelation(&[wave]);
        assert!(found.len() == LAGS && found[0] > 0.9 && found[0] > found[5], "{found:?}");
        let flips: Vec<f64> = (0..50).map(|t| if t % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let (found, error) = autocorrelation(&[flips, vec![0.0; 50], vec![f64::NAN, 1.0]]);
        assert!((found[0] + 1.0).abs() < 1e-9 && (found[1] - 1.0).abs() < 1e-9, "{found:?}");
        assert!((error - 2.0 / 49_f64.sqrt()).abs() < 1e-9, "{error}");
        assert!(autocorrelation(&[vec![1.0, 2.0]]).0.is_empty());
    }
}
