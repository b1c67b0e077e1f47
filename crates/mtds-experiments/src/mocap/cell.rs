//! The unit of work that can be kept and resumed: what was learned once, and all that is asked of it.
//!
//! ```text
//! e1-mtds-s32-r00    experiment 1: the model, from 1/32 of what there is, first seed
//! e2-gru-open-f03-r01    experiment 2: a rival, style number 3 left out, second seed
//! e3-r00    experiment 3        map-r00    the map of codes
//! ```

use std::fmt;
use std::str::FromStr;

use mtds::{Error, Result};
use serde::{Deserialize, Serialize};

use super::map::CodeMapResult;
use super::protocol::Protocol;
use super::transfer::Transfer;

/// What forecasts, by what it learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The multi-task system, with and without what the rows seen tell beside the code.
    Mtds,
    /// A gated network of one layer, open loop, residual: the paper's best rival.
    GruOpen,
    /// The same with two layers.
    Gru2Open,
    /// One layer that learns from the true row before, and reads its own predictions in forecasts.
    GruClosed,
    /// The same with two layers.
    Gru2Closed,
    /// One layer, open loop, that emits outputs and not their changes.
    GruDirect,
    /// One layer that reads its own predictions, in learning and in forecasts.
    GruFed,
    /// One layer that reads the inputs alone; with and without what the rows seen tell.
    GruInputs,
    /// A gated network, open loop, for each style.
    GruStyles,
    /// What learns next to nothing: training mean, last frame, mean of the rows seen, harmonics of the phase.
    Simple,
}

/// What a cell is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Task {
    /// Experiment 1: by what, from which share (one over it).
    Efficiency(Method, usize),
    /// Experiment 2: by what, which style is left out.
    Novel(Method, usize),
    /// Experiment 3.
    Transfer,
    /// The map of codes.
    Map,
}

/// Which cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CellId {
    /// What it is part of.
    pub task: Task,
    /// The repetition, from 0.
    pub repetition: usize,
}

/// Errors of one way to forecast, in squared deviations of an output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    /// Its name.
    pub method: String,
    /// By start, as told: experiment 1 the mean over all rows ahead; experiment 2 at each of [`Protocol::told`], `None` beyond the clip.
    pub starts: Vec<Vec<Option<f64>>>,
    /// By row ahead: the mean over the starts that have it; `None` where none has.
    pub curve: Vec<Option<f64>>,
}

/// Where a forecast began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartRecord {
    /// The clip.
    pub clip: String,
    /// Its style.
    pub style: String,
    /// The first row that is seen.
    pub row: usize,
}

/// What came out of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// Errors of forecasts.
    Forecasts {
        /// Where they began.
        starts: Vec<StartRecord>,
        /// By every way that the cell knows.
        methods: Vec<Errors>,
        /// What learning chose, for a reader.
        chosen: serde_json::Value,
    },
    /// Scores of style transfer.
    Transfer(Box<Transfer>),
    /// Codes of segments, and motions.
    Map(Box<CodeMapResult>),
}

/// A cell and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellResult {
    /// Which cell.
    pub cell: CellId,
    /// The experiments that it is part of.
    pub protocol: Protocol,
    /// What came out.
    pub found: Found,
    /// How long it took, by the clock of the caller.
    pub seconds: f64,
}

impl Method {
    /// All of them, the model first.
    pub const ALL: [Self; 10] = [
        Self::Mtds,
        Self::GruOpen,
        Self::Gru2Open,
        Self::GruClosed,
        Self::Gru2Closed,
        Self::GruDirect,
        Self::GruFed,
        Self::GruInputs,
        Self::GruStyles,
        Self::Simple,
    ];

    /// Whether every repetition has it: the model, and the rivals that it is measured by. The others vary what a rival is, and are there once.
    #[must_use]
    pub fn is_repeated(self) -> bool {
        matches!(self, Self::Mtds | Self::GruOpen | Self::GruClosed | Self::GruInputs)
    }

    /// In the names of cells.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mtds => "mtds",
            Self::GruOpen => "gru-open",
            Self::Gru2Open => "gru2-open",
            Self::GruClosed => "gru-closed",
            Self::Gru2Closed => "gru2-closed",
            Self::GruDirect => "gru-direct",
            Self::GruFed => "gru-fed",
            Self::GruInputs => "gru-inputs",
            Self::GruStyles => "gru-styles",
            Self::Simple => "simple",
        }
    }
}

