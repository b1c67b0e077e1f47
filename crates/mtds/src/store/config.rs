//! `config.json`: everything about a model that is not an array.

use serde::{Deserialize, Serialize};

use super::{
    CONFIG_FILE, CardScore, Member, ModelBundle, Provenance, READABLE_VERSIONS, RESTORE, SCHEMA_VERSION,
    broken, check,
};
use crate::Result;
use crate::base::BaseModel;
use crate::family::Scaling;
use crate::generator::Prior;
use crate::model::ModelSpec;

/// The fields in the order of the file.
#[derive(Serialize, Deserialize)]
struct Record<B> {
    schema_version: u64,
    base: String,
    program_version: String,
    seed: u64,
    fingerprint: String,
    output_names: Vec<String>,
    input_names: Vec<String>,
    spec: ModelSpec<B>,
    scaling: Scaling,
    prior: Prior,
    settings: serde_json::Value,
    scores: Vec<CardScore>,
    members: Vec<MemberRecord>,
}

/// A member without its code.
#[derive(Serialize, Deserialize)]
pub(super) struct MemberRecord {
    pub id: String,
    #[serde(deserialize_with = "Option::deserialize")] // may be null, may not be absent
    pub label: Option<String>,
}

/// What the file says, checked as far as it can be without the weights.
pub(super) struct Config<B> {
    pub spec: ModelSpec<B>,
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
pub(super) fn write<B: BaseModel>(bundle: &ModelBundle<B>) -> Result<Vec<u8>> {
    let text = serde_json::to_string_pretty(&record(bundle));
    let text = text.map_err(|error| broken(CONFIG_FILE, format!("cannot be written as JSON: {error}")))?;
    let bytes = format!("{text}\n").into_bytes();
    read::<B>(&bytes)?;
    Ok(bytes)
}

fn record<B: BaseModel>(bundle: &ModelBundle<B>) -> Record<B> {
    let ModelBundle { model, provenance, members } = bundle;
    let member = |member: &Member| MemberRecord { id: member.id.clone(), label: member.label.clone() };
    Record {
        schema_version: SCHEMA_VERSION,
        base: B::KIND.to_owned(),
        program_version: provenance.program_version.clone(),
        seed: provenance.seed,
        fingerprint: provenance.fingerprint.clone(),
        output_names: provenance.output_names.clone(),
        input_names: provenance.input_names.clone(),
        spec: model.spec().clone(),
        scaling: model.scaling().clone(),
        prior: model.prior().clone(),
        settings: provenance.settings.clone(),
        scores: provenance.scores.clone(),
        members: members.iter().map(member).collect(),
    }
}

/// See [`super::kind_of`].
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
pub(super) fn read<B: BaseModel>(bytes: &[u8]) -> Result<Config<B>> {
    let kind = kind_of(bytes)?;
    if kind != B::KIND {
        let why =
            format!("expected the base model `{}`, found `{kind}`; load it as a model of that kind", B::KIND);
        return Err(broken(CONFIG_FILE, why));
    }
    let record: Record<B> = parse(bytes)?;
    check::sizes(&record.spec)?;
    check_scaling(&record)?;
    check_prior(&record)?;
    let provenance = Provenance {
        seed: record.seed,
        settings: record.settings,
        fingerprint: record.fingerprint,
        program_version: record.program_version,
        output_names: record.output_names,
        input_names: record.input_names,
        scores: record.scores,
    };
    let Record { spec, scaling, prior, members, .. } = record;
    Ok(Config { spec, scaling, prior, provenance, members })
}

fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| {
        let what = match error.classify() {
            serde_json::error::Category::Data => "a field is missing or ill-formed",
            _ => "not JSON, or cut short",
        };
        broken(CONFIG_FILE, format!("{what} ({error}); {RESTORE}"))
    })
}

fn check_scaling<B: BaseModel>(record: &Record<B>) -> Result<()> {
    let (base, scaling) = (&record.spec.base, &record.scaling);
    for (what, expected, found) in
        [("outputs", base.d_obs(), scaling.d_obs()), ("inputs", base.d_input(), scaling.d_input())]
    {
        if expected != found {
            let why =
                format!("scaling: expected {expected} {what}, as in the model, found {found}; {RESTORE}");
            return Err(broken(CONFIG_FILE, why));
        }
    }
    Ok(())
}

fn check_prior<B>(record: &Record<B>) -> Result<()> {
    let d_code = record.spec.network.d_code;
    record.prior.check(d_code).map_err(|error| {
        let why = match &record.prior {
            Prior::AggregatePosterior(mixture) => {
                format!("prior: expected {d_code} dimensions, the length of a code, found {}", mixture.dim())
            }
            _ => error.to_string(),
        };
        broken(CONFIG_FILE, format!("{why}; {RESTORE}"))
    })
}
