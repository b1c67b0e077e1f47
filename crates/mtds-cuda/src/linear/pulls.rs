//! Gradients on the card: by weights from scores, by resampled codes, by pairs of a code and a sequence.

use super::generator::{Columns, Theta};
use super::room::at_a_time;
use super::scores::Scored;
use super::sequences::StoredSequences;
use super::{Linear, Scores, by_warp, report_at};
use crate::network::{Found, Pull};
use crate::queue::{Arg, Extent, Plain};
use crate::{Error, Result};

/// About as many threads as keep a card busy, where the sequences of a code can be shared out.
const BUSY: usize = 1 << 15;

/// How strongly each sequence pulls on each code.
#[derive(Clone, Copy, Debug)]
pub enum LinearWeights<'a> {
    /// w_mi = (1/N) e^{score_mi} / Σ_m' e^{score_m'i}.
    Normalised(&'a Scores),
    /// For each sequence `per_sequence` codes, where these weights, cumulated, reach `uniforms`; each pulls by 1 / (N · per_sequence).
    Resampled {
        /// From these.
        scores: &'a Scores,
        /// Codes for each sequence, at least 1.
        per_sequence: usize,
        /// N × `per_sequence` numbers in (0, 1).
        uniforms: &'a [f64],
    },
    /// Code, sequence, weight.
    Pairs(&'a [(usize, usize, f32)]),
}

/// Gradient of the weighted log likelihood.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearGradient {
    /// By parameter.
    pub parameters: Vec<f32>,
    /// The weighted sum itself.
    pub weighted_log_likelihood: f64,
}

/// `Target` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct Target {
    rows: u64,
    to: u64,
    noise: u64,
    ld: i64,
}

/// `Rows` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct Rows {
    sequences: u64,
    weights: u64,
    weight: f32,
    per_sequence: i32,
}

#[allow(unsafe_code)] // plain numbers in the layout of C
mod plain {
    use super::{Plain, Rows, Target};
    unsafe impl Plain for Target {}
    unsafe impl Plain for Rows {}
}

impl Linear {
    /// Gradient of Σ w log p of all sequences under all codes, rows of `codes`.
    ///
    /// # Errors
    /// Full memory, a driver that fails, scores of another system.
    pub fn gradient(
        &mut self,
        (parameters, codes): (&[f32], &[f32]),
        all: &StoredSequences,
        weights: LinearWeights<'_>,
    ) -> Result<LinearGradient> {
        let tape = self.forward(parameters, codes)?;
        let n_gradient = self.gradient.len();
        self.queue.clear(&mut self.gradient, 0..n_gradient)?;
        match weights {
            LinearWeights::Normalised(scores) => {
                self.check_scores(scores, tape, all)?;
                match &all.values {
                    Some(values) => self.pull_shared(tape, (all, values.at(0)), scores)?,
                    None => self.pull_weighted(tape, all, scores)?,
                }
            }
            LinearWeights::Resampled { scores, per_sequence, uniforms } => {
                self.check_scores(scores, tape, all)?;
                self.resample(scores, per_sequence, uniforms)?;
                let weight = 1.0 / (all.n_seq * per_sequence) as f64;
                let rows = Rows {
                    sequences: 0,
                    weights: 0,
                    weight: weight as f32,
                    per_sequence: per_sequence as i32,
                };
                self.pull_picks(tape, all, rows, all.n_seq * per_sequence)?;
            }
            LinearWeights::Pairs(pairs) => {
                let signed = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
                let picks: Vec<i32> = pairs.iter().map(|pair| signed(pair.0)).collect();
                let sequences: Vec<i32> = pairs.iter().map(|pair| signed(pair.1)).collect();
                let weights: Vec<f32> = pairs.iter().map(|pair| pair.2).collect();
                self.queue.put(&mut self.room.picks, &picks)?;
                self.queue.put(&mut self.room.sequences, &sequences)?;
                self.queue.put(&mut self.room.weights, &weights)?;
                let (sequences, weights) = (self.room.sequences.at(0), self.room.weights.at(0));
                self.pull_picks(
                    tape,
                    all,
                    Rows { sequences, weights, weight: 0.0, per_sequence: 1 },
                    pairs.len(),
                )?;
            }
        }
        self.bring_gradient()
    }

