//! How the forecast of a model comes about: that of its systems, beside ways that remember what members did, as wide as members
//! that were held out have shown it to be needed.
//!
//! ```text
//! p(y_t) = (1 − Σ_k w_k) p_systems(y_t) + Σ_k w_k p_k(y_t)         k: nearest members, ridge regression, components of curves, a shared process;
//!                                                                  w: by steps seen, linear between the numbers of steps that were tried
//! then     stretched around its mean m by f(steps seen) · g(m), log f linear between the numbers of steps that were tried, log g between levels
//! ```
//! Weights and factors are found by forecasts of members that nothing that forecasts had learned from (`workflow/weights`, `workflow/widths`). Beyond the
//! steps that members show, a way goes on as the systems do; where all of them were seen, the systems forecast alone.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::evaluate::{Baseline, Forecaster, OfMembers, Origin};
use crate::family::{Family, Signal};
use crate::predict::Forecast;

/// What forecasts beside the systems of a model, and how wide forecasts are.
#[derive(Clone, Debug, Default)]
pub struct Blend {
    /// What members did, where forecasts from that count.
    pub remembered: Option<Remembered>,
    /// How wide forecasts are.
    pub widths: Widths,
}

/// Ways to forecast from what members did, and how much each counts.
#[derive(Clone, Debug)]
pub struct Remembered {
    /// What members did: their outputs.
    pub members: Arc<Family>,
    /// Which way counts how much, whatever was seen; all together below 1, and the systems have the rest.
    pub ways: Vec<(Baseline, f64)>,
    /// How much each counts by steps seen.
    pub by_seen: WaysBySeen,
    /// The ways, learned when they are first asked.
    learned: Arc<OnceLock<Vec<OfMembers>>>,
}

/// How much ways count after numbers of steps seen; nothing where they always count the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaysBySeen {
    /// Numbers of steps, rising.
    pub seen: Vec<usize>,
    /// The weights of all ways at each; together below 1, and the systems have the rest.
    pub weights: Vec<Vec<f64>>,
}

/// Factors on the distance of forecasts from their mean, by the number of steps seen and by that mean.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Widths {
    /// Numbers of steps, rising; empty where forecasts are as they come.
    pub seen: Vec<usize>,
    /// The factor at each.
    pub factors: Vec<f64>,
    /// By output, factors that depend on the mean; empty where none do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Levels>,
}

/// Factors on the distance of forecasts of an output from their mean, by that mean.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Levels {
    /// Means, in data units, rising.
    pub at: Vec<f64>,
    /// The factor at each.
    pub factors: Vec<f64>,
}

impl Remembered {
    /// Members of a family, and how much each way counts: in general, and by steps seen.
    #[must_use]
    pub fn new(members: Arc<Family>, ways: Vec<(Baseline, f64)>, by_seen: WaysBySeen) -> Self {
        Self { members, ways, by_seen, learned: Arc::new(OnceLock::new()) }
    }

    /// The weight of each way after a number of steps.
    fn weights(&self, seen: usize) -> Vec<f64> {
        self.by_seen.at(seen).unwrap_or_else(|| self.ways.iter().map(|(_, weight)| *weight).collect())
    }

    fn learned(&self) -> Result<&[OfMembers]> {
        if let Some(known) = self.learned.get() {
            return Ok(known);
        }
        let learned = self.ways.iter().map(|(way, _)| way.of_members(&self.members));
        let learned = learned.collect::<Result<_>>()?;
        Ok(self.learned.get_or_init(|| learned))
    }

    /// Forecast of the systems beside those of the ways.
    fn beside(&self, systems: Forecast, past: &Signal) -> Result<Forecast> {
        let (seen, n_time) = (systems.first_step(), systems.n_time());
        let mut parts = vec![];
        if seen == 0 {
            return Ok(systems); // nothing to be near to
        }
        let weights = self.weights(seen);
        for (way, &weight) in self.learned()?.iter().zip(&weights) {
            let known = way.n_time().saturating_sub(seen).min(n_time);
            if known > 0 && weight > 0.0 {
                parts.push((weight, way.forecast(past, known)?.lengthened(&systems)?));
            }
        }
        let rest = 1.0 - weights.iter().sum::<f64>();
        if parts.is_empty() {
            return Ok(systems);
        }
        parts.insert(0, (rest.max(f64::MIN_POSITIVE), systems));
        Forecast::mixed(parts)
    }
}

