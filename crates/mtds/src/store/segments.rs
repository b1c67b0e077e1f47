//! `segments.safetensors`: what learning believed of the codes of segments, where sequences were cut.
//!
//! ```text
//! F32: codes.mean and codes.std_dev [n_segments × d_code]
//! metadata `mtds-segments`       JSON: version, and of each segment its member, its first step there and its length
//! ```
//! A file of its own, as that of the inference network: a model that was learned before there were any has none.

use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

use super::weights::{self, Expected};
use super::{RESTORE, SEGMENTS_FILE, broken};
use crate::model::SegmentCode;
use crate::{Error, Result};

const VERSION: u64 = 1;
const METADATA_KEY: &str = "mtds-segments";
const MEAN: &str = "codes.mean";
const STD_DEV: &str = "codes.std_dev";

/// What is not an array.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SegmentsFile {
    version: u64,
    segments: Vec<(String, usize, usize)>,
}

/// The file of these segments; the same ones always give the same bytes.
///
/// # Errors
/// [`Error::Store`] for what could not be read back.
pub(super) fn write(segments: &[SegmentCode], d_code: usize) -> Result<Vec<u8>> {
    check(segments, d_code)?;
    let place = |of: &SegmentCode| (of.member.clone(), of.start, of.n_time);
    let record = SegmentsFile { version: VERSION, segments: segments.iter().map(place).collect() };
    let unwritten = |error: String| broken(SEGMENTS_FILE, format!("cannot be written: {error}"));
    let text = serde_json::to_string(&record).map_err(|error| unwritten(error.to_string()))?;
    let array = |name: &str, of: fn(&SegmentCode) -> &[f64]| {
        let bytes = weights::to_le_bytes(segments.iter().flat_map(of).map(|&x| x as f32));
        (name.to_owned(), vec![segments.len(), d_code], bytes)
    };
    let arrays = [array(MEAN, |of| &of.code_mean), array(STD_DEV, |of| &of.code_std_dev)];
    weights::archive(&arrays, Some((METADATA_KEY, text))).map_err(|error| unwritten(error.to_string()))
}

/// Reads what [`write`] wrote.
///
/// # Errors
/// [`Error::Store`] with what is wrong and what to try.
pub(super) fn read(bytes: &[u8], d_code: usize) -> Result<Vec<SegmentCode>> {
    let archive = weights::open(SEGMENTS_FILE, bytes)?;
    let segments = read_record(bytes)?.segments;
    let expected =
        [MEAN, STD_DEV].map(|name| Expected { name: name.into(), shape: vec![segments.len(), d_code] });
    let arrays = weights::read_all(SEGMENTS_FILE, &archive, &expected)?;
    let code = |which: usize, i: usize| -> Vec<f64> {
        arrays[which][i * d_code..(i + 1) * d_code].iter().map(|&x| f64::from(x)).collect()
    };
    let segment = |(i, (member, start, n_time)): (usize, (String, usize, usize))| SegmentCode {
        member,
        start,
        n_time,
        code_mean: code(0, i),
        code_std_dev: code(1, i),
    };
    let segments: Vec<SegmentCode> = segments.into_iter().enumerate().map(segment).collect();
    check(&segments, d_code)?;
    Ok(segments)
}

fn read_record(bytes: &[u8]) -> Result<SegmentsFile> {
    let refused = |why: String| broken(SEGMENTS_FILE, format!("{why}; {RESTORE}"));
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| refused(error.to_string()))?;
    let text = metadata.metadata().as_ref().and_then(|entries| entries.get(METADATA_KEY));
    let text =
        text.ok_or_else(|| refused(format!("no metadata `{METADATA_KEY}`; this is another kind of file")))?;
    let ill_formed = |error| refused(format!("metadata `{METADATA_KEY}` is ill-formed ({error})"));
    let found: serde_json::Value = serde_json::from_str(text).map_err(ill_formed)?;
    match found.get("version").and_then(serde_json::Value::as_u64) {
        Some(VERSION) => serde_json::from_value(found).map_err(ill_formed),
        version => {
            let why = format!("version {version:?}, this program reads {VERSION}; use a newer program");
            Err(broken(SEGMENTS_FILE, why))
        }
    }
}

/// Codes have the right length and stay finite in the precision of the file; segments have steps.
fn check(segments: &[SegmentCode], d_code: usize) -> Result<()> {
    let is_fit = |x: &f64| (*x as f32).is_finite();
    let unfit = |of: &&SegmentCode| {
        of.code_mean.len() != d_code
            || of.code_std_dev.len() != d_code
            || !of.code_mean.iter().all(is_fit)
            || !of.code_std_dev.iter().all(|x| is_fit(x) && *x >= 0.0)
            || of.n_time == 0
            || of.start.checked_add(of.n_time).is_none()
    };
    match segments.iter().find(unfit) {
        None => Ok(()),
        Some(of) => Err(Error::Store {
            file: SEGMENTS_FILE.into(),
            why: format!(
                "segment `{}@{}`: expected one step or more, and {d_code} finite numbers with deviations of at least 0; {RESTORE}",
                of.member, of.start
            ),
        }),
    }
}
