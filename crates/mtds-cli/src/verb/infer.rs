//! `mtds infer`: the posterior of every sequence's code, as a summary and, on request, as draws.

use super::delivery::{Content, Delivery, append};
use super::model::model_at;
use super::observed;
use crate::interrupt::Interrupt;
use crate::options::{Common, MethodName, ModelAndData, Where};
use crate::progress::{Progress, Stage};
use crate::usage::{UsageError, check_folder, count, result_file};
use anyhow::Result;
use clap::{Args, ValueEnum};
use mtds::parts::Misfit;
use mtds::random::{Random, Stream, stream};
use mtds::{Inferred, Method, Model, Status};
use mtds_data::{Column, Outside, ReadFamily, Table, TableWriter};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds infer model family.csv --seen 20 -o posteriors.csv
      codes of all sequences after 20 steps: means, deviations, evidence and how far to trust them
  mtds infer model family.csv --method map --draws draws.csv.gz --n-draws 100
      summary on stdout; 100 draws of every code in a file, numbered by chain and draw
";

/// Draws per sequence, unless another number is asked for.
const DRAWS: usize = 1000;

/// Whose codes, how, and where they go.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The model, and what is observed.
    #[command(flatten)]
    pub of: ModelAndData,

    /// File for the summary: CSV, Parquet or JSON lines, by its ending [default: CSV on stdout]
    #[arg(short, long, value_name = "FILE", value_parser = result_file())]
    pub out: Option<PathBuf>,

    /// How posteriors are found
    #[arg(long, value_enum, value_name = "METHOD", default_value_t = MethodName::Adais)]
    pub method: MethodName,

    /// Use at most this many steps of each sequence [default: all]
    #[arg(long, value_name = "N", value_parser = count("leave it out to use all steps"))]
    pub seen: Option<usize>,

    /// File for draws of the codes, in columns series, chain, draw, z1, z2, …
    #[arg(long, value_name = "FILE", value_parser = result_file())]
    pub draws: Option<PathBuf>,

    /// Draws per sequence [default: 1000]
    #[arg(long, value_name = "N", requires = "draws", value_parser = count("leave it out for 1000"))]
    pub n_draws: Option<usize>,

    /// Where to compute.
    #[command(flatten)]
    pub place: Where,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

impl Arguments {
    /// Infers, writes the files, prints the result to `stdout`.
    ///
    /// # Errors
    /// A model or data that cannot be read, or do not fit each other; a file that cannot be written; an interrupt.
    pub fn run(&self, interrupt: &Interrupt, stdout: &mut dyn Write) -> Result<()> {
        self.check()?;
        let (model, device) = self.place.place(model_at(&self.of.model, &self.common)?)?;
        let read = observed::read(&self.of.source, &model, &self.common)?;
        let (table, outside) = self.infer_all(interrupt, (&model, self.method.of(&model)?), &read)?;
        observed::say_outside(&self.common, &outside);
        self.common.say_trouble(&device);
        let counts = counts(&table);
        let said = counts.iter().map(|(status, n)| format!("{n} {status}")).collect::<Vec<_>>().join(", ");
        let line = format!("{} sequences: {said}", table.n_rows());
        let method = self.method.to_possible_value().map(|value| value.get_name().to_owned());
        let facts = [
            ("model", json!(self.of.model)),
            ("method", json!(method)),
            ("n_seq", json!(table.n_rows())),
            ("statuses", json!(counts)),
            ("far_outside", json!(outside.iter().map(|one| &one.id).collect::<Vec<_>>())),
            ("draws", json!(self.draws)),
        ];
        let delivery = Delivery { verb: "infer", out: self.out.as_deref(), common: &self.common };
        delivery.deliver(Content::Table(table), &facts, &line, stdout)
    }

    fn check(&self) -> Result<(), UsageError> {
        check_folder("--out", self.out.as_deref())?;
        check_folder("--draws", self.draws.as_deref())?;
        if self.out.is_some() && self.out == self.draws {
            let problem = "expected another file than for the summary";
            return Err(UsageError::new("--draws", problem, "draws.csv"));
        }
        self.of.source.check()
    }

