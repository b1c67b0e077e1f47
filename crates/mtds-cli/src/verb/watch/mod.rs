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

use crate::interrupt::Interrupt;
use crate::plan::{DEFAULT_SEED, Verbosity, WatchPlan};
use anyhow::{Context, Result, anyhow};
use incoming::{Incoming, lines};
use line::{Request, parse};
use mtds::Model;
use mtds::infer::{AdaptiveImportance, Online};
use mtds_data::model::load_model;
use serde_json::{Value, json};
use series::AllSeries;
use snapshot::{Snapshot, model_name};
use std::io::{BufRead, ErrorKind, Write};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// Steps of history unless others are asked for: where the state is a function of the code, and where it is random and the past is
/// soon forgotten.
const HISTORY: [usize; 2] = [64, 32];
/// Most draws of a posterior: one line tells less than the five after which a posterior is made anew elsewhere, and is waited for.
const DRAWS: usize = 1000;
/// How long Ctrl-C may go unheard while no line comes.
const PATIENCE: Duration = Duration::from_millis(50);

/// Answers `input` line by line until it ends, or until Ctrl-C.
///
/// # Errors
/// A model or snapshot that cannot be used; input that cannot be read; a snapshot that cannot be written. A line that
/// cannot be read is no error: it is answered.
pub fn run(
    plan: &WatchPlan,
    interrupt: &Interrupt,
    input: impl BufRead + Send + 'static,
    stdout: &mut dyn Write,
) -> Result<()> {
    let bundle = load_model(&plan.model)?;
    let online = online(plan, &bundle);
    Job { plan, interrupt, online, input, stdout }.run(&bundle)
}

/// As the fit chose, but with an update after every line, from fewer draws, and a bounded history.
fn online(plan: &WatchPlan, bundle: &Model) -> Online {
    let chosen = bundle.online.clone();
    let usual = HISTORY[usize::from(bundle.system.base().stochastic().is_some())];
    let history = Some(plan.history.or(chosen.history).unwrap_or(usual));
    let importance = AdaptiveImportance {
        first_samples: chosen.importance.first_samples.min(DRAWS),
        final_samples: chosen.importance.final_samples.min(DRAWS),
        ..chosen.importance
    };
    Online { importance, every: 1, history, drift: plan.drift.or(chosen.drift), ..chosen }
}

/// What is left to do once the model is there.
struct Job<'a, I> {
    plan: &'a WatchPlan,
    interrupt: &'a Interrupt,
    online: Online,
    input: I,
    stdout: &'a mut dyn Write,
}

impl<I: BufRead + Send + 'static> Job<'_, I> {
    fn run(self, bundle: &Model) -> Result<()> {
        let Self { plan, interrupt, online, input, stdout } = self;
        let mut watch = Watch::begin(plan, bundle, online)?;
        let ended = watch.answer_all(interrupt, input, stdout);
        // What was answered is kept, however it ended.
        watch.save()?;
        ended
    }
}

/// A watch under way.
struct Watch<'a> {
    plan: &'a WatchPlan,
    /// All but its sequences is up to date.
    stand: Snapshot,
    series: AllSeries,
}

impl<'a> Watch<'a> {
    fn begin(plan: &'a WatchPlan, bundle: &'a Model, online: Online) -> Result<Self> {
        let name = model_name(bundle)?;
        let mut stand = match &plan.restore {
            Some(path) => Snapshot::load(path, &name)?,
            None => Snapshot::fresh(name, plan.seed.unwrap_or(DEFAULT_SEED), online),
        };
        stand.check_plan(plan)?;
        let mut series = AllSeries::new(&bundle.system, stand.online.clone(), stand.seed);
        let stored = std::mem::take(&mut stand.series);
        series.restore(stored).context("the snapshot does not fit the model")?;
        if let Some(path) = plan.restore.as_ref().filter(|_| plan.common.verbosity != Verbosity::Quiet) {
            let (n, lines) = (series.len(), stand.lines);
            eprintln!("{}: {n} series; the next line is line {}", path.display(), lines + 1);
        }
        Ok(Self { plan, stand, series })
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
            if self.plan.snapshot_every > 0 && self.stand.lines.is_multiple_of(self.plan.snapshot_every) {
                self.save()?;
            }
        }
        Ok(())
    }

    fn answer(&mut self, text: &[u8]) -> Value {
        match parse(text, self.series.widths(self.plan.horizon)) {
            Err(why) => self.answer_with(None, Err(anyhow!(why))),
            Ok(Request::End(series)) => {
                let ended = self.series.end(&series);
                self.answer_with(Some((&series, None)), ended)
            }
            Ok(Request::Observe(seen)) => {
                let answer = self.series.observe(&seen, self.plan);
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
        let Some(path) = &self.plan.snapshot else { return Ok(()) };
        self.stand.series = self.series.stored();
        let saved = self.stand.save(path);
        self.stand.series.clear();
        saved
    }
}
