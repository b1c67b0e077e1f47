//! `mtds infer`: the posterior of every sequence's code, as a summary and, on request, as draws.

use super::delivery::{Content, Delivery, append};
use super::observed;
use crate::interrupt::Interrupt;
use crate::plan::InferPlan;
use crate::progress::{Progress, Stage};
use anyhow::Result;
use clap::ValueEnum;
use mtds::Model;
use mtds::infer::{Points, Status};
use mtds::model::{CHAINS, Inferred};
use mtds::random::{Random, Stream, stream};
use mtds_data::model::load_model;
use mtds_data::{Column, ReadFamily, Table, TableWriter};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;

/// Carries the plan out: infers, writes the files, prints the result to `stdout`.
///
/// # Errors
/// A model or data that cannot be read, or do not fit each other; a file that cannot be written; an interrupt.
pub fn run(plan: &InferPlan, interrupt: &Interrupt, stdout: &mut dyn Write) -> Result<()> {
    let model = load_model(&plan.model)?;
    let read = observed::read(&plan.source, &model, plan.common.verbosity)?;
    plan.method.check(&model)?;
    let table = infer_all(plan, interrupt, &model, &read)?;
    let counts = counts(&table);
    let said = counts.iter().map(|(status, n)| format!("{n} {status}")).collect::<Vec<_>>().join(", ");
    let line = format!("{} sequences: {said}", table.n_rows());
    let method = plan.method.to_possible_value().map(|value| value.get_name().to_owned());
    let facts = [
        ("model", json!(plan.model)),
        ("method", json!(method)),
        ("n_seq", json!(table.n_rows())),
        ("statuses", json!(counts)),
        ("draws", json!(plan.draws)),
    ];
    let delivery = Delivery { verb: "infer", out: plan.out.as_deref(), common: &plan.common };
    delivery.deliver(Content::Table(table), &facts, &line, stdout)
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

/// Infers all sequences, batch by batch; draws are written as they come.
fn infer_all(plan: &InferPlan, interrupt: &Interrupt, model: &Model, read: &ReadFamily) -> Result<Table> {
    let (family, k, seed) = (&read.family, model.system.d_code(), plan.common.seed);
    let one = |i: usize| -> Result<(Table, Option<Table>)> {
        let outputs = observed::seen(family, i, plan.seen);
        let given = (&outputs, observed::inputs_of(family, model, i));
        let found =
            model.infer(given, plan.method.into(), plan.n_draws, stream(seed, Stream::Infer(i as u64)))?;
        let id = family.sequence(i).id();
        let mut random = stream(seed, Stream::InferredDraws(i as u64));
        let draws = plan.draws.is_some().then(|| draws(id, &found, k, plan.n_draws, &mut random));
        Ok((summary(id, outputs.n_time(), &found, k), draws))
    };
    let mut writer = plan.draws.as_deref().map(TableWriter::create).transpose()?;
    let mut table = Table::new();
    let mut progress = Progress::new(plan.common.display());
    let work = (Stage::Inferring, family.n_seq());
    observed::in_batches(work, &mut progress, interrupt, one, |batch| {
        let mut batch_draws = Table::new();
        for (summary, draws) in batch {
            append(&mut table, summary);
            draws.into_iter().for_each(|draws| append(&mut batch_draws, draws));
        }
        writer = writer.take().map(|writer| writer.push(&batch_draws)).transpose()?;
        Ok(())
    })?;
    writer.map(TableWriter::finish).transpose()?;
    Ok(table)
}

/// One row: what is known of the code, and how well.
fn summary(id: &str, seen: usize, found: &Inferred, k: usize) -> Table {
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
}

/// The status as one word.
fn status(status: Status) -> String {
    serde_json::to_value(status).ok().and_then(|value| Some(value.as_str()?.to_owned())).unwrap_or_default()
}

/// Draws of equal weight: `n` of one chain, or as many of each of several chains as make `n` or a few more.
fn draws(id: &str, found: &Inferred, k: usize, n: usize, random: &mut Random) -> Table {
    let posterior = &found.posterior;
    let n_chains = posterior.diagnostics().chains.as_ref().map_or(1, |report| report.chains);
    let points = if n_chains == 1 { posterior.resample(n, random) } else { thinned(posterior.draws(), n) };
    let per_chain = points.len() / n_chains;
    let mut table = Table::new()
        .with("series", Column::Text(vec![id.to_owned(); points.len()]))
        .with("chain", Column::Integer((0..points.len()).map(|i| (i / per_chain) as i64).collect()))
        .with("draw", Column::Integer((0..points.len()).map(|i| (i % per_chain) as i64).collect()));
    for d in 0..k {
        table = table.with(format!("z{}", d + 1), Column::Number(points.column(d).to_vec()));
    }
    table
}

/// Draws evenly spaced in each chain.
fn thinned(all: &Points, n: usize) -> Points {
    let (of_chain, wanted) = (all.len() / CHAINS, n.div_ceil(CHAINS));
    let at = |i: usize| (i / wanted) * of_chain + (i % wanted) * of_chain / wanted;
    all.select(&(0..CHAINS * wanted).map(at).collect::<Vec<_>>())
}
