//! The result of a verb on its way out: into a file, or as CSV on stdout, or as one JSON document.

use crate::options::Common;
use crate::output::{document_text, print};
use anyhow::{Result, anyhow};
use mtds::Family;
use mtds_data::{
    Column, Columns, Table, TimeAxis, family_table, spelled_out, write_family, write_table, write_table_to,
};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::Path;

/// What a verb found.
#[derive(Debug)]
pub(super) enum Content {
    /// A table of results.
    Table(Table),
    /// Sequences, as the readers take them.
    Family(Box<Family>, Columns, TimeAxis),
}

/// Where it goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delivery<'a> {
    /// The verb.
    pub(super) verb: &'a str,
    /// The file; `None` for stdout.
    pub(super) out: Option<&'a Path>,
    /// How it is printed.
    pub(super) common: &'a Common,
}

impl Content {
    /// Sequences, with the columns that their family names.
    pub(super) fn family(family: Family, time: TimeAxis) -> Self {
        let columns = Columns::of(&family);
        Self::Family(Box::new(family), columns, time)
    }

    fn table(self) -> Result<Table> {
        match self {
            Self::Table(table) => Ok(table),
            Self::Family(family, columns, time) => {
                family_table(&family, &columns, &time).map_err(|why| anyhow!(why))
            }
        }
    }

    fn save(&self, path: &Path) -> Result<()> {
        match self {
            Self::Table(table) => Ok(write_table(path, table)?),
            Self::Family(family, columns, time) => Ok(write_family(path, family, columns, time)?),
        }
    }
}

impl Delivery<'_> {
    /// Writes the content; with a file, `line` says on stdout what is in it. `facts` go into the JSON document.
    ///
    /// # Errors
    /// A file that cannot be written; a `stdout` that takes no more.
    pub(super) fn deliver(
        self,
        content: Content,
        facts: &[(&str, Value)],
        line: &str,
        stdout: &mut dyn Write,
    ) -> Result<()> {
        if let Some(path) = self.out {
            content.save(path)?;
        }
        let text = match (self.common.json, self.out) {
            (true, _) => self.document(content, facts)?,
            (false, Some(path)) => spelled_out(&format!("{}: {line}\n", path.display())),
            (false, None) => csv(&content.table()?)?,
        };
        print(stdout, &text)
    }

    fn document(self, content: Content, facts: &[(&str, Value)]) -> Result<String> {
        let mut document = json!({
            "verb": self.verb,
            "version": env!("CARGO_PKG_VERSION"),
            "seed": self.common.seed(),
        });
        facts.iter().for_each(|(key, value)| document[*key] = value.clone());
        match self.out {
            Some(path) => document["file"] = json!(path),
            None => document["rows"] = rows(&content.table()?),
        }
        document_text(document)
    }
}

fn csv(table: &Table) -> Result<String> {
    let mut bytes = Vec::new();
    write_table_to(&mut bytes, mtds_data::Format::Csv, Path::new("stdout"), table)?;
    Ok(String::from_utf8(bytes)?)
}

/// A row as an object; null where something is missing.
fn rows(table: &Table) -> Value {
    let cell = |column: &Column, row: usize| match column {
        Column::Text(values) if values[row].is_empty() => Value::Null,
        Column::Text(values) => json!(values[row]),
        Column::Integer(values) => json!(values[row]),
        Column::Number(values) => json!(values[row]),
    };
    let object = |row: usize| -> Map<String, Value> {
        table.columns.iter().map(|(name, column)| (name.clone(), cell(column, row))).collect()
    };
    (0..table.n_rows()).map(object).collect()
}

/// Adds the rows of `more`, which has the same columns or none, to `table`; to an empty one as its first.
pub(super) fn append(table: &mut Table, more: Table) {
    if table.columns.is_empty() {
        *table = more;
        return;
    }
    for ((_, to), (_, from)) in table.columns.iter_mut().zip(more.columns) {
        match (to, from) {
            (Column::Text(to), Column::Text(from)) => to.extend(from),
            (Column::Integer(to), Column::Integer(from)) => to.extend(from),
            (Column::Number(to), Column::Number(from)) => to.extend(from),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(first: i64) -> Table {
        Table::new()
            .with("series", Column::Text(vec!["a".into(), String::new()]))
            .with("t", Column::Integer(vec![first, first + 1]))
            .with("y", Column::Number(vec![0.5, f64::NAN]))
    }

    #[test]
    fn rows_are_objects_with_null_for_missing() {
        assert_eq!(
            rows(&table(3)),
            json!([{"series": "a", "t": 3, "y": 0.5}, {"series": null, "t": 4, "y": null}])
        );
    }

    #[test]
    fn tables_are_put_together() {
        let mut all = Table::new();
        append(&mut all, table(0));
        append(&mut all, table(2));
        assert_eq!(csv(&all).expect("text"), "series,t,y\na,0,0.5\n,1,\na,2,0.5\n,3,\n");
    }
}
