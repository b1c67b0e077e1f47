//! How much of an experiment is run, which of its cells, and where they are kept: the options of all experiments by cells.

use super::ScaleName;
use crate::usage::{Refusal, value};
use clap::Args;
use std::path::{Path, PathBuf};

/// The page beside a result.
pub(super) const PAGE: &str = "index.html";

/// What is run of an experiment, and where it is left.
#[derive(Debug, Args)]
pub struct Portion {
    /// How much of the experiment is run
    #[arg(long, value_enum, default_value_t = ScaleName::Quick)]
    pub scale: ScaleName,

    /// Directory for the cells, the result and the report page [default: mtds-EXPERIMENT-SCALE]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Compute these cells alone, by their names or those of models, methods and experiments in them; the tables take all that are there
    #[arg(long, value_name = "CELLS", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Compute part I of N of the cells, so that N machines can share the work; copy their cells together
    #[arg(long, value_name = "I/N", value_parser = value(part))]
    pub cells: Option<Part>,
}

impl Portion {
    /// The directory of an experiment.
    pub(super) fn out(&self, experiment: &str) -> PathBuf {
        self.scale.directory(self.out.as_deref(), experiment)
    }

    /// Those that are asked for of some cells; `means` says whether a word stands for one.
    pub(super) fn of<T>(&self, cells: impl Iterator<Item = T>, means: impl Fn(&str, &T) -> bool) -> Vec<T> {
        let is_asked = |cell: &T| self.only.is_empty() || self.only.iter().any(|word| means(word, cell));
        self.cells.unwrap_or_default().of(cells.filter(is_asked))
    }
}

/// What is printed: the tables, how many cells are missing beside those that are there, the files.
pub(super) fn summary(folder: &Path, result: &str, tables: &str, (missing, there): (usize, usize)) -> String {
    let mut out = tables.to_owned();
    if missing > 0 {
        let all = missing + there;
        out.push_str(&format!(
            "\n{missing} of {all} cells are missing; the same command without --only and --cells computes them\n"
        ));
    }
    out.push_str(&format!("\nleft in {}:\n", folder.display()));
    for (name, meaning) in [(result, "the result"), (PAGE, "the report page")] {
        out.push_str(&format!("  {name:<10}  {meaning}\n"));
    }
    out
}

/// Part `i` of `n`, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    i: usize,
    n: usize,
}

fn part(typed: String) -> Result<Part, Refusal> {
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
    fn of<T>(self, cells: impl Iterator<Item = T>) -> Vec<T> {
        cells.enumerate().filter(|(k, _)| k % self.n == self.i - 1).map(|(_, cell)| cell).collect()
    }
}