    /// Log likelihoods of every sequence under its own codes, as many rows of `codes` for each, one after the other, and what `pull` asks
    /// for; `shifts`: what is added to log s of each, or nothing.
    ///
    /// # Errors
    /// Full memory, a driver that fails.
    pub fn own(
        &mut self,
        parameters: &[f32],
        all: &StoredSequences,
        (codes, shifts): (&[f32], &[f32]),
        mut pull: Option<Pull<'_>>,
    ) -> Result<Found> {
        let k = self.shape.d_code;
        let n_pairs = codes.len() / k;
        let draws = n_pairs / all.n_seq.max(1);
        self.set_parameters(parameters)?;
        let n_gradient = self.gradient.len();
        self.queue.clear(&mut self.gradient, 0..n_gradient)?;
        let most = self.rows_at_a_time(n_pairs, all);
        // Whole sequences, whose weights need each other.
        let most = if draws <= most { most / draws.max(1) * draws.max(1) } else { most };
        let mut found = Found::default();
        self.queue.grow(&mut self.room.weights, n_pairs)?;
        for first in (0..n_pairs).step_by(most.max(1)) {
            let n = most.min(n_pairs - first);
            self.queue.put(&mut self.room.codes, &codes[first * k..(first + n) * k])?;
            let shift = match shifts.get(first..first + n) {
                Some(shifts) => {
                    self.queue.put(&mut self.room.shifts, shifts)?;
                    self.room.shifts.at(0)
                }
                None => 0,
            };
            self.queue.grow(&mut self.room.tape, self.places.n_tape * n)?;
            let tape = Columns { address: self.room.tape.at(0), ld: n, n };
            self.generate(self.room.codes.at(0), tape)?;
            let theta = self.theta(tape, shift);
            let likelihoods = self.likelihoods(&theta, all, (first, n), draws)?;
            if let Some(pull) = &mut pull {
                let weights = (pull.weigh)(first..first + n, &likelihoods);
                self.queue.upload(&weights, &mut self.room.weights, first)?;
                let weights = self.room.weights.at(0);
                let rows = Rows { sequences: 0, weights, weight: 0.0, per_sequence: draws as i32 };
                self.pull_rows((&theta, tape), all, rows, first)?;
                self.queue.grow(&mut self.room.d_features, self.shape.n_features() * n)?;
                self.queue.grow(&mut self.room.d_codes, n * k)?;
                self.queue.clear(&mut self.room.d_codes, 0..n * k)?;
                self.pull_codes(tape)?;
                found.codes.extend(self.queue.download(&self.room.d_codes, 0..n * k)?);
                if shift != 0 {
                    self.queue.grow(&mut self.room.d_shifts, n)?;
                    let args = [self.room.d_noise.at(0).into(), self.room.d_shifts.at(0).into(), n.into()];
                    self.queue.launch("shift_pull", Extent::of(n), &args)?;
                    found.shifts.extend(self.queue.download(&self.room.d_shifts, 0..n)?);
                }
            }
            found.log_likelihoods.extend(likelihoods);
        }
        if pull.is_some_and(|pull| pull.parameters) {
            found.parameters = self.bring_gradient()?.parameters;
        }
        Ok(found)
    }

    /// Those of rows from `first` on, whose codes the columns of θ are.
    fn likelihoods(
        &mut self,
        theta: &Theta,
        all: &StoredSequences,
        (first, n): (usize, usize),
        draws: usize,
    ) -> Result<Vec<f64>> {
        self.queue.grow(&mut self.room.likelihoods, n)?;
        let args = [
            Arg::Struct(theta),
            Arg::Struct(&all.addresses()),
            n.into(),
            draws.into(),
            first.into(),
            n.into(),
            Arg::At(0),
            self.room.likelihoods.at(0).into(),
        ];
        self.queue.launch("score_rows", Extent::blocks([n.div_ceil(128), 1, 1], 128), &args)?;
        self.queue.download(&self.room.likelihoods, 0..n)
    }

