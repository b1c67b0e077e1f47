//! The one place of the crate that opens files, and only to read: what writes them writes them whole, elsewhere.

use std::path::Path;

use crate::bvh::{self, Reading};
use crate::skeleton::Rules;
use crate::{Error, Result};

/// Reads a BVH file.
///
/// # Errors
/// [`Error::Io`], or the reader's error with the path before it.
pub fn read_bvh(path: &Path) -> Result<Reading> {
    bvh::read(&bytes_of(path)?).map_err(in_file(path))
}

/// Reads a user's own skeleton rules, to extend the built-in ones.
///
/// # Errors
/// [`Error::Io`], or what is wrong with the rules with the path before it.
pub fn read_rules(path: &Path) -> Result<Rules> {
    Rules::from_json(&bytes_of(path)?).map_err(in_file(path))
}

fn bytes_of(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|source| Error::Io { action: "read", path: path.into(), source })
}

fn in_file(path: &Path) -> impl FnOnce(Error) -> Error {
    move |source| Error::InFile { path: path.into(), source: Box::new(source) }
}
