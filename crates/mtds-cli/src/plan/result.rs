//! Where results go, and numbers that several verbs ask for.

use super::UsageError;
use super::data::table as family_file_name;
use mtds_data::Format;
use std::path::{Path, PathBuf};

/// More steps or draws than any machine at hand can hold: most likely a typing error.
pub(super) const MOST: usize = 10_000_000;

/// A file for a table of results, whose name says its format; `None` for stdout.
pub(super) fn table_file(option: &'static str, typed: Option<&Path>) -> Result<Option<PathBuf>, UsageError> {
    let Some(path) = typed else { return Ok(None) };
    match Format::of(path) {
        Ok(Format::Npz) => {
            Err(UsageError::new(option, "NPZ holds families, not tables of results", "a name ending in .csv"))
        }
        // Told now rather than after the work.
        Ok(_) if !folder(path).is_dir() => {
            let problem = format!("`{}` is no directory", folder(path).display());
            Err(UsageError::new(option, problem, "create it, or write somewhere else"))
        }
        Ok(_) => Ok(Some(path.to_path_buf())),
        Err(error) => Err(UsageError::new(option, error.to_string(), "a name ending in .csv")),
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file for a family, whose name says its format; `None` for stdout.
pub(super) fn family_file(typed: Option<&Path>) -> Result<Option<PathBuf>, UsageError> {
    typed.map(family_file_name).transpose()
}

/// A number of things, at least one.
pub(super) fn count(
    option: &'static str,
    typed: Option<usize>,
    hint: &str,
) -> Result<Option<usize>, UsageError> {
    match typed {
        Some(found) if !(1..=MOST).contains(&found) => {
            Err(UsageError::new(option, format!("expected 1 to {MOST}, found {found}"), hint))
        }
        fine => Ok(fine),
    }
}
