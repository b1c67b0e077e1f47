//! The one place of the crate that opens files, and only to read: what writes them writes them whole, elsewhere.

use std::path::{Path, PathBuf};

use crate::bvh::{self, Reading};
use crate::clip::{Clip, ClipSettings};
use crate::control::{Character, Way};
use crate::skeleton::Rules;
use crate::{Error, Result};

/// Reads a BVH file.
///
/// # Errors
/// [`Error::Io`], or the reader's error with the path before it.
pub fn read_bvh(path: &Path) -> Result<Reading> {
    bvh::read(&bytes_of(path)?).map_err(in_file(path))
}

/// Reads a BVH file and makes a clip of it.
///
/// # Errors
/// [`Error::Io`], or what is wrong with the file with the path before it.
pub fn read_clip(path: &Path, settings: &ClipSettings) -> Result<Clip> {
    Clip::of_bytes(&bytes_of(path)?, settings).map_err(in_file(path))
}

/// Reads a BVH file as a character: its clip and its skeleton.
///
/// # Errors
/// [`Error::Io`], or what is wrong with the file with the path before it.
pub fn read_character(path: &Path, settings: &ClipSettings) -> Result<Character> {
    Character::of_bytes(&bytes_of(path)?, settings).map_err(in_file(path))
}

/// Reads a table of points as a way.
///
/// # Errors
/// [`Error::Io`], or what is wrong with the table with the path before it.
pub fn read_way(path: &Path) -> Result<Way> {
    let bytes = bytes_of(path)?;
    let text = String::from_utf8_lossy(&bytes);
    Way::of_table(&text).map_err(in_file(path))
}

/// All BVH files below a folder, however deep, in the order of their paths.
///
/// # Errors
/// [`Error::Io`] for a folder that cannot be listed.
pub fn bvh_files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let cannot = |source| Error::Io { action: "list", path: folder.into(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(cannot)?);
        // Links to folders are not followed: they may lead back.
        if kind.is_dir() {
            files.extend(bvh_files_below(&path)?);
        } else if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("bvh")) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
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
