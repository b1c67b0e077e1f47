//! Variational learning by an engine that takes steps whole: the same codes, segments and draws as where the host takes them.

use rand::RngExt;

use super::draws::standard_normals;
use super::objective::spacing;
use super::{Beliefs, Estimator, VariationalObjective};
use crate::Result;
use crate::engine::resident::{Beginning, Resident, ResidentTask, Rows, StepOrder};
use crate::learn::NoiseRule;
use crate::random::Random;
use crate::system::OwnBatch;

/// Rows of the sequences that steps take segments from.
#[derive(Debug)]
pub(super) struct StepRows {
    first_rows: Vec<usize>,
    n_rows: Vec<usize>,
    /// Observed outputs before each row.
    observed: Vec<usize>,
    /// First steps of a segment that are not scored, where the rows do not know it.
    unscored: usize,
}

impl VariationalObjective {
    /// Learning on the engine of the model: the evidence bound of beliefs of their own, one sequence each, and noise that is learned or
    /// follows the residuals.
    pub(super) fn settle(&mut self, from: Beginning<'_>) -> Result<Option<Box<dyn Resident>>> {
        let settings = &self.settings;
        let n_codes = match self.beliefs {
            Beliefs::Free(free) => free.n_codes,
            Beliefs::Network(_) => return Ok(None),
        };
        let own_codes = self.data.code_of.iter().copied().eq(0..n_codes);
        let is_noise_known = matches!(settings.noise, NoiseRule::Learned | NoiseRule::Matched { .. });
        let is_plain = is_noise_known && settings.estimator == Estimator::Elbo && self.chain.is_none();
        if !own_codes || !is_plain || settings.window.is_some() || self.data.batch.n_observed == 0 {
            return Ok(None);
        }
        let has_seeds = self.moved.is_some();
        let (rows, n_time) = match &self.moved {
            Some(moved) => {
                let whole = OwnBatch::new(moved.whole());
                (Rows::of((0..whole.n_seq()).map(|i| &whole.windows(i)[0])), moved.longest())
            }
            None => {
                let rows = Rows::of((0..self.data.batch.n_seq()).map(|i| &self.data.batch.windows(i)[0]));
                let longest = rows.n_rows.iter().copied().max().unwrap_or(0);
                (rows, longest)
            }
        };
        let batch = settings.batch.map_or(n_codes, |batch| batch.min(n_codes));
        let task = ResidentTask {
            system: &self.model,
            rows: &rows,
            has_seeds,
            n_codes,
            batch,
            n_time,
            draws: settings.draws,
            matched: self.noise.matched(),
        };
        let Some(resident) = self.model.engine().resident(&task, from)? else { return Ok(None) };
        let d_obs = self.model.base().d_obs();
        let mut total = 0;
        let mut observed = vec![0];
        observed.extend(rows.outputs.chunks(d_obs).map(|row| {
            total += row.iter().filter(|y| y.is_finite()).count();
            total
        }));
        let unscored = if has_seeds { self.model.seed_steps() } else { 0 };
        self.step_rows = Some(StepRows { first_rows: rows.first, n_rows: rows.n_rows, observed, unscored });
        Ok(Some(resident))
    }

    /// What a step is made of.
    pub(super) fn step_order(&mut self, step: u64, random: &mut Random) -> StepOrder {
        let n = self.n_codes();
        let places = match self.settings.batch.filter(|&batch| batch < n) {
            None => (0..n).collect(),
            Some(batch) => {
                let (places, rest) = self.epoch.take(n, batch, random);
                self.next_epoch = Some(rest);
                places
            }
        };
        let known = self.step_rows.as_ref().expect("learning was settled on an engine");
        let piece = |&j: &usize| match &self.moved {
            None => (known.first_rows[j], known.n_rows[j]),
            Some(moved) => {
                let (sequence, steps) = moved.draw(j, random);
                (known.first_rows[sequence] + steps.start, steps.len())
            }
        };
        let (first_rows, n_rows): (Vec<usize>, Vec<usize>) = places.iter().map(piece).unzip();
        let scored = |(&first, &n): (&usize, &usize)| {
            known.observed[first + n] - known.observed[first + known.unscored.min(n)]
        };
        let n_observed = first_rows.iter().zip(&n_rows).map(scored).sum();
        let terms = self.terms(step);
        let sizes = (places.len(), self.settings.draws, self.model.d_code());
        let noise = standard_normals(&mut self.sobol, sizes, spacing(terms.estimator), random.random());
        StepOrder {
            places,
            first_rows,
            n_rows,
            noise: noise.into_iter().map(|e| e as f32).collect(),
            temperature: terms.temperature,
            divergence_weight: terms.divergence_weight,
            is_hard: self.settings.is_hard(step),
            noise_floor: self.noise.floor(step),
            n_observed,
        }
    }
}
