//! A table that says which file belongs to which split.

use anyhow::{Context, Result, bail};
use std::collections::HashMap;
use std::path::Path;

/// The split of each file that the table names.
///
/// # Errors
/// A file that cannot be read, or without the columns `file` and `split`.
pub(super) fn read_splits(path: &Path) -> Result<HashMap<String, String>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    splits(&text).with_context(|| format!("`{}`", path.display()))
}

fn splits(text: &str) -> Result<HashMap<String, String>> {
    let text = text.trim_start_matches('\u{feff}');
    let mut rows = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = rows.headers().context("expected a table")?.clone();
    let place = |name: &str| header.iter().position(|column| column == name);
    let (Some(file), Some(split)) = (place("file"), place("split")) else {
        bail!(
            "expected the columns `file` and `split`, found {}",
            header.iter().collect::<Vec<_>>().join(", ")
        );
    };
    let mut found = HashMap::new();
    for row in rows.records() {
        let row = row.context("expected a table")?;
        if let (Some(file), Some(split)) = (row.get(file), row.get(split).filter(|split| !split.is_empty())) {
            found.insert(file.to_owned(), split.to_owned());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_are_found_by_column_and_quotes_hold_commas() {
        let text = "file,content,split\r\na/b.bvh,\"Walk, left\",train\r\nc.bvh,run,test\r\nd.bvh,run,\r\n";
        let splits = splits(text).expect("two columns");
        assert_eq!(
            (splits.len(), splits["a/b.bvh"].as_str(), splits["c.bvh"].as_str()),
            (2, "train", "test")
        );
        let quoted =
            "\u{feff}file,split\n\n\"the \"\"old\"\" walk.bvh\", train \n\"two\nlines.bvh\",test\nshort\n";
        let splits = super::splits(quoted).expect("two columns");
        assert_eq!((splits.len(), splits["the \"old\" walk.bvh"].as_str()), (2, "train"));
        assert_eq!(splits["two\nlines.bvh"], "test");
        assert!(super::splits("name,split\n").expect_err("no file").to_string().contains("name, split"));
    }
}
