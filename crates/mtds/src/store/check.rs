//! Checks that hold for a bundle on its way out and on its way in.

use std::collections::HashSet;

use serde_json::Value;

use super::config::CompanionConfig;
use super::{CONFIG_FILE, RESTORE, WEIGHTS_FILE, broken};
use crate::Result;
use crate::model::{CardScore, Member};
use crate::system::Architecture;

/// The largest size (state, output, code, layer) that a stored model may have.
///
/// Products of sizes below it do not overflow, so that a damaged file is refused before it is believed.
pub const MAX_SIZE: usize = 1 << 16;

const MAX_LAYERS: usize = 1 << 10;

/// Sizes are small enough to compute with, and make a model.
pub(super) fn sizes(spec: &Architecture) -> Result<()> {
    let base = serde_json::to_value(&spec.base).map_err(|error| broken(CONFIG_FILE, error.to_string()))?;
    let mut found = vec![("d_code".to_owned(), spec.network.d_code as u64)];
    collect_sizes("base", &base, &mut found);
    let front = serde_json::to_value(spec.front).map_err(|error| broken(CONFIG_FILE, error.to_string()))?;
    collect_sizes("front", &front, &mut found);
    found.extend(spec.clock.map(|clock| ("clock.steps".to_owned(), clock.steps as u64)));
    let widths = spec.network.hidden.iter().enumerate();
    found.extend(widths.map(|(l, hidden)| (format!("width of hidden layer {}", l + 1), hidden.width as u64)));
    if let Some((name, size)) = found.into_iter().find(|(_, size)| *size > MAX_SIZE as u64) {
        let why = format!("{name}: found {size}; expected at most {MAX_SIZE}; {RESTORE}");
        return Err(broken(CONFIG_FILE, why));
    }
    let layers = spec.network.hidden.len();
    if layers > MAX_LAYERS {
        let why = format!("found {layers} hidden layers; expected at most {MAX_LAYERS}; {RESTORE}");
        return Err(broken(CONFIG_FILE, why));
    }
    spec.layout().map_err(|error| broken(CONFIG_FILE, format!("{error}; {RESTORE}")))?;
    Ok(())
}

/// What members leave unexplained is a unit.
pub(super) fn misfit(usual: Option<f64>) -> Result<()> {
    match usual {
        Some(usual) if !(1.0..=f64::MAX).contains(&usual) => {
            let why = format!("usual_misfit: found {usual}; expected 1 or more; {RESTORE}");
            Err(broken(CONFIG_FILE, why))
        }
        _ => Ok(()),
    }
}

/// A companion is of the same outputs and inputs, small enough, and counts.
pub(super) fn companion(companion: &CompanionConfig, first: &Architecture) -> Result<()> {
    sizes(&companion.architecture)?;
    let widths = |of: &Architecture| (of.base.d_obs(), of.d_input());
    let (expected, found) = (widths(first), widths(&companion.architecture));
    if expected != found {
        let shown = |(d_obs, d_input)| format!("{d_obs} outputs and {d_input} inputs");
        let why = format!("companion: expected {}, found {}; {RESTORE}", shown(expected), shown(found));
        return Err(broken(CONFIG_FILE, why));
    }
    match companion.weight {
        weight if weight.is_finite() && weight > 0.0 => Ok(()),
        weight => {
            let why = format!("weight of a companion: found {weight}; expected above 0; {RESTORE}");
            Err(broken(CONFIG_FILE, why))
        }
    }
}

/// Every whole number of a base model is a size, whatever the base model.
fn collect_sizes(name: &str, value: &Value, found: &mut Vec<(String, u64)>) {
    match value {
        Value::Number(number) => found.extend(number.as_u64().map(|size| (name.to_owned(), size))),
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(i, v)| collect_sizes(&format!("{name}[{i}]"), v, found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(key, v)| collect_sizes(&format!("{name}.{key}"), v, found));
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// One name per column, all different.
pub(super) fn names(kind: &str, names: &[String], width: usize) -> Result<()> {
    if names.len() != width {
        let why =
            format!("{kind} names: expected {width}, as in the model, found {}; {RESTORE}", names.len());
        return Err(broken(CONFIG_FILE, why));
    }
    unique(kind, names.iter())
}

/// Scores are numbers and their errors are not negative.
pub(super) fn scores(scores: &[CardScore]) -> Result<()> {
    for CardScore { measure, condition, mean, std_error, .. } in scores {
        let fine = mean.is_finite() && std_error.is_none_or(|error| error.is_finite() && error >= 0.0);
        if !fine {
            let why = format!(
                "score `{measure}`, `{condition}`: found {mean} ± {std_error:?}; expected finite numbers, an error of at least 0, or no such line"
            );
            return Err(broken(CONFIG_FILE, why));
        }
    }
    Ok(())
}

/// Ids differ; codes have the right length and stay finite in the precision of the file.
pub(super) fn members(members: &[Member], d_code: usize) -> Result<()> {
    unique("member", members.iter().map(|member| &member.id))?;
    for Member { id, code_mean, code_std_dev, .. } in members {
        for (what, values) in [("mean", code_mean), ("standard deviation", code_std_dev)] {
            let found = values.len();
            if found != d_code {
                let why = format!(
                    "member `{id}`: expected {d_code} numbers for the {what} of the code, found {found}"
                );
                return Err(broken(WEIGHTS_FILE, why));
            }
        }
        let unfit = code_mean.iter().find(|x| !(**x as f32).is_finite());
        let unfit = unfit.or(code_std_dev.iter().find(|x| !(**x as f32).is_finite() || **x < 0.0));
        if let Some(value) = unfit {
            let why = format!(
                "member `{id}`: found {value} in its code; expected finite numbers and deviations of at least 0; infer the code again"
            );
            return Err(broken(WEIGHTS_FILE, why));
        }
    }
    Ok(())
}

fn unique<'a>(kind: &str, names: impl Iterator<Item = &'a String>) -> Result<()> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            let why = format!("two {kind}s are called `{name}`; give each a name of its own");
            return Err(broken(CONFIG_FILE, why));
        }
    }
    Ok(())
}
