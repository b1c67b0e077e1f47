//! A family as arrays in an archive.

use std::io::{Cursor, Write};

use mtds::{Family, Inputs, Signal};
use zip::result::ZipResult;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::npy::{self, Array, Content};
use crate::read::Columns;

/// The archive: `Y` where all sequences are equally long, else `Y1`, `Y2`, …; inputs likewise; names.
pub(crate) fn bytes(family: &Family, columns: &Columns) -> ZipResult<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |name: &str, array: &Array| -> ZipResult<()> {
        // Noise hardly compresses, and plain entries can be mapped into memory.
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        writer.start_file(format!("{name}.npy"), options)?;
        let mut bytes = Vec::new();
        npy::write(&mut bytes, array)?;
        Ok(writer.write_all(&bytes)?)
    };
    let outputs: Vec<&Signal> = family.sequences().iter().map(|sequence| sequence.outputs()).collect();
    signals("Y", &outputs).iter().try_for_each(|(name, array)| add(name, array))?;
    match family.inputs() {
        Inputs::None => {}
        Inputs::Common(inputs) => add("U", &table(inputs))?,
        Inputs::Own => {
            let own: Vec<&Signal> =
                family.sequences().iter().filter_map(|sequence| sequence.inputs()).collect();
            signals("U", &own).iter().try_for_each(|(name, array)| add(name, array))?;
        }
    }
    add("series", &texts(family.sequences().iter().map(|sequence| sequence.id())))?;
    if family.labels().any(|label| label.is_some()) {
        add("label", &texts(family.labels().map(Option::unwrap_or_default)))?;
    }
    add("outputs", &texts(columns.outputs.iter().map(String::as_str)))?;
    if !columns.inputs.is_empty() {
        add("inputs", &texts(columns.inputs.iter().map(String::as_str)))?;
    }
    Ok(writer.finish()?.into_inner())
}

/// One array for all signals of one length, or one for each.
fn signals(name: &str, signals: &[&Signal]) -> Vec<(String, Array)> {
    let (n_time, width) = signals.first().map_or((0, 0), |signal| (signal.n_time(), signal.width()));
    if signals.iter().all(|signal| signal.n_time() == n_time) {
        let values = signals.iter().flat_map(|signal| signal.values()).copied().collect();
        let array = Array { shape: vec![signals.len(), n_time, width], content: Content::Numbers(values) };
        return vec![(name.to_string(), array)];
    }
    signals.iter().zip(1..).map(|(signal, i)| (format!("{name}{i}"), table(signal))).collect()
}

fn table(signal: &Signal) -> Array {
    let content = Content::Numbers(signal.values().to_vec());
    Array { shape: vec![signal.n_time(), signal.width()], content }
}

fn texts<'a>(all: impl Iterator<Item = &'a str>) -> Array {
    let texts: Vec<String> = all.map(String::from).collect();
    Array { shape: vec![texts.len()], content: Content::Texts(texts) }
}
