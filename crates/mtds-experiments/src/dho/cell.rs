//! The unit of work that can be kept and resumed: one model in one repetition.
//!
//! ```text
//! oracle-r03    pooled-r03    single-r03    mtlds-paper-n0128-r03          names of files, made from [a-z0-9_-]
//! ```

use std::fmt;
use std::str::FromStr;

use mtds::{Error, Result};
use serde::{Deserialize, Serialize};

use super::illustration::Illustration;
use super::protocol::Protocol;
use super::score::{SequenceResult, check_number};

/// The name of a way to learn an MTLDS: lower-case letters, digits and `_`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Recipe(String);

/// What is scored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
pub struct CellResult {
    /// Which cell.
    pub cell: CellId,
    /// The experiment that it is part of.
    pub protocol: Protocol,
    /// One per test sequence.
    pub sequences: Vec<SequenceResult>,
    /// Some test sequences in detail, for figures; no table depends on them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub illustrations: Vec<Illustration>,
    /// How long it took, by the clock of the caller.
    pub seconds: f64,
}

impl Recipe {
    /// A recipe of this name.
    ///
    /// # Errors
    /// [`Error::Setting`] for a name with other characters, or none.
    pub fn new(name: impl Into<String>) -> Result<Self> {
        let name = name.into();
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if name.is_empty() || !name.chars().all(allowed) {
            let why = format!("found `{name}`; expected lower-case letters, digits and `_`");
            return Err(Error::Setting { name: "recipe".into(), why });
        }
        Ok(Self(name))
    }

    /// The paper's.
    #[must_use]
    pub fn paper() -> Self {
        Self("paper".into())
    }

    /// This project's.
    #[must_use]
    pub fn ours() -> Self {
        Self("ours".into())
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
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
        let at = |recipe: &Recipe, n: usize| Self::Mtlds { recipe: recipe.clone(), n };
        let learned =
            recipes.iter().flat_map(|recipe| protocol.training_sizes.iter().map(|&n| at(recipe, n)));
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

impl FromStr for CellId {
    type Err = Error;

    /// # Errors
    /// [`Error::Setting`] for anything that is not the name of a cell, letter by letter.
    fn from_str(text: &str) -> Result<Self> {
        let refused = || {
            let why =
                format!("found `{text}`; expected a name such as `oracle-r03` or `mtlds-paper-n0128-r03`");
            Error::Setting { name: "cell".into(), why }
        };
        let parsed = parse(text).ok_or_else(refused)?;
        // There is one name per cell, so that no file can hide another.
        if parsed.to_string() == text { Ok(parsed) } else { Err(refused()) }
    }
}

fn parse(text: &str) -> Option<CellId> {
    let (kind, repetition) = text.rsplit_once("-r")?;
    let kind = match kind {
        "oracle" => CellKind::Oracle,
        "pooled" => CellKind::Pooled,
        "single" => CellKind::Single,
        _ => {
            let (recipe, n) = kind.strip_prefix("mtlds-")?.rsplit_once("-n")?;
            CellKind::Mtlds { recipe: Recipe::new(recipe).ok()?, n: n.parse().ok()? }
        }
    };
    Some(CellId { kind, repetition: repetition.parse().ok()? })
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
    /// Checks that it is whole.
    ///
    /// # Errors
    /// [`Error::Shape`] when sequences or times are not those of the experiment; [`Error::NotFinite`] for a number
    /// that is not finite.
    pub fn check(&self) -> Result<()> {
        let what = |part: &str| format!("{part} of cell {}", self.cell);
        check_number(&what("sequences"), self.protocol.n_test, self.sequences.len())?;
        for sequence in &self.sequences {
            let times: Vec<usize> = sequence.scores.iter().map(|score| score.t).collect();
            if times != self.protocol.seen {
                let (expected, found) = (format!("{:?}", self.protocol.seen), format!("{times:?}"));
                return Err(Error::Shape { what: what("times"), expected, found });
            }
            sequence.scores.iter().try_for_each(|score| score.check())?;
            let evidence = sequence.log_evidence.unwrap_or(0.0);
            let error = sequence.log_evidence_mc_se.unwrap_or(0.0);
            if let Some(value) = [evidence, error].into_iter().find(|value| !value.is_finite()) {
                return Err(Error::NotFinite {
                    what: what("log evidence"),
                    value,
                    hint: "; compute it again",
                });
            }
        }
        self.illustrations.iter().try_for_each(|one| one.check(self.protocol.n_time))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fixtures::{cell, protocol};
    use super::*;

    #[test]
    fn names_are_stable() {
        let recipe = Recipe::new("paper").unwrap();
        for (kind, repetition, name) in [
            (CellKind::Oracle, 3, "oracle-r03"),
            (CellKind::Pooled, 0, "pooled-r00"),
            (CellKind::Single, 9, "single-r09"),
            (CellKind::Mtlds { recipe, n: 128 }, 12, "mtlds-paper-n0128-r12"),
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
            "mtlds-a-n128-r03",
            "../oracle-r03",
        ] {
            assert!(matches!(name.parse::<CellId>(), Err(Error::Setting { .. })), "{name}");
        }
        for name in ["", "Paper", "a-b", "a/b", "ä"] {
            assert!(matches!(Recipe::new(name), Err(Error::Setting { .. })), "{name}");
        }
    }

    proptest! {
        #[test]
        fn names_read_back(recipe in "[a-z0-9_]{1,12}", n in 0usize..100_000, repetition in 0usize..1000) {
            let kind = CellKind::Mtlds { recipe: Recipe::new(recipe).unwrap(), n };
            let id = CellId { kind, repetition };
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
        let good = cell(CellKind::Single, 0, 0.2);
        good.check().unwrap();
        let mut short = good.clone();
        short.sequences.pop();
        assert!(matches!(short.check(), Err(Error::Shape { .. })));
        let mut other_times = good.clone();
        other_times.sequences[1].scores[0].t = 11;
        assert!(matches!(other_times.check(), Err(Error::Shape { .. })));
        let mut broken = good.clone();
        broken.sequences[0].log_evidence = Some(f64::NAN);
        assert!(matches!(broken.check(), Err(Error::NotFinite { .. })));
        let mut broken = good;
        broken.sequences[0].scores[2].nll = f64::INFINITY;
        assert!(matches!(broken.check(), Err(Error::NotFinite { .. })));
    }

    #[test]
    fn a_table_has_all_models_and_sizes() {
        let kinds = CellKind::all(&protocol(), &[Recipe::new("a").unwrap(), Recipe::new("b").unwrap()]);
        assert_eq!(kinds.len(), 3 + 2 * 3);
        assert_eq!(kinds.iter().map(|kind| kind.cells(&protocol()).count()).sum::<usize>(), 9 * 2);
        assert_eq!(
            (kinds[1].n(&protocol()), kinds[8].n(&protocol()), kinds[2].n(&protocol())),
            (Some(100), Some(8), None)
        );
    }
}
