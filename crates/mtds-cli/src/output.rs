//! What a verb leaves: files, whole or not at all, and its result on stdout.

use anyhow::{Context, Result};
use serde_json::Value;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Version of the form of JSON documents, as docs/formats.md describes it: it rises when a key goes or means something else.
pub const SCHEMA: u32 = 1;

/// Writes a file by way of a neighbour with a temporary name, so that a reader never meets half of it.
/// Missing directories are made.
///
/// # Errors
/// When the directory cannot be made or the file cannot be written; the message names it.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the directory `{}`", folder.display()))?;
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    fs::write(&part, content)
        .and_then(|()| fs::rename(&part, path))
        .inspect_err(|_| {
            let _ = fs::remove_file(&part);
        })
        .with_context(|| {
            format!("cannot write `{}`: is the directory writable, and is there room?", path.display())
        })
}

/// A document as text, with the version of its form.
///
/// # Errors
/// None for documents of plain values.
pub fn document_text(mut document: Value) -> Result<String> {
    document["schema"] = SCHEMA.into();
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// Prints the result. A reader who has seen enough and closed the pipe, as `head` does, is no failure.
///
/// # Errors
/// A `stdout` that takes no more.
pub fn print(stdout: &mut dyn Write, text: &str) -> Result<()> {
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("cannot print the result"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_replaces_the_old_one_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = folder.path().join("a/b/report.html");
        write_whole(&path, b"old").expect("first time");
        write_whole(&path, b"new").expect("second time");
        assert_eq!(fs::read(&path).expect("written"), b"new");
        assert_eq!(fs::read_dir(folder.path().join("a/b")).expect("made").count(), 1);
    }

    #[test]
    fn a_directory_in_the_way_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = folder.path().join("report.html");
        fs::create_dir(&path).expect("made");
        let error = write_whole(&path, b"x").expect_err("a directory is in the way");
        assert!(error.to_string().contains("report.html"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).expect("made").count(), 1, "no part left behind");
    }
}
