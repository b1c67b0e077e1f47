//! From cells to the result of the experiment, and to what is still missing for it.

use std::collections::BTreeMap;

use mtds::evaluate::{ScoreRow, Seen};
use mtds::{Error, Result};
use serde::{Deserialize, Serialize};

use super::cell::{CellId, CellKind, CellResult};
use super::compare::{Comparison, EvidenceGap, Finding, OracleGap, Paired, comparisons};
use super::protocol::Protocol;

/// The result of the experiment, as far as its cells are there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assembly {
    /// Scores of every model at every time: means over repetitions of means over test sequences.
    pub rows: Vec<ScoreRow>,
    /// How much worse than the oracle each model is, paired by sequence.
    pub oracle_gaps: Vec<OracleGap>,
    /// How much less likely whole sequences are under each model than under the truth.
    pub evidence_gaps: Vec<EvidenceGap>,
    /// Every MTLDS against pooled and single-task models.
    pub comparisons: Vec<Comparison>,
    /// Models that were better than the oracle, which cannot be.
    pub findings: Vec<Finding>,
    /// Cells without which the table is not whole; rows are means over the repetitions that are there.
    pub missing: Vec<CellId>,
    /// Cells that are no part of the table.
    pub left_out: Vec<CellId>,
}

impl Assembly {
    /// The scores of a model after so many observations.
    #[must_use]
    pub fn row(&self, kind: &CellKind, seen: usize) -> Option<&ScoreRow> {
        let method = kind.to_string();
        self.rows.iter().find(|row| row.method == method && row.seen == Seen::Steps(seen))
    }
}

/// The cells of one kind, by repetition in increasing order.
#[derive(Clone, Debug)]
pub(super) struct ModelCells<'a> {
    pub(super) kind: &'a CellKind,
    pub(super) cells: Vec<&'a CellResult>,
}

impl ModelCells<'_> {
    /// The scores of each repetition at the `k`-th time.
    pub(super) fn repetitions(&self, k: usize) -> Vec<ScoreRow> {
        let method = self.kind.to_string();
        let row = |cell: &&CellResult| {
            ScoreRow::over(&method, Seen::Steps(cell.protocol.seen[k]), cell.scores[k].iter())
        };
        self.cells.iter().filter_map(row).collect()
    }
}

/// Assembles the cells of `kinds` that are among `cells`.
///
/// # Errors
/// [`Error::Duplicate`] for a cell that comes twice; [`Error::Setting`] for one that is part of another
/// experiment; [`Error::Shape`] or [`Error::NotFinite`] for a damaged one.
pub fn assemble(protocol: &Protocol, kinds: &[CellKind], cells: &[CellResult]) -> Result<Assembly> {
    let found = index(protocol, cells)?;
    let column = |kind| {
        let cells = CellKind::cells(kind, protocol).filter_map(|id| found.get(&id).copied()).collect();
        ModelCells { kind, cells }
    };
    let columns: Vec<ModelCells<'_>> = kinds.iter().map(column).collect();
    let oracle = column(&CellKind::Oracle);
    let wanted: Vec<CellId> = kinds.iter().flat_map(|kind| kind.cells(protocol)).collect();
    let models = || columns.iter().filter(|column| *column.kind != CellKind::Oracle);
    let paired: Vec<Paired<'_>> = models().map(|column| Paired::new(column, &oracle)).collect();
    let times = || 0..protocol.seen.len();
    let row = |column: &ModelCells<'_>, k| ScoreRow::over_repetitions(&column.repetitions(k));
    Ok(Assembly {
        rows: columns.iter().flat_map(|column| times().filter_map(move |k| row(column, k))).collect(),
        oracle_gaps: paired.iter().flat_map(|p| times().filter_map(|k| p.gap(protocol, k))).collect(),
        evidence_gaps: paired.iter().filter_map(Paired::evidence_gap).collect(),
        comparisons: models().flat_map(|a| models().flat_map(|b| comparisons(a, b, protocol))).collect(),
        findings: paired.iter().flat_map(|p| p.findings(protocol)).collect(),
        left_out: found.keys().filter(|id| !wanted.contains(id)).map(|id| (*id).clone()).collect(),
        missing: wanted.into_iter().filter(|id| !found.contains_key(id)).collect(),
    })
}

fn index<'a>(protocol: &Protocol, cells: &'a [CellResult]) -> Result<BTreeMap<&'a CellId, &'a CellResult>> {
    let mut found = BTreeMap::new();
    for cell in cells {
        if cell.protocol != *protocol {
            let why = format!("cell {} has another one; compute it again, or keep it elsewhere", cell.cell);
            return Err(Error::Setting { name: "protocol".into(), why });
        }
        cell.check()?;
        if found.insert(&cell.cell, cell).is_some() {
            return Err(Error::Duplicate { kind: "cell", name: cell.cell.to_string() });
        }
    }
    Ok(found)
}

#[cfg(test)]
#[path = "assemble_tests.rs"]
mod tests;
