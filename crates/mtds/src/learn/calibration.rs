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
use super::new_members::{FEWEST, evenly};
use crate::evaluate::Origin;
use crate::family::Family;
use crate::infer::{GaussianMixture, KnownCode, Online, Posterior, Tracker};
use crate::predict::{Estimate, Forecast};
use crate::random::{Random, Stream, stream};
use crate::system::System;
use crate::{Error, Result};

/// Factors c that are tried: down with care, because what a few held-out sequences do not show is a new one that is forecast with
/// certainty and wrongly.
const FACTORS: [f64; 5] = [0.75, 1.0, 1.35, 1.8, 2.5];
/// Parts of a sequence after which the rest is forecast.
const ORIGINS: [f64; 3] = [0.125, 0.25, 0.5];
/// Most held-out sequences that are forecast, evenly spaced.
const MOST: usize = 50;
/// Draws of a code that is nearly known.
const DRAWS: usize = 1024;
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
        let judged = evenly(&self.held_out.observed(), MOST);
        let is_choice = judged.len() >= FEWEST && model.clone().with_process_noise(1.0)?.is_some();
        if !is_choice {
            return Ok(Calibrated { model, factor: 1.0, trials: vec![] });
        }
        let (mut done, all) = (0, judged.len() * FACTORS.len());
        let learned = judged.par_iter().map(|&i| self.learned(&model, i)).collect::<Result<Vec<_>>>()?;
        let at = FACTORS.iter().position(|&factor| factor == 1.0).unwrap_or(0);
        let mut losses: Vec<Vec<Option<f64>>> = vec![vec![]; FACTORS.len()];
        losses[at] = learned.iter().map(|found| found.loss).collect();
        // From the learned noise down, and up: beyond a step that is not taken nobody looks.
        let down: Vec<usize> = (0..at).rev().collect();
        for path in [down, (at + 1..FACTORS.len()).collect()] {
            let mut from = at;
            for to in path {
                done += judged.len();
                if progress(done, all) == Control::Stop {
                    return Err(Error::Stopped);
                }
                let scaled = model.clone().with_process_noise(FACTORS[to])?.unwrap_or_else(|| model.clone());
                let one = |(&i, found): (&usize, &Learned)| self.scaled(&scaled, i, &found.codes);
                losses[to] = judged.par_iter().zip(&learned).map(one).collect::<Result<_>>()?;
                if !is_better(&losses[to], &losses[from]) {
                    break;
                }
                from = to;
            }
        }
        if progress(all, all) == Control::Stop {
            return Err(Error::Stopped);
        }
        let trials = trials(&losses);
        let factor = chosen(&losses);
        let model = model.clone().with_process_noise(factor)?.unwrap_or(model);
        Ok(Calibrated { model, factor, trials })
    }

    /// Origins in sequence `i`.
    fn origins(&self, i: usize) -> Vec<Origin> {
        let n = self.held_out.sequence(i).n_time();
        let origin = |share: f64| {
            let seen = ((share * n as f64) as usize).max(1);
            (seen < n).then(|| Origin { seen, n_time: n - seen })
        };
        ORIGINS.into_iter().filter_map(origin).collect()
    }

    fn random(&self, i: usize) -> Random {
        stream(self.seed, Stream::Calibration(i as u64))
    }

    /// The learned noise: the code is followed from the beginning.
    fn learned(&self, model: &System, i: usize) -> Result<Learned> {
        let (outputs, inputs) = (self.held_out.sequence(i).outputs(), self.held_out.inputs_of(i));
        let online = self.online.with_few_updates(outputs.n_time());
        let mut tracker = Tracker::new(model, online, self.random(i))?;
        let (mut losses, mut codes, mut shown) = (vec![], vec![], 0);
        for Origin { seen, n_time } in self.origins(i) {
            for t in shown..seen {
                tracker.observe(outputs.row(t), inputs.map_or(&[], |inputs| inputs.row(t)))?;
            }
            shown = seen;
            let future = inputs.map(|inputs| inputs.slice(seen..seen + n_time));
            let forecast = tracker.forecast(n_time, future.as_ref())?;
            losses.extend(loss_per_value(&forecast, outputs.slice(seen..seen + n_time).rows())?);
            codes.push(tracker.posterior().and_then(Posterior::mixture).cloned());
        }
        Ok(Learned { loss: mean(&losses), codes })
    }

    /// Another size of the noise: codes are looked for where they are under the learned one.
    fn scaled(&self, model: &System, i: usize, codes: &[Option<GaussianMixture>]) -> Result<Option<f64>> {
        let (outputs, inputs) = (self.held_out.sequence(i).outputs(), self.held_out.inputs_of(i));
        let (mut losses, mut random) = (vec![], self.random(i));
        for (Origin { seen, n_time }, belief) in self.origins(i).into_iter().zip(codes) {
            let past = outputs.slice(0..seen);
            let posterior = match belief {
                Some(belief) => {
                    let known = KnownCode { belief, draws: DRAWS };
                    model.infer_known((&past, inputs), known, self.online, &mut random)?
                }
                None => {
                    let mut tracker = model.track(&past, inputs, self.online.clone(), self.random(i))?;
                    tracker.update()?.clone()
                }
            };
            let forecast = model.forecast(&posterior, &past, inputs, n_time, &mut random)?;
            losses.extend(loss_per_value(&forecast, outputs.slice(seen..seen + n_time).rows())?);
        }
        Ok(mean(&losses))
    }
}

/// What the learned noise makes of a sequence.
struct Learned {
    /// As [`mean`] over origins.
    loss: Option<f64>,
    /// What was known of its code at each origin.
    codes: Vec<Option<GaussianMixture>>,
}

/// Mean over origins of the negative log density per value of what came after; `None` where nothing was observed there.
fn mean(losses: &[f64]) -> Option<f64> {
    let mean = losses.iter().sum::<f64>() / losses.len() as f64;
    // What cannot be forecast at all is as bad as can be.
    (!losses.is_empty()).then_some(if mean.is_nan() { f64::INFINITY } else { mean })
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
