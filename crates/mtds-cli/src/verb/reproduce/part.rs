//! A part of an experiment's cells, so that machines can share the work: `--cells I/N`.

use crate::usage::Refusal;

/// Part `i` of `n`, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    i: usize,
    n: usize,
}

pub(super) fn part(typed: String) -> Result<Part, Refusal> {
    let numbers = typed.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match numbers {
        Some((i, n)) if (1..=n).contains(&i) => Ok(Part { i, n }),
        _ => Err((
            format!("expected a part such as 2/4, found `{typed}`"),
            "1/4, 2/4, 3/4 and 4/4 on four machines".into(),
        )),
    }
}

impl Default for Part {
    fn default() -> Self {
        Self { i: 1, n: 1 }
    }
}

impl Part {
    /// Those of some cells that are in it.
    pub(super) fn of<T>(self, cells: impl Iterator<Item = T>) -> Vec<T> {
        cells.enumerate().filter(|(k, _)| k % self.n == self.i - 1).map(|(_, cell)| cell).collect()
    }
}
