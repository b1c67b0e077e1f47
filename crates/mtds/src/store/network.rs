//! `inference.safetensors`: the network that reads a sequence and says its code, where one was learned.
//!
//! ```text
//! F32, one tensor per InferenceNetwork::tensors()
//! metadata `mtds-inference`      JSON: version, architecture, fingerprint of the data and seed of its model
//! ```
//! A file of its own: programs that know nothing of it read the model all the same, and nobody reads it who does not ask.

use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

use super::weights::{self, Expected};
use super::{MAX_SIZE, NETWORK_FILE, RESTORE, broken};
use crate::Result;
use crate::learn::{InferenceNetwork, LearnedNetwork};
use crate::model::{Model, Provenance};

const VERSION: u64 = 1;
const METADATA_KEY: &str = "mtds-inference";

/// What is not an array.
#[derive(Serialize, Deserialize)]
struct NetworkFile {
    version: u64,
    network: InferenceNetwork,
    fingerprint: String,
    seed: u64,
}

/// The one field that every version has.
#[derive(Deserialize)]
struct VersionOnly {
    version: u64,
}

/// The file [`NETWORK_FILE`] of a model with this provenance; the same network always gives the same bytes.
///
/// # Errors
/// [`Error::Store`](crate::Error::Store) for a size above [`MAX_SIZE`].
pub(super) fn write(network: &LearnedNetwork, provenance: &Provenance) -> Result<Vec<u8>> {
    let architecture = *network.network();
    check_sizes(&architecture)?;
    let record = NetworkFile {
        version: VERSION,
        network: architecture,
        fingerprint: provenance.fingerprint.clone(),
        seed: provenance.seed,
    };
    let unwritten = |error: String| broken(NETWORK_FILE, format!("cannot be written: {error}"));
    let text = serde_json::to_string(&record).map_err(|error| unwritten(error.to_string()))?;
    let arrays: Vec<_> = architecture
        .tensors()
        .into_iter()
        .map(|tensor| {
            let bytes = weights::to_le_bytes(network.parameters()[tensor.range()].iter().copied());
            (tensor.name, tensor.shape, bytes)
        })
        .collect();
    weights::archive(&arrays, Some((METADATA_KEY, text))).map_err(|error| unwritten(error.to_string()))
}

/// Reads what [`write`] wrote beside `bundle`.
///
/// # Errors
/// [`Error::Store`](crate::Error::Store) with what is wrong and what to try: bytes that are cut short or no such file, another
/// version, a network of another model, numbers that are not finite.
pub(super) fn read(bytes: &[u8], bundle: &Model) -> Result<LearnedNetwork> {
    let archive = weights::open(NETWORK_FILE, bytes)?;
    let record = read_record(bytes)?;
    check_sizes(&record.network)?;
    check_model(&record, bundle)?;
    let tensors = record.network.tensors();
    let expected: Vec<_> =
        tensors.into_iter().map(|tensor| Expected { name: tensor.name, shape: tensor.shape }).collect();
    let arrays = weights::read_all(NETWORK_FILE, &archive, &expected)?;
    LearnedNetwork::new(record.network, arrays.concat())
        .map_err(|error| broken(NETWORK_FILE, format!("{error}; {RESTORE}")))
}

fn read_record(bytes: &[u8]) -> Result<NetworkFile> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| {
        broken(NETWORK_FILE, format!("not a safetensors archive, or cut short ({error}); {RESTORE}"))
    })?;
    let text = metadata.metadata().as_ref().and_then(|entries| entries.get(METADATA_KEY));
    let text = text.ok_or_else(|| {
        broken(NETWORK_FILE, format!("no metadata `{METADATA_KEY}`; this is another kind of file; {RESTORE}"))
    })?;
    let ill_formed = |error: serde_json::Error| {
        broken(NETWORK_FILE, format!("metadata `{METADATA_KEY}` is ill-formed ({error}); {RESTORE}"))
    };
    let VersionOnly { version } = serde_json::from_str(text).map_err(ill_formed)?;
    if version != VERSION {
        let why = format!(
            "written as version {version}, this program reads version {VERSION}; use a newer program"
        );
        return Err(broken(NETWORK_FILE, why));
    }
    serde_json::from_str(text).map_err(ill_formed)
}

/// Products of sizes must not overflow before the file has shown that it holds the weights.
fn check_sizes(network: &InferenceNetwork) -> Result<()> {
    for (name, size) in network.sizes() {
        if size > MAX_SIZE || (size == 0 && name != "d_input") {
            let why = format!("{name}: found {size}; expected 1 to {MAX_SIZE}; {RESTORE}");
            return Err(broken(NETWORK_FILE, why));
        }
    }
    Ok(())
}

fn check_model(record: &NetworkFile, bundle: &Model) -> Result<()> {
    let (base, provenance) = (bundle.system.base(), &bundle.provenance);
    let [(_, d_obs), (_, d_input), _, (_, d_code)] = record.network.sizes();
    let fits = (d_obs, d_input, d_code) == (base.d_obs(), bundle.system.d_input(), bundle.system.d_code());
    if fits && (&record.fingerprint, record.seed) == (&provenance.fingerprint, provenance.seed) {
        return Ok(());
    }
    Err(broken(NETWORK_FILE, format!("it was learned with another model than the one beside it; {RESTORE}")))
}
