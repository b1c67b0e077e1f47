//! `mtds evaluate`: the library's rolling-origin evaluation of a model on a file, beside baselines.
//!
//! ```text
//! sequence ── seen ──→ forecast of the rest, by the model and by each baseline ──→ scores per sequence ──→ mean ± s.e.
//!          ── a few steps at a time ──→ surprise ──→ anomaly score
//! ```

mod document;

use super::model::model_at;
use super::observed;
use crate::options::{Common, ModelAndData, Source, Where};
use crate::progress::{Progress, Stage};
use crate::usage::{Refusal, UsageError, rising, table_file, value, within};
use anyhow::{Context, Result, bail};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use mtds::evaluate::{Baseline, Origins, Scored, Scoring};
use mtds::{Control, Family, Model, Surprise};
use mtds_data::{score_table, write_table};
use rayon::prelude::*;
use std::io::Write;
use std::path::PathBuf;

/// Examples in the help, and what the anomaly score means.
const EXAMPLES: &str = "The anomaly score of a sequence: its steps are forecast a few at a time, given all before. The log
density of what came is compared with that of outcomes drawn from the same forecasts; the difference, summed, is divided
by its standard deviation. Sequences that the model itself would make have mean 0 and deviation 1; 3 and more is an
anomaly, far below 0 is more regular than anything the model would make.

Examples:
  mtds evaluate model family.csv --seen 10,20
      forecasts of the rest of every sequence after 10 and after 20 steps
  mtds evaluate model family.csv --train family.csv --against last-value,ridge -o scores.csv --anomaly odd.csv
      the same beside baselines that learn from the training file, and an anomaly score per sequence
";

/// What is said of NPZ.
const NOT_NPZ: &str = "a table cannot be written as NPZ";
/// What is scored, from where, beside what.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The model, and sequences to score, with the columns of the fit unless others are named.
    #[command(flatten)]
    pub of: ModelAndData,

    /// Steps after which the rest is forecast, each on its own
    #[arg(long, value_name = "STEPS", value_delimiter = ',', default_value = "10,20,40")]
    #[arg(value_parser = value(some_steps))]
    pub seen: Vec<usize>,

    /// Steps that are forecast [default: to the end of a sequence]
    #[arg(long, value_name = "STEPS", value_parser = within(1_usize.., "1 or more steps", "leave it out"))]
    pub horizon: Option<usize>,

    /// Baselines; all but `single` learn from --train [default: last-value,family-mean with --train, else none]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = baseline())]
    pub against: Option<Vec<Baseline>>,

    /// Units of the recurrent network that `--against gru` learns
    #[arg(long, value_name = "UNITS", default_value_t = Scoring::NETWORK.0)]
    #[arg(value_parser = within(1_usize.., "1 or more units", "64"))]
    pub gru_units: usize,

    /// Most steps that it learns for; it stops earlier when held-out sequences no longer gain
    #[arg(long, value_name = "STEPS", default_value_t = Scoring::NETWORK.1)]
    #[arg(value_parser = within(1_u64.., "1 or more steps", "1500"))]
    pub gru_steps: u64,

    /// Training sequences for the baselines, in a file with the same columns
    #[arg(long, value_name = "FILE")]
    pub train: Option<PathBuf>,

    /// File for the table; its ending says the format
    #[arg(short, long, value_name = "FILE", value_parser = table_file(NOT_NPZ, "scores.csv"))]
    pub out: Option<PathBuf>,

    /// File for an anomaly score per sequence; its ending says the format
    #[arg(long, value_name = "FILE", value_parser = table_file(NOT_NPZ, "scores.csv"))]
    pub anomaly: Option<PathBuf>,

    /// Where to compute.
    #[command(flatten)]
    pub place: Where,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

/// Reads the name of a baseline, which is its title in tables.
fn baseline() -> impl TypedValueParser<Value = Baseline> {
    let names = Baseline::ALL.map(|baseline| PossibleValue::new(baseline.name()).help(help_of(baseline)));
    PossibleValuesParser::new(names)
        .map(|typed| Baseline::named(&typed).expect("the parser lets only names of baselines pass"))
}

fn help_of(baseline: Baseline) -> &'static str {
    match baseline {
        Baseline::LastValue => "The last value holds",
        Baseline::FamilyMean => "The mean of the training sequences at each step",
        Baseline::Nearest => "Futures of the training sequences whose beginnings are near",
        Baseline::Ridge => "Ridge regression of each future step on what was seen",
        Baseline::Fpca => "Functional principal components of the training sequences",
        Baseline::Gp => "A Gaussian process in common and one for each sequence: takes seconds to learn",
        Baseline::Pooled => "One linear system for all training sequences",
        Baseline::Gru => "A gated recurrent network for all training sequences: takes its time to learn",
        Baseline::Single => "A linear system for each sequence on its own, by NUTS: slow",
    }
}

fn some_steps(seen: usize) -> Result<usize, Refusal> {
    let wrong = || ("expected 1 or more steps, found 0 or nothing".into(), "10,20,40".into());
    Some(seen).filter(|seen| *seen > 0).ok_or_else(wrong)
}

/// What was found.
struct Evaluation {
    rows: Vec<Scored>,
    /// Empty unless asked for.
    anomalies: Vec<AnomalyRow>,
    n_seq: usize,
    /// Whether the sequences are those that the model was learned from.
    is_training: bool,
}

/// How anomalous a sequence is.
struct AnomalyRow {
    series: String,
    label: Option<String>,
    surprise: Surprise,
}

