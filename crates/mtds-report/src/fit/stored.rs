//! What the fit left in the model: the course of learning, and its settings.

use super::Curve;
use crate::{new_members, structures};
use mtds::Model;
use mtds::parts::StageRecord;
use serde_json::Value;

/// The course of learning, where there was one.
pub(super) fn curves(model: &Model) -> Vec<Curve> {
    let curve = |record: &StageRecord| {
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
    let stages = model.fit.iter().flat_map(|fit| &fit.stages);
    stages.map(curve).filter(|curve| !curve.training.is_empty()).collect()
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
pub(super) fn settings(model: &Model) -> Vec<(String, String)> {
    let (provenance, columns) = (&model.provenance, &model.columns);
    let inputs = if columns.inputs.is_empty() { "none".into() } else { columns.inputs.join(", ") };
    let mut settings = vec![
        ("base model".to_owned(), model.system.base().kind().to_owned()),
        ("outputs".to_owned(), columns.outputs.join(", ")),
        ("inputs".to_owned(), inputs),
        ("time step".to_owned(), model.time_step.clone().unwrap_or_else(|| "not known".into())),
        ("seed".to_owned(), provenance.seed.to_string()),
        ("data".to_owned(), format!("fingerprint {}", provenance.fingerprint)),
    ];
    let Some(fit) = &model.fit else { return settings };
    if let Ok(Value::Object(learned)) = serde_json::to_value(&fit.settings) {
        settings.extend(
            learned.iter().filter(|(_, v)| !v.is_null()).map(|(key, v)| (key.replace('_', " "), plain(v))),
        );
    }
    let said = structures::together(fit).into_iter().chain(structures::sentences(fit));
    settings.extend(said.map(|(name, words)| (name.to_owned(), words)));
    settings.extend(new_members::sentences(fit).into_iter().map(|(name, words)| (name.to_owned(), words)));
    settings
}
