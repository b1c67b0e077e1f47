//! What a fit says: its choices on stderr, the result as text or as one JSON document.

use super::finish::{CONFIG_FILE, HISTORY_FILE};
use super::judge::JudgedRow;
use super::select::SelectionRow;
use super::state::FitState;
use crate::expected::{self, EXPECTED_KEY};
use crate::plan::{FitPlan, Verbosity};
use crate::usage::{USAGE_KEY, usage_of};
use mtds::learn::Choice;
use mtds::store::{Model, NETWORK_FILE};
use mtds_report::text::{Align, TextTable, estimate, percent};
use mtds_report::usage;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The settings that a reader wants to see first.
const MAIN: [&str; 11] = [
    "base",
    "code",
    "state",
    "scaling",
    "segment",
    "validation",
    "learn",
    "start",
    "start_steps",
    "refine_steps",
    "prior",
];

/// The settings and why they are so; all of them if verbose.
pub(super) fn choices(state: &FitState, verbosity: Verbosity) -> String {
    let mut table = TextTable::new(&[("setting", Align::Left), ("value", Align::Left), ("why", Align::Left)]);
    let is_shown = |choice: &&Choice| {
        let key = choice.key.as_str();
        let is_front = state.choices.front > 0 && ["front", "bottleneck"].contains(&key);
        verbosity == Verbosity::Verbose || choice.asked || MAIN.contains(&key) || is_front
    };
    for choice in state.reasons.iter().filter(is_shown) {
        table.push(vec![choice.key.clone(), plain(&choice.value), choice.why.clone()]);
    }
    table.render()
}

/// A value as a person writes it.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// A part of the stored settings; empty where a model does not have it.
fn stored<T: DeserializeOwned + Default>(bundle: &Model, key: &str) -> T {
    let value = bundle.provenance.settings.get(key).cloned().unwrap_or_default();
    serde_json::from_value(value).unwrap_or_default()
}

/// The result as one document.
pub(super) fn document(plan: &FitPlan, bundle: &Model) -> Value {
    let provenance = &bundle.provenance;
    let stored = |key: &str| provenance.settings.get(key).cloned().unwrap_or_default();
    json!({
        "verb": "fit",
        "version": provenance.program_version,
        "seed": provenance.seed,
        "fingerprint": provenance.fingerprint,
        "settings": stored("learn"),
        "reasons": stored("reasons"),
        "selection": stored("selection"),
        "new_members": stored(EXPECTED_KEY),
        "status": stored("status"),
        "steps": stored("steps"),
        "held_out_bound": stored("best_validation"),
        "usage": stored(USAGE_KEY),
        "rows": stored("judged"),
        "n_training": stored("n_training"),
        "n_held_out": stored("n_held_out"),
        "n_apart": stored("n_apart"),
        "model": plan.out,
    })
}

/// The result as text.
pub(super) fn text(plan: &FitPlan, bundle: &Model) -> String {
    let mut out = String::new();
    let selection: Vec<SelectionRow> = stored(bundle, "selection");
    if !selection.is_empty() {
        out.push_str(&selection_table(&selection));
    }
    let judged: Vec<JudgedRow> = stored(bundle, "judged");
    match judged.is_empty() {
        false => out.push_str(&judged_table(&judged)),
        true => out.push_str("no sequence was held out, so nothing is known about forecasts yet\n"),
    }
    for (i, (name, words)) in expected::sentences(bundle).into_iter().enumerate() {
        out.push_str(&format!("{}{name}: {words}\n", if i == 0 { "\n" } else { "" }));
    }
    if let Some(found) = usage_of(bundle) {
        out.push_str(&format!("\nuse of the code: {}\n{}", usage::sentence(&found), usage::table(&found)));
    }
    let model_dir = plan.out.display();
    let data = plan.source.path.display();
    let network = match plan.out.join(NETWORK_FILE).exists() {
        true => format!(", {NETWORK_FILE} (the network of `infer --method amortised`)"),
        false => String::new(),
    };
    out.push_str(&format!(
        "\nleft in {model_dir}: the model, {CONFIG_FILE} (its settings), {HISTORY_FILE} (the course of learning){network}\n\
         the same again: mtds fit {data} -o OTHER --config {model_dir}/{CONFIG_FILE}\n"
    ));
    out
}

fn selection_table(rows: &[SelectionRow]) -> String {
    let mut table = TextTable::new(&[
        ("code", Align::Right),
        ("log likelihood", Align::Right),
        ("behind the best", Align::Right),
        ("", Align::Left),
    ]);
    let nan = f64::NAN;
    for row in rows {
        table.push(vec![
            row.code.to_string(),
            estimate(row.log_likelihood, row.std_error.unwrap_or(nan), 4),
            estimate(row.behind, row.behind_std_error.unwrap_or(nan), 4),
            if row.chosen { "chosen".into() } else { String::new() },
        ]);
    }
    let n = rows[0].n_seq;
    format!("length of the code, per value of {n} sequences kept apart\n{}\n", table.render())
}

fn judged_table(rows: &[JudgedRow]) -> String {
    let mut table = TextTable::new(&[
        ("method", Align::Left),
        ("RMSE", Align::Right),
        ("NLL", Align::Right),
        ("CRPS", Align::Right),
        ("in 80%", Align::Right),
    ]);
    let nan = f64::NAN;
    for row in rows {
        table.push(vec![
            row.method.clone(),
            estimate(row.rmse, row.rmse_se.unwrap_or(nan), 3),
            estimate(row.nll, row.nll_se.unwrap_or(nan), 2),
            format!("{:.3}", row.crps),
            percent(row.cover80),
        ]);
    }
    format!("forecasts of {} held-out sequences after half of each\n{}", rows[0].n_seq, table.render())
}
