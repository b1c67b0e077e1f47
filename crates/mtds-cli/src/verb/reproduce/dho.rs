//! `mtds reproduce dho`: damped oscillators, cell by cell.
//!
//! ```text
//! DIR/cells/ID.json    one per finished cell: settings, scores of every test sequence, seconds
//! DIR/dho.json         the result of all cells that are there; the same bytes however they were computed
//! DIR/index.html       the report page
//! ```

use super::directory::Directory;
use super::part::{PAGE, Portion, summary};
use crate::options::Common;
use crate::output::{document_text, print, write_whole};
use crate::usage::{UsageError, check_directory};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use mtds_experiments::dho::{CellId, CellKind, Experiment, Protocol, Recipe, Settings};
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

const RESULT: &str = "dho.json";

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds reproduce dho
      the experiment in small, in minutes: a table, the paper's numbers beside ours, a page
  mtds reproduce dho --scale full --only oracle,pooled --cells 1/4
      the first quarter of the cells of two models, at the paper's size
";

/// How much of the experiment, by which recipes, which part of it, and where.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Dho {
    /// How multi-task systems are learned
    #[arg(long, value_enum, default_value_t = RecipeName::Both)]
    pub recipe: RecipeName,

    /// What is run of it, and where it is left.
    #[command(flatten)]
    pub portion: Portion,

    /// What all these verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

/// How multi-task systems are learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RecipeName {
    /// As the paper prints it
    Paper,
    /// This project's way
    Ours,
    /// Both, side by side
    Both,
}

impl Dho {
    /// Computes the cells that are missing, assembles all that are there, prints the table.
    ///
    /// # Errors
    /// Cells of another experiment in the directory; a cell that could not be computed, after all others were;
    /// a file that cannot be written; a `stdout` that takes no more.
    pub fn run(&self, stdout: &mut dyn Write, stderr: &mut dyn Write) -> Result<()> {
        check_directory("--out", &self.out())?;
        self.compute(&self.experiment()?, stdout, stderr)
    }

    /// The directory of cells, result and page.
    fn out(&self) -> PathBuf {
        self.portion.out("dho")
    }

    /// The experiment that is meant.
    ///
    /// # Errors
    /// A model that is no part of it.
    pub fn experiment(&self) -> Result<Experiment, UsageError> {
        let scale = self.portion.scale.into();
        let settings = Settings::new(scale)
            .map_err(|error| UsageError::new("--scale", error.to_string(), "another scale"))?;
        let protocol = Protocol::new(scale, self.common.seed());
        let recipes = match self.recipe {
            RecipeName::Paper => vec![Recipe::Paper],
            RecipeName::Ours => vec![Recipe::Ours],
            RecipeName::Both => Recipe::ALL.to_vec(),
        };
        let kinds = CellKind::all(&protocol, &recipes);
        if let Some(unknown) =
            self.portion.only.iter().find(|word| !kinds.iter().any(|kind| means(word, kind)))
        {
            let problem = format!("expected models of this experiment, found `{unknown}`");
            let known = kinds.iter().map(CellKind::to_string).collect::<Vec<_>>().join(", ");
            return Err(UsageError::new("--only", problem, known));
        }
        Ok(Experiment { protocol, settings, kinds })
    }

    /// The cells that this run is to leave behind, by kind and repetition.
    fn wanted(&self, experiment: &Experiment) -> Vec<CellId> {
        let cells = experiment
            .kinds
            .iter()
            .flat_map(|kind| kind.cells(&experiment.protocol).map(move |cell| (kind, cell)));
        let asked = self.portion.of(cells, |word, (kind, _)| means(word, kind));
        asked.into_iter().map(|(_, cell)| cell).collect()
    }

