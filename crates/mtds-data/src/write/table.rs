//! A table in memory, column by column.

use std::collections::HashSet;

/// Named columns of one length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Name and values, in the order in which they are written.
    pub columns: Vec<(String, Column)>,
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Text; an empty one is written as nothing.
    Text(Vec<String>),
    /// Whole numbers.
    Integer(Vec<i64>),
    /// Numbers; NaN is written as nothing.
    Number(Vec<f64>),
}

impl Table {
    /// A table without columns.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The table with one more column.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, column: Column) -> Self {
        self.columns.push((name.into(), column));
        self
    }

    /// Number of rows, of the first column.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// Why the table cannot be written, if it cannot.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Some((first, _)) = self.columns.first() else {
            return Err("the table has no columns".into());
        };
        let mut seen = HashSet::new();
        for (name, column) in &self.columns {
            if name.trim() != name || name.is_empty() {
                return Err(format!("column name `{name}` is empty or has spaces around it; change it"));
            }
            if !seen.insert(name) {
                return Err(format!("two columns are called `{name}`; rename one"));
            }
            if column.len() != self.n_rows() {
                let (n_rows, found) = (self.n_rows(), column.len());
                return Err(format!("column `{name}` has {found} rows; expected {n_rows} as in `{first}`"));
            }
        }
        Ok(())
    }
}

impl Column {
    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Integer(values) => values.len(),
            Self::Number(values) => values.len(),
        }
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
