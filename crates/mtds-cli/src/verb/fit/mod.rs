//! `mtds fit`: the library's fit on a file, with progress, checkpoints on disk, and a model directory at the end.
//!
//! ```text
//! file ── read ──→ Family ── Fit ──→ Model ──→ directory
//!                            ↑  │ every few minutes, on Ctrl-C, after every stage
//!                            └─ MODEL.checkpoint
//! ```

mod document;
mod watching;
mod wishes;

use crate::interrupt::Interrupt;
use crate::options::{Common, DEFAULT_SEED, Source, Where, options_by};
use crate::usage::{Refusal, UsageError, check_directory, rising, value};
use anyhow::{Context, Result, bail};
use clap::Args;
use mtds::{Device, Fit, Fitting, Model};
use mtds_data::directory::write_file_atomic;
use mtds_data::fit_file::FitFile;
use mtds_data::model::{load_model, save_model};
use mtds_data::{Lock, ReadFamily};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use watching::Watching;
use wishes::WishArguments;

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds fit family.csv -o family-model --effort 0.1
      learn the family with a tenth of the usual steps; everything else is chosen from the data
  mtds fit family.csv -o small-model --code 2 --effort 0.1
      members differ in two ways; nothing is compared, so that it is soon done

`mtds fit --help-all` shows every option by topic, with those of the file, this machine and what is printed, and the blocks of parameters.
";

/// The options that most people need: what `--help` shows; `--help-all` has the rest.
pub const USUAL: [&str; 10] =
    ["out", "config", "resume", "seed", "outputs", "inputs", "base", "code", "effort", "compare"];

/// Longest code that is tried.
const LONGEST_CODE: usize = 64;
/// A checkpoint more often than this would be most of the work; less often than a day is none.
const CHECKPOINT_SECS: std::ops::RangeInclusive<f64> = 0.0..=86_400.0;

/// What is learned from, how, and where the model goes.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// What is learned from.
    #[command(flatten)]
    pub source: Source,

    /// Directory for the model; it must be named
    #[arg(short, long, value_name = "MODEL")]
    pub out: PathBuf,

    /// Settings as TOML, e.g. the fit.toml of a model; options come before it [default: none]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Go on where an interrupted run stopped, to the same bits [default: begin anew]
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,

    /// Replace a model, or the checkpoint of an interrupted run
    #[arg(long)]
    pub force: bool,

    /// Try these lengths of the code, e.g. 1..8 or 2,4, and keep the one that sequences kept apart like best
    #[arg(long, value_name = "LENGTHS", conflicts_with = "code", value_parser = value(lengths))]
    pub select_code: Option<Lengths>,

    /// Write the course of learning as TensorBoard event files
    #[arg(long, value_name = "DIR")]
    pub tensorboard: Option<PathBuf>,

    /// Seconds from one checkpoint to the next
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = value(checkpoint_every))]
    pub checkpoint_every: Duration,

    /// Settings of learning.
    #[command(flatten)]
    pub wishes: WishArguments,

    /// Where to compute.
    #[command(flatten)]
    pub place: Where,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

/// Lengths of the code to choose from, rising.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lengths(Vec<usize>);

/// `1..8`, both ends included, or `2,4,8`.
fn lengths(typed: String) -> Result<Lengths, Refusal> {
    let number = |text: &str| text.trim().parse::<usize>().ok();
    let found: Option<Vec<usize>> = match typed.split_once("..") {
        Some((first, last)) => number(first)
            .zip(number(last.trim_start_matches('=')))
            .map(|(first, last)| (first..=last).collect()),
        None => typed.split(',').map(number).collect(),
    };
    let found = rising(found.unwrap_or_default());
    match found.first().zip(found.last()) {
        Some((&first, &last)) if first >= 1 && last <= LONGEST_CODE => Ok(Lengths(found)),
        _ => {
            let problem = format!("expected lengths from 1 to {LONGEST_CODE}, found `{typed}`");
            Err((problem, "1..8, or 2,4,8".into()))
        }
    }
}

fn checkpoint_every(secs: f64) -> Result<Duration, Refusal> {
    match CHECKPOINT_SECS.contains(&secs) {
        true => Ok(Duration::from_secs_f64(secs)),
        false => {
            let problem = format!("expected 0 to 86400 seconds, found {secs}");
            Err((problem, "leave it out for two minutes".into()))
        }
    }
}

