//! What the fit left in the model: the course of learning, and its settings.

use crate::expected;
use crate::plan::Verbosity;
use mtds::learn::StageRecord;
use mtds::store::Model;
use mtds_report::fit::Curve;
use serde_json::Value;
use std::path::Path;

/// The course of learning, where the fit left it.
pub(super) fn curves(model: &Path, verbosity: Verbosity) -> Vec<Curve> {
    let path = model.join("history.json");
    let records =
        std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Vec<StageRecord>>(&bytes).ok());
    if records.is_none() && verbosity != Verbosity::Quiet {
        eprintln!("note: {}: no course of learning to draw", path.display());
    }
    let curve = |record: StageRecord| {
        let history = &record.history;
        Curve {
            stage: format!(
                "Stage: {}",
                serde_json::to_value(record.stage)
                    .ok()
                    .as_ref()
                    .and_then(Value::as_str)
                    .unwrap_or("learning")
            ),
            training: history.steps().iter().map(|r| (r.step as f64, r.bound)).collect(),
            held_out: history.validations().iter().map(|r| (r.step as f64, r.bound)).collect(),
        }
    };
    records.unwrap_or_default().into_iter().map(curve).filter(|curve| !curve.training.is_empty()).collect()
}

/// A setting as a person writes it.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// What the fit chose, by name.
pub(super) fn settings(bundle: &Model) -> Vec<(String, String)> {
    let provenance = &bundle.provenance;
    let mut settings = vec![
        ("base model".to_owned(), bundle.system.base().kind().to_owned()),
        ("outputs".to_owned(), provenance.output_names.join(", ")),
        (
            "inputs".to_owned(),
            if provenance.input_names.is_empty() { "none".into() } else { provenance.input_names.join(", ") },
        ),
        ("seed".to_owned(), provenance.seed.to_string()),
        ("data".to_owned(), format!("fingerprint {}", provenance.fingerprint)),
    ];
    if let Some(Value::Object(learned)) = provenance.settings.get("learn") {
        settings.extend(
            learned.iter().filter(|(_, v)| !v.is_null()).map(|(key, v)| (key.replace('_', " "), plain(v))),
        );
    }
    settings.extend(expected::sentences(bundle).into_iter().map(|(name, words)| (name.to_owned(), words)));
    settings
}
