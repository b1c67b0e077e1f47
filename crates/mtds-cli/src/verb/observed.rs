//! DATA as a model takes it: columns as they were learned, steps that count as seen, many sequences in batches.

use crate::interrupt::Interrupt;
use crate::plan::{SourceConfig, SourcePlan, Verbosity};
use crate::progress::{Progress, Stage};
use anyhow::{Result, bail};
use mtds::store::Provenance;
use mtds::{Family, Signal};
use mtds_data::ReadFamily;
use rayon::prelude::*;

/// Sequences between two looks at progress and interrupt: enough for all threads, few enough to hold.
const BATCH: usize = 64;

/// Reads the family; columns that were not typed are those that the model was learned from.
///
/// # Errors
/// A file that cannot be read as a family, or lacks a column that the model needs.
pub(super) fn read(source: &SourcePlan, provenance: &Provenance, verbosity: Verbosity) -> Result<ReadFamily> {
    let read = source.clone().with_config(&columns(provenance))?.read()?;
    if verbosity != Verbosity::Quiet {
        read.notes.iter().for_each(|note| eprintln!("note: {note}"));
    }
    let (found, expected) = (read.family.d_obs(), provenance.output_names.len());
    if found != expected {
        bail!(
            "{}: expected {expected} output(s), {}, as the model has; found {found}: {}; name them with --outputs",
            source.path.display(),
            provenance.output_names.join(", "),
            read.family.output_names().join(", ")
        );
    }
    Ok(read)
}

/// Which columns the model was learned from; labels are left out, new data need none.
pub(super) fn columns(provenance: &Provenance) -> SourceConfig {
    let learned = provenance.settings.get("data").cloned().unwrap_or_default();
    let learned: SourceConfig = serde_json::from_value(learned).unwrap_or_default();
    SourceConfig {
        label: None,
        outputs: provenance.output_names.clone(),
        inputs: provenance.input_names.clone(),
        ..learned
    }
}

/// The inputs of sequence `i` that the model takes.
pub(super) fn inputs_of<'f>(family: &'f Family, provenance: &Provenance, i: usize) -> Option<&'f Signal> {
    // Without names the reader takes what looks like inputs, which a model without inputs does not want.
    family.inputs_of(i).filter(|_| !provenance.input_names.is_empty())
}

/// The outputs of sequence `i` that count as seen.
pub(super) fn seen(family: &Family, i: usize, most: Option<usize>) -> Signal {
    let outputs = family.sequence(i).outputs();
    outputs.slice(0..most.unwrap_or(usize::MAX).min(outputs.n_time()))
}

/// Does `one` for each of `n` sequences on all threads, and hands what came of it to `take`, batch by batch and in
/// order, so that memory does not grow with `n`.
///
/// # Errors
/// The first of `one` or `take`; an interrupt.
pub(super) fn in_batches<T: Send>(
    (stage, n): (Stage, usize),
    progress: &mut Progress,
    interrupt: &Interrupt,
    one: impl Fn(usize) -> Result<T> + Sync,
    mut take: impl FnMut(Vec<T>) -> Result<()>,
) -> Result<()> {
    progress.begin(stage, n as u64);
    for start in (0..n).step_by(BATCH) {
        if interrupt.is_asked() {
            bail!("interrupted after {start} of {n} sequences; no file was written");
        }
        let end = n.min(start + BATCH);
        let batch = (start..end).into_par_iter().with_max_len(1).map(&one);
        take(batch.collect::<Result<Vec<_>>>()?)?;
        progress.advance(end as u64, None);
    }
    progress.end();
    Ok(())
}
