//! Configurations of earlier schema versions, brought to the present one.
//!
//! ```text
//! version 1    0.1.0       settings of a fit are free JSON: online, data, learn, judged, …; no time step
//! version 2    0.2.0       every part has a type
//! ```
//! A part of a fit that this program does not know, or cannot bring over, is an error that names it.

use serde_json::{Map, Value, json};

use super::{CONFIG_FILE, RESTORE, broken};
use crate::Result;
use crate::infer::Online;

/// Parts of `settings` that a fit of version 1 wrote and that go over as they are.
const KEPT: [&str; 8] = [
    "selection",
    "new_members",
    "status",
    "best_validation",
    "explained",
    "held_out_ids",
    "n_training",
    "n_held_out",
];

/// A configuration of version 1 as one of version 2.
pub(super) fn from_version_1(old: Value) -> Result<Value> {
    let Value::Object(mut old) = old else { return Err(ill_formed("the file", "an object")) };
    let mut settings = take(&mut old, "settings")?;
    let names = [take(&mut old, "output_names")?, take(&mut old, "input_names")?];
    let is_fit = settings["learn"].is_object() && settings["reasons"].is_object();
    let (columns, online, fit, notes) = match (is_fit, &mut settings) {
        (true, Value::Object(settings)) => {
            let columns = take(settings, "data").map_err(|_| ill_formed("settings.data", "an object"))?;
            let online = take(settings, "online").map_err(|_| ill_formed("settings.online", "an object"))?;
            (columns, online, fit(std::mem::take(settings))?, Value::Null)
        }
        // Put together by hand; such models were used with these settings of inference.
        (_, notes) => {
            let online = serde_json::to_value(Online::default());
            let online = online.map_err(|error| broken(CONFIG_FILE, error.to_string()))?;
            (json!({}), online, Value::Null, notes.take())
        }
    };
    Ok(json!({
        "schema_version": 2,
        "base": take(&mut old, "base")?,
        "provenance": {
            "seed": take(&mut old, "seed")?,
            "fingerprint": take(&mut old, "fingerprint")?,
            "program_version": take(&mut old, "program_version")?,
            "notes": notes,
        },
        "columns": named(columns, names)?,
        "time_step": null,
        "architecture": take(&mut old, "spec")?,
        "scaling": take(&mut old, "scaling")?,
        "prior": take(&mut old, "prior")?,
        "online": online,
        "scores": take(&mut old, "scores")?,
        "fit": fit,
        "members": take(&mut old, "members")?,
    }))
}

fn take(from: &mut Map<String, Value>, key: &str) -> Result<Value> {
    from.remove(key).ok_or_else(|| broken(CONFIG_FILE, format!("a field is missing: `{key}`; {RESTORE}")))
}

fn ill_formed(part: &str, expected: &str) -> crate::Error {
    broken(CONFIG_FILE, format!("`{part}`: expected {expected}; {RESTORE}"))
}

/// The columns with the names of outputs and inputs, which the model is sure of.
fn named(columns: Value, [outputs, inputs]: [Value; 2]) -> Result<Value> {
    let Value::Object(mut columns) = columns else { return Err(ill_formed("settings.data", "an object")) };
    columns.insert("outputs".into(), outputs);
    columns.insert("inputs".into(), inputs);
    Ok(Value::Object(columns))
}

/// What a fit wrote about itself.
fn fit(mut settings: Map<String, Value>) -> Result<Value> {
    let part = |key: &str| ill_formed(&format!("settings.{key}"), "what a fit of 0.1.0 writes there");
    let Some(Value::Object(reasons)) = settings.remove("reasons") else { return Err(part("reasons")) };
    let Some(Value::Array(judged)) = settings.remove("judged") else { return Err(part("judged")) };
    let reasons: Vec<Value> =
        reasons.into_iter().map(|(key, why)| json!({ "key": key, "why": why })).collect();
    let mut fit = Map::new();
    fit.insert("settings".into(), settings.remove("learn").ok_or_else(|| part("learn"))?);
    fit.insert("reasons".into(), Value::Array(reasons));
    fit.insert("judged".into(), judged.into_iter().map(judged_row).collect::<Result<Vec<_>>>()?.into());
    fit.insert("usage".into(), settings.remove("usage").unwrap_or_default());
    // Written from the same release on, after the first models of the version.
    fit.insert("n_apart".into(), settings.remove("n_apart").unwrap_or_else(|| json!(0)));
    for key in KEPT {
        fit.insert(key.into(), settings.remove(key).ok_or_else(|| part(key))?);
    }
    settings.remove("steps"); // told by the course of learning
    match settings.keys().next() {
        Some(unknown) => Err(broken(CONFIG_FILE, format!("`settings.{unknown}` is not known; {RESTORE}"))),
        None => Ok(Value::Object(fit)),
    }
}

/// Version 1 kept fewer measures: those that it did not are not numbers.
fn judged_row(row: Value) -> Result<Value> {
    let Value::Object(mut row) = row else { return Err(ill_formed("settings.judged", "rows")) };
    row.insert("seen".into(), json!(0.5));
    for key in ["crps_se", "cover50", "cover50_se", "cover80_se", "cover95", "cover95_se"] {
        row.entry(key).or_insert(Value::Null);
    }
    Ok(Value::Object(row))
}
