//! What `mtds fit` will do.

use super::{CommonPlan, SourcePlan, UsageError, directory};
use crate::arguments::FitArguments;
use mtds::learn::Wishes;
use mtds_data::fit_file::FitFile;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest code that is tried.
const LONGEST_CODE: usize = 64;
/// A checkpoint more often than this would be most of the work; less often than a day is none.
const CHECKPOINT_SECS: std::ops::RangeInclusive<f64> = 0.0..=86_400.0;

/// Whether there is something to go on from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// From the beginning; nothing is in the way.
    Fresh,
    /// From the beginning; what is there is replaced.
    Replace,
    /// From the checkpoint, or from the beginning where there is none.
    Resume,
}

/// What `mtds fit` will do.
#[derive(Debug, Clone, PartialEq)]
pub struct FitPlan {
    /// What is learned from.
    pub source: SourcePlan,
    /// Directory for the model.
    pub out: PathBuf,
    /// File for the run while it is not finished.
    pub checkpoint: PathBuf,
    /// Whether there is something to go on from.
    pub begin: Begin,
    /// Settings that were asked for, by option or else by file.
    pub wishes: Wishes,
    /// Seed that was asked for, by option or else by file.
    pub seed: Option<u64>,
    /// Lengths of the code to choose from; empty to take one.
    pub select_code: Vec<usize>,
    /// Directory for event files.
    pub tensorboard: Option<PathBuf>,
    /// Time between checkpoints.
    pub checkpoint_every: Duration,
    /// What every verb needs to know.
    pub common: CommonPlan,
}

impl FitPlan {
    /// Validates what was typed, and looks what is already there.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &FitArguments) -> Result<Self, UsageError> {
        let config = match &typed.config {
            Some(path) => FitFile::read(path).map_err(|error| {
                UsageError::new(
                    "--config",
                    error.to_string(),
                    "name a TOML file that you may read; fit.toml of any model shows all keys",
                )
            })?,
            None => FitFile::default(),
        };
        let out = directory(&typed.out)?;
        let checkpoint = checkpoint_beside(&out);
        let mut wishes = typed.wishes.0.clone().or(config.learn);
        let select_code = typed.select_code.as_deref().map(lengths).transpose()?.unwrap_or_default();
        if !select_code.is_empty() {
            wishes.code = None;
        }
        Ok(Self {
            source: SourcePlan::new(&typed.source, config.data)?,
            begin: begin(typed, &out, &checkpoint)?,
            out,
            checkpoint,
            wishes,
            seed: typed.common.seed.or(config.seed),
            select_code,
            tensorboard: typed.tensorboard.as_deref().map(directory).transpose()?,
            checkpoint_every: checkpoint_every(typed.checkpoint_every)?,
            common: CommonPlan::new(&typed.common)?,
        })
    }
}

fn begin(typed: &FitArguments, out: &Path, checkpoint: &Path) -> Result<Begin, UsageError> {
    let is_there = out.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    match (typed.resume, typed.force) {
        (true, _) => Ok(Begin::Resume),
        (_, true) => Ok(Begin::Replace),
        _ if checkpoint.exists() => Err(UsageError::new(
            "--out",
            format!("`{}` holds a run that was interrupted", checkpoint.display()),
            "--resume to go on with it, --force to start over",
        )),
        _ if is_there => Err(UsageError::new(
            "--out",
            format!("`{}` is there already and is not empty", out.display()),
            "another name, or --force to replace the model",
        )),
        _ => Ok(Begin::Fresh),
    }
}

/// `MODEL.checkpoint`, beside the model.
fn checkpoint_beside(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_os_string();
    name.push(".checkpoint");
    out.with_file_name(name)
}

fn checkpoint_every(secs: f64) -> Result<Duration, UsageError> {
    if CHECKPOINT_SECS.contains(&secs) {
        return Ok(Duration::from_secs_f64(secs));
    }
    let problem = format!("expected 0 to 86400 seconds, found {secs}");
    Err(UsageError::new("--checkpoint-every", problem, "leave it out for two minutes"))
}

/// `1..8`, both ends included, or `2,4,8`.
fn lengths(typed: &str) -> Result<Vec<usize>, UsageError> {
    let wrong = || {
        let problem = format!("expected lengths from 1 to {LONGEST_CODE}, found `{typed}`");
        UsageError::new("--select-code", problem, "1..8, or 2,4,8")
    };
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
    let mut found = match typed.split_once("..") {
        Some((first, last)) => (number(first)?..=number(last.trim_start_matches('='))?).collect(),
        None => typed.split(',').map(number).collect::<Result<Vec<_>, _>>()?,
    };
    found.sort_unstable();
    found.dedup();
    match found.first().zip(found.last()) {
        Some((&first, &last)) if first >= 1 && last <= LONGEST_CODE => Ok(found),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Verb};
    use clap::Parser;

    fn plan(out: &Path, typed: &[&str]) -> Result<FitPlan, UsageError> {
        let words = ["mtds", "fit", "family.csv", "-o", out.to_str().expect("plain path")];
        let words = words.iter().chain(typed);
        let verb = Arguments::try_parse_from(words).expect("clap accepts this").verb;
        let Verb::Fit(arguments) = verb else { panic!("another verb: {verb:?}") };
        FitPlan::new(&arguments)
    }

    #[test]
    fn options_come_before_the_file() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let config = folder.path().join("c.toml");
        std::fs::write(&config, "seed = 5\n[learn]\ncode = 3\nstate = 6\n[data]\nseries = \"id\"\n")
            .expect("written");
        let config = config.to_str().expect("plain path");
        let out = folder.path().join("model");
        let found = plan(&out, &["--config", config, "--code", "2", "--series", "who"]).expect("valid");
        assert_eq!((found.wishes.code, found.wishes.state, found.seed), (Some(2), Some(6), Some(5)));
        assert_eq!(found.source.options.series.as_deref(), Some("who"));
        assert_eq!(plan(&out, &["--config", config, "--seed", "9"]).expect("valid").seed, Some(9));
    }

    #[test]
    fn what_is_there_is_not_replaced_unasked() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let out = folder.path().join("model");
        assert_eq!(plan(&out, &[]).expect("nothing there").begin, Begin::Fresh);
        std::fs::create_dir(&out).expect("made");
        assert_eq!(plan(&out, &[]).expect("empty").begin, Begin::Fresh);
        std::fs::write(out.join("config.json"), "{}").expect("written");
        let error = plan(&out, &[]).expect_err("a model is there");
        assert!(error.hint.contains("--force"), "{error}");
        assert_eq!(plan(&out, &["--force"]).expect("forced").begin, Begin::Replace);
        let other = folder.path().join("other");
        std::fs::write(folder.path().join("other.checkpoint"), "").expect("written");
        let error = plan(&other, &[]).expect_err("an interrupted run is there");
        assert!(error.hint.contains("--resume"), "{error}");
        assert_eq!(plan(&other, &["--resume"]).expect("resumed").begin, Begin::Resume);
    }

    #[test]
    fn lengths_are_a_range_or_a_list() {
        assert_eq!(lengths("1..4").expect("a range"), [1, 2, 3, 4]);
        assert_eq!(lengths("4,2,2").expect("a list"), [2, 4]);
        for wrong in ["", "0..3", "5..2", "a", "1..", "1..100"] {
            assert_eq!(lengths(wrong).expect_err(wrong).option, "--select-code");
        }
    }
}
