//! The unit of work that can be kept and resumed: one model in one repetition.
//!
//! ```text
//! oracle-r03    pooled-r03    single-r03    mtlds-paper-n0128-r03          names of files, made from [a-z0-9_-]
//! ```

use std::fmt;
use std::str::FromStr;

use mtds::evaluate::SequenceScore;
use mtds::{Error, Result};
use serde::{Deserialize, Serialize};

use super::illustration::Illustration;
use super::oracle::MonteCarloErrors;
use super::protocol::Protocol;

/// A way to learn an MTLDS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Recipe {
    /// The paper's.
    Paper,
    /// This project's.
    Ours,
}

/// What is scored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum CellKind {
    /// The exact posterior predictive under the truth.
    Oracle,
    /// One linear system for all sequences.
    Pooled,
    /// One linear system for each test sequence, inferred from it alone.
    Single,
    /// A multi-task linear system.
    Mtlds {
        /// How it was learned.
        recipe: Recipe,
        /// From how many sequences.
        n: usize,
    },
}

/// Which cell: what is scored, in which repetition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CellId {
    /// What is scored.
    pub kind: CellKind,
    /// The repetition, from 0.
    pub repetition: usize,
}

/// What came out of a cell; all that is needed to assemble the tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellResult {
    /// Which cell.
    pub cell: CellId,
    /// The experiment that it is part of.
    pub protocol: Protocol,
    /// Scores of forecasts after each of the numbers of observations that [`Protocol::seen`] has, one per test sequence.
    pub scores: Vec<Vec<SequenceScore>>,
    /// log p(y_{1:T}) of each whole test sequence; `None` from a model that has none.
    pub log_evidences: Option<Vec<f64>>,
    /// Monte-Carlo errors of scores and evidences, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monte_carlo: Option<MonteCarloErrors>,
    /// Some test sequences in detail, for figures; no table depends on them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub illustrations: Vec<Illustration>,
    /// How long it took, by the clock of the caller.
    pub seconds: f64,
}

impl Recipe {
    /// All of them, the paper's first.
    pub const ALL: [Self; 2] = [Self::Paper, Self::Ours];

    /// In the names of cells.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Ours => "ours",
        }
    }

    /// The MTLDS that it learns from `n` sequences.
    #[must_use]
    pub fn mtlds(self, n: usize) -> CellKind {
        CellKind::Mtlds { recipe: self, n }
    }
}

impl CellKind {
    /// The name of the model, without the number of sequences.
    #[must_use]
    pub fn model(&self) -> String {
        match self {
            Self::Oracle => "oracle".into(),
            Self::Pooled => "pooled".into(),
            Self::Single => "single".into(),
            Self::Mtlds { recipe, .. } => format!("mtlds-{}", recipe.name()),
        }
    }

    /// How many sequences it learned from, where it learned.
    #[must_use]
    pub fn n(&self, protocol: &Protocol) -> Option<usize> {
        match self {
            Self::Oracle | Self::Single => None,
            Self::Pooled => Some(protocol.pooled_size),
            Self::Mtlds { n, .. } => Some(*n),
        }
    }

    /// All that a table shows: oracle, pooled, single, and every recipe at every training size.
    #[must_use]
    pub fn all(protocol: &Protocol, recipes: &[Recipe]) -> Vec<Self> {
        let sizes = &protocol.training_sizes;
        let learned = recipes.iter().flat_map(|recipe| sizes.iter().map(|&n| recipe.mtlds(n)));
        [Self::Oracle, Self::Pooled, Self::Single].into_iter().chain(learned).collect()
    }

    /// Its cells, one per repetition.
    pub fn cells(&self, protocol: &Protocol) -> impl Iterator<Item = CellId> {
        (0..protocol.repetitions).map(|repetition| CellId { kind: self.clone(), repetition })
    }
}

impl fmt::Display for CellKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.model())?;
        match self {
            Self::Mtlds { n, .. } => write!(f, "-n{n:04}"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-r{:02}", self.kind, self.repetition)
    }
}

