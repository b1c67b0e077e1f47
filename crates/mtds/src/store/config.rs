//! `config.json`: everything about a model that is not an array, as one typed record that is written and read whole.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::remembered::StoredBlend;
use super::{CONFIG_FILE, READABLE_VERSIONS, RESTORE, SCHEMA_VERSION, broken, check, migrate};
use crate::Result;
use crate::base::Kinds;
use crate::family::Scaling;
use crate::front::Front;
use crate::generator::{Network, Prior, Role};
use crate::infer::Online;
use crate::model::{CardScore, Companion, DataColumns, Member, Model, Provenance};
use crate::predict::Remainder;
use crate::system::{Architecture, Clock};
use crate::workflow::FitRecord;

/// The fields in the order of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFile<A> {
    schema_version: u64,
    base: String,
    provenance: Provenance,
    columns: DataColumns,
    #[serde(deserialize_with = "Option::deserialize")] // may be null, may not be absent
    time_step: Option<String>,
    architecture: A,
    scaling: Scaling,
    prior: Prior,
    online: Online,
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    companions: Vec<StoredCompanion<A>>,
    #[serde(default, skip_serializing_if = "StoredBlend::is_empty")]
    blend: StoredBlend,
    scores: Vec<CardScore>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usual_misfit: Option<f64>,
    #[serde(deserialize_with = "Option::deserialize")]
    fit: Option<FitRecord>,
    members: Vec<StoredMember>,
}

/// A system that forecasts beside the first, without its weights.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredCompanion<A> {
    base: String,
    architecture: A,
    scaling: Scaling,
    prior: Prior,
    online: Online,
    weight: f64,
    /// Not in models that did not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    held_out_ids: Vec<String>,
}

/// [`Architecture`] as it is stored, before its kind is known.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredArchitecture {
    #[serde(default)]
    front: Option<Front>,
    #[serde(default)]
    clock: Option<Clock>,
    #[serde(default)]
    temperature: Option<f64>,
    #[serde(default)]
    remainder: Option<Remainder>,
    base: Value,
    roles: Vec<(String, Role)>,
    network: Network,
}

/// A member without its code.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredMember {
    pub id: String,
    #[serde(deserialize_with = "Option::deserialize")] // may be null, may not be absent
    pub label: Option<String>,
}

/// What the file says, checked as far as it can be without the weights.
pub(super) struct Config {
    pub architecture: Architecture,
    pub scaling: Scaling,
    pub prior: Prior,
    pub online: Online,
    pub companions: Vec<CompanionConfig>,
    pub blend: StoredBlend,
    pub columns: DataColumns,
    pub time_step: Option<String>,
    pub provenance: Provenance,
    pub scores: Vec<CardScore>,
    pub usual_misfit: Option<f64>,
    pub fit: Option<FitRecord>,
    pub members: Vec<StoredMember>,
}

/// What the file says of a companion.
pub(super) struct CompanionConfig {
    pub architecture: Architecture,
    pub scaling: Scaling,
    pub prior: Prior,
    pub online: Online,
    pub weight: f64,
    pub held_out_ids: Vec<String>,
}

/// The file of a model; it has been read back, so it can be.
pub(super) fn write(model: &Model) -> Result<Vec<u8>> {
    let unwritten = |error| broken(CONFIG_FILE, format!("cannot be written as JSON: {error}"));
    let text = serde_json::to_string_pretty(&record(model)).map_err(unwritten)?;
    let bytes = format!("{text}\n").into_bytes();
    let kinds = model.companions.iter().map(|companion| companion.system.base().kinds());
    read(&bytes, &kinds.fold(model.system.base().kinds(), Kinds::and))?;
    Ok(bytes)
}

fn record(model: &Model) -> ConfigFile<&Architecture> {
    let member = |member: &Member| StoredMember { id: member.id.clone(), label: member.label.clone() };
    ConfigFile {
        schema_version: SCHEMA_VERSION,
        base: model.system.base().kind().to_owned(),
        provenance: model.provenance.clone(),
        columns: model.columns.clone(),
        time_step: model.time_step.clone(),
        architecture: model.system.spec(),
        scaling: model.system.scaling().clone(),
        prior: model.system.prior().clone(),
        online: model.online.clone(),
        companions: model.companions.iter().map(companion).collect(),
        blend: StoredBlend::of(&model.blend),
        scores: model.scores.clone(),
        usual_misfit: (model.usual_misfit != 1.0).then_some(model.usual_misfit),
        fit: model.fit.clone(),
        members: model.members.iter().map(member).collect(),
    }
}

