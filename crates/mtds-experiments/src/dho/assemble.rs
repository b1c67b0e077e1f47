//! From cells to the result of the experiment, and to what is still missing for it.

use std::collections::BTreeMap;

use mtds::{Error, Result};
use serde::{Deserialize, Serialize};

use super::cell::{CellId, CellKind, CellResult};
use super::compare::{Comparison, EvidenceGap, Finding, OracleGap, Paired, comparisons};
use super::protocol::Protocol;
use super::table::{Column, Row};

/// The result of the experiment, as far as its cells are there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assembly {
    /// Scores of every model at every time.
    pub rows: Vec<Row>,
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

/// Assembles the cells of `kinds` that are among `cells`.
///
/// # Errors
/// [`Error::Duplicate`] for a cell that comes twice; [`Error::Setting`] for one that is part of another
/// experiment; [`Error::Shape`] or [`Error::NotFinite`] for a damaged one.
pub fn assemble(protocol: &Protocol, kinds: &[CellKind], cells: &[CellResult]) -> Result<Assembly> {
    let found = index(protocol, cells)?;
    let column = |kind| Column { kind, cells: cells_of(kind, protocol, &found) };
    let columns: Vec<Column<'_>> = kinds.iter().map(column).collect();
    let oracle = Column { kind: &CellKind::Oracle, cells: cells_of(&CellKind::Oracle, protocol, &found) };
    let wanted = || kinds.iter().flat_map(|kind| kind.cells(protocol));
    let models = || columns.iter().filter(|column| *column.kind != CellKind::Oracle);
    let paired: Vec<Paired<'_>> = models().map(|column| Paired::new(column, &oracle)).collect();
    let n_times = protocol.seen.len();
    Ok(Assembly {
        rows: columns.iter().flat_map(|column| column.rows(protocol)).collect(),
        oracle_gaps: paired.iter().flat_map(|p| (0..n_times).filter_map(|k| p.gap(protocol, k))).collect(),
        evidence_gaps: paired.iter().filter_map(|p| p.evidence_gap(protocol)).collect(),
        comparisons: models().flat_map(|a| models().flat_map(|b| comparisons(a, b, protocol))).collect(),
        findings: paired.iter().flat_map(|p| p.findings(protocol)).collect(),
        missing: wanted().filter(|id| !found.contains_key(id)).collect(),
        left_out: found
            .keys()
            .filter(|id| !wanted().any(|other| other == ***id))
            .map(|id| (*id).clone())
            .collect(),
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

fn cells_of<'a>(
    kind: &CellKind,
    protocol: &Protocol,
    found: &BTreeMap<&'a CellId, &'a CellResult>,
) -> Vec<&'a CellResult> {
    kind.cells(protocol).filter_map(|id| found.get(&id).copied()).collect()
}

#[cfg(test)]
#[path = "assemble_tests.rs"]
mod tests;
