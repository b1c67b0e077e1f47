//! Model directories and single files on disk, written whole or not at all.
//!
//! Everything is first written into a working directory beside its destination, on the same file system,
//! and brought to the disk; then it is renamed into place. Whoever reads sees the old or the new, never a
//! part. A run that is killed may leave the working directory, `.NAME.XXXXXX.tmp`, behind.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use tempfile::TempDir;

use crate::{Error, Result};

/// The file by which a directory shows that it is a model and may be replaced by one.
pub const MODEL_FILE: &str = "config.json";

/// Writes `files`, name and bytes, as the directory `path`.
///
/// A model directory that is already there is replaced as a whole, files that are not among the new ones
/// included. The old one is moved aside, the new one in, and only then the old one deleted; if the second
/// move fails the old one is put back. An empty directory may be replaced too. Of a link, what it points to
/// is replaced.
///
/// # Errors
/// [`Error::NotAModel`] if a directory is there that has no `config.json`, or that holds more than files;
/// [`Error::NotADirectory`] if a file is there; [`Error::NoParent`] if there is nowhere to write;
/// [`Error::FileName`] if a name is not that of a file in the directory or comes twice; [`Error::Io`].
/// After any of them the destination is as it was.
pub fn write_directory<N: AsRef<str>, B: AsRef<[u8]>>(path: &Path, files: &[(N, B)]) -> Result<()> {
    check_names(files.iter().map(|(name, _)| name.as_ref()))?;
    let target = resolve(path)?;
    let is_there = check_replaceable(&target)?;
    let work = working_directory(&target)?;
    let new = work.path().join("new");
    fs::create_dir(&new).map_err(Error::io("create", &new))?;
    for (name, bytes) in files {
        write_durably(&new.join(name.as_ref()), bytes.as_ref())?;
    }
    sync_directory(&new);
    if is_there {
        replace(&target, &new, work)?;
    } else {
        fs::rename(&new, &target).map_err(Error::io("move the new directory to", &target))?;
    }
    target.parent().into_iter().for_each(sync_directory);
    Ok(())
}

/// Writes one file; one that is already there is replaced.
///
/// Of a link, what it points to is replaced.
///
/// # Errors
/// [`Error::NotAFile`] if something else than a file is there; [`Error::NoParent`] if there is nowhere to
/// write; [`Error::Io`]. After any of them the destination is as it was.
pub fn write_file_atomic(path: &Path, bytes: &[u8]) -> Result<()> {
    let (new, mut file) = NewFile::create(path)?;
    file.write_all(bytes).map_err(Error::io("write", path))?;
    new.finish(file)
}

/// A file on its way to its place; dropped, it leaves nothing.
#[derive(Debug)]
pub(crate) struct NewFile {
    target: PathBuf,
    work: TempDir,
}

impl NewFile {
    /// A file to write to, which is to become `path`.
    ///
    /// # Errors
    /// As [`write_file_atomic`].
    pub(crate) fn create(path: &Path) -> Result<(Self, File)> {
        let target = resolve(path)?;
        if fs::metadata(&target).is_ok_and(|found| !found.is_file()) {
            return Err(Error::NotAFile { path: target });
        }
        let work = working_directory(&target)?;
        let new = work.path().join("new");
        let file = File::create_new(&new).map_err(Error::io("create", &new))?;
        Ok((Self { target, work }, file))
    }

    /// What it is to become.
    pub(crate) fn path(&self) -> &Path {
        &self.target
    }

    /// Waits until the disk has what was written to `file`, and moves it into its place.
    ///
    /// # Errors
    /// [`Error::Io`]; the destination is then as it was.
    pub(crate) fn finish(self, file: File) -> Result<()> {
        let Self { target, work } = self;
        file.sync_all().map_err(Error::io("write", &target))?;
        fs::rename(work.path().join("new"), &target).map_err(Error::io("move the new file to", &target))?;
        target.parent().into_iter().for_each(sync_directory);
        Ok(())
    }
}

/// Reads the files called `names` from the directory `path`; name and bytes, in the order asked for.
///
/// # Errors
/// [`Error::NotADirectory`] if there is none; [`Error::MissingFile`] if it lacks one of the files;
/// [`Error::FileName`] if a name is not that of a file in the directory or comes twice; [`Error::NotRegular`] for what is
/// no file; [`Error::Io`] names the file that cannot be read.
pub fn read_directory(path: &Path, names: &[&str]) -> Result<Vec<(String, Vec<u8>)>> {
    check_names(names.iter().copied())?;
    check_is_directory(path)?;
    let read = |&name: &&str| match read_file(&path.join(name)) {
        Ok(bytes) => Ok((name.to_string(), bytes)),
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            let found = entries(path)?.join(", ");
            let found = if found.is_empty() { "nothing".into() } else { found };
            Err(Error::MissingFile { path: path.into(), name: name.into(), found })
        }
        Err(error) => Err(error),
    };
    names.iter().map(read).collect()
}

