//! What the page shows, collected from cells, assembly and protocol.

use super::names::{full_name, label};
use super::{DhoReport, Examples};
use crate::Result;
use crate::dho::illustration::{REPETITION, SHOWN};
use crate::dho::{CellKind, CellResult, Experiment, Outcome, Protocol, Recipe, Scale};
use mtds_report::page::Page;

/// Training sequences that are shown large, and more members in small.
const TRAINING: usize = 4;
const GALLERY: usize = 20;
/// Training sequences of the model whose forecasts are shown, as in the paper's figures.
const ILLUSTRATED_SIZE: usize = 4;

impl Outcome<'_> {
    /// Lays the result out as a page; `out` is the directory of its cells, as it is typed.
    ///
    /// # Errors
    /// A protocol whose sequences cannot be drawn.
    pub fn page(&self, out: &str) -> Result<Page> {
        let Experiment { protocol, kinds, .. } = self.experiment;
        let is_there = |recipe: &Recipe| kinds.iter().any(|kind| is_of(kind, *recipe));
        let recipes: Vec<Recipe> = Recipe::ALL.into_iter().filter(is_there).collect();
        let model = illustrated_model(self, &recipes);
        let oracle = self
            .cells
            .iter()
            .find(|cell| cell.cell.kind == CellKind::Oracle && cell.cell.repetition == REPETITION);
        Ok(super::page(&DhoReport {
            protocol,
            assembly: &self.assembly,
            cells: &self.cells,
            examples: examples(protocol)?,
            illustrated: model.map(|(cell, name)| (name, cell.illustrations.clone())),
            exact: oracle.map_or(vec![], |cell| cell.illustrations.clone()),
            settings: settings(self.experiment),
            timings: timings(self),
            commands: commands(protocol, out, &recipes),
            recipes,
        }))
    }
}

/// Members of the family from the first repetition. All cells of this run are scored by now, so test sequences may be seen.
fn examples(protocol: &Protocol) -> Result<Examples> {
    let members = protocol.training(REPETITION, TRAINING + GALLERY)?;
    let outputs = members.family().sequences().iter().map(|one| one.outputs().values().to_vec());
    let mut training: Vec<Vec<f64>> = outputs.collect();
    let gallery = training.split_off(TRAINING);
    Ok(Examples { training, gallery, test: protocol.test(REPETITION)?.for_display(SHOWN) })
}

/// The multi-task system whose forecasts are shown, and its name: of the last recipe that has one, at the paper's size
/// where that is there.
fn illustrated_model<'a>(outcome: &'a Outcome<'_>, recipes: &[Recipe]) -> Option<(&'a CellResult, String)> {
    let size = |cell: &&CellResult| cell.cell.kind.n(&cell.protocol).unwrap_or(0);
    recipes.iter().rev().find_map(|&recipe| {
        let is_it = |c: &&CellResult| is_of(&c.cell.kind, recipe) && !c.illustrations.is_empty();
        let found = outcome.cells.iter().filter(is_it);
        let nearest = found.min_by_key(|cell| size(cell).abs_diff(ILLUSTRATED_SIZE))?;
        Some((nearest, full_name(&nearest.cell.kind)))
    })
}

fn settings(experiment: &Experiment) -> Vec<(String, String)> {
    let Protocol { seed, repetitions, training_sizes, pooled_size, n_test, seen, n_time, .. } =
        &experiment.protocol;
    let list = |numbers: &[usize]| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let single = &experiment.settings.single;
    [
        ("scale", experiment.protocol.scale.name().to_owned()),
        ("seed", seed.to_string()),
        ("repetitions", repetitions.to_string()),
        ("test sequences", format!("{n_test} in each repetition, {n_time} steps")),
        ("forecasts after", format!("{} steps", list(seen))),
        ("MTLDS: training sequences N", list(training_sizes)),
        ("MTLDS: posterior", "adaptive importance sampling over codes, online".into()),
        ("pooled: training sequences", pooled_size.to_string()),
        (
            "STL: posterior",
            format!(
                "NUTS from the best of {} modes, {} + {} draws",
                single.restarts, single.sampler.warmup, single.sampler.draws
            ),
        ),
        (
            "oracle: posterior",
            format!("tempered SMC under the truth, {} runs", experiment.settings.oracle.runs),
        ),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

/// Seconds of all cells of a model together, as of the clock of the run that computed them.
fn timings(outcome: &Outcome<'_>) -> Vec<(String, f64)> {
    let mut timings: Vec<(String, f64)> = vec![];
    for cell in &outcome.cells {
        let stage = match &cell.cell.kind {
            CellKind::Oracle => "oracle".into(),
            CellKind::Pooled => "pooled".into(),
            CellKind::Single => "STL".into(),
            CellKind::Mtlds { recipe, .. } => format!("MTLDS, {}", label(*recipe)),
        };
        match timings.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, total)) => *total += cell.seconds,
            None => timings.push((stage, cell.seconds)),
        }
    }
    timings.into_iter().map(|(stage, secs)| (format!("{stage}, all cells"), secs)).collect()
}

fn commands(protocol: &Protocol, out: &str, recipes: &[Recipe]) -> Vec<(String, String)> {
    let recipe = match recipes {
        [one] => format!(" --recipe {}", one.name()),
        _ => String::new(),
    };
    let command = |scale: Scale, out: &str| {
        format!("mtds reproduce dho --scale {} --seed {}{recipe} --out {out}", scale.name(), protocol.seed)
    };
    let again = "computes what is missing and makes this page again";
    let mut commands = vec![(command(protocol.scale, out), again.to_owned())];
    if protocol.scale == Scale::Quick {
        commands.push((command(Scale::Full, "mtds-dho-full"), "the whole experiment, in hours".into()));
    }
    commands
}

fn is_of(kind: &CellKind, of: Recipe) -> bool {
    matches!(kind, CellKind::Mtlds { recipe, .. } if *recipe == of)
}
