//! `mtds forecast`: where every sequence is going, as a long table of means and quantiles.

use super::delivery::{Content, Delivery, append};
use super::model::model_at;
use super::observed;
use crate::interrupt::Interrupt;
use crate::options::{Common, MethodName, ModelAndData, Where};
use crate::progress::{Progress, Stage};
use crate::usage::{UsageError, check_folder, count, level, result_file, rising};
use anyhow::{Result, bail};
use clap::Args;
use mtds::random::{Stream, stream};
use mtds::{Forecast, Model};
use mtds_data::{Column, Outside, ReadFamily, Table};
use serde_json::json;
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds forecast model family.csv --seen 20 --horizon 40 --quantiles 0.05,0.5,0.95 -o forecasts.csv
      the 40 steps after the first 20 of every sequence
  mtds forecast model family.csv --seen 60 --json
      all that the file has inputs for beyond 60 steps, as a JSON document on stdout
";

/// What is forecast, from where, how far.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The model, and what is observed; last rows with inputs and no outputs are the future.
    #[command(flatten)]
    pub of: ModelAndData,

    /// File for the forecasts: CSV, Parquet or JSON lines, by its ending [default: CSV on stdout]
    #[arg(short, long, value_name = "FILE", value_parser = result_file())]
    pub out: Option<PathBuf>,

    /// Use at most this many steps of each sequence [default: all]
    #[arg(long, value_name = "N", value_parser = count("leave it out to use all steps"))]
    pub seen: Option<usize>,

    /// Steps to forecast [default: as far as DATA goes beyond what is seen]
    #[arg(long, value_name = "N", value_parser = count("40"))]
    pub horizon: Option<usize>,

    /// Levels of the quantiles, between 0 and 1
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', default_value = "0.05,0.5,0.95")]
    #[arg(value_parser = level())]
    pub quantiles: Vec<f64>,

    /// How posteriors are found
    #[arg(long, value_enum, value_name = "METHOD", default_value_t = MethodName::Adais)]
    pub method: MethodName,

    /// Where to compute.
    #[command(flatten)]
    pub place: Where,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

impl Arguments {
    /// Forecasts, writes the file, prints the result to `stdout`.
    ///
    /// # Errors
    /// A model or data that cannot be read, or do not fit each other; inputs of the future that are not there; a file
    /// that cannot be written; an interrupt.
    pub fn run(&self, interrupt: &Interrupt, stdout: &mut dyn Write) -> Result<()> {
        self.of.source.check()?;
        check_folder("--out", self.out.as_deref())?;
        let (model, device) = self.place.place(model_at(&self.of.model, &self.common)?)?;
        let read = observed::read(&self.of.source, &model, &self.common)?;
        let steps = self.all_steps(&read, &model)?;
        let levels = rising(self.quantiles.clone());
        let (table, outside) = self.forecasts(interrupt, &model, (&read, &steps), &levels)?;
        observed::say_outside(&self.common, &outside);
        self.common.say_trouble(&device);
        let n_seq = steps.iter().filter(|steps| !steps.is_empty()).count();
        let line = format!("forecasts of {n_seq} sequences, {} rows", table.n_rows());
        let facts = [
            ("model", json!(self.of.model)),
            ("n_seq", json!(n_seq)),
            ("seen", json!(self.seen)),
            ("horizon", json!(self.horizon)),
            ("quantiles", json!(levels)),
            ("far_outside", json!(outside.iter().map(|one| &one.id).collect::<Vec<_>>())),
        ];
        let delivery = Delivery { verb: "forecast", out: self.out.as_deref(), common: &self.common };
        delivery.deliver(Content::Table(table), &facts, &line, stdout)
    }

    /// The steps of every sequence that are forecast, counted from 0; none where the file does not go on.
    fn all_steps(&self, read: &ReadFamily, model: &Model) -> Result<Vec<Range<usize>>> {
        let each = (0..read.family.n_seq()).map(|i| self.steps(read, model, i));
        let each = each.collect::<Result<Vec<_>>>()?;
        let without = each.iter().filter(|steps| steps.is_empty()).count();
        if without == each.len() {
            return Err(nothing_ahead(model).into());
        }
        if without > 0 {
            self.common.say(format_args!(
                "note: {without} sequence(s) end with what is seen and are not forecast; set --horizon"
            ));
        }
        Ok(each)
    }