/// The bytes of a plain file: a pipe would be waited for, a device may never end.
///
/// # Errors
/// [`Error::NotRegular`] for what is no file; [`Error::Io`].
pub fn read_file(path: &Path) -> Result<Vec<u8>> {
    match fs::metadata(path).map_err(Error::io("read", path))?.is_file() {
        true => fs::read(path).map_err(Error::io("read", path)),
        false => Err(Error::NotRegular { path: path.into() }),
    }
}

/// Names must be plain file names, each once.
fn check_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = HashSet::new();
    for name in names {
        let mut parts = Path::new(name).components();
        let plain =
            matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name);
        if !plain {
            let why = "expected a plain file name, without directories";
            return Err(Error::FileName { name: name.into(), why });
        }
        if !seen.insert(name) {
            return Err(Error::FileName { name: name.into(), why: "given twice; give each file once" });
        }
    }
    Ok(())
}

/// The path itself, links followed where something is there, so that it has a parent and a last name.
pub(crate) fn resolve(path: &Path) -> Result<PathBuf> {
    let parent = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    };
    if !parent.is_dir() {
        return Err(Error::NoParent { path: parent.into() });
    }
    if fs::symlink_metadata(path).is_ok() {
        return fs::canonicalize(path).map_err(Error::io("follow", path));
    }
    let parent = fs::canonicalize(parent).map_err(Error::io("find", parent))?;
    Ok(parent.join(path.file_name().unwrap_or_default()))
}

/// Whether something is at `target`; an error if it must stay.
fn check_replaceable(target: &Path) -> Result<bool> {
    if fs::symlink_metadata(target).is_err() {
        return Ok(false);
    }
    check_is_directory(target)?;
    let names = entries(target)?;
    let other =
        names.iter().find(|name| !fs::symlink_metadata(target.join(name)).is_ok_and(|found| found.is_file()));
    let why = match other {
        _ if names.is_empty() => return Ok(true),
        _ if !names.iter().any(|name| name == MODEL_FILE) => format!("has no {MODEL_FILE}"),
        Some(other) => format!("holds `{other}`, and a model holds only files"),
        None => return Ok(true),
    };
    Err(Error::NotAModel { path: target.into(), why })
}

fn check_is_directory(path: &Path) -> Result<()> {
    let found = match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(_) => "a file",
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(Error::io("look at", path)(error));
        }
        Err(_) => "nothing",
    };
    Err(Error::NotADirectory { path: path.into(), found })
}

/// The names in a directory, sorted.
fn entries(path: &Path) -> Result<Vec<String>> {
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    let names = fs::read_dir(path).and_then(|entries| entries.map(name).collect::<io::Result<Vec<_>>>());
    let mut names = names.map_err(Error::io("list", path))?;
    names.sort_unstable();
    Ok(names)
}

/// An empty directory beside `target`, deleted with all it holds when dropped.
fn working_directory(target: &Path) -> Result<TempDir> {
    let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
        return Err(Error::NotAModel { path: target.into(), why: "is the root of the file system".into() });
    };
    let prefix = format!(".{}.", name.to_string_lossy());
    let made = tempfile::Builder::new().prefix(&prefix).suffix(".tmp").tempdir_in(parent);
    made.map_err(Error::io("write in", parent))
}

/// Writes a new file and waits until the disk has it.
fn write_durably(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = File::create_new(path).map_err(Error::io("create", path))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(Error::io("write", path))
}

/// Waits until the disk has the names in a directory, where the system can do that.
///
/// Some file systems cannot; the files are there all the same, so this is not an error.
fn sync_directory(path: &Path) {
    if let Ok(directory) = File::open(path) {
        let _ = directory.sync_all();
    }
}

/// Puts `new` in the place of `target`; the old content goes into `work` and with it.
fn replace(target: &Path, new: &Path, work: TempDir) -> Result<()> {
    let old = work.path().join("old");
    fs::rename(target, &old).map_err(Error::io("move the old directory from", target))?;
    let Err(error) = fs::rename(new, target) else {
        return Ok(());
    };
    if let Err(source) = fs::rename(&old, target) {
        // Dropped, the working directory would take the only copy of the old model with it.
        let kept = work.keep().join("old");
        return Err(Error::NotRestored { path: target.into(), kept, source });
    }
    Err(Error::io("move the new directory to", target)(error))
}

#[cfg(test)]
mod tests;