    /// [`Dho::run`] of this experiment.
    ///
    /// # Errors
    /// As there.
    pub fn compute(
        &self,
        experiment: &Experiment,
        stdout: &mut dyn Write,
        stderr: &mut dyn Write,
    ) -> Result<()> {
        let out = self.out();
        let mut directory = Directory::open(&out, self.common.quiet, stderr)?;
        let clock = Instant::now();
        let elapsed = || clock.elapsed().as_secs_f64();
        let outcome = experiment
            .run(&self.wanted(experiment), self.common.threads(), &elapsed, &mut directory)
            .map_err(|error| directory.explain(error))?;
        let counts = (outcome.assembly.missing.len(), outcome.cells.len());
        let summary = || summary(&out, RESULT, &outcome.summary(), counts);
        let document = document_text(outcome.document()?)?;
        write_whole(&out.join(RESULT), document.as_bytes())?;
        let page = outcome.page(&out.display().to_string())?;
        write_whole(&out.join(PAGE), page.render().as_bytes())?;
        print(stdout, &if self.common.json { document } else { summary() })?;
        if self.common.verbose {
            directory.say(&outcome.timings());
        }
        match outcome.failed.is_empty() {
            true => Ok(()),
            false => bail!("{}", outcome.failed.join("\n")),
        }
    }
}

/// Whether a word of `--only` stands for cells of `kind`: its full name, its model, or `mtlds` for every recipe.
fn means(word: &str, kind: &CellKind) -> bool {
    let is_mtlds = matches!(kind, CellKind::Mtlds { .. });
    word == kind.to_string() || word == kind.model() || (word == "mtlds" && is_mtlds)
}

#[cfg(test)]
mod tests {
    use super::super::Arguments;
    use super::*;
    use crate::command::Verb;
    use crate::usage::{refused, typed};
    use mtds_experiments::Scale;
    use std::collections::BTreeSet;
    use std::path::Path;

    fn asked(words: &[&str]) -> Dho {
        match typed(&[&["reproduce", "dho"], words].concat()) {
            Ok(Verb::Reproduce(Arguments::Dho(asked))) => asked,
            other => panic!("{other:?}"),
        }
    }

    fn names(words: &[&str]) -> Vec<String> {
        let asked = asked(words);
        asked.wanted(&asked.experiment().expect("valid")).iter().map(CellId::to_string).collect()
    }

    #[test]
    fn scale_and_seed_are_those_of_the_experiment() {
        let quick = asked(&[]);
        assert_eq!(quick.experiment().expect("no arguments are fine").protocol.scale, Scale::Quick);
        assert_eq!(quick.out(), Path::new("mtds-dho-quick"));
        let full = asked(&["--scale", "full", "--seed", "7"]);
        let experiment = full.experiment().expect("valid");
        assert_eq!((experiment.protocol.seed, experiment.protocol.repetitions), (7, 10));
        assert_eq!(full.out(), Path::new("mtds-dho-full"));
        assert_eq!(full.wanted(&experiment).len(), 10 * experiment.kinds.len());
        let models: BTreeSet<String> = experiment.kinds.iter().map(CellKind::model).collect();
        let expected = ["mtlds-ours", "mtlds-paper", "oracle", "pooled", "single"];
        assert_eq!(models.into_iter().collect::<Vec<_>>(), expected, "both recipes by default");
    }

    #[test]
    fn a_part_of_the_models_can_be_asked_for() {
        assert_eq!(names(&["--only", "oracle"]), ["oracle-r00", "oracle-r01"]);
        assert_eq!(
            names(&["--only", "pooled,mtlds-paper-n0016"]),
            ["pooled-r00", "pooled-r01", "mtlds-paper-n0016-r00", "mtlds-paper-n0016-r01"]
        );
        assert_eq!(names(&["--recipe", "paper", "--only", "mtlds"]).len(), 3 * 2);
        let error = asked(&["--only", "oracle,orakel"]).experiment().expect_err("unknown");
        assert!(error.problem.contains("`orakel`") && error.hint.contains("oracle, pooled"), "{error}");
    }

    #[test]
    fn parts_are_disjoint_and_make_the_whole() {
        let all: BTreeSet<_> = names(&["--scale", "full"]).into_iter().collect();
        let parts: Vec<_> =
            (1..=3).flat_map(|i| names(&["--scale", "full", "--cells", &format!("{i}/3")])).collect();
        assert_eq!(parts.len(), all.len());
        assert_eq!(parts.into_iter().collect::<BTreeSet<_>>(), all);
        for wrong in ["0/3", "4/3", "1", "a/b", "1/0", ""] {
            refused(&["reproduce", "dho"], &[["--cells", wrong]]);
        }
    }
}
