//! The bytes of a file, gzip taken off where its first two bytes show it.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::problem::{Place, Problem};
use crate::{Error, Result};

/// Bytes read at once.
const BUFFER: usize = 1 << 18;

/// A buffered source that decompresses by itself.
pub(crate) fn decompressed<'r>(path: &Path, reader: impl Read + 'r) -> Result<Box<dyn BufRead + 'r>> {
    let mut reader = BufReader::with_capacity(BUFFER, reader);
    // A pipe may hand over one byte at first, so two are asked for explicitly.
    let mut magic = Vec::with_capacity(2);
    reader.by_ref().take(2).read_to_end(&mut magic).map_err(|error| broken(path, error))?;
    let is_gzip = magic == [0x1f, 0x8b];
    let whole = Cursor::new(magic).chain(reader);
    if is_gzip {
        return Ok(Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(whole))));
    }
    Ok(Box::new(whole))
}

/// What a failure to read means: damage if the content is to blame, else whatever the system says.
pub(crate) fn broken(path: &Path, error: io::Error) -> Error {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    if matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof) {
        let problem = Problem::Damaged { expected: "a complete gzip file", found: error.to_string() };
        return Error::data(path, Place::default(), problem);
    }
    Error::io("read", path)(error)
}
