//! The directory of an experiment: finished cells below it, and where lines about them go.

use anyhow::{Context, Result, anyhow};
use mtds_data::directory::write_file_atomic;
use mtds_experiments::{Error, Surroundings, Trouble};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The directory of cells, and where lines about them go.
pub(super) struct Directory<'a> {
    folder: PathBuf,
    quiet: bool,
    stderr: &'a mut dyn Write,
}

impl<'a> Directory<'a> {
    /// The cells below a directory, which is made if it is missing.
    pub fn open(out: &Path, quiet: bool, stderr: &'a mut dyn Write) -> Result<Self> {
        let folder = out.join("cells");
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make the directory `{}`", folder.display()))?;
        Ok(Self { folder, quiet, stderr })
    }

    fn path(&self, cell: &str) -> PathBuf {
        self.folder.join(format!("{cell}.json"))
    }

    /// Says more, whatever happens to it.
    pub fn say(&mut self, lines: &str) {
        let _ = self.stderr.write_all(lines.as_bytes());
    }

    /// The error with the file that it is about.
    pub fn explain(&self, error: Error) -> anyhow::Error {
        match error {
            Error::Foreign { cell, problem } => anyhow!(
                "`{}` {problem}; name another directory with --out, or delete this one",
                self.path(&cell).display()
            ),
            other => other.into(),
        }
    }
}

impl Surroundings for Directory<'_> {
    fn look_up(&self, cell: &str) -> Result<Option<Vec<u8>>, Trouble> {
        let path = self.path(cell);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("cannot read `{}`: {error}", path.display()).into()),
        }
    }

    fn keep(&mut self, cell: &str, bytes: &[u8]) -> Result<(), Trouble> {
        Ok(write_file_atomic(&self.path(cell), bytes)?)
    }

    fn unusable(&mut self, cell: &str, why: &str) {
        let _ = writeln!(self.stderr, "{}: {why}; computed again", self.path(cell).display());
    }

    fn progress(&mut self, line: &str) {
        if !self.quiet {
            let _ = writeln!(self.stderr, "{line}");
        }
    }
}