    fn check_scores(&self, scores: &Scores, tape: Columns, all: &StoredSequences) -> Result<()> {
        if self.owns(scores) && (scores.n_codes, scores.n_seq) == (tape.n, all.n_seq) {
            return Ok(());
        }
        Err(Error::Unsupported { what: "the scores are not those of these codes and sequences".into() })
    }

    /// Writes the codes that were chosen, those of one sequence after the other.
    fn resample(&mut self, scores: &Scores, per_sequence: usize, uniforms: &[f64]) -> Result<()> {
        self.queue.put(&mut self.room.uniforms, uniforms)?;
        self.queue.grow(&mut self.room.picks, scores.n_seq * per_sequence)?;
        let args = [
            scores.values.at(0).into(),
            scores.largest.at(0).into(),
            scores.n_codes.into(),
            self.room.uniforms.at(0).into(),
            per_sequence.into(),
            self.room.picks.at(0).into(),
        ];
        self.queue.launch("resample", Extent::blocks([scores.n_seq, 1, 1], 256), &args)
    }

    /// Pulls rows whose codes are `room.picks`, columns of a tape.
    fn pull_picks(&mut self, tape: Columns, all: &StoredSequences, rows: Rows, n_rows: usize) -> Result<()> {
        let most = self.rows_at_a_time(n_rows, all);
        for first in (0..n_rows).step_by(most) {
            let n = most.min(n_rows - first);
            let n_tape = self.places.n_tape;
            self.queue.grow(&mut self.room.tape, n_tape * n)?;
            let picked = Columns { address: self.room.tape.at(0), ld: n, n };
            let args = [
                tape.address.into(),
                tape.ld.into(),
                self.room.picks.at(first).into(),
                picked.address.into(),
                n.into(),
                n_tape.into(),
            ];
            let grid = [n.div_ceil(256), n_tape, 1];
            self.queue.launch("gather_columns", Extent::blocks(grid, 256), &args)?;
            let theta = self.theta(picked, 0);
            self.pull_rows((&theta, picked), all, rows, first)?;
        }
        Ok(())
    }

    /// How many rows come in one pass.
    fn rows_at_a_time(&self, n: usize, all: &StoredSequences) -> usize {
        at_a_time(n, 2 * self.places.n_tape + self.places.n_pulled() + all.n_time * self.shape.d_state)
    }

    /// Pulls rows from `first` on, whose codes are the columns of a tape.
    fn pull_rows(
        &mut self,
        (theta, tape): (&Theta, Columns),
        all: &StoredSequences,
        rows: Rows,
        first: usize,
    ) -> Result<()> {
        let (n, mut target) = (tape.n, self.target((tape.n, 1), all)?);
        if theta.is_shifted() {
            self.queue.grow(&mut self.room.d_noise, self.shape.d_obs * n)?;
            target.noise = self.room.d_noise.at(0);
        }
        let args = [
            Arg::Struct(theta),
            Arg::Struct(&all.addresses()),
            Arg::Struct(&rows),
            Arg::Struct(&target),
            self.room.states.at(0).into(),
            self.room.totals.at(0).into(),
            first.into(),
            n.into(),
        ];
        self.queue.launch("pull_rows", by_warp(n, 1), &args)?;
        self.add_up(n)?;
        self.pull_generator(tape)
    }