/// The names of cells and of what they score, which read back letter by letter.
macro_rules! named {
    ($type:ty, $parse:expr, $such_as:literal) => {
        impl FromStr for $type {
            type Err = Error;

            /// # Errors
            /// [`Error::Setting`] for anything that is not the name of one, letter by letter.
            fn from_str(text: &str) -> Result<Self> {
                // There is one name per cell, so that no file can hide another.
                $parse(text).filter(|found: &Self| found.to_string() == text).ok_or_else(|| {
                    let why = format!("found `{text}`; expected a name such as {}", $such_as);
                    Error::Setting { name: "cell".into(), why }
                })
            }
        }

        impl From<$type> for String {
            fn from(named: $type) -> Self {
                named.to_string()
            }
        }

        impl TryFrom<String> for $type {
            type Error = Error;

            fn try_from(text: String) -> Result<Self> {
                text.parse()
            }
        }
    };
}

named!(CellKind, parse_kind, "`oracle` or `mtlds-paper-n0128`");
named!(CellId, parse_id, "`oracle-r03` or `mtlds-paper-n0128-r03`");

fn parse_kind(text: &str) -> Option<CellKind> {
    Some(match text {
        "oracle" => CellKind::Oracle,
        "pooled" => CellKind::Pooled,
        "single" => CellKind::Single,
        _ => {
            let (recipe, n) = text.strip_prefix("mtlds-")?.rsplit_once("-n")?;
            let recipe = Recipe::ALL.into_iter().find(|known| known.name() == recipe)?;
            recipe.mtlds(n.parse().ok()?)
        }
    })
}

fn parse_id(text: &str) -> Option<CellId> {
    let (kind, repetition) = text.rsplit_once("-r")?;
    Some(CellId { kind: parse_kind(kind)?, repetition: repetition.parse().ok()? })
}

impl CellResult {
    /// Of a cell before anything is computed.
    #[must_use]
    pub fn new(cell: CellId, protocol: Protocol) -> Self {
        let (scores, log_evidences, monte_carlo, illustrations) = (vec![], None, None, vec![]);
        Self { cell, protocol, scores, log_evidences, monte_carlo, illustrations, seconds: 0.0 }
    }

    /// Checks that it is whole.
    ///
    /// # Errors
    /// [`Error::Shape`] when sequences or times are not those of the experiment; [`Error::NotFinite`] for a number
    /// that is not finite.
    pub fn check(&self) -> Result<()> {
        let what = |part: &str| format!("{part} of cell {}", self.cell);
        let Protocol { n_test, seen, n_time, .. } = &self.protocol;
        let times = |part: &str, found: usize| check_number(&what(part), seen.len(), found);
        let sequences = |found: usize| check_number(&what("sequences"), *n_test, found);
        let finite = |part: &str, numbers: &[f64]| match numbers.iter().find(|x| !x.is_finite()) {
            None => Ok(()),
            Some(&value) => {
                let (what, hint) = (what(part), "; the forecast gives the outputs no density");
                Err(Error::NotFinite { what, value, hint })
            }
        };
        times("times", self.scores.len())?;
        for (of_time, t) in self.scores.iter().zip(seen) {
            sequences(of_time.len())?;
            let part = format!("score after {t} observations");
            for score in of_time {
                check_number(&what("intervals"), 3, score.coverage.len())?;
                finite(&part, &[score.rmse, score.nll, score.crps])?;
                score.coverage.iter().try_for_each(|coverage| finite(&part, &[coverage.share]))?;
            }
        }
        if let Some(evidences) = &self.log_evidences {
            sequences(evidences.len())?;
            finite("log evidence", evidences)?;
        }
        if let Some(MonteCarloErrors { rmse, nll, log_evidence }) = &self.monte_carlo {
            for by_time in [rmse, nll] {
                times("times of Monte-Carlo errors", by_time.len())?;
            }
            for errors in rmse.iter().chain(nll).chain([log_evidence]) {
                sequences(errors.len())?;
                finite("Monte-Carlo error", errors)?;
            }
        }
        self.illustrations.iter().try_for_each(|one| one.check(*n_time))
    }
}

