//! The problem that AdaIS is timed on: a fitted generator and test sequences, exchanged as JSON.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Sigmoid units of the generator.
const N_HIDDEN: usize = 300;
/// Features [z, sin z, cos z, ‖z‖] of a code of size 4.
const D_FEATURE: usize = 13;
/// Outputs of the generator: υ (4), skew (6), B₁ (4), B₂ (4), C (4).
const D_THETA: usize = 22;

/// Weights of the generator 13 → 300 (sigmoid) → 22, and the sequences.
///
/// # Shapes
/// `w1` is 300 × 13, `c1` 300, `w2` 22 × 300, `c2` 22; each sequence has the outputs of one member.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdaisProblem {
    /// First weights.
    #[serde(rename = "W1")]
    pub w1: Vec<Vec<f32>>,
    /// First bias.
    pub c1: Vec<f32>,
    /// Second weights.
    #[serde(rename = "W2")]
    pub w2: Vec<Vec<f32>>,
    /// Second bias.
    pub c2: Vec<f32>,
    /// Outputs of the test sequences.
    pub sequences: Vec<Vec<f32>>,
}

impl AdaisProblem {
    /// A generator fitted to 128 damped oscillators, and ten further oscillators of length 80.
    ///
    /// # Errors
    /// If the embedded file is damaged.
    pub fn oscillators() -> Result<Self> {
        Self::parse(include_str!("../../../bench/data/adais.json"))
    }

    /// Reads the exchange format.
    ///
    /// # Errors
    /// If the text is not such a JSON object, or its sizes do not fit.
    pub fn parse(text: &str) -> Result<Self> {
        let problem: Self =
            serde_json::from_str(text).map_err(|e| mismatch("JSON", "W1, c1, W2, c2, sequences", e))?;
        problem.validate()?;
        Ok(problem)
    }

    /// Writes the exchange format into `folder` and returns the path of the file.
    ///
    /// # Errors
    /// If the sizes do not fit, or the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<PathBuf> {
        self.validate()?;
        let path = folder.join("adais.json");
        let text = serde_json::to_string(self).map_err(|e| mismatch("JSON", "finite numbers", e))?;
        match std::fs::write(&path, text) {
            Ok(()) => Ok(path),
            Err(source) => Err(Error::File { path, source }),
        }
    }

    fn validate(&self) -> Result<()> {
        check_matrix("W1", &self.w1, N_HIDDEN, D_FEATURE)?;
        check_matrix("W2", &self.w2, D_THETA, N_HIDDEN)?;
        check_length("c1", self.c1.len(), N_HIDDEN)?;
        check_length("c2", self.c2.len(), D_THETA)?;
        if self.sequences.is_empty() {
            return Err(mismatch("sequences", "at least one", "none"));
        }
        let weights = self.w1.iter().chain(&self.w2).chain([&self.c1, &self.c2]);
        // serde_json would write a NaN as null, which no peer can read.
        if weights.chain(&self.sequences).flatten().any(|v| !v.is_finite()) {
            return Err(mismatch("numbers", "finite ones", "NaN or infinity"));
        }
        Ok(())
    }
}

fn check_matrix(what: &str, rows: &[Vec<f32>], n_rows: usize, n_columns: usize) -> Result<()> {
    check_length(what, rows.len(), n_rows)?;
    rows.iter().try_for_each(|row| check_length(&format!("row of {what}"), row.len(), n_columns))
}

fn check_length(what: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(mismatch(what, expected, found)) }
}

fn mismatch(what: &str, expected: impl ToString, found: impl ToString) -> Error {
    Error::Problem { what: what.to_string(), expected: expected.to_string(), found: found.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Damage = fn(&mut AdaisProblem);

    #[test]
    fn the_embedded_problem_survives_a_round_trip() {
        let problem = AdaisProblem::oscillators().unwrap();
        assert_eq!(problem.sequences.len(), 10);
        assert!(problem.sequences.iter().all(|y| y.len() == 80));
        let folder = tempfile::tempdir().unwrap();
        let path = problem.write(folder.path()).unwrap();
        assert_eq!(AdaisProblem::parse(&std::fs::read_to_string(path).unwrap()).unwrap(), problem);
    }

    #[test]
    fn sizes_and_numbers_are_checked() {
        let good = AdaisProblem::oscillators().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let breaks: [(Damage, &str); 5] = [
            (|p| p.w1[7].truncate(12), "row of W1: expected 13, found 12"),
            (|p| p.w2.truncate(21), "W2: expected 22, found 21"),
            (|p| p.c1.push(0.0), "c1: expected 300, found 301"),
            (|p| p.sequences.clear(), "sequences: expected at least one"),
            (|p| p.sequences[3][2] = f32::NAN, "expected finite ones"),
        ];
        for (damage, message) in breaks {
            let mut problem = good.clone();
            damage(&mut problem);
            let error = problem.write(folder.path()).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
