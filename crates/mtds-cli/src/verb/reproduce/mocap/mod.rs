//! `mtds reproduce mocap`: locomotion, cell by cell.
//!
//! ```text
//! DIR/cells/ID.json    one per finished cell: what was learned once, and the errors of all that was asked of it
//! DIR/mocap.json       the result of all cells that are there; the same bytes however they were computed
//! DIR/index.html       the report page
//! ```

mod clips;

use super::directory::Directory;
use super::part::{PAGE, Portion, summary};
use crate::options::{Common, Where};
use crate::output::{document_text, print, write_whole};
use crate::usage::{Refusal, UsageError, check_directory, value, within};
use anyhow::{Result, bail};
use clap::Args;
use mtds::Signal;
use mtds::parts::Recipe;
use mtds_experiments::mocap::{CellId, Experiment, Material};
use mtds_mocap::frame::{Outputs, Placement};
use mtds_mocap::signal::FPS;
use mtds_report::chart::Picture;
use mtds_report::motion::poses;
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

const RESULT: &str = "mocap.json";

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds reproduce mocap
      the experiments in small, on built-in walkers, in minutes: tables and a page
  mtds reproduce mocap --data recordings --dataset cmu --scale full -o cmu
      at full scale, on the recordings below a folder
";

/// Which clips, how much of the experiments, which part of them, and where.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Mocap {
    /// Folder with BVH files, in folders named by style [default: the walkers of `mtds data gait`]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    /// Take the files of these datasets alone, by the column `dataset` of the folder's manifest.csv
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "data")]
    pub dataset: Vec<String>,

    /// Factor on the steps of all learning at this scale
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    #[arg(value_parser = within(0.001..=1000.0, "a factor from 0.001 to 1000", "0.5"))]
    pub effort: f64,

    /// What is run of them, and where it is left.
    #[command(flatten)]
    pub portion: Portion,

    /// Recipe of the model [default: what `mtds fit` takes by itself]: motion, motion_large or paper
    #[arg(long, value_name = "RECIPE", value_parser = value(recipe))]
    pub recipe: Option<Recipe>,

    /// Print the names of the cells, and compute none
    #[arg(long)]
    pub list: bool,

    /// Where the model is learned and codes are inferred; rivals are learned by the processor.
    #[command(flatten)]
    pub place: Where,

    /// What all these verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

impl Mocap {
    /// Computes the cells that are missing, assembles all that are there, prints the tables.
    ///
    /// # Errors
    /// Files that cannot be used; cells of other experiments in the directory; a cell that could not be computed, after all others
    /// were; a file that cannot be written; a `stdout` that takes no more.
    pub fn run(&self, stdout: &mut dyn Write, stderr: &mut dyn Write) -> Result<()> {
        if !self.list {
            check_directory("--out", &self.out())?;
        }
        let material = self.material()?;
        let mut experiment = self.experiment(&material)?;
        experiment.device = self.place.open()?;
        self.compute(&experiment, stdout, stderr)?;
        self.common.say_trouble(&experiment.device);
        Ok(())
    }

    /// The directory of cells, result and page.
    fn out(&self) -> PathBuf {
        self.portion.out("mocap")
    }

    /// The clips that are meant.
    ///
    /// # Errors
    /// Files that cannot be used.
    pub fn material(&self) -> Result<Material> {
        match &self.data {
            Some(folder) => clips::of_folder(folder, &self.dataset, &self.common),
            None => clips::of_walkers(),
        }
    }

    /// The experiments that are meant.
    ///
    /// # Errors
    /// A word that stands for no cell.
    pub fn experiment<'a>(&self, material: &'a Material) -> Result<Experiment<'a>> {
        let mut experiment =
            Experiment::new(material, self.portion.scale.into(), self.common.seed(), self.effort)?;
        experiment.settings.model.recipe = self.recipe;
        let cells = experiment.cells();
        if let Some(unknown) =
            self.portion.only.iter().find(|word| !cells.iter().any(|cell| cell.is_meant(word)))
        {
            let problem = format!("expected cells of these experiments, found `{unknown}`");
            return Err(UsageError::new("--only", problem, "e1, e2, e3, map, mtds, e2-gru-open").into());
        }
        Ok(experiment)
    }

    /// The cells that this run is to leave behind.
    fn wanted(&self, experiment: &Experiment<'_>) -> Vec<CellId> {
        self.portion.of(experiment.cells().into_iter(), |word, cell| cell.is_meant(word))
    }

    /// [`Mocap::run`] of these experiments.
    ///
    /// # Errors
    /// As there.
    pub fn compute(
        &self,
        experiment: &Experiment<'_>,
        stdout: &mut dyn Write,
        stderr: &mut dyn Write,
    ) -> Result<()> {
        let wanted = self.wanted(experiment);
        if self.list {
            return print(stdout, &wanted.iter().map(|cell| format!("{cell}\n")).collect::<String>());
        }
        let out = self.out();
        let mut directory = Directory::open(&out, self.common.quiet, stderr)?;
        let clock = Instant::now();
        let elapsed = || clock.elapsed().as_secs_f64();
        let outcome = experiment
            .run(&wanted, self.common.threads(), &elapsed, &mut directory)
            .map_err(|error| directory.explain(error))?;
        let counts = (outcome.missing.len(), outcome.cells.len());
        let summary = || summary(&out, RESULT, &outcome.summary(), counts);
        let document = document_text(outcome.document()?)?;
        write_whole(&out.join(RESULT), document.as_bytes())?;
        let page = outcome.page(&row_of_poses, vec![self.command()])?;
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

    /// The command that makes the result again.
    fn command(&self) -> (String, String) {
        let mut words = vec!["mtds reproduce mocap".to_owned()];
        // The place of the recordings is the reader's own.
        words.extend(self.data.as_ref().map(|_| "--data DIR".to_owned()));
        if !self.dataset.is_empty() {
            words.push(format!("--dataset {}", self.dataset.join(",")));
        }
        let scale = self.portion.scale.name();
        words.push(format!("--scale {scale} --seed {}", self.common.seed()));
        if self.effort != 1.0 {
            words.push(format!("--effort {}", self.effort));
        }
        words.extend(self.recipe.map(|recipe| format!("--recipe {}", named(recipe))));
        (words.join(" "), "computes these numbers again".into())
    }
}

fn recipe(typed: String) -> Result<Recipe, Refusal> {
    serde_json::from_value(Value::String(typed.clone()))
        .map_err(|_| (format!("found `{typed}`, which is no recipe"), "motion, motion_large or paper".into()))
}

fn named(recipe: Recipe) -> String {
    match serde_json::to_value(recipe) {
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}

/// Outputs of a motion as a row of poses; none where they are no motion of 21 joints.
fn row_of_poses(what: &str, outputs: &Signal) -> Option<Picture> {
    let start = Placement { x: 0.0, z: 0.0, facing_rad: 0.0 };
    let track = Outputs { values: outputs.clone(), start, fps: FPS }.to_track().ok()?;
    poses(&format!("Poses of {what}"), &track).ok()
}
