//! `config.json`: everything about a model that is not an array.

use serde::{Deserialize, Serialize};

use super::{
    CONFIG_FILE, CardScore, Member, Model, Provenance, READABLE_VERSIONS, RESTORE, SCHEMA_VERSION, broken,
    check,
};
use crate::Result;
use crate::base::Kinds;
use crate::family::Scaling;
use crate::front::Front;
use crate::generator::{Network, Prior, Role};
use crate::system::Architecture;

/// The fields in the order of the file.
#[derive(Serialize, Deserialize)]
struct Record<S> {
    schema_version: u64,
    base: String,
    program_version: String,
    seed: u64,
    fingerprint: String,
    output_names: Vec<String>,
    input_names: Vec<String>,
    spec: S,
    scaling: Scaling,
    prior: Prior,
    settings: serde_json::Value,
    scores: Vec<CardScore>,
    members: Vec<MemberRecord>,
}

/// [`Architecture`] as it is stored, before its kind is known.
#[derive(Deserialize)]
struct StoredSpec {
    #[serde(default)]
    front: Option<Front>,
    base: serde_json::Value,
    roles: Vec<(String, Role)>,
    network: Network,
}

/// A member without its code.
#[derive(Serialize, Deserialize)]
pub(super) struct MemberRecord {
    pub id: String,
    #[serde(deserialize_with = "Option::deserialize")] // may be null, may not be absent
    pub label: Option<String>,
}

/// What the file says, checked as far as it can be without the weights.
pub(super) struct Config {
    pub spec: Architecture,
    pub scaling: Scaling,
    pub prior: Prior,
    pub provenance: Provenance,
    pub members: Vec<MemberRecord>,
}

/// The one field that every version has.
#[derive(Deserialize)]
struct VersionOnly {
    schema_version: u64,
}

#[derive(Deserialize)]
struct KindOnly {
    base: String,
}

/// The file of a bundle; it has been read back, so it can be.
pub(super) fn write(bundle: &Model) -> Result<Vec<u8>> {
    let text = serde_json::to_string_pretty(&record(bundle));
    let text = text.map_err(|error| broken(CONFIG_FILE, format!("cannot be written as JSON: {error}")))?;
    let bytes = format!("{text}\n").into_bytes();
    read(&bytes, &bundle.system.base().kinds())?;
    Ok(bytes)
}

fn record(bundle: &Model) -> Record<&Architecture> {
    let Model { system: model, provenance, members } = bundle;
    let member = |member: &Member| MemberRecord { id: member.id.clone(), label: member.label.clone() };
    Record {
        schema_version: SCHEMA_VERSION,
        base: model.base().kind().to_owned(),
        program_version: provenance.program_version.clone(),
        seed: provenance.seed,
        fingerprint: provenance.fingerprint.clone(),
        output_names: provenance.output_names.clone(),
        input_names: provenance.input_names.clone(),
        spec: model.spec(),
        scaling: model.scaling().clone(),
        prior: model.prior().clone(),
        settings: provenance.settings.clone(),
        scores: provenance.scores.clone(),
        members: members.iter().map(member).collect(),
    }
}

/// The name of the base model, if this program reads the schema version.
pub(super) fn kind_of(bytes: &[u8]) -> Result<String> {
    let VersionOnly { schema_version } = parse(bytes)?;
    if !READABLE_VERSIONS.contains(&schema_version) {
        let readable: Vec<String> = READABLE_VERSIONS.iter().map(u64::to_string).collect();
        let why = format!(
            "written in schema version {schema_version}, this program reads: {}; use a newer program, or the one that wrote the model",
            readable.join(", ")
        );
        return Err(broken(CONFIG_FILE, why));
    }
    let KindOnly { base } = parse(bytes)?;
    Ok(base)
}

/// Reads and checks; every error is an [`Error::Store`](crate::Error::Store).
pub(super) fn read(bytes: &[u8], kinds: &Kinds) -> Result<Config> {
    let kind = kind_of(bytes)?;
    let record: Record<StoredSpec> = parse(bytes)?;
    let provenance = Provenance {
        seed: record.seed,
        settings: record.settings,
        fingerprint: record.fingerprint,
        program_version: record.program_version,
        output_names: record.output_names,
        input_names: record.input_names,
        scores: record.scores,
    };
    let Record { scaling, prior, members, .. } = record;
    let config = Config { spec: read_spec(&kind, record.spec, kinds)?, scaling, prior, provenance, members };
    check::sizes(&config.spec)?;
    check_scaling(&config)?;
    check_prior(&config)?;
    Ok(config)
}

fn read_spec(kind: &str, stored: StoredSpec, kinds: &Kinds) -> Result<Architecture> {
    let StoredSpec { front, base, roles, network } = stored;
    match kinds.read(kind, base) {
        Some(Ok(base)) => Ok(Architecture { front, base, roles, network }),
        Some(Err(error)) => Err(broken(CONFIG_FILE, format!("{ILL_FORMED} ({error}); {RESTORE}"))),
        None => {
            let known = kinds.names().join(", ");
            let why = format!("has the base model `{kind}`, expected one of: {known}; use a newer program");
            Err(broken(CONFIG_FILE, why))
        }
    }
}

const ILL_FORMED: &str = "a field is missing or ill-formed";

fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| {
        let what = match error.classify() {
            serde_json::error::Category::Data => ILL_FORMED,
            _ => "not JSON, or cut short",
        };
        broken(CONFIG_FILE, format!("{what} ({error}); {RESTORE}"))
    })
}

fn check_scaling(config: &Config) -> Result<()> {
    let (base, scaling) = (&config.spec.base, &config.scaling);
    for (what, expected, found) in
        [("outputs", base.d_obs(), scaling.d_obs()), ("inputs", config.spec.d_input(), scaling.d_input())]
    {
        if expected != found {
            let why =
                format!("scaling: expected {expected} {what}, as in the model, found {found}; {RESTORE}");
            return Err(broken(CONFIG_FILE, why));
        }
    }
    Ok(())
}

fn check_prior(config: &Config) -> Result<()> {
    let d_code = config.spec.network.d_code;
    config.prior.check(d_code).map_err(|error| {
        let why = match &config.prior {
            Prior::AggregatePosterior(mixture) => {
                format!("prior: expected {d_code} dimensions, the length of a code, found {}", mixture.dim())
            }
            _ => error.to_string(),
        };
        broken(CONFIG_FILE, format!("{why}; {RESTORE}"))
    })
}
