//! The result as one document and as plain tables: each score beside the paper's and the oracle's.

use crate::Result;
use crate::dho::kept::VERSION;
use crate::dho::{CellKind, Experiment, Outcome, Row, published};
use mtds_report::text::{Align, TextTable, estimate, percent, seconds};
use serde_json::{Value, json};
use std::collections::BTreeMap;

impl Outcome<'_> {
    /// The result as one document: a flat list under `rows`, with settings, seed and version beside it.
    ///
    /// Nothing in it depends on when or on how many threads it was computed.
    ///
    /// # Errors
    /// Kinds of cells that are no part of the experiment.
    pub fn document(&self) -> Result<Value> {
        let (Experiment { protocol, settings, kinds }, assembly) = (self.experiment, &self.assembly);
        let mut models = BTreeMap::new();
        for kind in kinds {
            models.insert(kind.to_string(), settings.of(kind)?);
        }
        let published: Vec<_> = published::all().collect();
        Ok(json!({
            "verb": "reproduce dho",
            "version": VERSION,
            "seed": protocol.seed,
            "settings": { "protocol": protocol, "models": models },
            "rows": assembly.rows,
            "published": published,
            "oracle_gaps": assembly.oracle_gaps,
            "evidence_gaps": assembly.evidence_gaps,
            "comparisons": assembly.comparisons,
            "findings": assembly.findings,
            "missing": assembly.missing,
        }))
    }

    /// The result as plain tables: scores, evidence, findings.
    pub fn summary(&self) -> String {
        let assembly = &self.assembly;
        let mut out = scores(self).render();
        if !assembly.evidence_gaps.is_empty() {
            out.push_str(&format!("\n{}", evidence(self).render()));
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
        out
    }

    /// Mean seconds of the cells of every kind, one line each.
    pub fn timings(&self) -> String {
        let line = |kind: &CellKind| {
            let of_kind = self.cells.iter().filter(|result| result.cell.kind == *kind);
            let secs: Vec<f64> = of_kind.map(|result| result.seconds).collect();
            let mean = secs.iter().sum::<f64>() / secs.len() as f64;
            (!secs.is_empty()).then(|| format!("time, {kind}: {} per cell\n", seconds(mean)))
        };
        self.experiment.kinds.iter().filter_map(line).collect()
    }
}

/// Scores by time and model, those of the paper and of the oracle beside them.
fn scores(outcome: &Outcome<'_>) -> TextTable {
    let headings =
        ["seen", "model", "RMSE", "paper", "oracle", "NLL", "paper", "oracle", "in 50%", "in 80%", "in 95%"];
    let align = |name: &str| if name == "model" { Align::Left } else { Align::Right };
    let columns: Vec<_> = headings.iter().map(|&name| (name, align(name))).collect();
    let mut table = TextTable::new(&columns);
    let Experiment { protocol, kinds, .. } = outcome.experiment;
    for &t in &protocol.seen {
        let oracle = find(outcome, &CellKind::Oracle, t);
        for kind in kinds {
            let Some(row) = find(outcome, kind, t) else { continue };
            let paper = published::published(kind, protocol, t);
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

fn evidence(outcome: &Outcome<'_>) -> TextTable {
    let mut table = TextTable::new(&[
        ("log evidence of a sequence", Align::Left),
        ("below the truth, nats", Align::Right),
    ]);
    for gap in &outcome.assembly.evidence_gaps {
        let error = gap.gap.std_error.unwrap_or(f64::NAN);
        table.push(vec![named(&gap.model, gap.n), estimate(gap.gap.mean, error, 1)]);
    }
    table
}

fn find<'a>(outcome: &'a Outcome<'_>, kind: &CellKind, t: usize) -> Option<&'a Row> {
    let (model, n) = (kind.model(), kind.n(&outcome.experiment.protocol));
    outcome.assembly.rows.iter().find(|row| row.model == model && row.n == n && row.t == t)
}

/// A model and the number of sequences that it learned from.
fn named(model: &str, n: Option<usize>) -> String {
    n.map_or_else(|| model.to_owned(), |n| format!("{model}, N = {n}"))
}
