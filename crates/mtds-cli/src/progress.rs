//! How far a verb has come: a bar on a terminal, a line now and then elsewhere, always on stderr.
//!
//! stdout belongs to the result. On a terminal the bar appears only when a stage takes longer than two
//! seconds; where stderr goes to a file or a pipe, a plain line is written every ten seconds.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mtds_report::text::seconds;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

const BAR_AFTER: Duration = Duration::from_secs(2);
const LINE_EVERY: Duration = Duration::from_secs(10);

/// What the verb is busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The family is being learned.
    Learning,
    /// What was learned is made more precise.
    Refining,
    /// Codes of new members are being inferred.
    Inferring,
    /// Their futures are being forecast.
    Forecasting,
}

impl Stage {
    /// The word that a reader sees.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Learning => "learning",
            Stage::Refining => "refining",
            Stage::Inferring => "inferring",
            Stage::Forecasting => "forecasting",
        }
    }
}

/// Where and how progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Display {
    /// Not at all.
    Silent,
    /// A bar that redraws itself.
    Bar,
    /// A plain line every ten seconds.
    Lines,
}

impl Display {
    /// A bar if stderr is a terminal, lines if not.
    pub fn for_stderr() -> Self {
        if std::io::stderr().is_terminal() { Self::Bar } else { Self::Lines }
    }
}

/// Progress of a verb through its stages.
pub struct Progress {
    display: Display,
    sink: Box<dyn Write + Send>,
    stage: Option<Running>,
}

/// The stage in progress.
struct Running {
    /// What a reader sees of it.
    label: String,
    total: u64,
    done: u64,
    started: Instant,
    last_line: Instant,
    bar: ProgressBar,
}

impl Progress {
    /// Progress on stderr.
    pub fn new(display: Display) -> Self {
        Self::into_sink(display, Box::new(std::io::stderr()))
    }

    /// Progress with its plain lines going to `sink`; a bar is always drawn on stderr.
    pub fn into_sink(display: Display, sink: Box<dyn Write + Send>) -> Self {
        Self { display, sink, stage: None }
    }

    /// Begins a stage of `total` steps and ends the one before.
    pub fn begin(&mut self, stage: Stage, total: u64) {
        self.begin_part(stage, (0, 1), total);
    }

    /// The same for one of several parts of the work, counted from 0.
    pub fn begin_part(&mut self, stage: Stage, (part, parts): (usize, usize), total: u64) {
        self.end();
        let label = match parts {
            0 | 1 => stage.name().to_owned(),
            _ => format!("{} of {parts}, {}", part + 1, stage.name()),
        };
        let now = Instant::now();
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        bar.set_style(style());
        bar.set_prefix(label.clone());
        self.stage = Some(Running { label, total, done: 0, started: now, last_line: now, bar });
    }

    /// Says that `done` steps of the stage are finished, and what the bound is where there is one.
    pub fn advance(&mut self, done: u64, bound: Option<f64>) {
        self.advance_at(Instant::now(), done, bound);
    }

    fn advance_at(&mut self, now: Instant, done: u64, bound: Option<f64>) {
        let Some(running) = &mut self.stage else { return };
        running.done = done;
        match self.display {
            Display::Silent => {}
            Display::Bar => running.redraw(now, bound),
            Display::Lines if now.duration_since(running.last_line) >= LINE_EVERY => {
                running.last_line = now;
                // A closed stderr is no reason to stop the work.
                let _ = writeln!(self.sink, "{}", running.line(now, bound));
            }
            Display::Lines => {}
        }
    }

    /// Ends the stage in progress; dropping the progress does so too.
    pub fn end(&mut self) {
        if let Some(running) = self.stage.take() {
            running.bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

impl Running {
    fn redraw(&self, now: Instant, bound: Option<f64>) {
        if self.bar.is_hidden() && now.duration_since(self.started) >= BAR_AFTER {
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
        if let Some(bound) = bound {
            self.bar.set_message(format!("bound {bound:.3}"));
        }
        self.bar.set_position(self.done);
    }

    fn line(&self, now: Instant, bound: Option<f64>) -> String {
        let elapsed = now.duration_since(self.started).as_secs_f64();
        let mut line = format!("{}: {}/{}", self.label, self.done, self.total);
        if let Some(bound) = bound {
            line.push_str(&format!(", bound {bound:.3}"));
        }
        if self.done > 0 && self.done < self.total {
            let left = elapsed * (self.total - self.done) as f64 / self.done as f64;
            line.push_str(&format!(", about {} left", seconds(left)));
        }
        line
    }
}

const TEMPLATE: &str = "{prefix:<12} {bar:32} {pos}/{len}  {eta} left  {msg}";

fn style() -> ProgressStyle {
    ProgressStyle::with_template(TEMPLATE)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("━╸─")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("no thread panics here").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Shared {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().expect("no thread panics here").clone())
                .expect("progress is text")
        }
    }

    fn after_seconds(display: Display, moments: &[(u64, u64)]) -> String {
        let sink = Shared::default();
        let mut progress = Progress::into_sink(display, Box::new(sink.clone()));
        progress.begin(Stage::Learning, 100);
        let start = progress.stage.as_ref().expect("just begun").started;
        for (secs, done) in moments {
            progress.advance_at(start + Duration::from_secs(*secs), *done, Some(-1.5));
        }
        sink.text()
    }

    #[test]
    fn plain_lines_come_every_ten_seconds() {
        let text = after_seconds(Display::Lines, &[(1, 5), (9, 45), (10, 50), (15, 75), (20, 100)]);
        assert_eq!(
            text,
            "learning: 50/100, bound -1.500, about 10 s left\nlearning: 100/100, bound -1.500\n"
        );
    }
    #[test]
    fn the_bar_template_is_understood() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }

    #[test]
    fn silence_is_silent() {
        assert_eq!(after_seconds(Display::Silent, &[(60, 50), (120, 100)]), "");
    }

    #[test]
    fn advancing_without_a_stage_does_nothing() {
        let mut progress = Progress::new(Display::Silent);
        progress.advance(3, None);
        progress.end();
        assert!(progress.stage.is_none());
    }
}