impl Arguments {
    /// Learns, writes the model, prints the result to `stdout`.
    ///
    /// # Errors
    /// Data that cannot be read or learned from; settings out of range; a file that cannot be written; an interrupt.
    pub fn run(&self, interrupt: &Interrupt, stdout: &mut dyn Write) -> Result<()> {
        let mut settings = self.settings()?;
        let _alone = self.alone()?;
        self.check()?;
        let checkpoint = self.checkpoint();
        let earlier = match self.resume {
            true if checkpoint.exists() => {
                let cannot = || format!("{}: cannot read", checkpoint.display());
                Some(std::fs::read(&checkpoint).with_context(cannot)?)
            }
            true if self.out.join("config.json").exists() => {
                let out = self.out.display();
                self.common.say(format_args!("`{out}` is finished: there is nothing to go on with"));
                return self.print(&load_model(&self.out)?, stdout);
            }
            _ => None,
        };
        if let Some(bytes) = &earlier {
            let columns = Fitting::columns_of(bytes).map_err(|error| self.unreadable(error))?;
            settings.data = settings.data.or(columns);
        }
        let read = self.source.read(&settings.data, None)?;
        self.common.say_notes(&read.notes);
        let device = self.place.open()?;
        let mut fitting = self.begin((settings, &device), &read, earlier.as_deref())?;
        self.common.say(document::choices(&fitting, &self.common).trim_end());
        let model = self.learn(interrupt, &mut fitting)?;
        self.common.say_trouble(&device);
        save_model(&self.out, &model)?;
        remove(&checkpoint)?;
        self.print(&model, stdout)
    }

    /// Seed, columns and settings that were asked for: by option, or else by file.
    fn settings(&self) -> Result<FitFile, UsageError> {
        let file = self.config.as_deref().map_or(Ok(FitFile::default()), |path| {
            let hint = "name a TOML file that you may read; fit.toml of any model shows all keys";
            FitFile::read(path).map_err(|error| UsageError::new("--config", error.to_string(), hint))
        })?;
        let mut learn = self.wishes.0.clone().or(file.learn);
        if self.select_code.is_some() {
            learn.code = None;
        }
        let data = self.source.columns().or(file.data);
        options_by(&data, None)?;
        Ok(FitFile { seed: self.common.seed.or(file.seed), data, learn })
    }

    /// Two fits to one place would share a checkpoint: the second is refused. Checkpoint and lock need the directory that the model will lie in.
    fn alone(&self) -> Result<Lock> {
        check_directory("--out", &self.out)?;
        if let Some(parent) = self.out.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            std::fs::create_dir_all(parent).with_context(|| format!("cannot make `{}`", parent.display()))?;
        }
        Ok(Lock::take(&self.out)?)
    }

    /// Refuses to write over what is already there, unless asked to.
    fn check(&self) -> Result<(), UsageError> {
        self.source.check()?;
        self.tensorboard.as_deref().map_or(Ok(()), |path| check_directory("--tensorboard", path))?;
        let checkpoint = self.checkpoint();
        let is_there = || self.out.read_dir().is_ok_and(|mut entries| entries.next().is_some());
        if self.resume || self.force {
            Ok(())
        } else if checkpoint.exists() {
            let problem = format!("`{}` holds a run that was interrupted", checkpoint.display());
            Err(UsageError::new("--out", problem, "--resume to go on with it, --force to start over"))
        } else if is_there() {
            let problem = format!("`{}` is there already and is not empty", self.out.display());
            Err(UsageError::new("--out", problem, "another name, or --force to replace the model"))
        } else {
            Ok(())
        }
    }

    /// `MODEL.checkpoint`, beside the model: the run while it is not finished.
    fn checkpoint(&self) -> PathBuf {
        let mut name = self.out.file_name().unwrap_or_default().to_os_string();
        name.push(".checkpoint");
        self.out.with_file_name(name)
    }

    /// The fit before its first step, or where it was interrupted.
    fn begin(
        &self,
        (settings, device): (FitFile, &Device),
        read: &ReadFamily,
        earlier: Option<&[u8]>,
    ) -> Result<Fitting> {
        let fit = Fit {
            wishes: settings.learn,
            select_code: self.select_code.clone().map_or(vec![], |lengths| lengths.0),
            seed: settings.seed.unwrap_or(DEFAULT_SEED),
            device: device.clone(),
            ..read.fit(settings.data)
        };
        let Some(bytes) = earlier else { return fit.begin(&read.family).map_err(usage) };
        let fitting = fit.resume(&read.family, bytes).map_err(|error| match error {
            mtds::Error::Resumed { key, .. } if key == "data" => anyhow::anyhow!(
                "the data are not those of the interrupted run; give the same file, or start over with --force"
            ),
            store @ mtds::Error::Store { .. } => self.unreadable(store),
            other => usage(other),
        })?;
        match settings.seed.filter(|seed| *seed != fitting.seed()) {
            Some(_) => {
                Err(usage(mtds::Error::Resumed { key: "seed".into(), was: fitting.seed().to_string() }))
            }
            None => Ok(fitting),
        }
    }

    fn unreadable(&self, error: mtds::Error) -> anyhow::Error {
        let path = self.checkpoint();
        anyhow::anyhow!(
            "{}: not a checkpoint that this program can read ({error}); start over with --force",
            path.display()
        )
    }

    /// Takes all steps; after an interrupt there is a checkpoint.
    fn learn(&self, interrupt: &Interrupt, fitting: &mut Fitting) -> Result<Model> {
        let mut watching = Watching::new(self, interrupt)?;
        loop {
            let found = fitting.run(&mut |progress| watching.hear(progress));
            if let Some(model) = found.as_ref().ok().and_then(Option::as_ref) {
                self.common.say(watching.took());
                return Ok(model.clone());
            }
            write_file_atomic(&self.checkpoint(), &fitting.checkpoint()?)?;
            found?;
            if interrupt.is_asked() {
                bail!("{}", watching.stopped());
            }
        }
    }

    /// Prints what the finished model says of itself.
    fn print(&self, model: &Model, stdout: &mut dyn Write) -> Result<()> {
        self.common.print(stdout, || document::text(self, model), || document::document(self, model))
    }
}

