//! Medians, ratios to the reference peer, the table and the JSON document.

use std::path::Path;

use mtds::parts::quantile_of;
use serde::Serialize;

use crate::agreement::Agreement;
use crate::error::{Error, Result};
use crate::interleave::Measured;

/// Above this ratio of the third to the first quartile a row is called noisy.
const NOISY: f64 = 1.5;

/// One engine on one work.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Name of the work.
    pub work: String,
    /// Name of the engine, with its version.
    pub engine: String,
    /// Threads that it used.
    pub threads: usize,
    /// Median time of a round.
    pub median_ms: f64,
    /// Median over that of the reference peer (PyTorch, or NumPyro) in the same run; none without it.
    pub ratio: Option<f64>,
    /// Third quartile over first quartile of the times: how quiet the machine was.
    pub spread: f64,
}

/// A sentence about one of our own works.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Note {
    /// Name of the work.
    pub work: String,
    /// The sentence.
    pub text: String,
}

/// The settings that a result depends on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Settings {
    /// Turns of every engine.
    pub turns: usize,
    /// Rounds in one turn.
    pub rounds: usize,
    /// Threads asked for.
    pub threads: usize,
    /// The step at which AdaIS is timed.
    pub at: usize,
    /// The fraction at which `adais-early` stops.
    pub ess_stop: f64,
    /// Where steps of learning were computed.
    pub device: String,
    /// How products were made there.
    pub products: String,
}

/// The whole result, as `--json` writes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// One row per work and engine.
    pub rows: Vec<Row>,
    /// One entry per comparison of two engines.
    pub checks: Vec<Agreement>,
    /// What our own works have to add.
    pub notes: Vec<Note>,
    /// How it was run.
    pub settings: Settings,
    /// Seed of whatever is random.
    pub seed: u64,
    /// Version of mtds.
    pub version: &'static str,
}

/// The middle value, or the mean of the two middle ones; none of an empty slice.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

fn quantile(values: &[f64], level: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile_of(&sorted, level)
}

/// The rows of one work; engines without a single round are left out.
pub fn rows(work: &str, measured: &[Measured]) -> Vec<Row> {
    let reference = measured.iter().find(|m| m.is_reference).and_then(|m| median(&m.ms));
    let row = |m: &Measured| {
        let median_ms = median(&m.ms)?;
        let spread = quantile(&m.ms, 0.75)? / quantile(&m.ms, 0.25)?;
        let ratio = reference.map(|r| median_ms / r);
        Some(Row {
            work: work.to_string(),
            engine: m.engine.clone(),
            threads: m.threads,
            median_ms,
            ratio,
            spread,
        })
    };
    measured.iter().filter_map(row).collect()
}

/// The rows as an aligned table, with a header.
pub fn table(rows: &[Row]) -> String {
    let header = ["work", "engine", "threads", "median ms", "ratio", "q3/q1"].map(String::from);
    let cells: Vec<[String; 6]> = std::iter::once(header).chain(rows.iter().map(cells_of)).collect();
    let widths: [usize; 6] =
        std::array::from_fn(|j| cells.iter().map(|c| c[j].chars().count()).max().unwrap_or(0));
    let mut text = String::new();
    for c in &cells {
        let left = format!("{:<a$}  {:<b$}", c[0], c[1], a = widths[0], b = widths[1]);
        let right: String = (2..6).map(|j| format!("  {:>w$}", c[j], w = widths[j])).collect();
        text.push_str(&format!("{left}{right}\n"));
    }
    text
}

fn cells_of(row: &Row) -> [String; 6] {
    let ratio = row.ratio.map_or("-".to_string(), |r| format!("{r:.2}x"));
    let noisy = if row.spread > NOISY { " noisy" } else { "" };
    [
        row.work.clone(),
        row.engine.clone(),
        row.threads.to_string(),
        format!("{:.2}", row.median_ms),
        ratio,
        format!("{:.2}{noisy}", row.spread),
    ]
}

impl Report {
    /// Writes the report whole, or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let failed = |source: std::io::Error| Error::File { path: path.to_path_buf(), source };
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        serde_json::to_writer_pretty(&file, self).map_err(|e| failed(e.into()))?;
        file.persist(path).map(drop).map_err(|e| failed(e.error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(engine: &str, is_reference: bool, ms: &[f64]) -> Measured {
        Measured { engine: engine.to_string(), threads: 2, is_reference, ms: ms.to_vec(), check: None }
    }

    #[test]
    fn medians_of_odd_even_one_and_none() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn ratios_refer_to_the_reference_in_the_same_run() {
        let runs = [
            measured("mtds 0.1.0", false, &[5.0, 6.0, 5.0]),
            measured("torch 2.5.1 eager", true, &[30.0, 20.0, 25.0]),
            measured("jax 0.4 jit", false, &[]),
        ];
        let rows = rows("w2", &runs);
        assert_eq!(rows.iter().map(|r| r.ratio).collect::<Vec<_>>(), [Some(0.2), Some(1.0)]);
        let alone = super::rows("w2", &runs[..1]);
        assert_eq!((alone[0].ratio, alone[0].median_ms), (None, 5.0));
    }

    #[test]
    fn the_table_is_aligned_and_marks_noise() {
        let runs = [
            measured("mtds 0.1.0", false, &[5.0; 4]),
            measured("torch 2.5.1 eager", true, &[20.0, 25.0, 90.0]),
        ];
        let text = table(&rows("w2", &runs));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0].find("threads").map(|at| at + 7), lines[1].find(" 2 ").map(|at| at + 2));
        assert!(lines[1].contains("5.00") && lines[1].contains("0.20x") && !lines[1].contains("noisy"));
        assert!(lines[2].contains("1.00x") && lines[2].ends_with("noisy"));
    }

    #[test]
    fn the_json_has_flat_rows_with_settings_seed_and_version() {
        let settings = Settings {
            turns: 8,
            rounds: 5,
            threads: 2,
            at: 40,
            ess_stop: 0.6,
            device: "cpu".into(),
            products: "exact".into(),
        };
        let rows = rows("w2", &[measured("mtds 0.1.0", false, &[5.0; 4])]);
        let report = Report { rows, checks: vec![], notes: vec![], settings, seed: 7, version: "0.1.0" };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bench.json");
        report.write(&path).unwrap();
        let read: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let row = &read["rows"][0];
        assert_eq!((&row["work"], &row["engine"]), (&"w2".into(), &"mtds 0.1.0".into()));
        assert_eq!((&row["threads"], &row["median_ms"]), (&2.into(), &5.0.into()));
        assert!(row["ratio"].is_null());
        assert_eq!((&read["seed"], &read["version"]), (&7.into(), &"0.1.0".into()));
        assert_eq!(read["settings"]["at"], 40);
    }
}
