//! Sequences on the card: row by row, and side by side where they share their inputs.

use crate::queue::{Buffer, Plain, Queue};
use crate::{Error, Result};

/// Sequences as they are handed in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinearData {
    /// Rows of inputs: of all sequences, one after the other; where they share them, those of the longest.
    pub inputs: Vec<f32>,
    /// Rows of outputs of all sequences, one after the other, NaN where missing.
    pub outputs: Vec<f32>,
    /// How many rows each sequence has.
    pub steps: Vec<usize>,
    /// Whether all have the same inputs.
    pub shares_inputs: bool,
}

/// Sequences on the card.
#[derive(Debug)]
pub struct StoredSequences {
    pub(super) n_seq: usize,
    /// Steps of the longest.
    pub(super) n_time: usize,
    pub(super) inputs: Buffer<f32>,
    outputs: Buffer<f32>,
    /// First row of the inputs of each, first row of its outputs, how many it has.
    rows: Buffer<i32>,
    /// Where inputs are shared: by output and step the sequences side by side, then sums of squares and counts by output.
    pub(super) values: Option<Buffer<f32>>,
}

/// `Sequences` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Sequences([u64; 5]);

#[allow(unsafe_code)] // plain numbers in the layout of C
unsafe impl Plain for Sequences {}

impl LinearData {
    /// Outputs side by side: NaN where a sequence has none.
    pub(super) fn side_by_side(&self, d_obs: usize) -> Vec<f32> {
        let (n, n_time) = (self.steps.len(), self.n_time());
        let mut values = vec![f32::NAN; d_obs * n_time * n];
        let (mut squares, mut counts) = (vec![0.0; d_obs * n], vec![0.0; d_obs * n]);
        let mut rows = self.outputs.chunks_exact(d_obs);
        for (i, &steps) in self.steps.iter().enumerate() {
            for (t, row) in rows.by_ref().take(steps).enumerate() {
                for (d, &y) in row.iter().enumerate().filter(|(_, y)| !y.is_nan()) {
                    values[(d * n_time + t) * n + i] = y;
                    squares[d * n + i] += f64::from(y) * f64::from(y);
                    counts[d * n + i] += 1.0;
                }
            }
        }
        values.extend(squares.into_iter().map(|x: f64| x as f32));
        values.extend(counts.into_iter().map(|x: f64| x as f32));
        values
    }

    fn n_time(&self) -> usize {
        self.steps.iter().copied().max().unwrap_or(0)
    }

    /// First row of the inputs of each sequence, first row of its outputs, how many it has.
    fn rows(&self) -> Result<Vec<i32>> {
        let too_many = || Error::Unsupported {
            what: "more steps than a card takes at once; take fewer sequences at a time".into(),
        };
        let mut first = vec![];
        let mut at = 0usize;
        for &n in &self.steps {
            first.push(i32::try_from(at).map_err(|_| too_many())?);
            at += n;
        }
        i32::try_from(at).map_err(|_| too_many())?;
        let mut rows = if self.shares_inputs { vec![0; first.len()] } else { first.clone() };
        rows.extend(first);
        rows.extend(self.steps.iter().map(|&n| n as i32));
        Ok(rows)
    }
}

impl StoredSequences {
    pub(super) fn new(queue: &Queue, data: &LinearData, d_obs: usize) -> Result<Self> {
        let values = if data.shares_inputs { Some(queue.uploaded(&data.side_by_side(d_obs))?) } else { None };
        Ok(Self {
            n_seq: data.steps.len(),
            n_time: data.n_time(),
            inputs: queue.uploaded(&data.inputs)?,
            outputs: queue.uploaded(&data.outputs)?,
            rows: queue.uploaded(&data.rows()?)?,
            values,
        })
    }

    pub(super) fn addresses(&self) -> Sequences {
        let n = self.n_seq;
        let rows = [0, n, 2 * n].map(|at| self.rows.at(at));
        Sequences([self.inputs.at(0), self.outputs.at(0), rows[0], rows[1], rows[2]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_stand_side_by_side_with_gaps_and_ends() {
        let gap = f32::NAN;
        let data = LinearData {
            inputs: vec![],
            // Three steps and one step of two outputs.
            outputs: vec![1.0, 2.0, gap, 3.0, 4.0, gap, 5.0, 6.0],
            steps: vec![3, 1],
            shares_inputs: true,
        };
        let found = data.side_by_side(2);
        let want = [
            [1.0, 5.0], // first output, by step
            [gap, gap],
            [4.0, gap],
            [2.0, 6.0], // second
            [3.0, gap],
            [gap, gap],
            [17.0, 25.0], // squares
            [13.0, 36.0],
            [2.0, 1.0], // counts
            [2.0, 1.0],
        ];
        assert_eq!(found.len(), 20);
        for (got, want) in found.iter().zip(want.as_flattened()) {
            assert!(got == want || (got.is_nan() && want.is_nan()), "{found:?}");
        }
        assert_eq!(data.rows().unwrap(), [0, 0, 0, 3, 3, 1]);
        let apart = LinearData { shares_inputs: false, ..data };
        assert_eq!(apart.rows().unwrap(), [0, 3, 0, 3, 3, 1]);
    }
}
