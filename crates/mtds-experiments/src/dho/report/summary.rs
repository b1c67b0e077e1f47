//! The result as one document and as plain tables: each score beside the paper's and the oracle's.

use crate::Result;
use crate::dho::kept::VERSION;
use crate::dho::published::{self, DECIMALS, POOLED_SIZE, PublishedRow, Subject, TABLE, TIMES};
use crate::dho::{CellKind, Experiment, Outcome};
use mtds_report::scores::table_beside;
use mtds_report::text::{Align, TextTable, estimate, seconds};
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
        Ok(json!({
            "verb": "reproduce dho",
            "version": VERSION,
            "seed": protocol.seed,
            "settings": { "protocol": protocol, "models": models },
            "rows": assembly.rows,
            "published": published(),
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
        let mut out = scores(self);
        if !assembly.evidence_gaps.is_empty() {
            out.push_str(&format!("\n{}", evidence(self).render()));
        }
        for finding in &assembly.findings {
            out.push_str(&format!(
                "\nfinding: {} is better than the oracle in {:?} by {:.3}, beyond its Monte-Carlo error of {:.3}\n",
                finding.method,
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

/// The paper's figures, one by one.
fn published() -> Vec<Value> {
    let figure = |row: &PublishedRow, seen: usize| {
        let (model, n) = match row.subject {
            Subject::Pooled => ("pooled", Some(POOLED_SIZE)),
            Subject::Single => ("single", None),
            Subject::Mtlds(n) => ("mtlds", Some(n)),
        };
        let [rmse, nll] = row.at(seen).unwrap_or([f64::NAN; 2]);
        json!({ "model": model, "n": n, "seen": seen, "rmse": rmse, "nll": nll })
    };
    TABLE.iter().flat_map(|row| TIMES.map(|seen| figure(row, seen))).collect()
}

/// Scores by time and model, those of the paper beside them.
fn scores(outcome: &Outcome<'_>) -> String {
    let Experiment { protocol, kinds, .. } = outcome.experiment;
    let (mut rows, mut papers) = (vec![], vec![]);
    for &t in &protocol.seen {
        for (kind, row) in kinds.iter().filter_map(|kind| Some((kind, outcome.assembly.row(kind, t)?))) {
            rows.push(row.clone());
            papers.push(published::published(kind, protocol, t));
        }
    }
    let figure = |k: usize| {
        let of_row =
            |paper: &Option<[f64; 2]>| estimate(paper.map_or(f64::NAN, |p| p[k]), f64::NAN, DECIMALS);
        papers.iter().map(of_row).collect()
    };
    table_beside(&rows, &[("RMSE, paper", figure(0)), ("NLL, paper", figure(1))])
}

fn evidence(outcome: &Outcome<'_>) -> TextTable {
    let mut table = TextTable::new(&[
        ("log evidence of a sequence", Align::Left),
        ("below the truth, nats", Align::Right),
    ]);
    for gap in &outcome.assembly.evidence_gaps {
        let error = gap.gap.std_error.unwrap_or(f64::NAN);
        table.push(vec![gap.method.to_string(), estimate(gap.gap.mean, error, 1)]);
    }
    table
}
