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
    /// When work of several stages began, and the share of it that was done then.
    whole: Option<(Instant, f64)>,
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
        Self { display, sink, stage: None, whole: None }
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
        self.advance_at(Instant::now(), done, bound, None);
    }

    /// The same for a stage of work of which this share is done in all: the time left that is shown is that of all of it.
    pub fn advance_whole(&mut self, done: u64, bound: Option<f64>, share: f64) {
        self.advance_at(Instant::now(), done, bound, Some(share));
    }

    fn advance_at(&mut self, now: Instant, done: u64, bound: Option<f64>, share: Option<f64>) {
        let left = share.and_then(|share| {
            let (began, first) = *self.whole.get_or_insert((now, share));
            left(now.duration_since(began), share - first, 1.0 - share)
        });
        let Some(running) = &mut self.stage else { return };
        running.done = done;
        let left = match share {
            Some(_) => left,
            None => left_of(running, now),
        };
        match self.display {
            Display::Silent => {}
            Display::Bar => running.redraw(now, bound, left),
            Display::Lines if now.duration_since(running.last_line) >= LINE_EVERY => {
                running.last_line = now;
                // A closed stderr is no reason to stop the work.
                let _ = writeln!(self.sink, "{}", running.line(bound, left));
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

/// Seconds until `rest` is done where `done` took this long; `None` before anything is done, and at the end.
fn left(elapsed: Duration, done: f64, rest: f64) -> Option<f64> {
    (done > 0.0 && rest > 0.0).then(|| elapsed.as_secs_f64() * rest / done)
}

/// The same for the stage in progress.
fn left_of(running: &Running, now: Instant) -> Option<f64> {
    let rest = running.total.saturating_sub(running.done);
    left(now.duration_since(running.started), running.done as f64, rest as f64)
}

impl Running {
    fn redraw(&self, now: Instant, bound: Option<f64>, left: Option<f64>) {
        if self.bar.is_hidden() && now.duration_since(self.started) >= BAR_AFTER {
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
        let left = left.map(|left| format!("about {} left", seconds(left)));
        let bound = bound.map(|bound| format!("bound {bound:.3}"));
        let said: Vec<String> = left.into_iter().chain(bound).collect();
        if !said.is_empty() {
            self.bar.set_message(said.join("  "));
        }
        self.bar.set_position(self.done);
    }

    fn line(&self, bound: Option<f64>, left: Option<f64>) -> String {
        let mut line = format!("{}: {}/{}", self.label, self.done, self.total);
        if let Some(bound) = bound {
            line.push_str(&format!(", bound {bound:.3}"));
        }
        if let Some(left) = left {
            line.push_str(&format!(", about {} left", seconds(left)));
        }
        line
    }
}

const TEMPLATE: &str = "{prefix:<12} {bar:32} {pos}/{len}  {msg}";

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
            progress.advance_at(start + Duration::from_secs(*secs), *done, Some(-1.5), None);
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

    /// Half of the first stage is a tenth of all: the time left is that of all stages, and of a fit that goes on counts what it did itself.
    #[test]
    fn the_time_left_is_that_of_all_stages() {
        let said = |first: f64| {
            let sink = Shared::default();
            let mut progress = Progress::into_sink(Display::Lines, Box::new(sink.clone()));
            progress.begin(Stage::Learning, 100);
            let start = progress.stage.as_ref().expect("just begun").started;
            progress.advance_at(start, 0, None, Some(first));
            progress.advance_at(start + Duration::from_secs(10), 50, None, Some(first + 0.1));
            progress.begin(Stage::Inferring, 8);
            let later = Duration::from_secs(30);
            progress.stage.as_mut().expect("just begun").last_line = start;
            progress.advance_at(start + later, 0, None, Some(first + 0.3));
            sink.text()
        };
        assert_eq!(said(0.0), "learning: 50/100, about 90 s left\ninferring: 0/8, about 70 s left\n");
        assert_eq!(said(0.5), "learning: 50/100, about 40 s left\ninferring: 0/8, about 20 s left\n");
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
