//! What `mtds reproduce dho` will do: which cells of which experiment, and where they are kept.

use super::{CommonPlan, UsageError, directory};
use crate::arguments::{DhoArguments, RecipeName, ScaleName};
use mtds_experiments::dho::{CellId, CellKind, Protocol, Recipe, Scale, Settings};
use std::path::{Path, PathBuf};

/// What `mtds reproduce dho` will do.
#[derive(Debug, Clone)]
pub struct DhoPlan {
    /// Directory of cells, result and page; created if it is missing.
    pub out: PathBuf,
    /// The experiment.
    pub protocol: Protocol,
    /// Settings of its models.
    pub settings: Settings,
    /// What the table shows.
    pub kinds: Vec<CellKind>,
    /// What this run computes, unless it is there: words of `--only`, empty for all.
    pub only: Vec<String>,
    /// Which part of it: (I, N), I from 1 to N.
    pub part: (usize, usize),
    /// What every verb needs to know.
    pub common: CommonPlan,
}

impl DhoPlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &DhoArguments) -> Result<Self, UsageError> {
        let common = CommonPlan::new(&typed.common)?;
        let (scale, default_out) = match typed.scale {
            ScaleName::Quick => (Scale::Quick, "mtds-dho-quick"),
            ScaleName::Full => (Scale::Full, "mtds-dho-full"),
        };
        let out = directory(typed.out.as_deref().unwrap_or(Path::new(default_out)))?;
        let settings = Settings::new(scale).map_err(|error| UsageError {
            option: "--scale".into(),
            problem: error.to_string(),
            hint: "another scale".into(),
        })?;
        let protocol = Protocol::new(scale, common.seed);
        let kinds = kinds(&protocol, typed.recipe);
        let only = only(&typed.only, &kinds)?;
        let part = typed.cells.as_deref().map_or(Ok((1, 1)), part)?;
        Ok(Self { out, protocol, settings, kinds, only, part, common })
    }

    /// The cells that this run is to leave behind, by kind and repetition.
    #[must_use]
    pub fn wanted(&self) -> Vec<CellId> {
        let chosen = self
            .kinds
            .iter()
            .filter(|kind| self.only.is_empty() || self.only.iter().any(|word| means(word, kind)));
        let cells = chosen.flat_map(|kind| kind.cells(&self.protocol)).enumerate();
        let (i, n) = self.part;
        cells.filter(|(k, _)| k % n == i - 1).map(|(_, cell)| cell).collect()
    }
}

fn kinds(protocol: &Protocol, recipe: RecipeName) -> Vec<CellKind> {
    let recipes = match recipe {
        RecipeName::Paper => vec![Recipe::Paper],
        RecipeName::Ours => vec![Recipe::Ours],
        RecipeName::Both => Recipe::ALL.to_vec(),
    };
    CellKind::all(protocol, &recipes)
}

/// Whether a word of `--only` stands for cells of `kind`: its full name, its model, or `mtlds` for every recipe.
fn means(word: &str, kind: &CellKind) -> bool {
    let is_mtlds = matches!(kind, CellKind::Mtlds { .. });
    word == kind.to_string() || word == kind.model() || (word == "mtlds" && is_mtlds)
}

fn only(typed: &[String], kinds: &[CellKind]) -> Result<Vec<String>, UsageError> {
    match typed.iter().find(|word| !kinds.iter().any(|kind| means(word, kind))) {
        None => Ok(typed.to_vec()),
        Some(unknown) => Err(UsageError {
            option: "--only".into(),
            problem: format!("expected models of this experiment, found `{unknown}`"),
            hint: kinds.iter().map(CellKind::to_string).collect::<Vec<_>>().join(", "),
        }),
    }
}

fn part(typed: &str) -> Result<(usize, usize), UsageError> {
    let numbers = typed.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match numbers {
        Some((i, n)) if (1..=n).contains(&i) => Ok((i, n)),
        _ => Err(UsageError {
            option: "--cells".into(),
            problem: format!("expected a part such as 2/4, found `{typed}`"),
            hint: "1/4, 2/4, 3/4 and 4/4 on four machines".into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, ReproduceArguments, Verb};
    use clap::Parser;
    use std::collections::BTreeSet;

    fn plan(typed: &[&str]) -> Result<DhoPlan, UsageError> {
        let words = ["mtds", "reproduce", "dho"].iter().chain(typed);
        let verb = Arguments::try_parse_from(words).expect("clap accepts this").verb;
        let Verb::Reproduce(ReproduceArguments::Dho(arguments)) = verb else { panic!("{verb:?}") };
        DhoPlan::new(&arguments)
    }

    fn names(plan: &DhoPlan) -> Vec<String> {
        plan.wanted().iter().map(CellId::to_string).collect()
    }

    #[test]
    fn scale_and_seed_are_those_of_the_experiment() {
        let quick = plan(&[]).expect("no arguments are fine");
        assert_eq!((quick.protocol.scale, quick.out.as_path()), (Scale::Quick, Path::new("mtds-dho-quick")));
        let full = plan(&["--scale", "full", "--seed", "7"]).expect("valid");
        assert_eq!((full.protocol.seed, full.protocol.repetitions), (7, 10));
        assert_eq!(full.out, Path::new("mtds-dho-full"));
        assert_eq!(full.wanted().len(), 10 * full.kinds.len());
        let models: BTreeSet<String> = full.kinds.iter().map(CellKind::model).collect();
        let expected = ["mtlds-ours", "mtlds-paper", "oracle", "pooled", "single"];
        assert_eq!(models.into_iter().collect::<Vec<_>>(), expected, "both recipes by default");
    }

    #[test]
    fn a_part_of_the_models_can_be_asked_for() {
        assert_eq!(names(&plan(&["--only", "oracle"]).expect("valid")), ["oracle-r00", "oracle-r01"]);
        let two = plan(&["--only", "pooled,mtlds-paper-n0016"]).expect("valid");
        assert_eq!(
            names(&two),
            ["pooled-r00", "pooled-r01", "mtlds-paper-n0016-r00", "mtlds-paper-n0016-r01"]
        );
        let recipe = plan(&["--recipe", "paper", "--only", "mtlds"]).expect("valid");
        assert_eq!(recipe.wanted().len(), 3 * 2);
        let error = plan(&["--only", "oracle,orakel"]).expect_err("unknown");
        assert!(error.problem.contains("`orakel`") && error.hint.contains("oracle, pooled"), "{error}");
    }

    #[test]
    fn parts_are_disjoint_and_make_the_whole() {
        let all: BTreeSet<_> = names(&plan(&["--scale", "full"]).expect("valid")).into_iter().collect();
        let parts: Vec<_> = (1..=3)
            .flat_map(|i| names(&plan(&["--scale", "full", "--cells", &format!("{i}/3")]).expect("valid")))
            .collect();
        assert_eq!(parts.len(), all.len());
        assert_eq!(parts.into_iter().collect::<BTreeSet<_>>(), all);
        for wrong in ["0/3", "4/3", "1", "a/b", "1/0", ""] {
            assert_eq!(plan(&["--cells", wrong]).expect_err(wrong).option, "--cells");
        }
    }
}