    /// Infers all sequences, batch by batch; draws are written as they come. Also those that are far outside of what the family does.
    fn infer_all(
        &self,
        interrupt: &Interrupt,
        (model, method): (&Model, Method),
        read: &ReadFamily,
    ) -> Result<(Table, Vec<Outside>)> {
        let (family, k, seed) = (&read.family, model.system.d_code(), self.common.seed());
        let n_draws = self.n_draws.unwrap_or(DRAWS);
        let one = |i: usize| -> Result<(Table, Option<Table>, Option<Outside>)> {
            let outputs = observed::seen(family, i, self.seen);
            let seen = (&outputs, observed::inputs_of(family, model, i));
            let random = stream(seed, Stream::Infer(i as u64));
            let found = model.infer_observed(seen, method, n_draws, random, &|| interrupt.control())?;
            let id = family.sequence(i).id();
            let misfit = model.misfit(seen, &found.posterior)?;
            let outside = Outside::of(id, misfit);
            let mut random = stream(seed, Stream::InferredDraws(i as u64));
            let draws = self.draws.is_some().then(|| draws(id, &found, k, n_draws, &mut random));
            Ok((summary((id, outputs.n_time()), &found, k, misfit), draws, outside))
        };
        let mut writer = self.draws.as_deref().map(TableWriter::create).transpose()?;
        let (mut table, mut outside) = (Table::new(), vec![]);
        let mut progress = Progress::new(self.common.display());
        let work = (Stage::Inferring, family.n_seq());
        observed::in_batches(work, &mut progress, interrupt, one, |batch| {
            let mut batch_draws = Table::new();
            for (summary, draws, far) in batch {
                outside.extend(far);
                append(&mut table, summary);
                draws.into_iter().for_each(|draws| append(&mut batch_draws, draws));
            }
            writer = writer.take().map(|writer| writer.push(&batch_draws)).transpose()?;
            Ok(())
        })?;
        writer.map(TableWriter::finish).transpose()?;
        Ok((table, outside))
    }
}

/// How many sequences there are of each status.
fn counts(table: &Table) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for (name, column) in &table.columns {
        if let ("status", Column::Text(values)) = (name.as_str(), column) {
            values.iter().for_each(|status| *counts.entry(status.clone()).or_default() += 1);
        }
    }
    counts
}

/// One row: what is known of the code, and how well.
fn summary((id, seen): (&str, usize), found: &Inferred, k: usize, misfit: Misfit) -> Table {
    let number = |value: f64| Column::Number(vec![value]);
    let (mean, std_dev) = (found.posterior.mean(), found.posterior.std_dev());
    let diagnostics = found.posterior.diagnostics();
    let mut table = Table::new()
        .with("series", Column::Text(vec![id.to_owned()]))
        .with("seen", Column::Integer(vec![seen as i64]));
    for d in 0..k {
        table = table
            .with(format!("z{}_mean", d + 1), number(mean[d]))
            .with(format!("z{}_sd", d + 1), number(std_dev[d]));
    }
    table
        .with("log_evidence", number(found.log_evidence.unwrap_or(f64::NAN)))
        .with("ess", number(diagnostics.ess))
        .with("pareto_k", number(diagnostics.pareto_k.unwrap_or(f64::NAN)))
        .with("status", Column::Text(vec![status(diagnostics.status)]))
        .with("misfit", number(misfit.size().unwrap_or(f64::NAN)))
}

/// The status as one word.
fn status(status: Status) -> String {
    serde_json::to_value(status).ok().and_then(|value| Some(value.as_str()?.to_owned())).unwrap_or_default()
}

/// Draws of equal weight: `n` of one chain, or as many of each of several chains as make `n` or a few more.
fn draws(id: &str, found: &Inferred, k: usize, n: usize, random: &mut Random) -> Table {
    let points = found.posterior.thinned(n, random);
    let per_chain = points.len() / found.posterior.n_chains();
    let mut table = Table::new()
        .with("series", Column::Text(vec![id.to_owned(); points.len()]))
        .with("chain", Column::Integer((0..points.len()).map(|i| (i / per_chain) as i64).collect()))
        .with("draw", Column::Integer((0..points.len()).map(|i| (i % per_chain) as i64).collect()));
    for d in 0..k {
        table = table.with(format!("z{}", d + 1), Column::Number(points.column(d).to_vec()));
    }
    table
}
