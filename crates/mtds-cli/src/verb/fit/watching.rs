//! What hears the progress of a fit: a bar, event files, and when a checkpoint is due.

use super::Arguments;
use crate::interrupt::Interrupt;
use crate::progress::{Progress, Stage};
use crate::tensorboard::EventFile;
use anyhow::Result;
use mtds::{Control, FitProgress, FitStage};
use mtds_report::text::seconds;
use std::time::Instant;

/// Steps from one record in the event files to the next.
const EVENT_EVERY: u64 = 10;

/// The ears of a fit.
pub(super) struct Watching<'a> {
    asked: &'a Arguments,
    interrupt: &'a Interrupt,
    progress: Progress,
    events: Option<EventFile>,
    /// The stage that was last heard of, with steps done and steps in all.
    stage: Option<(FitStage, u64, u64)>,
    /// Which system of how many that was.
    part: (usize, usize),
    /// Steps of learning before this stage.
    before: u64,
    last_checkpoint: Instant,
    /// Seconds that each stage took so far, and when the last of them were counted.
    seconds: Vec<(FitStage, f64)>,
    counted: Instant,
}

impl<'a> Watching<'a> {
    /// Before the first step.
    ///
    /// # Errors
    /// An event file that cannot be made.
    pub(super) fn new(asked: &'a Arguments, interrupt: &'a Interrupt) -> Result<Self> {
        Ok(Self {
            asked,
            interrupt,
            progress: Progress::new(asked.common.display()),
            events: asked.tensorboard.as_deref().map(EventFile::create).transpose()?,
            stage: None,
            part: (0, 1),
            before: 0,
            last_checkpoint: Instant::now(),
            seconds: vec![],
            counted: Instant::now(),
        })
    }

    /// Shows how far the fit is; asks it to stop for a checkpoint, or because somebody wants it to.
    pub(super) fn hear(&mut self, heard: &FitProgress) -> Control {
        self.count();
        let before = self.stage;
        let is_other = self.part != heard.part;
        if is_other || before.is_none_or(|(stage, _, all)| (stage, all) != (heard.stage, heard.all)) {
            self.progress.begin_part(shown(heard.stage), heard.part, heard.all);
        }
        self.part = heard.part;
        if let Some((FitStage::Starting, done, _)) = before.filter(|(stage, ..)| *stage != heard.stage) {
            self.before = done;
        }
        self.stage = Some((heard.stage, heard.done, heard.all));
        let bound = heard.step.map(|step| step.best_validation.unwrap_or(step.bound));
        self.progress.advance_whole(heard.done, bound, heard.whole);
        if let Some(Err(error)) = heard.step.map(|step| self.record(step)) {
            self.events = None;
            let line = format_args!("warning: {error:#}; learning goes on without event files");
            self.asked.common.say(line);
        }
        // A stage that begins is a good moment: all before it is kept.
        let has_begun = heard.done == 0 && before.is_some_and(|(stage, ..)| stage != heard.stage);
        // What is short begins anew where it is cut: it is left alone.
        let goes_on = !matches!(heard.stage, FitStage::Calibrating | FitStage::Comparing | FitStage::Judging);
        let is_due =
            goes_on && heard.done > 0 && self.last_checkpoint.elapsed() >= self.asked.checkpoint_every;
        if has_begun || is_due {
            self.last_checkpoint = Instant::now();
            return Control::Stop;
        }
        if self.interrupt.is_asked() { Control::Stop } else { Control::Continue }
    }

    /// Counts the time since the last count to the stage that it was spent in.
    fn count(&mut self) {
        let now = Instant::now();
        let passed = now.duration_since(std::mem::replace(&mut self.counted, now)).as_secs_f64();
        let Some((stage, ..)) = self.stage else { return };
        match self.seconds.iter_mut().find(|(known, _)| *known == stage) {
            Some((_, sum)) => *sum += passed,
            None => self.seconds.push((stage, passed)),
        }
    }

    /// How long the fit took, stage by stage.
    pub(super) fn took(&mut self) -> String {
        self.count();
        let all: f64 = self.seconds.iter().map(|(_, seconds)| seconds).sum();
        let share = |&(stage, seconds): &(FitStage, f64)| {
            format!("{} {:.0} %", word(stage), 100.0 * seconds / all.max(f64::MIN_POSITIVE))
        };
        let shares: Vec<String> = self.seconds.iter().map(share).collect();
        format!("took {}: {}", seconds(all), shares.join(", "))
    }

    /// Every tenth step, and every check of the held-out bound.
    fn record(&mut self, step: &mtds::Progress) -> Result<()> {
        let Some(events) = &mut self.events else { return Ok(()) };
        if !step.step.is_multiple_of(EVENT_EVERY) && step.validation.is_none() {
            return Ok(());
        }
        let mut values = vec![
            ("bound/training", step.bound),
            ("loss", step.loss),
            ("learning_rate", step.learning_rate),
            ("gradient_norm", step.gradient_norm),
        ];
        values.extend(step.ess.map(|ess| ("effective_sample_size", ess)));
        values.extend(step.validation.map(|bound| ("bound/held_out", bound)));
        events.scalars(self.before + step.step, &values)
    }

    /// What is said of a fit that was stopped.
    pub(super) fn stopped(&mut self) -> String {
        self.progress.end();
        let (name, done, all) =
            self.stage.map_or(("starting", 0, 0), |(stage, done, all)| (shown(stage).name(), done, all));
        format!(
            "interrupted while {name}, after step {done} of {all}; the same command with --resume goes on from there"
        )
    }
}

/// What a stage is about, in a word.
fn word(stage: FitStage) -> &'static str {
    match stage {
        FitStage::Starting => "start",
        FitStage::Learning => "learning",
        FitStage::Expecting => "prior over codes",
        FitStage::Calibrating => "width of forecasts",
        FitStage::Comparing => "comparison",
        FitStage::Inferring => "codes of members",
        FitStage::Judging => "judgement",
    }
}

fn shown(stage: FitStage) -> Stage {
    match stage {
        FitStage::Starting | FitStage::Learning => Stage::Learning,
        FitStage::Expecting | FitStage::Inferring => Stage::Inferring,
        FitStage::Calibrating | FitStage::Comparing | FitStage::Judging => Stage::Forecasting,
    }
}
