//! `mtds report`: the page of any fit, from the model and the sequences to judge it by.

use super::model::model_at;
use super::observed;
use crate::options::{Common, ModelAndData};
use crate::progress::{Progress, Stage};
use crate::usage::{Refusal, file, rising, within};
use anyhow::{Result, anyhow};
use clap::Args;
use mtds::Error;
use mtds::evaluate::Seen;
use mtds_data::directory::write_file_atomic;
use mtds_report::fit::{FitReport, Questions, page};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Examples in the help.
const EXAMPLES: &str = "The page needs nothing else: it can be mailed, printed and read in light or dark. With the family that the
model was learned from, forecasts are judged on sequences that were held out, by the part of the model that has seen none of them;
with other data, on all of them.

Examples:
  mtds report model family.csv -o report.html
      the course of learning, the map of codes, forecasts, whether intervals hold, residuals, settings
  mtds report model family.csv -o report.html --seen 5,20 --shown 3
      forecasts after 5 and after 20 steps, three sequences drawn
";

/// Which model, judged by what.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The model, and sequences to judge it by.
    #[command(flatten)]
    pub of: ModelAndData,

    /// File for the page
    #[arg(short, long, value_name = "FILE", default_value = "report.html", value_parser = file(page_file))]
    pub out: PathBuf,

    /// Steps after which the rest is forecast [default: a quarter and half of the middle length]
    #[arg(long, value_name = "STEPS", value_delimiter = ',')]
    #[arg(value_parser = within(1_usize.., "1 or more steps", "5,20"))]
    pub seen: Vec<usize>,

    /// Sequences that are drawn
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub shown: usize,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

fn page_file(path: &Path) -> Result<(), Refusal> {
    match path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html")) {
        true => Ok(()),
        false => Err((format!("the report is a page, found `{}`", path.display()), "report.html".into())),
    }
}

impl Arguments {
    /// Measures, writes the page, prints where it is to `stdout`.
    ///
    /// # Errors
    /// A model or data that cannot be read, or do not fit each other; a file that cannot be written.
    pub fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        self.of.source.check()?;
        let model = model_at(&self.of.model, &self.common)?;
        let family = observed::read(&self.of.source, &model, &self.common)?.family;
        let asked = Questions {
            model: &name(&self.of.model),
            family: &name(&self.of.source.data),
            seen: &rising(self.seen.clone()),
            shown: self.shown,
            seed: self.common.seed(),
        };
        let mut progress = Progress::new(self.common.display());
        let found = FitReport::measure(model, &family, &asked, &mut |done, all| match done {
            0 => progress.begin(Stage::Forecasting, all as u64),
            done => progress.advance(done as u64, None),
        });
        drop(progress);
        let mut report = found.map_err(|error| match error {
            Error::Setting { name, why } if name == "seen" => anyhow!("{why}; give fewer with --seen"),
            other => other.into(),
        })?;
        report.next = self.next(report.scores.first().map(|row| row.seen));
        write_file_atomic(&self.out, page(&report).render().as_bytes())?;
        let text = || format!("{}: {}\n", self.out.display(), report.judged);
        self.common.print(stdout, text, || self.document(&report))
    }

    /// Commands that go further.
    fn next(&self, first: Option<Seen>) -> Vec<(String, String)> {
        let seen = if let Some(Seen::Steps(steps)) = first { steps } else { 1 };
        let (model, data) = (self.of.model.display(), self.of.source.data.display());
        [
            (format!("mtds forecast {model} {data} --seen {seen}"), "means and quantiles of what follows"),
            (format!("mtds watch {model}"), "a JSON line per observation in, posterior and forecast out"),
            (format!("mtds inspect {model} -o codes.csv"), "the codes of all members as a table"),
        ]
        .map(|(command, meaning)| (command, meaning.to_owned()))
        .to_vec()
    }

    fn document(&self, report: &FitReport) -> Value {
        json!({
            "verb": "report",
            "version": env!("CARGO_PKG_VERSION"),
            "seed": self.common.seed(),
            "model": self.of.model,
            "judged": report.judged,
            "rows": report.scores,
            "coverage": report.coverage,
            "explained": report.explained,
            "tenths": report.residuals.tenths,
            "autocorrelation": report.residuals.autocorrelation,
            "file": self.out,
        })
    }
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
