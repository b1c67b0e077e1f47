//! Defaults of `mtds fit` on families that they were not made for: forecasts beat those that learn almost nothing.

use crate::program::json;

/// RMSE of this model, the last value and the family mean on held-out sequences, half of each seen; and how many
/// values fell into the 80 % intervals of this model.
fn judged(text: &str, options: &str) -> ([f64; 3], f64) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(folder.path().join("family.csv"), text).expect("written");
    let document = json(folder.path(), &format!("fit family.csv -o model -q {options}"));
    let number = |row: usize, key: &str| document["rows"][row][key].as_f64().expect("a number");
    ([0, 1, 2].map(|row| number(row, "rmse")), number(0, "cover80"))
}

/// Growth to limits that no linear system has: forecast from half a curve, with a twentieth of the usual steps.
#[test]
fn growth_curves_are_forecast_better_than_by_last_value_or_family_mean() {
    let ([ours, last, mean], cover) = judged(&crate::families::growth(40, 3), "--effort 0.05");
    assert!(ours < 0.5 * last && ours < 0.7 * mean, "{ours}, last value {last}, family mean {mean}");
    assert!((0.5..=1.0).contains(&cover), "{cover} in 80 % intervals");
}

/// Three outputs driven by inputs of their own: every sequence needs rollouts of its own.
#[test]
fn pushed_oscillators_are_forecast_better_than_by_last_value_or_family_mean() {
    let ([ours, last, mean], cover) = judged(&crate::families::pushed(24, 5), "--effort 0.05");
    assert!(ours < 0.5 * last && ours < 0.5 * mean, "{ours}, last value {last}, family mean {mean}");
    assert!((0.3..=1.0).contains(&cover), "{cover} in 80 % intervals");
}
