//! What an evaluation says: a table for the terminal, tables for files, one JSON document.

use super::Evaluation;
use super::anomaly::{ANOMALY, AnomalyRow};
use super::rolling::ScoreRow;
use crate::plan::EvaluatePlan;
use mtds::predict::Estimate;
use mtds_data::{Column, Table};
use mtds_report::text::{Align, TextTable, estimate};
use serde_json::{Value, json};

/// Names of the estimates of a row, in order.
const MEASURES: [&str; 6] = ["rmse", "nll", "crps", "cover50", "cover80", "cover95"];
/// Most anomalies that the text names.
const NAMED: usize = 10;

fn std_error(estimate: &Estimate) -> f64 {
    estimate.std_error.unwrap_or(f64::NAN)
}

/// The table as a file.
pub(super) fn scores(rows: &[ScoreRow]) -> Table {
    let mut table = Table::new()
        .with("seen", Column::Integer(rows.iter().map(|row| row.seen as i64).collect()))
        .with("method", Column::Text(rows.iter().map(|row| row.method.into()).collect()))
        .with("n_seq", Column::Integer(rows.iter().map(|row| row.n_seq as i64).collect()));
    for (k, name) in MEASURES.iter().enumerate() {
        let of = |value: &dyn Fn(&Estimate) -> f64| rows.iter().map(|row| value(&row.estimates[k])).collect();
        table = table
            .with(*name, Column::Number(of(&|estimate| estimate.mean)))
            .with(format!("{name}_se"), Column::Number(of(&std_error)));
    }
    table
}

/// Anomaly scores as a file; log scores are per observed value.
pub(super) fn anomalies(rows: &[AnomalyRow]) -> Table {
    let text = |of: &dyn Fn(&AnomalyRow) -> String| Column::Text(rows.iter().map(of).collect());
    let number = |of: &dyn Fn(&AnomalyRow) -> f64| Column::Number(rows.iter().map(of).collect());
    let mean = |total: f64, row: &AnomalyRow| total / row.surprise.n_observed as f64;
    let observed = rows.iter().map(|row| row.surprise.n_observed as i64).collect();
    Table::new()
        .with("series", text(&|row| row.series.clone()))
        .with("label", text(&|row| row.label.clone().unwrap_or_default()))
        .with("n_observed", Column::Integer(observed))
        .with("nll", number(&|row| mean(row.surprise.nll, row)))
        .with("expected_nll", number(&|row| mean(row.surprise.expected, row)))
        .with("score", number(&|row| row.surprise.score().unwrap_or(f64::NAN)))
}

/// For the terminal.
pub(super) fn text(plan: &EvaluatePlan, found: &Evaluation) -> String {
    let mut table = TextTable::new(&[
        ("seen", Align::Right),
        ("method", Align::Left),
        ("n", Align::Right),
        ("RMSE", Align::Right),
        ("NLL", Align::Right),
        ("CRPS", Align::Right),
        ("in 50%", Align::Right),
        ("in 80%", Align::Right),
        ("in 95%", Align::Right),
    ]);
    for row in &found.rows {
        let mut cells = vec![row.seen.to_string(), row.method.to_owned(), row.n_seq.to_string()];
        let (errors, coverage) = row.estimates.split_at(3);
        cells.extend(errors.iter().map(|e| estimate(e.mean, std_error(e), 3)));
        cells.extend(coverage.iter().map(|e| estimate(100.0 * e.mean, 100.0 * std_error(e), 0)));
        table.push(cells);
    }
    format!("{}{}{}", table.render(), named(&found.anomalies), files(plan))
}

/// Sequences with high scores, the highest first.
fn named(rows: &[AnomalyRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let score = |row: &AnomalyRow| row.surprise.score().unwrap_or(f64::NEG_INFINITY);
    let mut odd: Vec<_> = rows.iter().filter(|row| score(row) >= ANOMALY).collect();
    odd.sort_by(|a, b| score(b).total_cmp(&score(a)));
    let names: Vec<_> =
        odd.iter().take(NAMED).map(|row| format!("{} ({:.1})", row.series, score(row))).collect();
    let colon = if odd.is_empty() { "" } else { ": " };
    format!("\nanomaly score {ANOMALY} or more: {} of {}{colon}{}\n", odd.len(), rows.len(), names.join(", "))
}

fn files(plan: &EvaluatePlan) -> String {
    let written = [&plan.out, &plan.anomaly].into_iter().flatten();
    let names: Vec<_> = written.map(|path| path.display().to_string()).collect();
    if names.is_empty() { String::new() } else { format!("\nleft in {}\n", names.join(", ")) }
}

/// As one JSON document.
pub(super) fn json(plan: &EvaluatePlan, found: &Evaluation) -> Value {
    let row = |row: &ScoreRow| {
        let mut value = json!({ "seen": row.seen, "method": row.method, "n_seq": row.n_seq });
        for (name, estimate) in MEASURES.iter().zip(&row.estimates) {
            value[*name] = json!(estimate.mean);
            value[format!("{name}_se")] = json!(estimate.std_error);
        }
        value
    };
    let anomaly = |row: &AnomalyRow| {
        let surprise = &row.surprise;
        json!({
            "series": row.series,
            "label": row.label,
            "n_observed": surprise.n_observed,
            "nll": surprise.nll,
            "expected_nll": surprise.expected,
            "score": surprise.score(),
        })
    };
    let files: Vec<_> = [&plan.out, &plan.anomaly].into_iter().flatten().collect();
    json!({
        "verb": "evaluate",
        "version": env!("CARGO_PKG_VERSION"),
        "model": plan.model,
        "data": plan.source.path,
        "n_seq": found.n_seq,
        "is_training": found.is_training,
        "rows": found.rows.iter().map(row).collect::<Vec<_>>(),
        "anomalies": found.anomalies.iter().map(anomaly).collect::<Vec<_>>(),
        "files": files,
    })
}
