//! How wide forecasts are: process noise of the size by which held-out sequences are forecast best.
//!
//! ```text
//! R → c² R        c: least mean of −log p(y_{s+1:T} | y_{1:s}) per value over held-out sequences and origins s
//! ```
//! Learning sets R by what one step leaves unexplained. A forecast adds that up over many steps, as if each went wrong on its
//! own; where a system is not quite linear they go wrong together, and intervals come out too narrow, or too wide. So
//! forecasts themselves decide, and only where they do so clearly.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, DiscreteCDF};

use super::Control;
use super::new_members::FEWEST;
use crate::evaluate::{Following, Forecaster, Origin, Updates};
use crate::family::Family;
use crate::infer::Online;
use crate::predict::{Estimate, Forecast};
use crate::random::Stream;
use crate::system::System;
use crate::{Error, Result};

/// Factors c that are tried: down with care, because what a few held-out sequences do not show is a new one that is forecast with
/// certainty and wrongly.
const FACTORS: [f64; 5] = [0.75, 1.0, 1.35, 1.8, 2.5];
/// Parts of a sequence after which the rest is forecast, and updates over the whole of it.
const ORIGINS: [f64; 3] = [0.125, 0.25, 0.5];
const UPDATES: usize = 12;
/// Most held-out sequences that are forecast.
const MOST: usize = 50;
/// Probability below which a majority of sequences is no chance.
const SIGNIFICANCE: f64 = 0.1;

/// What one factor came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationTrial {
    /// Factor c on standard deviations of the process noise.
    pub factor: f64,
    /// How much lower the negative log density of held-out forecasts is than with the learned noise: nats per value.
    pub gain: Estimate,
}

/// A model with the process noise by which it forecasts best.
#[derive(Clone, Debug)]
pub struct Calibrated {
    /// The model.
    pub model: System,
    /// Factor c on the learned standard deviations of its process noise.
    pub factor: f64,
    /// What was tried; empty where nothing could be.
    pub trials: Vec<CalibrationTrial>,
}

/// Held-out sequences by which a model's forecasts are judged.
#[derive(Clone, Copy, Debug)]
pub struct Calibration<'a> {
    /// How codes of new members are inferred.
    pub online: &'a Online,
    /// Sequences that the model was not learned from, whole.
    pub held_out: &'a Family,
    /// Seed of all randomness.
    pub seed: u64,
}

impl Calibration<'_> {
    /// The model, with process noise that is made smaller or larger while held-out sequences are forecast better by that. A model without process noise, or with few held-out sequences, stays as it is.
    ///
    /// `progress` is told forecasts done and forecasts in all, and may stop the work.
    ///
    /// # Errors
    /// Sequences that the model cannot take.
    pub fn of(&self, model: System, progress: &mut dyn FnMut(usize, usize) -> Control) -> Result<Calibrated> {
        let judged: Vec<usize> = self.held_out.observed().into_iter().take(MOST).collect();
        let mut losses = vec![];
        for (done, &factor) in FACTORS.iter().enumerate() {
            let is_choice = judged.len() >= FEWEST;
            let Some(scaled) = model.clone().with_process_noise(factor)?.filter(|_| is_choice) else { break };
            let one = |&i: &usize| self.loss(&scaled, i);
            losses.push(judged.par_iter().map(one).collect::<Result<Vec<Option<f64>>>>()?);
            if progress((done + 1) * judged.len(), FACTORS.len() * judged.len()) == Control::Stop {
                return Err(Error::Stopped);
            }
        }
        let trials = trials(&losses);
        let factor = chosen(&losses);
        let model = model.clone().with_process_noise(factor)?.unwrap_or(model);
        Ok(Calibrated { model, factor, trials })
    }

    /// Mean over origins of the negative log density per value of what came after; `None` where nothing was observed there.
    fn loss(&self, model: &System, i: usize) -> Result<Option<f64>> {
        let outputs = self.held_out.sequence(i).outputs();
        let n = outputs.n_time();
        let origin = |share: f64| {
            let seen = ((share * n as f64) as usize).max(1);
            (seen < n).then(|| Origin { seen, n_time: n - seen })
        };
        let origins: Vec<Origin> = ORIGINS.into_iter().filter_map(origin).collect();
        let online = Online { every: n.div_ceil(UPDATES).max(5), ..self.online.clone() };
        let (system, random) = (model.clone(), (self.seed, Stream::Calibration as fn(u64) -> Stream));
        let following = Following { system, online, updates: Updates::AsSet, random };
        let mut losses = vec![];
        for (origin, forecast) in origins.iter().zip(following.forecasts(self.held_out, i, &origins)?) {
            losses.extend(loss_per_value(&forecast, outputs.slice(origin.seen..n).rows())?);
        }
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        // What cannot be forecast at all is as bad as can be.
        Ok((!losses.is_empty()).then_some(if mean.is_nan() { f64::INFINITY } else { mean }))
    }
}