fn companion(of: &Companion) -> StoredCompanion<&Architecture> {
    StoredCompanion {
        base: of.system.base().kind().to_owned(),
        architecture: of.system.spec(),
        scaling: of.system.scaling().clone(),
        prior: of.system.prior().clone(),
        online: of.online.clone(),
        weight: of.weight,
        held_out_ids: of.held_out_ids.clone(),
    }
}

/// Reads and checks; every error is an [`Error::Store`](crate::Error::Store).
pub(super) fn read(bytes: &[u8], kinds: &Kinds) -> Result<Config> {
    let file = present_version(parse(bytes)?)?;
    let ConfigFile { base, architecture, .. } = &understand::<ConfigFile<Value>>(&file)?;
    let stored: StoredArchitecture = understand(architecture)?;
    let architecture = read_architecture(base, stored, kinds)?;
    let record: ConfigFile<Value> = understand(&file)?;
    let companions = record.companions.into_iter().map(|of| read_companion(of, kinds));
    let companions = companions.collect::<Result<Vec<_>>>()?;
    let again = ConfigFile {
        architecture: &architecture,
        schema_version: record.schema_version,
        base: record.base,
        provenance: record.provenance,
        columns: record.columns,
        time_step: record.time_step,
        scaling: record.scaling,
        prior: record.prior,
        online: record.online,
        companions: companions.iter().map(StoredCompanion::of).collect(),
        blend: record.blend,
        scores: record.scores,
        usual_misfit: record.usual_misfit,
        fit: record.fit,
        members: record.members,
    };
    check_understood(&file, &again)?;
    let ConfigFile {
        scaling,
        prior,
        online,
        blend,
        columns,
        time_step,
        provenance,
        scores,
        usual_misfit,
        fit,
        members,
        ..
    } = again;
    #[rustfmt::skip]
    let config = Config {
        scaling, prior, online, companions, blend, columns, time_step, provenance, scores, usual_misfit, fit, members,
        architecture: architecture.clone(),
    };
    check::sizes(&config.architecture)?;
    check_scaling(&config.architecture, &config.scaling)?;
    check_prior(&config.architecture, &config.prior)?;
    check::misfit(config.usual_misfit)?;
    for companion in &config.companions {
        check::companion(companion, &config.architecture)?;
        check_scaling(&companion.architecture, &companion.scaling)?;
        check_prior(&companion.architecture, &companion.prior)?;
    }
    Ok(config)
}

/// The file in the present schema, if this program reads the one that it is in.
fn present_version(file: Value) -> Result<Value> {
    let version = file.get("schema_version").and_then(Value::as_u64);
    match version {
        Some(SCHEMA_VERSION) => Ok(file),
        Some(1) => migrate::from_version_1(file),
        Some(version) => {
            let readable: Vec<String> = READABLE_VERSIONS.iter().map(u64::to_string).collect();
            let why = format!(
                "written in schema version {version}, this program reads: {}; use a newer program, or the one that wrote the model",
                readable.join(", ")
            );
            Err(broken(CONFIG_FILE, why))
        }
        None => Err(broken(CONFIG_FILE, format!("{ILL_FORMED} (missing field `schema_version`); {RESTORE}"))),
    }
}

fn read_companion(record: StoredCompanion<Value>, kinds: &Kinds) -> Result<CompanionConfig> {
    let StoredCompanion { base, architecture, scaling, prior, online, weight, held_out_ids } = record;
    let architecture = read_architecture(&base, understand(&architecture)?, kinds)?;
    Ok(CompanionConfig { architecture, scaling, prior, online, weight, held_out_ids })
}

impl<'a> StoredCompanion<&'a Architecture> {
    fn of(companion: &'a CompanionConfig) -> Self {
        Self {
            base: companion.architecture.base.kind().to_owned(),
            architecture: &companion.architecture,
            scaling: companion.scaling.clone(),
            prior: companion.prior.clone(),
            online: companion.online.clone(),
            weight: companion.weight,
            held_out_ids: companion.held_out_ids.clone(),
        }
    }
}