/// Removes the checkpoint of a run that has ended well.
fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error)
            .with_context(|| format!("{}: cannot remove the checkpoint; remove it by hand", path.display())),
        _ => Ok(()),
    }
}

/// A setting out of range is wrong usage, by option or by file.
fn usage(error: mtds::Error) -> anyhow::Error {
    let option = |name: &str| format!("--{}", name.replace('_', "-"));
    match error {
        mtds::Error::Setting { name, why } => {
            UsageError::new(option(&name), why, "leave it out, and it is chosen from the data").into()
        }
        mtds::Error::Unknown { kind: "base model", name, known } => {
            UsageError::new("--base", format!("found `{name}`, which is no base model"), known).into()
        }
        mtds::Error::Unknown { name, known, .. } => {
            UsageError::new("--adapt, --share", format!("no block `{name}`"), known).into()
        }
        mtds::Error::Resumed { key, was } => {
            let problem = format!("the interrupted run had {was}, now it is another");
            UsageError::new(
                option(&key),
                problem,
                "leave the option out to go on, or start over with --force",
            )
            .into()
        }
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Verb;
    use crate::usage::{refused, typed};

    fn asked(out: &Path, words: &[&str]) -> Box<Arguments> {
        let fit = ["fit", "family.csv", "-o", out.to_str().expect("plain path")];
        match typed(&[&fit, words].concat()) {
            Ok(Verb::Fit(asked)) => asked,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_come_before_the_file() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let config = folder.path().join("c.toml");
        std::fs::write(&config, "seed = 5\n[learn]\ncode = 3\nstate = 6\n[data]\nseries = \"id\"\n")
            .expect("written");
        let config = config.to_str().expect("plain path");
        let settings = |words: &[&str]| {
            let words = [&["--config", config], words].concat();
            asked(&folder.path().join("model"), &words).settings().expect("valid")
        };
        let found = settings(&["--code", "2", "--series", "who"]);
        assert_eq!((found.learn.code, found.learn.state, found.seed), (Some(2), Some(6), Some(5)));
        assert_eq!(found.data.series.as_deref(), Some("who"));
        assert_eq!(settings(&["--seed", "9"]).seed, Some(9));
        assert_eq!(settings(&["--select-code", "1..4"]).learn.code, None);
    }

    #[test]
    fn what_is_there_is_not_replaced_unasked() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let out = folder.path().join("model");
        asked(&out, &[]).check().expect("nothing there");
        std::fs::create_dir(&out).expect("made");
        asked(&out, &[]).check().expect("empty");
        std::fs::write(out.join("config.json"), "{}").expect("written");
        let error = asked(&out, &[]).check().expect_err("a model is there");
        assert!(error.hint.contains("--force"), "{error}");
        asked(&out, &["--force"]).check().expect("forced");
        let other = folder.path().join("other");
        std::fs::write(folder.path().join("other.checkpoint"), "").expect("written");
        let error = asked(&other, &[]).check().expect_err("an interrupted run is there");
        assert!(error.hint.contains("--resume"), "{error}");
        asked(&other, &["--resume"]).check().expect("resumed");
    }

    #[test]
    fn lengths_are_a_range_or_a_list() {
        assert_eq!(lengths("1..4".into()), Ok(Lengths(vec![1, 2, 3, 4])));
        assert_eq!(lengths("4,2,2".into()), Ok(Lengths(vec![2, 4])));
        for wrong in ["", "0..3", "5..2", "a", "1..", "1..100"] {
            refused(&["fit", "family.csv", "-o", "model"], &[["--select-code", wrong]]);
        }
    }
}
