//! The findings as one document and as plain tables.

use super::{Findings, RecoveryRow, Settings};
use mtds_report::text::{Align, TextTable, estimate};
use mtds_report::{scores, usage};
use serde_json::{Value, json};

impl Findings {
    /// The findings as one document: a flat list under `rows`, with settings, seed and version beside it.
    #[must_use]
    pub fn document(&self, settings: &Settings) -> Value {
        json!({
            "verb": "reproduce pd",
            "version": env!("CARGO_PKG_VERSION"),
            "seed": settings.seed,
            "settings": settings,
            "rows": self.scores,
            "recovery": self.recovery,
            "usage": self.usage,
        })
    }

    /// The findings as plain tables.
    #[must_use]
    pub fn summary(&self) -> String {
        let table = scores::table(&self.scores);
        let mut text = format!("forecasts of the rest of held-out patients\n{table}");
        text.push_str("\nvariance of true parameters explained by codes, given all steps (cross-validated), and by θ itself\n");
        text.push_str(&recovery_table(&self.recovery));
        // One repetition stands for all: the tables of all would bury what is above.
        for row in self.usage.iter().filter(|row| row.repetition == 0) {
            let (said, table) = (usage::sentence(&row.usage), usage::table(&row.usage));
            text.push_str(&format!("\n{}: {said}\n{table}", row.method));
        }
        text
    }
}

fn recovery_table(rows: &[RecoveryRow]) -> String {
    let mut table = TextTable::new(&[
        ("method", Align::Left),
        ("parameter", Align::Left),
        ("R², codes", Align::Right),
        ("R², θ", Align::Right),
    ]);
    for row in rows {
        let codes = estimate(row.r2_codes, row.r2_codes_se.unwrap_or(f64::NAN), 2);
        let theta = estimate(row.r2_theta, row.r2_theta_se.unwrap_or(f64::NAN), 2);
        table.push(vec![row.method.clone(), row.parameter.clone(), codes, theta]);
    }
    table.render()
}