fn loss_per_value<'r>(forecast: &Forecast, truth: impl Iterator<Item = &'r [f64]>) -> Result<Option<f64>> {
    let (mut sum, mut n) = (0.0, 0);
    for (t, row) in truth.enumerate() {
        sum -= forecast.log_density(t, row)?;
        n += row.iter().filter(|y| !y.is_nan()).count();
    }
    Ok((n > 0).then(|| sum / n as f64))
}

/// How far each factor is ahead of the learned noise, on sequences that both could be judged by.
fn trials(losses: &[Vec<Option<f64>>]) -> Vec<CalibrationTrial> {
    let Some(learned) = FACTORS.iter().position(|&factor| factor == 1.0).and_then(|at| losses.get(at)) else {
        return vec![];
    };
    let trial = |(loss, &factor): (&Vec<Option<f64>>, &f64)| {
        Some(CalibrationTrial { factor, gain: difference(learned, loss)? })
    };
    losses.iter().zip(&FACTORS).filter_map(trial).collect()
}

/// Mean of a − b over sequences that have both.
fn difference(a: &[Option<f64>], b: &[Option<f64>]) -> Option<Estimate> {
    let differences: Vec<f64> = a.iter().zip(b).filter_map(|(a, b)| Some((*a)? - (*b)?)).collect();
    Estimate::of(&differences)
}

/// The factor that is reached from 1 by steps each of which forecasts better.
fn chosen(losses: &[Vec<Option<f64>>]) -> f64 {
    let learned = FACTORS.iter().position(|&factor| factor == 1.0).unwrap_or(0);
    let reached = |path: &mut dyn Iterator<Item = usize>| {
        let is_step = |from: &mut usize, to: usize| {
            let step = is_better(losses.get(to)?, losses.get(*from)?).then_some(to);
            *from = step.unwrap_or(*from);
            step
        };
        path.scan(learned, is_step).last()
    };
    let found = reached(&mut (0..learned).rev()).or_else(|| reached(&mut (learned + 1..FACTORS.len())));
    FACTORS[found.unwrap_or(learned)]
}

/// Whether losses are lower on average, and of so many sequences that a sign test says the same. The test keeps one sequence that goes
/// wrong either way from deciding, and the mean keeps many small gains from outweighing one great loss.
fn is_better(new: &[Option<f64>], old: &[Option<f64>]) -> bool {
    let gains: Vec<f64> = old.iter().zip(new).filter_map(|(old, new)| Some((*old)? - (*new)?)).collect();
    let (n, better) = (gains.len() as u64, gains.iter().filter(|gain| **gain > 0.0).count() as u64);
    let by_chance =
        Binomial::new(0.5, n).map_or(1.0, |coins| if better > 0 { coins.sf(better - 1) } else { 1.0 });
    gains.iter().sum::<f64>() > 0.0 && by_chance <= SIGNIFICANCE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Losses of sequences: one row per sequence, one entry per factor.
    fn losses(rows: &[[f64; 5]]) -> Vec<Vec<Option<f64>>> {
        (0..FACTORS.len()).map(|f| rows.iter().map(|row| Some(row[f])).collect()).collect()
    }

    #[test]
    fn steps_are_taken_while_most_sequences_gain() {
        let falling = [1.2, 1.5, 1.6, 1.8, 2.0];
        assert_eq!(chosen(&losses(&[falling; 6])), 0.75);
        let rising = [1.8, 1.5, 1.4, 1.3, 1.35];
        assert_eq!(chosen(&losses(&[rising; 6])), 1.8);
        let best = [1.55, 1.5, 1.55, 1.6, 1.7];
        assert_eq!(chosen(&losses(&[best; 6])), 1.0);
    }

    #[test]
    fn one_sequence_decides_nothing_either_way() {
        let best = [1.55, 1.5, 1.55, 1.6, 1.7];
        let mut rows = [best; 8];
        rows[3] = [-90.0, 1.5, 90.0, 90.0, 90.0]; // the mean alone would narrow
        assert_eq!(chosen(&losses(&rows)), 1.0);
        let falling = [1.2, 1.5, 1.6, 1.8, 2.0];
        let mut rows = [falling; 8];
        rows[5] = [90.0, 1.5, 1.6, 1.8, 2.0]; // the signs alone would
        assert_eq!(chosen(&losses(&rows)), 1.0);
    }

    #[test]
    fn what_cannot_be_forecast_or_was_not_tried_changes_nothing() {
        assert_eq!(chosen(&[]), 1.0);
        assert_eq!(chosen(&vec![vec![None; 6]; 5]), 1.0);
        let impossible = [f64::INFINITY, 1.5, f64::INFINITY, f64::INFINITY, f64::INFINITY];
        assert_eq!(chosen(&losses(&[impossible; 6])), 1.0);
        assert_eq!(trials(&losses(&[impossible; 6])).len(), FACTORS.len());
    }
}