/// # Errors
/// [`Error::Shape`] when the numbers differ.
pub(super) fn check_number(what: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::Shape { what: what.into(), expected: expected.to_string(), found: found.to_string() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fixtures::{cell, protocol};
    use super::*;

    #[test]
    fn names_are_stable() {
        for (kind, repetition, name) in [
            (CellKind::Oracle, 3, "oracle-r03"),
            (CellKind::Pooled, 0, "pooled-r00"),
            (CellKind::Single, 9, "single-r09"),
            (Recipe::Paper.mtlds(128), 12, "mtlds-paper-n0128-r12"),
        ] {
            let id = CellId { kind, repetition };
            assert_eq!(id.to_string(), name);
            assert_eq!(name.parse::<CellId>().unwrap(), id);
        }
    }

    #[test]
    fn other_names_are_refused() {
        for name in [
            "",
            "oracle",
            "oracle-r3",
            "Oracle-r03",
            "oracle-r+3",
            "mtlds-r03",
            "mtlds-paper-n128-r03",
            "mtlds-fake-n0128-r03",
            "../oracle-r03",
        ] {
            assert!(matches!(name.parse::<CellId>(), Err(Error::Setting { .. })), "{name}");
        }
    }

    proptest! {
        #[test]
        fn names_read_back(recipe in 0usize..2, n in 0usize..100_000, repetition in 0usize..1000) {
            let id = CellId { kind: Recipe::ALL[recipe].mtlds(n), repetition };
            let name = id.to_string();
            prop_assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c)));
            prop_assert_eq!(name.parse::<CellId>().unwrap(), id);
        }
    }

    #[test]
    fn results_survive_json_to_the_bit() {
        let result = cell(CellKind::Oracle, 1, 1.0 / 3.0);
        let json = serde_json::to_string(&result).unwrap();
        assert!(json.starts_with(r#"{"cell":"oracle-r01","protocol":{"scale":"quick","seed":1,"#), "{json}");
        assert_eq!(serde_json::from_str::<CellResult>(&json).unwrap(), result);
        let renamed = json.replace("oracle-r01", "nothing");
        assert!(serde_json::from_str::<CellResult>(&renamed).unwrap_err().to_string().contains("oracle-r03"));
    }

    #[test]
    fn damaged_results_are_refused() {
        let good = cell(CellKind::Oracle, 0, 0.2);
        good.check().unwrap();
        let damaged = |damage: &dyn Fn(&mut CellResult)| {
            let mut cell = good.clone();
            damage(&mut cell);
            cell.check().unwrap_err()
        };
        let misshapen: [&dyn Fn(&mut CellResult); 5] = [
            &|cell| cell.scores[1].truncate(5),
            &|cell| cell.scores.truncate(2),
            &|cell| cell.scores[0][2].coverage.truncate(2),
            &|cell| cell.log_evidences = Some(vec![1.0]),
            &|cell| cell.monte_carlo.iter_mut().for_each(|errors| errors.nll[1].clear()),
        ];
        for damage in misshapen {
            assert!(matches!(damaged(damage), Error::Shape { .. }));
        }
        let not_finite: [&dyn Fn(&mut CellResult); 3] = [
            &|cell| cell.log_evidences.iter_mut().for_each(|evidences| evidences[0] = f64::NAN),
            &|cell| cell.scores[2][0].nll = f64::INFINITY,
            &|cell| cell.monte_carlo.iter_mut().for_each(|errors| errors.rmse[0][1] = f64::NAN),
        ];
        for damage in not_finite {
            assert!(matches!(damaged(damage), Error::NotFinite { .. }));
        }
    }

    #[test]
    fn a_table_has_all_models_and_sizes() {
        let kinds = CellKind::all(&protocol(), &Recipe::ALL);
        assert_eq!(kinds.len(), 3 + 2 * 3);
        assert_eq!(kinds.iter().map(|kind| kind.cells(&protocol()).count()).sum::<usize>(), 9 * 2);
        assert_eq!(
            (kinds[1].n(&protocol()), kinds[8].n(&protocol()), kinds[2].n(&protocol())),
            (Some(100), Some(8), None)
        );
    }
}
