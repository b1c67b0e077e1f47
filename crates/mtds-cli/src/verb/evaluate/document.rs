//! What an evaluation says: text for the terminal, tables for files, one JSON document.

use super::{AnomalyRow, Arguments, Evaluation};
use mtds::evaluate::{Estimate, ScoreRow, Scored};
use mtds_data::{Column, Table};
use mtds_report::scores;
use mtds_report::text::estimate;
use serde_json::{Value, json};

/// From here on a sequence counts as an anomaly in the text.
const ANOMALY: f64 = 3.0;
/// Most anomalies that the text names.
const NAMED: usize = 10;

/// What the column of differences means.
const MODEL_LESS: &str = "model less: CRPS of this model less that of the row, over the same sequences; below 0 the model is better\n";

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
pub(super) fn text(asked: &Arguments, found: &Evaluation) -> String {
    format!("{}{}{}", score_table(&found.rows), named(&found.anomalies), files(asked))
}

/// The table, with differences where there is something to differ from.
fn score_table(scored: &[Scored]) -> String {
    let rows: Vec<ScoreRow> = scored.iter().map(|one| one.evaluated.row.clone()).collect();
    if scored.iter().all(|one| one.model_less.is_none()) {
        return scores::table(&rows);
    }
    let cell = |one: &Scored| {
        let shown = |found: Estimate| estimate(found.mean, found.std_error.unwrap_or(f64::NAN), 3);
        one.model_less.map(shown).unwrap_or_default()
    };
    let less = scored.iter().map(cell).collect();
    format!("{}\n{MODEL_LESS}", scores::table_beside(&rows, &[("model less", less)]))
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

fn files(asked: &Arguments) -> String {
    let written = [&asked.out, &asked.anomaly].into_iter().flatten();
    let names: Vec<_> = written.map(|path| path.display().to_string()).collect();
    if names.is_empty() { String::new() } else { format!("\nleft in {}\n", names.join(", ")) }
}

/// As one JSON document.
pub(super) fn json(asked: &Arguments, found: &Evaluation) -> Value {
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
    let row = |one: &Scored| {
        let mut row = json!(one.evaluated.row);
        row["model_less_crps"] = json!(one.model_less.map(|found| found.mean));
        row["model_less_crps_se"] = json!(one.model_less.and_then(|found| found.std_error));
        row
    };
    let files: Vec<_> = [&asked.out, &asked.anomaly].into_iter().flatten().collect();
    json!({
        "verb": "evaluate",
        "version": env!("CARGO_PKG_VERSION"),
        "model": asked.of.model,
        "data": asked.of.source.data,
        "n_seq": found.n_seq,
        "is_training": found.is_training,
        "rows": found.rows.iter().map(row).collect::<Vec<_>>(),
        "anomalies": found.anomalies.iter().map(anomaly).collect::<Vec<_>>(),
        "files": files,
    })
}