    /// All codes on all sequences, each with inputs of its own.
    fn pull_weighted(&mut self, tape: Columns, all: &StoredSequences, scores: &Scores) -> Result<()> {
        let (n_seq, n_pulled) = (all.n_seq, self.places.n_pulled());
        let each = n_pulled + all.n_time * self.shape.d_state;
        let most = at_a_time(tape.n, each);
        for first in (0..tape.n).step_by(most) {
            let part = tape.slice(first, most.min(tape.n - first));
            let n = part.n;
            let slices = (BUSY / n).min(at_a_time(n_seq, each * n)).clamp(1, n_seq);
            let per_slice = n_seq.div_ceil(slices);
            let slices = n_seq.div_ceil(per_slice);
            let (target, scored) = (self.target((n, slices), all)?, scores.scored(first));
            let args = [
                Arg::Struct(&self.theta(part, 0)),
                Arg::Struct(&all.addresses()),
                Arg::Struct(&scored),
                Arg::Struct(&target),
                self.room.states.at(0).into(),
                self.room.totals.at(0).into(),
                n_pulled.into(),
                n.into(),
                n_seq.into(),
                per_slice.into(),
            ];
            self.queue.launch("pull_weighted", by_warp(n, slices), &args)?;
            let args = [target.rows.into(), slices.into(), (n_pulled * n).into()];
            self.queue.launch("add_slices", Extent::of(n_pulled * n), &args)?;
            self.add_up(n * slices)?;
            self.pull_generator(part)?;
        }
        Ok(())
    }

    /// All codes on all sequences, which share their inputs.
    fn pull_shared(
        &mut self,
        tape: Columns,
        (all, values): (&StoredSequences, u64),
        scores: &Scores,
    ) -> Result<()> {
        let n_rows = self.shape.d_obs * (all.n_time + 2);
        let each = self.places.n_pulled() + all.n_time * self.shape.d_state + 2 * n_rows;
        let most = at_a_time(tape.n, each);
        self.queue.grow(&mut self.room.sums, n_rows * most)?;
        self.queue.grow(&mut self.room.masses, n_rows * most)?;
        let (sums, masses) = (self.room.sums.at(0), self.room.masses.at(0));
        for first in (0..tape.n).step_by(most) {
            let part = tape.slice(first, most.min(tape.n - first));
            let n = part.n;
            let scored: Scored = scores.scored(first);
            let args = [
                values.into(),
                Arg::Struct(&scored),
                sums.into(),
                masses.into(),
                n_rows.into(),
                all.n_seq.into(),
                n.into(),
            ];
            let grid = [n.div_ceil(64), n_rows.div_ceil(32), 1];
            self.queue.launch("weigh_shared", Extent::blocks(grid, 256), &args)?;
            let target = self.target((n, 1), all)?;
            let args = [
                Arg::Struct(&self.theta(part, 0)),
                all.inputs.at(0).into(),
                all.n_time.into(),
                sums.into(),
                masses.into(),
                Arg::Struct(&target),
                self.room.states.at(0).into(),
                self.room.totals.at(0).into(),
                n.into(),
            ];
            self.queue.launch("pull_shared", by_warp(n, 1), &args)?;
            self.add_up(n)?;
            self.pull_generator(part)?;
        }
        Ok(())
    }

    /// Room for pulling n codes in so many slices, and where their gradients go.
    fn target(&mut self, (n, slices): (usize, usize), all: &StoredSequences) -> Result<Target> {
        let (queue, room) = (&self.queue, &mut self.room);
        queue.grow(&mut room.pulled, self.places.n_pulled() * n * slices)?;
        queue.grow(&mut room.states, all.n_time * self.shape.d_state * n * slices)?;
        queue.grow(&mut room.totals, n * slices)?;
        Ok(Target { rows: room.pulled.at(0), to: self.to.at(0), noise: 0, ld: n as i64 })
    }

    /// Adds n totals to the weighted log likelihood.
    fn add_up(&self, n: usize) -> Result<()> {
        let report = self.gradient.at(report_at(&self.places));
        let args = [self.room.totals.at(0).into(), n.into(), report.into()];
        self.queue.launch("add_up", Extent::blocks([1, 1, 1], 256), &args)
    }

    fn bring_gradient(&self) -> Result<LinearGradient> {
        let mut parameters = self.queue.download(&self.gradient, 0..self.gradient.len())?;
        let [low, high] = [0, 1].map(|word| u64::from(parameters[report_at(&self.places) + word].to_bits()));
        parameters.truncate(self.places.end);
        Ok(LinearGradient { parameters, weighted_log_likelihood: f64::from_bits(low | high << 32) })
    }
}
