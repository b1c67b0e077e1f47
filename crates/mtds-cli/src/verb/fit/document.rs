//! What a fit says: its choices on stderr, the result as text or as one JSON document.

use super::Arguments;
use crate::options::Common;
use mtds::parts::{Choice, SelectionRow};
use mtds::store::{HISTORY_FILE, NETWORK_FILE};
use mtds::{Fitting, Model};
use mtds_data::fit_file::FIT_FILE;
use mtds_report::text::{Align, TextTable, estimate};
use mtds_report::{new_members, scores, structures, usage};
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
pub(super) fn choices(fitting: &Fitting, common: &Common) -> String {
    let mut table = TextTable::new(&[("setting", Align::Left), ("value", Align::Left), ("why", Align::Left)]);
    let is_shown = |choice: &&Choice| {
        let key = choice.key.as_str();
        let is_front = fitting.choices().front > 0 && ["front", "bottleneck"].contains(&key);
        common.verbose || choice.asked || MAIN.contains(&key) || is_front
    };
    for choice in fitting.reasons().iter().filter(is_shown) {
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

/// The result as one document.
pub(super) fn document(asked: &Arguments, model: &Model) -> Value {
    let (provenance, fit) = (&model.provenance, model.fit.as_ref());
    let reasons = |fit: &mtds::FitRecord| {
        fit.reasons.iter().map(|reason| (reason.key.clone(), json!(reason.why))).collect::<Value>()
    };
    json!({
        "verb": "fit",
        "version": provenance.program_version,
        "seed": provenance.seed,
        "fingerprint": provenance.fingerprint,
        "time_step": model.time_step,
        "settings": fit.map(|fit| &fit.settings),
        "reasons": fit.map(reasons),
        "selection": fit.map(|fit| &fit.selection),
        "structures": fit.map(|fit| &fit.structures),
        "best_rival": fit.and_then(|fit| fit.best_rival.as_ref()),
        "new_members": fit.map(|fit| &fit.new_members),
        "status": fit.map(|fit| fit.status),
        "steps": fit.map(|fit| fit.stages.iter().map(|stage| stage.steps).collect::<Vec<_>>()),
        "held_out_bound": fit.and_then(|fit| fit.best_validation),
        "usage": fit.and_then(|fit| fit.usage.as_ref()),
        "rows": fit.map(|fit| &fit.judged),
        "n_training": fit.map(|fit| fit.n_training),
        "n_held_out": fit.map(|fit| fit.n_held_out),
        "n_apart": fit.map(|fit| fit.n_apart),
        "model": asked.out,
    })
}

/// The result as text.
pub(super) fn text(asked: &Arguments, model: &Model) -> String {
    let mut out = String::new();
    let Some(fit) = &model.fit else { return format!("{}: put together by hand\n", asked.out.display()) };
    if !fit.selection.is_empty() {
        out.push_str(&selection_table(&fit.selection));
    }
    if !fit.structures.is_empty() {
        out.push_str(&format!("{}\n", structures::table(&fit.structures)));
    }
    match fit.judged.first() {
        Some(row) => {
            out.push_str(&format!("forecasts of {} held-out sequences after half of each\n", row.n_seq));
            out.push_str(&scores::without_origin(&fit.judged));
        }
        None => out.push_str("no sequence was held out, so nothing is known about forecasts yet\n"),
    }
    let said = structures::sentences(fit).into_iter().chain(new_members::sentences(fit));
    for (i, (name, words)) in said.enumerate() {
        out.push_str(&format!("{}{name}: {words}\n", if i == 0 { "\n" } else { "" }));
    }
    if let Some(found) = &fit.usage {
        out.push_str(&format!("\nuse of the code: {}\n{}", usage::sentence(found), usage::table(found)));
    }
    if let Some(words) = usage::warning(&fit.explained) {
        out.push_str(&format!("\nnote: {words}\n"));
    }
    let model_dir = asked.out.display();
    let data = asked.source.data.display();
    let network = match &model.network {
        Some(_) => format!(", {NETWORK_FILE} (the network of `infer --method amortised`)"),
        None => String::new(),
    };
    out.push_str(&format!(
        "\nleft in {model_dir}: the model, {FIT_FILE} (its settings), {HISTORY_FILE} (the course of learning){network}\n\
         the same again: mtds fit {data} -o OTHER --config {model_dir}/{FIT_FILE}\n"
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
