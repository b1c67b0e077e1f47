//! DATA as a model takes it: columns as they were learned, steps that count as seen, many sequences in batches.

use crate::interrupt::Interrupt;
use crate::options::{Common, Source};
use crate::progress::{Progress, Stage};
use anyhow::{Result, bail};
use mtds::{Control, Family, Model, Signal};
use mtds_data::{Outside, ReadFamily, columns_of, prolonged, time_step_of};
use rayon::prelude::*;

/// Sequences between two looks at progress and interrupt: enough for all threads, few enough to hold.
const BATCH: usize = 64;

/// Reads the family; columns that were not typed are those that the model was learned from.
///
/// # Errors
/// A file that cannot be read as a family, lacks a column that the model needs, or has other time steps.
pub(super) fn read(source: &Source, model: &Model, common: &Common) -> Result<ReadFamily> {
    let read = source.read(&source.columns().or(columns_of(model)), time_step_of(model))?;
    common.say_notes(&read.notes);
    common.say_notes(read.check_suits(model, &source.data)?.as_slice());
    Ok(read)
}

/// The inputs of sequence `i` that the model takes.
pub(super) fn inputs_of<'f>(family: &'f Family, model: &Model, i: usize) -> Option<&'f Signal> {
    // Without names the reader takes what looks like inputs, which a model without inputs does not want.
    family.inputs_of(i).filter(|_| model.system.d_input() > 0)
}

/// [`inputs_of`], as far as step `n_time`: what does not change within a sequence goes on as it is.
pub(super) fn inputs_until(family: &Family, model: &Model, i: usize, n_time: usize) -> Option<Signal> {
    inputs_of(family, model, i).map(|inputs| prolonged(inputs, model, n_time))
}

/// Says which sequences are far outside of what the family does.
pub(super) fn say_outside(common: &Common, found: &[Outside]) {
    if let Some(note) = Outside::note(found) {
        common.say(format_args!("note: {note}"));
    }
}

/// The outputs of sequence `i` that count as seen.
pub(super) fn seen(family: &Family, i: usize, most: Option<usize>) -> Signal {
    let outputs = family.sequence(i).outputs();
    outputs.slice(0..most.unwrap_or(usize::MAX).min(outputs.n_time()))
}

/// Does `one` for each of `n` sequences on all threads, and hands what came of it to `take`, batch by batch and in
/// order, so that memory does not grow with `n`. After an interrupt no sequence is begun.
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
        let end = n.min(start + BATCH);
        let batch = (start..end).into_par_iter().with_max_len(1).map(|i| match interrupt.control() {
            Control::Continue => one(i),
            Control::Stop => Err(mtds::Error::Stopped.into()),
        });
        let batch = batch.collect::<Result<Vec<_>>>();
        if interrupt.is_asked() {
            bail!("interrupted after {start} of {n} sequences; no file was written");
        }
        take(batch?)?;
        progress.advance(end as u64, None);
    }
    progress.end();
    Ok(())
}