fn read_architecture(kind: &str, stored: StoredArchitecture, kinds: &Kinds) -> Result<Architecture> {
    let StoredArchitecture { front, clock, temperature, remainder, base, roles, network } = stored;
    match kinds.read(kind, base) {
        Some(Ok(base)) => Ok(Architecture { front, clock, temperature, remainder, base, roles, network }),
        Some(Err(error)) => Err(broken(CONFIG_FILE, format!("{ILL_FORMED} ({error}); {RESTORE}"))),
        None => {
            let known = kinds.names().join(", ");
            let why = format!("has the base model `{kind}`, expected one of: {known}; use a newer program");
            Err(broken(CONFIG_FILE, why))
        }
    }
}

const ILL_FORMED: &str = "a field is missing or ill-formed";

fn parse(bytes: &[u8]) -> Result<Value> {
    serde_json::from_slice(bytes)
        .map_err(|error| broken(CONFIG_FILE, format!("not JSON, or cut short ({error}); {RESTORE}")))
}

fn understand<'v, T: Deserialize<'v>>(value: &'v Value) -> Result<T> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let (place, why) = (error.path().to_string(), error.inner());
        broken(CONFIG_FILE, format!("{ILL_FORMED}: `{place}` ({why}); {RESTORE}"))
    })
}

/// What was understood, written again, is what the file says: nothing in it was passed over, and nothing made up.
fn check_understood(file: &Value, again: &impl Serialize) -> Result<()> {
    let again = serde_json::to_value(again).map_err(|error| broken(CONFIG_FILE, error.to_string()))?;
    match difference(file, &again) {
        None => Ok(()),
        Some(place) => {
            let why =
                format!("`{place}` is not understood, or was left out; {RESTORE}, or use a newer program");
            Err(broken(CONFIG_FILE, why))
        }
    }
}

/// Where two values first differ; a key that is absent is as good as `null`, and 1 as good as 1.0.
fn difference(a: &Value, b: &Value) -> Option<String> {
    let below =
        |key: &str, rest: String| if rest.is_empty() { key.to_owned() } else { format!("{key}.{rest}") };
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            let at = |key: &String| a.get(key).unwrap_or(&Value::Null);
            keys.into_iter().find_map(|key| {
                let rest = difference(at(key), b.get(key).unwrap_or(&Value::Null))?;
                Some(below(key, rest))
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let pairs = a.iter().zip(b).enumerate();
            pairs.into_iter().find_map(|(i, (a, b))| Some(below(&i.to_string(), difference(a, b)?)))
        }
        // An empty list that is left out, as names of inputs may be.
        (Value::Null, Value::Array(b)) | (Value::Array(b), Value::Null) if b.is_empty() => None,
        (Value::Number(a), Value::Number(b)) if is_close(a.as_f64(), b.as_f64()) => None,
        (a, b) if a == b => None,
        _ => Some(String::new()),
    }
}

/// Weights of a mixture are scaled to sum to 1 when they are read, which may change their last digit.
fn is_close(a: Option<f64>, b: Option<f64>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return false };
    a == b || (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
}

fn check_scaling(architecture: &Architecture, scaling: &Scaling) -> Result<()> {
    for (what, expected, found) in [
        ("outputs", architecture.base.d_obs(), scaling.d_obs()),
        ("inputs", architecture.d_input(), scaling.d_input()),
    ] {
        if expected != found {
            let why =
                format!("scaling: expected {expected} {what}, as in the model, found {found}; {RESTORE}");
            return Err(broken(CONFIG_FILE, why));
        }
    }
    Ok(())
}

fn check_prior(architecture: &Architecture, prior: &Prior) -> Result<()> {
    let d_code = architecture.network.d_code;
    prior.check(d_code).map_err(|error| {
        let why = match prior {
            Prior::AggregatePosterior(mixture) => {
                format!("prior: expected {d_code} dimensions, the length of a code, found {}", mixture.dim())
            }
            _ => error.to_string(),
        };
        broken(CONFIG_FILE, format!("{why}; {RESTORE}"))
    })
}
