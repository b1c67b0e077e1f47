//! The arrays in a ZIP archive, read by name when they are asked for.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::npy::{self, Array, Content};
use crate::problem::{Place, Problem};
use crate::{Error, Result};

/// An open archive.
pub(super) struct Archive {
    pub file: PathBuf,
    /// Names of the arrays, without `.npy`.
    pub keys: Vec<String>,
    zip: ZipArchive<Cursor<Vec<u8>>>,
}

impl Archive {
    /// Opens an archive.
    ///
    /// # Errors
    /// [`Problem::Damaged`] if it is none.
    pub fn new(file: &Path, bytes: Vec<u8>) -> Result<Self> {
        let damaged = |error: zip::result::ZipError| {
            let problem = Problem::Damaged { expected: "an NPZ file", found: error.to_string() };
            Error::data(file, Place::default(), problem)
        };
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
        let names = zip.file_names().collect::<std::result::Result<Vec<_>, _>>().map_err(damaged)?;
        let keys = names.iter().map(|name| name.strip_suffix(".npy").unwrap_or(name).to_string()).collect();
        Ok(Self { file: file.into(), keys, zip })
    }

    /// Whether there is an array of that name.
    pub fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|found| found == key)
    }

    /// The numbers of an array, if it is there.
    pub fn numbers(&mut self, key: &str) -> Result<Option<(Vec<usize>, Vec<f64>)>> {
        match self.array(key)? {
            None => Ok(None),
            Some(Array { shape, content: Content::Numbers(values) }) => Ok(Some((shape, values))),
            Some(_) => Err(self.unfit(key, "numbers", "text".into())),
        }
    }

    /// The texts of an array of `n` of them, if it is there; numbers are spelled out.
    pub fn texts(&mut self, key: &str, n: usize) -> Result<Option<Vec<String>>> {
        let Some(array) = self.array(key)? else {
            return Ok(None);
        };
        let texts = match array.content {
            Content::Texts(texts) => texts,
            Content::Numbers(values) => values.iter().map(ToString::to_string).collect(),
        };
        if texts.len() != n {
            return Err(self.unfit(key, &format!("{n} names"), texts.len().to_string()));
        }
        Ok(Some(texts))
    }

    fn array(&mut self, key: &str) -> Result<Option<Array>> {
        if !self.has(key) {
            return Ok(None);
        }
        let entry = match self.zip.by_name(&format!("{key}.npy")) {
            Ok(entry) => npy::read(entry),
            Err(error) => Err(error.to_string()),
        };
        entry.map(Some).map_err(|found| self.unfit(key, "an array of numbers or text", found))
    }

    /// An array that is not what it should be.
    pub fn unfit(&self, key: &str, expected: &str, found: String) -> Error {
        let advice = "write it again with numpy.savez from plain arrays";
        let problem = Problem::Array { expected: expected.into(), found, advice };
        Error::data(&self.file, Place::column(key), problem)
    }
}
