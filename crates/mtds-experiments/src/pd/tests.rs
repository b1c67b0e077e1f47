//! A small case of the experiment, its parts against closed forms, and the measurement at full size.

use mtds::evaluate::Seen;
use mtds::parts::UsageStatus;

use super::*;

/// Enough to see that codes and forecasts work.
fn small() -> Settings {
    Settings { n_training: 64, n_test: 40, effort: 0.2, ..Settings::new(Scale::Quick, 3) }
}

fn score<'a>(findings: &'a Findings, method: &str, t: usize) -> &'a ScoreRow {
    findings.scores.iter().find(|row| row.method == method && row.seen == Seen::Steps(t)).unwrap()
}

#[test]
fn codes_know_the_patients_and_forecasts_beat_one_system_for_all() {
    let findings = run(&small(), &mut |_, _, _| Control::Continue).unwrap();
    let (ours, pooled) = (score(&findings, "elbo", 5), score(&findings, "pooled", 5));
    assert!(ours.rmse < pooled.rmse && ours.nll < pooled.nll, "{ours:?} {pooled:?}");
    assert!(ours.rmse < score(&findings, "last value", 5).rmse);
    // Nobody knows more than the truth: the noise is 2.
    let truth = score(&findings, "true parameters", 5);
    assert!((truth.rmse - 2.0).abs() < 0.2 && truth.rmse < ours.rmse, "{truth:?}");
    assert_ne!(findings.usage[0].usage.status, UsageStatus::Collapsed, "{:?}", findings.usage);
    for row in &findings.recovery {
        // The baseline is seen only while no drug is left.
        let least = if row.parameter == "baseline" { 0.15 } else { 0.4 };
        assert!(row.r2_codes > least, "{row:?}");
    }
    assert_eq!(findings.recovery.len(), 4);
}

#[test]
fn patients_are_divided_and_the_same_for_the_same_seed() {
    let settings = small();
    let patients = settings.patients().unwrap();
    assert_eq!((patients.training.n_seq(), patients.test.n_seq(), patients.truth.len()), (64, 40, 40));
    assert_eq!(patients.test.sequence(0).id(), "patient-064");
    assert_eq!(patients.test, settings.patients().unwrap().test);
}

#[test]
fn figures_of_repetitions_are_means_with_errors_over_them() {
    let few = Settings { n_training: 8, n_test: 4, effort: 0.01, seen: vec![5], ..small() };
    let quiet = &mut |_: usize, _: &str, _: &Progress| Control::Continue;
    let twice = run(&Settings { repetitions: 2, ..few.clone() }, quiet).unwrap();
    let apart = [3, 4].map(|seed| run(&Settings { seed, ..few.clone() }, quiet).unwrap());
    let [first, second] = apart.each_ref().map(|found| score(found, "elbo", 5));
    let both = score(&twice, "elbo", 5);
    assert_eq!((both.n_seq, both.rmse), (8, 0.5 * (first.rmse + second.rmse)));
    let error = both.rmse_se.unwrap();
    assert!((error - 0.5 * (first.rmse - second.rmse).abs()).abs() < 1e-12, "{error}");
    let known = |found: &Findings| found.recovery[0].r2_codes;
    assert_eq!(known(&twice), 0.5 * (known(&apart[0]) + known(&apart[1])));
    assert_eq!(twice.usage.iter().map(|row| row.repetition).collect::<Vec<_>>(), [0, 1]);
}
