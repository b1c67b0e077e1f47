//! The result as plain tables, and as one document: a flat list under `rows`, settings, seed and fingerprint beside it.

use std::collections::BTreeMap;

use mtds_report::text::{Align, TextTable};
use serde_json::{Value, json};

use super::names::{label, share};
use crate::Result;
use crate::mocap::assemble::{Assembly, Kind, Over};
use crate::mocap::cell::{Found, Task};
use crate::mocap::experiment::VERSION;
use crate::mocap::published;
use crate::mocap::transfer::Transfer;
use crate::mocap::{Outcome, Protocol};

impl Outcome<'_> {
    /// The result as one document. Nothing in it depends on when or on how many threads it was computed.
    ///
    /// # Errors
    /// None in practice.
    pub fn document(&self) -> Result<Value> {
        let experiment = self.experiment;
        let mut settings = BTreeMap::new();
        for cell in experiment.cells() {
            let name = match cell.task {
                Task::Efficiency(method, _) => format!("e1-{}", method.name()),
                Task::Novel(method, _) => format!("e2-{}", method.name()),
                Task::Transfer => "e3".into(),
                Task::Map => "map".into(),
            };
            settings.insert(name, experiment.settings.of(cell.task, &experiment.protocol)?);
        }
        let chosen: BTreeMap<String, &Value> = self
            .cells
            .iter()
            .filter_map(|cell| match &cell.found {
                Found::Forecasts { chosen, .. } if !chosen.is_null() => Some((cell.cell.to_string(), chosen)),
                _ => None,
            })
            .collect();
        let map = self.cells.iter().find_map(|cell| match &cell.found {
            // Motions are there to be looked at, and stay in their cell.
            Found::Map(map) => Some(json!({ "points": map.points, "inputs_of": map.inputs_of })),
            _ => None,
        });
        let published = published::ROWS
            .iter()
            .map(|row| json!({ "experiment": row.experiment, "method": row.name, "rmse": row.rmse }));
        let Assembly { rows, curves, pairs, transfers } = &self.assembly;
        Ok(json!({
            "verb": "reproduce mocap",
            "version": VERSION,
            "seed": experiment.protocol.seed,
            "fingerprint": experiment.protocol.fingerprint,
            "settings": { "protocol": experiment.protocol, "models": settings },
            "rows": rows,
            "curves": curves.iter().map(|(method, rmse)| json!({ "method": method, "rmse": rmse })).collect::<Vec<_>>(),
            "pairs": pairs,
            "transfer": transfers,
            "map": map,
            "chosen": chosen,
            "published": published.collect::<Vec<_>>(),
            "missing": self.missing,
        }))
    }

    /// The result as plain tables.
    #[must_use]
    pub fn summary(&self) -> String {
        let Protocol { shares, told, folds, styles, source, .. } = &self.experiment.protocol;
        let mut out = format!("{source}\n");
        let shares: Vec<(usize, String)> = shares.iter().map(|&divisor| (divisor, share(divisor))).collect();
        let told: Vec<(usize, String)> = told.iter().map(|&at| (at, at.to_string())).collect();
        let left: Vec<&str> = folds.iter().map(|&fold| styles[fold].as_str()).collect();
        for (kind, columns, title) in [
            (
                Kind::Efficiency,
                &shares,
                "experiment 1: clips of known styles, by share of the data".to_owned(),
            ),
            (Kind::Novel, &told, format!("experiment 2: a style left out ({}), by frame", left.join(", "))),
        ] {
            let methods = self.assembly.methods(kind);
            if methods.is_empty() {
                continue;
            }
            let mut headings = vec![("RMSE in deviations", Align::Left)];
            headings.extend(columns.iter().map(|(_, heading)| (heading.as_str(), Align::Right)));
            let mut table = TextTable::new(&headings);
            for method in methods {
                let value = |at: usize| match self.assembly.row(kind, method, at, None) {
                    Some(row) => format!("{:.3}", row.rmse),
                    None => "-".into(),
                };
                let mut row = vec![label(method).to_owned()];
                row.extend(columns.iter().map(|(at, _)| value(*at)));
                table.push(row);
            }
            out.push_str(&format!("\n{title}\n{}", table.render()));
            out.push_str(&best_rivals(&self.assembly, kind, columns));
        }
        for (k, transfer) in self.assembly.transfers.iter().enumerate() {
            out.push_str(&format!("\nexperiment 3, repetition {}: {}\n", k + 1, transferred(transfer)));
        }
        out
    }
}

/// How the model stands to the best of the others, place by place.
fn best_rivals(assembly: &Assembly, kind: Kind, columns: &[(usize, String)]) -> String {
    let mut out = String::new();
    for (at, heading) in columns {
        let of_at = assembly.pairs.iter().filter(|pair| pair.experiment == kind && pair.at == *at);
        let others = of_at.filter(|pair| pair.over == Over::Styles && pair.other != "mtds-code");
        // The largest ratio is the rival that comes nearest.
        let Some(best) = others.max_by(|a, b| a.ratio.total_cmp(&b.ratio)) else { continue };
        let p = best.test.map_or(String::new(), |test| format!(", p = {}", Short(test.p_value)));
        let difference = 100.0 * (best.ratio - 1.0);
        out.push_str(&format!(
            "at {heading}: MTDS {difference:+.0} % against {}, over {} styles{p}\n",
            label(&best.other),
            best.n
        ));
    }
    out
}

/// A p-value as people write it.
struct Short(f64);

impl std::fmt::Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 < 0.001 { write!(f, "{:.0e}", self.0) } else { write!(f, "{:.3}", self.0) }
    }
}

/// Scores of transfer in a line.
pub(super) fn transferred(transfer: &Transfer) -> String {
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
    let off = |table: &[Vec<Option<f64>>]| number(Transfer::off_diagonal(table));
    format!(
        "P(target) off the diagonal {} (i), {} (ii), {} by codes of unseen clips; the classifier tells {} of {} unseen segments",
        off(&transfer.one),
        off(&transfer.several),
        off(&transfer.unseen),
        number(transfer.recognised()),
        transfer.n_unseen,
    )
}
