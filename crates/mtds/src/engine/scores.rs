//! Scores of many codes against a family; they stay where they were computed.

use std::sync::Arc;

use super::cpu::Table;
use super::cuda::CardScores;

/// log p(Y_i | z_m) for every code m and sequence i, with what they say about each sequence.
#[derive(Clone, Debug, Default)]
pub struct CodeScores {
    pub(super) n_codes: usize,
    pub(super) n_seq: usize,
    /// log (1/M) Σ_m e^{score} of each sequence.
    pub(super) log_evidence: Vec<f64>,
    /// 1 / Σ_m w², w the normalised e^{score}.
    pub(super) ess: Vec<f64>,
    pub(super) table: Table,
    /// The scores, where they were computed by a card; the table has none then.
    pub(super) on_card: Option<Arc<CardScores>>,
}

impl CodeScores {
    /// Number of codes M.
    #[must_use]
    pub fn n_codes(&self) -> usize {
        self.n_codes
    }

    /// Number of sequences N.
    #[must_use]
    pub fn n_seq(&self) -> usize {
        self.n_seq
    }

    /// The score of one code and one sequence.
    #[must_use]
    pub fn get(&self, code: usize, sequence: usize) -> f32 {
        match &self.on_card {
            Some(scores) => scores.get(code, sequence),
            None => self.table.get(code, sequence),
        }
    }

    /// log (1/M) Σ_m p(Y_i | z_m) of each sequence.
    #[must_use]
    pub fn log_evidence(&self) -> &[f64] {
        &self.log_evidence
    }

    /// Effective number of codes of each sequence.
    #[must_use]
    pub fn ess(&self) -> &[f64] {
        &self.ess
    }
}
