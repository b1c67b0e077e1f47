//! The result as JSON and as a table: each score beside the paper's and the oracle's.

use super::Experiment;
use super::cells::VERSION;
use anyhow::Result;
use mtds_experiments::dho::{CellKind, Row, published};
use mtds_report::text::{Align, TextTable, estimate, percent, seconds};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The result as one document: a flat list under `rows`, with settings, seed and version beside it.
///
/// Nothing in it depends on when or on how many threads it was computed.
///
/// # Errors
/// None in practice: every value has a form in JSON.
pub(super) fn document(experiment: &Experiment<'_>) -> Result<Value> {
    let (plan, assembly) = (experiment.plan, &experiment.assembly);
    let mut models = BTreeMap::new();
    for kind in &plan.kinds {
        models.insert(kind.to_string(), plan.settings.of(kind)?);
    }
    let published: Vec<_> = mtds_experiments::dho::published::all().collect();
    Ok(json!({
        "verb": "reproduce dho",
        "version": VERSION,
        "seed": plan.protocol.seed,
        "settings": { "protocol": plan.protocol, "models": models },
        "rows": assembly.rows,
        "published": published,
        "oracle_gaps": assembly.oracle_gaps,
        "evidence_gaps": assembly.evidence_gaps,
        "comparisons": assembly.comparisons,
        "findings": assembly.findings,
        "missing": assembly.missing,
    }))
}

/// What is printed: the table, the evidence, findings, what is missing, the files.
pub(super) fn summary(experiment: &Experiment<'_>, files: &[(&str, &str)]) -> String {
    let assembly = &experiment.assembly;
    let mut out = scores(experiment).render();
    if !assembly.evidence_gaps.is_empty() {
        out.push_str(&format!("\n{}", evidence(experiment).render()));
    }
    for finding in &assembly.findings {
        out.push_str(&format!(
            "\nfinding: {} is better than the oracle in {:?} by {:.3}, beyond its Monte-Carlo error of {:.3}\n",
            named(&finding.model, finding.n),
            finding.score,
            -finding.excess,
            finding.monte_carlo_se
        ));
    }
    if !assembly.missing.is_empty() {
        let all = assembly.missing.len() + experiment.cells.len();
        out.push_str(&format!(
            "\n{} of {all} cells are missing; the same command without --only and --cells computes them\n",
            assembly.missing.len()
        ));
    }
    out.push_str(&format!("\nleft in {}:\n", experiment.plan.out.display()));
    let width = files.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    files.iter().for_each(|(name, meaning)| out.push_str(&format!("  {name:<width$}  {meaning}\n")));
    out
}

/// Scores by time and model, those of the paper and of the oracle beside them.
fn scores(experiment: &Experiment<'_>) -> TextTable {
    let headings =
        ["seen", "model", "RMSE", "paper", "oracle", "NLL", "paper", "oracle", "in 50%", "in 80%", "in 95%"];
    let align = |name: &str| if name == "model" { Align::Left } else { Align::Right };
    let columns: Vec<_> = headings.iter().map(|&name| (name, align(name))).collect();
    let mut table = TextTable::new(&columns);
    let plan = experiment.plan;
    for &t in &plan.protocol.seen {
        let oracle = find(experiment, &CellKind::Oracle, t);
        for kind in &plan.kinds {
            let Some(row) = find(experiment, kind, t) else { continue };
            let paper = published(kind, &plan.protocol, t);
            let number =
                |value: Option<f64>, decimals| estimate(value.unwrap_or(f64::NAN), f64::NAN, decimals);
            table.push(vec![
                t.to_string(),
                named(&row.model, row.n),
                estimate(row.rmse, row.rmse_se.unwrap_or(f64::NAN), 3),
                number(paper.map(|p| p.rmse), 2),
                number(oracle.map(|o| o.rmse), 3),
                estimate(row.nll, row.nll_se.unwrap_or(f64::NAN), 2),
                number(paper.map(|p| p.nll), 2),
                number(oracle.map(|o| o.nll), 2),
                percent(row.cover50),
                percent(row.cover80),
                percent(row.cover95),
            ]);
        }
    }
    table
}

fn evidence(experiment: &Experiment<'_>) -> TextTable {
    let mut table = TextTable::new(&[
        ("log evidence of a sequence", Align::Left),
        ("below the truth, nats", Align::Right),
    ]);
    for gap in &experiment.assembly.evidence_gaps {
        let error = gap.gap.std_error.unwrap_or(f64::NAN);
        table.push(vec![named(&gap.model, gap.n), estimate(gap.gap.mean, error, 1)]);
    }
    table
}

fn find<'a>(experiment: &'a Experiment<'_>, kind: &CellKind, t: usize) -> Option<&'a Row> {
    let (model, n) = (kind.model(), kind.n(&experiment.plan.protocol));
    experiment.assembly.rows.iter().find(|row| row.model == model && row.n == n && row.t == t)
}

/// A model and the number of sequences that it learned from.
fn named(model: &str, n: Option<usize>) -> String {
    n.map_or_else(|| model.to_owned(), |n| format!("{model}, N = {n}"))
}

/// Mean seconds of the cells of every kind.
pub(super) fn timings(experiment: &Experiment<'_>) -> String {
    let line = |kind: &CellKind| {
        let of_kind = experiment.cells.iter().filter(|result| result.cell.kind == *kind);
        let secs: Vec<f64> = of_kind.map(|result| result.seconds).collect();
        let mean = secs.iter().sum::<f64>() / secs.len() as f64;
        (!secs.is_empty()).then(|| format!("time, {kind}: {} per cell\n", seconds(mean)))
    };
    experiment.plan.kinds.iter().filter_map(line).collect()
}