    /// The steps of one sequence that are forecast.
    fn steps(&self, read: &ReadFamily, model: &Model, i: usize) -> Result<Range<usize>> {
        let sequence = read.family.sequence(i);
        let seen = self.seen.unwrap_or(usize::MAX).min(sequence.n_time());
        let inputs = observed::inputs_of(&read.family, model, i);
        let ahead = inputs.map_or(sequence.n_time(), |inputs| inputs.n_time()) - seen;
        // What does not change within a sequence is known as far as anybody asks.
        let inputs = inputs.filter(|_| !model.columns.has_attributes_only());
        let horizon = self.horizon.unwrap_or(ahead);
        if inputs.is_some() && horizon > ahead {
            // Where nothing is ahead, no horizon is short enough.
            let shorter = if ahead > 0 { format!("--horizon {ahead}, ") } else { String::new() };
            bail!(
                "{}: sequence `{}`: expected {} for {horizon} step(s) after {seen} seen, found {ahead}\n  try: rows at the \
                 end with inputs and empty outputs, {shorter}or --seen with fewer steps",
                self.of.source.data.display(),
                sequence.id(),
                model.columns.inputs.join(", "),
            );
        }
        Ok(seen..seen + horizon)
    }

    /// The forecasts of all sequences, batch by batch, and those that are far outside of what the family does.
    fn forecasts(
        &self,
        interrupt: &Interrupt,
        model: &Model,
        (read, steps): (&ReadFamily, &[Range<usize>]),
        levels: &[f64],
    ) -> Result<(Table, Vec<Outside>)> {
        let (family, seed, method) = (&read.family, self.common.seed(), self.method.of(model)?);
        let one = |i: usize| -> Result<(Table, Option<Outside>)> {
            if steps[i].is_empty() {
                return Ok((Table::new(), None));
            }
            let outputs = observed::seen(family, i, self.seen);
            let inputs = observed::inputs_until(family, model, i, steps[i].end);
            let seen = (&outputs, inputs.as_ref());
            let random = [stream(seed, Stream::Infer(i as u64)), stream(seed, Stream::Forecast(i as u64))];
            let go_on = || interrupt.control();
            let (forecast, inferred) =
                model.forecast_observed(seen, steps[i].len(), method, random, &go_on)?;
            let misfit = model.misfit(seen, &inferred.posterior)?;
            let outside = Outside::of(family.sequence(i).id(), misfit);
            Ok((rows(&forecast, read, i, levels)?, outside))
        };
        let (mut table, mut outside) = (Table::new(), vec![]);
        let mut progress = Progress::new(self.common.display());
        let work = (Stage::Forecasting, family.n_seq());
        observed::in_batches(work, &mut progress, interrupt, one, |batch| {
            for (rows, far) in batch {
                append(&mut table, rows);
                outside.extend(far);
            }
            Ok(())
        })?;
        Ok((table, outside))
    }
}

fn nothing_ahead(model: &Model) -> UsageError {
    let problem = "expected a number of steps, found none, and all of DATA is seen";
    let hint = match model.columns.inputs.is_empty() || model.columns.has_attributes_only() {
        true => "--horizon 40, or --seen with fewer steps than there are".to_owned(),
        false => format!(
            "rows with {} and no outputs after the last ones, or --seen with fewer steps than there are",
            model.columns.inputs.join(", ")
        ),
    };
    UsageError::new("--horizon", problem, hint)
}

/// A row per step and output of sequence `i`.
fn rows(forecast: &Forecast, read: &ReadFamily, i: usize, levels: &[f64]) -> Result<Table> {
    let (d, n) = (forecast.d_obs(), forecast.n_time());
    let row_numbers = (0..n * d).map(|row| (i, forecast.first_step() + row / d));
    let names = read.family.output_names();
    let std_dev = forecast.variance().into_iter().map(f64::sqrt).collect();
    let mut table = Table::new()
        .with("series", Column::Text(vec![read.family.sequence(i).id().to_owned(); n * d]))
        .with("t", read.time.column(row_numbers))
        .with("output", Column::Text((0..n * d).map(|row| names[row % d].clone()).collect()))
        .with("mean", Column::Number(forecast.mean()))
        .with("sd", Column::Number(std_dev));
    for (level, values) in levels.iter().zip(forecast.quantiles(levels)?) {
        table = table.with(format!("q{level}"), Column::Number(values));
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use crate::usage::refused;

    #[test]
    fn levels_lie_between_0_and_1() {
        for verb in [["forecast", "model", "data.csv"].as_slice(), &["watch", "model"]] {
            for wrong in ["0,0.5", "0.5,1", "-0.5", "NaN", "inf"] {
                refused(verb, &[["--quantiles", wrong]]);
            }
        }
    }
}