impl WaysBySeen {
    /// The weights after a number of steps; `None` where they are not known by steps.
    pub(crate) fn at(&self, seen: usize) -> Option<Vec<f64>> {
        let after = self.seen.partition_point(|&steps| steps <= seen);
        let before = after.saturating_sub(1);
        match self.seen.get(after) {
            Some(&next) if after > 0 => {
                let share = (seen - self.seen[before]) as f64 / (next - self.seen[before]) as f64;
                let pairs = self.weights[before].iter().zip(&self.weights[after]);
                Some(pairs.map(|(a, b)| (1.0 - share) * a + share * b).collect())
            }
            _ => self.weights.get(before).cloned(),
        }
    }

    /// The same of some of the ways.
    pub(crate) fn of(&self, ways: &[usize]) -> Self {
        let weights = self.weights.iter().map(|all| ways.iter().map(|&k| all[k]).collect());
        Self { seen: self.seen.clone(), weights: weights.collect() }
    }
}

impl Widths {
    /// The factor after a number of steps.
    #[must_use]
    pub fn at(&self, seen: usize) -> f64 {
        let knots: Vec<f64> = self.seen.iter().map(|&steps| steps as f64).collect();
        between(&knots, &self.factors, seen as f64)
    }

    /// The factors of a forecast: one, or by step and output where they depend on its mean.
    fn of(&self, forecast: &Forecast) -> Vec<f64> {
        let after = self.at(forecast.first_step());
        if self.levels.is_empty() {
            return vec![after];
        }
        let levels = self.levels.iter().cycle();
        forecast
            .mean()
            .iter()
            .zip(levels)
            .map(|(mean, own)| after * between(&own.at, &own.factors, *mean))
            .collect()
    }
}

/// The factor at `x`, its logarithm linear between knots and constant beyond them; 1 where there are none.
fn between(knots: &[f64], factors: &[f64], x: f64) -> f64 {
    let after = knots.partition_point(|&knot| knot <= x);
    match (after.checked_sub(1), knots.get(after)) {
        (None, None) => 1.0,
        (None, Some(_)) => factors[0],
        (Some(before), None) => factors[before],
        (Some(before), Some(next)) => {
            let share = (x - knots[before]) / (next - knots[before]);
            ((1.0 - share) * factors[before].ln() + share * factors[after].ln()).exp()
        }
    }
}

impl Blend {
    /// The forecast of a model from that of its systems.
    ///
    /// # Shapes
    /// `past` (data units, NaN where missing): the steps seen × d_obs, or the first of them, as many as are looked at.
    ///
    /// # Errors
    /// Members that a way cannot be learned from.
    pub(crate) fn of(&self, systems: Forecast, past: &Signal) -> Result<Forecast> {
        let together = match &self.remembered {
            Some(remembered) => remembered.beside(systems, past)?,
            None => systems,
        };
        match self.widths.of(&together).as_slice() {
            [1.0] => Ok(together),
            factors => together.stretched(factors),
        }
    }

    /// Steps of a past that are looked at: what lies behind tells nothing but how many there were.
    pub(crate) fn looks_at(&self) -> usize {
        self.remembered.as_ref().map_or(0, |remembered| remembered.members.max_time())
    }
}

/// What forecasts as systems do, beside the rest of a model.
pub(crate) struct Blended<F> {
    pub(crate) systems: F,
    pub(crate) blend: Blend,
}

impl<F: Forecaster> Forecaster for Blended<F> {
    fn forecasts(&self, family: &Family, i: usize, origins: &[Origin]) -> Result<Vec<Forecast>> {
        let (outputs, systems) = (family.sequence(i).outputs(), self.systems.forecasts(family, i, origins)?);
        let pairs = systems.into_iter().zip(origins);
        pairs.map(|(systems, origin)| self.blend.of(systems, &outputs.slice(0..origin.seen))).collect()
    }
}
