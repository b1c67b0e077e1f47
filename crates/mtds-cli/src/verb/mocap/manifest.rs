//! The table beside a folder of motions: what each file is, by columns such as `split` and `dataset`.

use crate::usage::UsageError;
use anyhow::{Context, Result, bail};
use mtds_data::directory::read_file;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The table of a folder, if it has one.
pub(in crate::verb) fn usual_manifest(folder: &Path) -> Option<PathBuf> {
    let usual = folder.join("manifest.csv");
    usual.is_file().then_some(usual)
}

/// What a column says of each file that the table names; files that it says nothing of are left out.
///
/// # Errors
/// A file that cannot be read, or without the columns `file` and the one that is asked for.
pub(in crate::verb) fn read_column(path: &Path, column: &str) -> Result<HashMap<String, String>> {
    let bytes = read_file(path)?;
    let text = std::str::from_utf8(&bytes).context("expected UTF-8 text; save it as UTF-8");
    text.and_then(|text| values(text, column)).with_context(|| format!("`{}`", path.display()))
}

/// The files of these datasets, by the column `dataset` of a table; `None` means every file, as no dataset was asked for.
///
/// # Errors
/// A dataset that the table does not have; a table that cannot be read.
pub(in crate::verb) fn files_of(
    manifest: Option<&Path>,
    datasets: &[String],
) -> Result<Option<HashSet<String>>> {
    if datasets.is_empty() {
        return Ok(None);
    }
    let of_files = manifest.map(|path| read_column(path, "dataset")).transpose()?.unwrap_or_default();
    let known: BTreeSet<&str> = of_files.values().map(String::as_str).collect();
    if let Some(unknown) = datasets.iter().find(|name| !known.contains(name.as_str())) {
        let problem = format!("expected datasets of the column `dataset` of manifest.csv, found `{unknown}`");
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        let hint = if known.is_empty() { "leave it out".into() } else { known };
        return Err(UsageError::new("--dataset", problem, hint).into());
    }
    Ok(Some(of_files.into_iter().filter(|(_, own)| datasets.contains(own)).map(|(file, _)| file).collect()))
}

fn values(text: &str, column: &str) -> Result<HashMap<String, String>> {
    let text = text.trim_start_matches('\u{feff}');
    let mut rows = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = rows.headers().context("expected a table")?.clone();
    let place = |name: &str| header.iter().position(|column| column == name);
    let (Some(file), Some(wanted)) = (place("file"), place(column)) else {
        bail!(
            "expected the columns `file` and `{column}`, found {}",
            header.iter().collect::<Vec<_>>().join(", ")
        );
    };
    let mut found = HashMap::new();
    for row in rows.records() {
        let row = row.context("expected a table")?;
        if let (Some(file), Some(value)) = (row.get(file), row.get(wanted).filter(|value| !value.is_empty()))
        {
            found.insert(file.to_owned(), value.to_owned());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_column_and_quotes_hold_commas() {
        let text = "file,content,split\r\na/b.bvh,\"Walk, left\",train\r\nc.bvh,run,test\r\nd.bvh,run,\r\n";
        let splits = values(text, "split").expect("two columns");
        assert_eq!(
            (splits.len(), splits["a/b.bvh"].as_str(), splits["c.bvh"].as_str()),
            (2, "train", "test")
        );
        assert_eq!(values(text, "content").expect("two columns")["a/b.bvh"], "Walk, left");
        let quoted =
            "\u{feff}file,split\n\n\"the \"\"old\"\" walk.bvh\", train \n\"two\nlines.bvh\",test\nshort\n";
        let splits = values(quoted, "split").expect("two columns");
        assert_eq!((splits.len(), splits["the \"old\" walk.bvh"].as_str()), (2, "train"));
        assert_eq!(splits["two\nlines.bvh"], "test");
        let error = values("name,split\n", "split").expect_err("no file");
        assert!(error.to_string().contains("name, split"), "{error}");
    }
}