impl CellId {
    /// Whether a word stands for it: its name, the beginning of it up to a hyphen (such as `e2` or `e1-mtds`), or a method.
    #[must_use]
    pub fn is_meant(&self, word: &str) -> bool {
        let name = self.to_string();
        let begins = name.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        // `gru-open` must not stand for a method whose name goes on.
        let own = matches!(self.task, Task::Efficiency(by, _) | Task::Novel(by, _) if by.name() == word);
        begins || own
    }
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.task {
            Task::Efficiency(method, divisor) => write!(f, "e1-{}-s{divisor:02}", method.name()),
            Task::Novel(method, style) => write!(f, "e2-{}-f{style:02}", method.name()),
            Task::Transfer => write!(f, "e3"),
            Task::Map => write!(f, "map"),
        }?;
        write!(f, "-r{:02}", self.repetition)
    }
}

impl FromStr for CellId {
    type Err = Error;

    /// # Errors
    /// [`Error::Setting`] for anything that is not the name of one, letter by letter.
    fn from_str(text: &str) -> Result<Self> {
        parsed(text).filter(|found| found.to_string() == text).ok_or_else(|| {
            let why = format!("found `{text}`; expected a name such as `e2-mtds-f00-r00`");
            Error::Setting { name: "cell".into(), why }
        })
    }
}

fn parsed(text: &str) -> Option<CellId> {
    let (task, repetition) = text.rsplit_once("-r")?;
    let named = |name: &str| Method::ALL.into_iter().find(|method| method.name() == name);
    let task = match task.split_once('-') {
        None if task == "e3" => Task::Transfer,
        None if task == "map" => Task::Map,
        Some(("e1", rest)) => {
            let (method, divisor) = rest.rsplit_once("-s")?;
            Task::Efficiency(named(method)?, divisor.parse().ok()?)
        }
        Some(("e2", rest)) => {
            let (method, style) = rest.rsplit_once("-f")?;
            Task::Novel(named(method)?, style.parse().ok()?)
        }
        _ => return None,
    };
    Some(CellId { task, repetition: repetition.parse().ok()? })
}

impl From<CellId> for String {
    fn from(cell: CellId) -> Self {
        cell.to_string()
    }
}

impl TryFrom<String> for CellId {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl CellResult {
    /// Checks that numbers are finite, and as many as there should be.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::NotFinite`].
    pub fn check(&self) -> Result<()> {
        let what = |part: &str| format!("{part} of cell {}", self.cell);
        let Found::Forecasts { starts, methods, .. } = &self.found else { return Ok(()) };
        let n_told = match self.cell.task {
            Task::Novel(..) => self.protocol.told.len(),
            _ => 1,
        };
        let number = |part: &str, expected: usize, found: usize| match expected == found {
            true => Ok(()),
            false => {
                let (expected, found) = (expected.to_string(), found.to_string());
                Err(Error::Shape { what: what(part), expected, found })
            }
        };
        if methods.is_empty() || starts.is_empty() {
            return number("starts and ways to forecast", 1, 0);
        }
        for errors in methods {
            number("starts", starts.len(), errors.starts.len())?;
            errors.starts.iter().try_for_each(|told| number("errors that are told", n_told, told.len()))?;
            let values = errors.starts.iter().flatten().chain(&errors.curve).flatten();
            if let Some(&value) = values.into_iter().find(|value| !value.is_finite()) {
                return Err(Error::NotFinite { what: what("error"), value, hint: "" });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_nothing_else_does() {
        let tasks = [
            (Task::Efficiency(Method::Mtds, 32), 0, "e1-mtds-s32-r00"),
            (Task::Efficiency(Method::GruStyles, 1), 2, "e1-gru-styles-s01-r02"),
            (Task::Novel(Method::Gru2Closed, 3), 1, "e2-gru2-closed-f03-r01"),
            (Task::Transfer, 0, "e3-r00"),
            (Task::Map, 11, "map-r11"),
        ];
        for (task, repetition, name) in tasks {
            let id = CellId { task, repetition };
            assert_eq!(id.to_string(), name);
            assert_eq!(name.parse::<CellId>().unwrap(), id);
        }
        for wrong in ["", "e1", "e1-mtds-r00", "e1-mtds-s1-r00", "e2-gru-f00-r00", "e3-r0", "map-r00-r00"] {
            assert!(wrong.parse::<CellId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn words_mean_experiments_methods_and_cells() {
        let id: CellId = "e2-gru-open-f03-r01".parse().unwrap();
        for word in ["e2", "gru-open", "e2-gru-open", "e2-gru-open-f03", "e2-gru-open-f03-r01", "e2-gru"] {
            assert!(id.is_meant(word), "{word}");
        }
        for word in ["e1", "gru", "gru2-open", "e2-gru-op", "e3", ""] {
            assert!(!id.is_meant(word), "{word}");
        }
    }
}
