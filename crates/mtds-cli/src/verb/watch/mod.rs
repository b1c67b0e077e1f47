//! `mtds watch`: follows sequences as their lines come, and answers each line with what is known then.
//!
//! ```text
//! stdin ── incoming ── line ──→ series: one tracker each ──→ answer, flushed
//!                                  ↑ ↓
//!                               snapshot     at the end, on Ctrl-C, every N lines
//! ```
//! Answers about a sequence depend on its own lines alone: its random numbers are a stream by its name.

mod incoming;
pub mod line;
mod series;
mod snapshot;

use super::model::model_at;
use crate::interrupt::Interrupt;
use crate::options::Common;
use crate::usage::{UsageError, level, rising, within};
use anyhow::{Context, Result, anyhow};
use clap::{Args, ValueEnum};
use incoming::{Incoming, lines};
use line::{Request, parse};
use mtds::parts::AdaptiveImportance;
use mtds::{Model, Online};
use serde_json::{Value, json};
use series::AllSeries;
use snapshot::{Snapshot, model_name};
use std::io::{BufRead, ErrorKind, Write};
use std::ops::Bound::{Excluded, Included};
use std::path::PathBuf;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// Examples in the help, and the form of a line.
const EXAMPLES: &str = "One line in, one line out:
  {\"series\": \"a\", \"y\": [0.3, null], \"u\": [1.0], \"t\": \"2024-05-01\", \"future\": [[0.0], [0.0]]}
      series  which sequence; without it, all lines belong to one
      y       outputs of one step, null where missing; a number where there is one output; null where all are missing
      u       inputs of that step, for a model that has inputs
      t       optional: when, as in the data that the model was learned from; answered as it came. Steps between two
              lines count as missed; without t a line is a step, and \"y\": null stands for one that was missed
      future  optional: inputs of the steps to come, one row each
      attributes  what does not change within a sequence, by column, for a model that has such inputs; needed once,
              in its first line, and no part of u and future
  {\"series\": \"a\", \"end\": true}
      forgets the sequence
A line that cannot be read is answered with {\"line\": N, \"error\": ...}, and changes nothing.

Examples:
  mtds watch model --horizon 3 --snapshot watch.json
      answers the lines on stdin; at their end, on Ctrl-C and every 1000 lines it saves where it stands
  mtds watch model --restore watch.json --horizon 3 --quantiles 0.1,0.9
      goes on from there as if it had never stopped
";

/// Steps of history unless others are asked for: where the state is a function of the code, and where it is random and the past is
/// soon forgotten.
const HISTORY: [usize; 2] = [64, 32];
/// Most draws of a posterior: one line tells less than the five after which a posterior is made anew elsewhere, and is waited for.
const DRAWS: usize = 1000;
/// How long Ctrl-C may go unheard while no line comes.
const PATIENCE: Duration = Duration::from_millis(50);

/// Longest forecast of an answer: more would make answers slow, and is what `forecast` is for.
const LONGEST_HORIZON: usize = 1000;
/// Shortest and longest history: two updates; memory.
const HISTORIES: std::ops::RangeInclusive<usize> = 2..=100_000;

/// How sequences are followed, and what answers hold.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Directory of the model; `starter` is the one of walks that comes with the program
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// Steps that every answer forecasts; 0 for none
    #[arg(long, value_name = "STEPS", default_value_t = 1)]
    #[arg(value_parser = within(..=LONGEST_HORIZON, "at most 1000 steps", "1"))]
    pub horizon: usize,

    /// Quantiles of the forecast
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', default_value = "0.05,0.5,0.95")]
    #[arg(value_parser = level())]
    pub quantiles: Vec<f64>,

    /// Inputs of the steps to come, where a line does not say them
    #[arg(long, value_enum, value_name = "HOW", default_value = "hold")]
    pub future: FutureName,

    /// Steps of history over which the posterior is exact; what is older is carried forward [default: 64; 32 where the state is random]
    #[arg(long, value_name = "STEPS", value_parser = within(HISTORIES, "2 to 100000 steps", "64"))]
    pub history: Option<usize>,

    /// How far a member may change: the standard deviation by which its code walks per step, where the codes of the family have about 1;
    /// 0.01 is slow, 0.1 fast. Works with a history that is short beside the change [default: members stay as they are]
    #[arg(long, value_name = "SIGMA")]
    #[arg(value_parser = within((Excluded(0.0), Included(f64::MAX)), "a standard deviation above 0", "0.02"))]
    pub drift: Option<f64>,

    /// Sequences that are followed at once; lines of further ones are refused
    #[arg(long, value_name = "N", default_value_t = 1000)]
    #[arg(value_parser = within(1_usize.., "1 or more", "1000"))]
    pub most_series: usize,

    /// File to save where it stands: at the end of input, on Ctrl-C, and every few lines
    #[arg(long, value_name = "FILE")]
    pub snapshot: Option<PathBuf>,

    /// Lines from one snapshot to the next; 0 saves at the end only
    #[arg(long, value_name = "LINES", default_value_t = 1000)]
    pub snapshot_every: u64,

    /// Snapshot to go on from, to the same bits as without a stop
    #[arg(long, value_name = "FILE")]
    pub restore: Option<PathBuf>,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

/// Inputs of steps to come that no line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FutureName {
    /// The last ones hold
    Hold,
    /// They are zero
    Zero,
}

impl Arguments {
    /// Answers `input` line by line until it ends, or until Ctrl-C.
    ///
    /// # Errors
    /// A model or snapshot that cannot be used; input that cannot be read; a snapshot that cannot be written. A line that
    /// cannot be read is no error: it is answered.
    pub fn run(
        mut self,
        interrupt: &Interrupt,
        input: impl BufRead + Send + 'static,
        stdout: &mut dyn Write,
    ) -> Result<()> {
        self.check()?;
        self.quantiles = rising(self.quantiles);
        let mut watch = Watch::begin(&self, &model_at(&self.model, &self.common)?)?;
        let ended = watch.answer_all(interrupt, input, stdout);
        // What was answered is kept, however it ended.
        watch.save()?;
        ended
    }

    /// A snapshot is only replaced by what went on from it.
    fn check(&self) -> Result<(), UsageError> {
        match &self.snapshot {
            Some(path) if path.exists() && self.restore.as_ref() != Some(path) => Err(UsageError::new(
                "--snapshot",
                format!("`{}` is there already", path.display()),
                "--restore with the same file to go on from it, or another name",
            )),
            _ => Ok(()),
        }
    }

    /// As the fit chose, but with an update after every line, from fewer draws, and a bounded history.
    fn online(&self, model: &Model) -> Online {
        let chosen = model.online.clone();
        let usual = HISTORY[usize::from(model.system.base().stochastic().is_some())];
        let history = Some(self.history.or(chosen.history).unwrap_or(usual));
        let importance = AdaptiveImportance {
            first_samples: chosen.importance.first_samples.min(DRAWS),
            final_samples: chosen.importance.final_samples.min(DRAWS),
            ..chosen.importance
        };
        Online { importance, every: 1, history, drift: self.drift.or(chosen.drift), ..chosen }
    }
}

/// A watch under way.
struct Watch<'a> {
    asked: &'a Arguments,
    /// All but its sequences is up to date.
    stand: Snapshot,
    series: AllSeries,
}

impl<'a> Watch<'a> {
    fn begin(asked: &'a Arguments, model: &Model) -> Result<Self> {
        let name = model_name(model)?;
        let mut stand = match &asked.restore {
            Some(path) => Snapshot::load(path, &name)?,
            None => Snapshot::fresh(name, asked.common.seed(), asked.online(model)),
        };
        stand.check(asked)?;
        let mut series = AllSeries::new(model, &stand.online, stand.seed)?;
        let stored = std::mem::take(&mut stand.series);
        series.restore(stored).context("the snapshot does not fit the model")?;
        if let Some(path) = &asked.restore {
            let (n, next) = (series.len(), stand.lines + 1);
            asked.common.say(format_args!("{}: {n} series; the next line is line {next}", path.display()));
        }
        Ok(Self { asked, stand, series })
    }

    fn answer_all(
        &mut self,
        interrupt: &Interrupt,
        input: impl BufRead + Send + 'static,
        stdout: &mut dyn Write,
    ) -> Result<()> {
        let incoming = lines(input);
        while !interrupt.is_asked() {
            let answer = match incoming.recv_timeout(PATIENCE) {
                Ok(Incoming::Failed(error)) => return Err(error).context("cannot read the next line"),
                Ok(Incoming::Line(text)) => self.answer(&text),
                Ok(Incoming::TooLong) => {
                    self.answer_with(None, Err(anyhow!("longer than {} bytes", line::LONGEST_LINE)))
                }
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            let written = serde_json::to_writer(&mut *stdout, &answer).map_err(std::io::Error::from);
            match written.and_then(|()| stdout.write_all(b"\n")).and_then(|()| stdout.flush()) {
                // Nobody listens any more, as after `head`: no failure.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
                other => other.context("cannot print the answer")?,
            }
            if self.asked.snapshot_every > 0 && self.stand.lines.is_multiple_of(self.asked.snapshot_every) {
                self.save()?;
            }
        }
        Ok(())
    }

    fn answer(&mut self, text: &[u8]) -> Value {
        match parse(text, self.series.widths(self.asked.horizon)) {
            Err(why) => self.answer_with(None, Err(anyhow!(why))),
            Ok(Request::End(series)) => {
                let ended = self.series.end(&series);
                self.answer_with(Some((&series, None)), ended)
            }
            Ok(Request::Observe(seen)) => {
                let answer = self.series.observe(&seen, self.asked);
                self.answer_with(Some((&seen.series, seen.time.as_ref())), answer)
            }
        }
    }

    /// The answer with the number of its line, and what the line was about.
    fn answer_with(&mut self, about: Option<(&str, Option<&Value>)>, found: Result<Value>) -> Value {
        self.stand.lines += 1;
        let mut answer = found.unwrap_or_else(|error| json!({ "error": format!("{error:#}") }));
        answer["line"] = json!(self.stand.lines);
        if let Some((series, time)) = about {
            answer["series"] = json!(series);
            if let Some(time) = time {
                answer["t"] = time.clone();
            }
        }
        answer
    }

    /// Saves where it stands, if that was asked for.
    fn save(&mut self) -> Result<()> {
        let Some(path) = &self.asked.snapshot else { return Ok(()) };
        self.stand.series = self.series.stored();
        let saved = self.stand.save(path);
        self.stand.series.clear();
        saved
    }
}

#[cfg(test)]
mod tests {
    use crate::command::Verb;
    use crate::usage::{refused, typed};

    #[test]
    fn numbers_out_of_range_are_refused() {
        let wrong = [
            ["--horizon", "1001"],
            ["--history", "1"],
            ["--drift", "0"],
            ["--drift", "inf"],
            ["--most-series", "0"],
        ];
        refused(&["watch", "model"], &wrong);
    }

    #[test]
    fn a_snapshot_is_not_replaced_unasked() {
        let check = |words: &[&str]| match typed(&[&["watch", "model"], words].concat()) {
            Ok(Verb::Watch(asked)) => asked.check(),
            other => panic!("{other:?}"),
        };
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = folder.path().join("s.json");
        let path = path.to_str().expect("plain path");
        check(&["--snapshot", path]).expect("nothing there");
        std::fs::write(path, "{}").expect("written");
        let error = check(&["--snapshot", path]).expect_err("in the way");
        assert!(error.hint.contains("--restore"), "{error}");
        check(&["--snapshot", path, "--restore", path]).expect("goes on");
    }
}
