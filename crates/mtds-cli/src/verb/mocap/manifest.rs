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
    let mut rows = text.lines().filter(|line| !line.trim().is_empty()).map(cells);
    let header = rows.next().unwrap_or_default();
    let place = |name: &str| header.iter().position(|column| column.trim() == name);
    let (Some(file), Some(split)) = (place("file"), place("split")) else {
        bail!("expected the columns `file` and `split`, found {}", header.join(", "));
    };
    let row = |cells: Vec<String>| match (cells.get(file), cells.get(split)) {
        (Some(file), Some(split)) if !split.trim().is_empty() => {
            Some((file.trim().to_owned(), split.trim().to_owned()))
        }
        _ => None,
    };
    Ok(rows.filter_map(row).collect())
}

/// The cells of a line; quotes may hold commas.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for letter in line.trim_end_matches('\r').trim_start_matches('\u{feff}').chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            _ => cells.last_mut().into_iter().for_each(|cell| cell.push(letter)),
        }
    }
    cells
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
        assert!(super::splits("name,split\n").expect_err("no file").to_string().contains("name, split"));
    }
}