impl Arguments {
    /// Scores, writes what was asked for, prints the table to `stdout`.
    ///
    /// # Errors
    /// A model or data that cannot be used, or do not fit each other; a file that cannot be written.
    pub fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        self.of.source.check()?;
        let against = self.baselines()?;
        let (model, device) = self.place.place(model_at(&self.of.model, &self.common)?)?;
        let family = observed::read(&self.of.source, &model, &self.common)?.family;
        let train = self.training().map(|source| observed::read(&source, &model, &self.common));
        let train = train.transpose()?.map(|read| read.family);
        let is_training = family.fingerprint() == model.provenance.fingerprint;
        if is_training {
            self.common
                .say("note: the model was learned from these sequences; scores say little about new ones");
        }
        let mut progress = Progress::new(self.common.display());
        let rows = self.rows(&model, &against, (&family, train.as_ref()), &mut progress)?;
        let anomalies = match self.anomaly {
            Some(_) => self.anomalies(&model, &family, &mut progress)?,
            None => vec![],
        };
        drop(progress);
        self.common.say_trouble(&device);
        let found = Evaluation { rows, anomalies, n_seq: family.n_seq(), is_training };
        if let Some(path) = &self.out {
            write_table(path, &score_table(&found.rows))?;
        }
        if let Some(path) = &self.anomaly {
            write_table(path, &document::anomalies(&found.anomalies))?;
        }
        self.common.print(stdout, || document::text(self, &found), || document::json(self, &found))
    }

    /// Training sequences of the baselines, in the same columns.
    fn training(&self) -> Option<Source> {
        self.train.clone().map(|data| Source { data, ..self.of.source.clone() })
    }

    /// What the model is compared with.
    fn baselines(&self) -> Result<Vec<Baseline>, UsageError> {
        let Some(asked) = &self.against else {
            return Ok(if self.train.is_some() { Baseline::USUAL.to_vec() } else { vec![] });
        };
        if let Some(name) = asked.iter().find(|name| name.needs_training() && self.train.is_none()) {
            let problem = format!("`{}` learns from training sequences, and none are given", name.title());
            let hint = "--train FILE, the file that the model was fit to";
            return Err(UsageError::new("--against", problem, hint));
        }
        Ok(asked.clone())
    }

    /// The scores of the model and of what it is compared with, by origin.
    fn rows(
        &self,
        model: &Model,
        against: &[Baseline],
        (family, training): (&Family, Option<&Family>),
        progress: &mut Progress,
    ) -> Result<Vec<Scored>> {
        let seen = rising(self.seen.clone());
        let origins = Origins { horizon: self.horizon, ..Origins::after(&seen) };
        if origins.are_beyond(family) {
            bail!("no sequence is longer than {} steps; give fewer with --seen", seen[0]);
        }
        let (network, seed) = ((self.gru_units, self.gru_steps), self.common.seed());
        let scoring = Scoring { model, family, training, against, origins, network, seed };
        let mut at = None;
        let found = scoring.run(
            &mut |heard| {
                let stage = if heard.is_learning { Stage::Learning } else { Stage::Forecasting };
                if at == Some((heard.baseline, stage)) {
                    progress.advance(heard.done, heard.bound);
                    return Control::Continue;
                }
                at = Some((heard.baseline, stage));
                if heard.baseline == Some(Baseline::Single) && heard.is_learning {
                    self.common.say(
                        "note: `single` samples a posterior for every sequence and origin; this may take minutes",
                    );
                }
                progress.begin(stage, if heard.is_learning { self.gru_steps } else { heard.all });
                Control::Continue
            },
            &|| Control::Continue,
        );
        progress.end();
        match at {
            Some((_, Stage::Learning)) => found.context("the baselines"),
            _ => Ok(found?),
        }
    }

    /// How anomalous every sequence is, in their order.
    fn anomalies(&self, model: &Model, family: &Family, progress: &mut Progress) -> Result<Vec<AnomalyRow>> {
        progress.begin(Stage::Inferring, family.n_seq() as u64);
        let one = |i: usize| -> Result<AnomalyRow> {
            let sequence = family.sequence(i);
            Ok(AnomalyRow {
                series: sequence.id().to_owned(),
                label: sequence.label().map(str::to_owned),
                surprise: model.surprise(family, i, self.common.seed())?,
            })
        };
        let rows = (0..family.n_seq()).into_par_iter().map(one).collect();
        progress.end();
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Verb;
    use crate::usage::{refused, typed};

    const EVALUATE: [&str; 3] = ["evaluate", "model", "data.csv"];

    fn asked(words: &[&str]) -> Box<Arguments> {
        match typed(&[&EVALUATE, words].concat()) {
            Ok(Verb::Evaluate(asked)) => asked,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn baselines_that_learn_ask_for_training_sequences() {
        let error = asked(&["--against", "single,pooled"]).baselines().expect_err("nothing to learn from");
        assert!(error.problem.contains("`pooled`") && error.hint.contains("--train"), "{error}");
        assert_eq!(asked(&["--against", "single"]).baselines().expect("learns nothing"), [Baseline::Single]);
        assert!(asked(&[]).baselines().expect("none").is_empty());
        let found = asked(&["--train", "t.csv", "--outputs", "a"]);
        assert_eq!(found.baselines().expect("valid"), Baseline::USUAL);
        let train = found.training().expect("given");
        assert_eq!((train.data.to_str(), train.columns()), (Some("t.csv"), found.of.source.columns()));
    }

    #[test]
    fn numbers_are_in_range_and_files_have_formats() {
        refused(
            &EVALUATE,
            &[
                ["--seen", "0,3"],
                ["--horizon", "0"],
                ["--gru-units", "0"],
                ["--gru-steps", "0"],
                ["--out", "scores.docx"],
                ["--anomaly", "a.npz"],
            ],
        );
    }
}
