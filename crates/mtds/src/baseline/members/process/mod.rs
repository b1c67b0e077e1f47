//! A Gaussian process for the family and one for each member: the multi-task process of Magma, for each output on its own.
//!
//! ```text
//! y_i(t) = m(t) + f_i(t) + ε        m ~ GP(0, k₀)        f_i ~ GP(0, k)        ε ~ N(0, s²)                                  [1]
//! k₀(t, u) = v₀ exp(−½ (t − u)² / l₀²) + 4 (1 + x_t x_u)        x_t: t over the known steps, centred, from −½ to ½
//! k(t, u)  = v exp(−½ (t − u)² / l²) + c                        c: offsets of members
//! ```
//! Both processes are integrated out. v₀, l₀, v, l, c and s² maximise the marginal likelihood (`likelihood`) times broad priors, by quasi-Newton steps.
//! A new member is another f: m as the family left it, its own process around that, conditioned on what was seen.
//!
//! The fit costs n³ for each set of steps that members show together. Steps that nobody shows cost nothing. Of more than a hundred others every second,
//! third … is kept, with the value of each member that is nearest to it; where sets still cost too much, every second member is left out until they do not.
//! Of a new member the last 200 values are looked at.
//!
//! Reference: \[1\] Leroy, Latouche, Guedj & Gey (2022), MAGMA: inference and prediction using multi-task Gaussian processes. Differs from it: offsets, a linear part
//! of m, and k₀ and k by one exact likelihood in place of EM.

mod likelihood;

use likelihood::{Kernels, MeanProcess, Problem};

use super::OfRounds;
use super::curves::{Curves, LEAST_STD};
use crate::algebra::{Matrix, cholesky, dot, solve_factored};
use crate::family::{Family, Signal};
use crate::infer::{Points, best_climbs};
use crate::learn::Control;
use crate::predict::{DrawNoise, Forecast};
use crate::{Error, Result};

/// Fewest members.
const FEWEST: usize = 2;
/// Most evaluations of the likelihood.
const ROUNDS: usize = 60;
/// Most values of a new member that are looked at.
const MOST_SEEN: usize = 200;

/// Forecasts by Gaussian processes with a mean in common.
#[derive(Clone, Debug)]
pub struct SharedProcess {
    curves: Curves,
    /// By output.
    outputs: Vec<Fitted>,
}

/// The processes of one output.
#[derive(Clone, Debug)]
struct Fitted {
    kernels: Kernels,
    mean: MeanProcess,
}

impl SharedProcess {
    /// Fits the processes to the members of a family.
    ///
    /// # Errors
    /// Fewer than two members with an observed output; an output that none of them shows.
    pub fn fit(family: &Family) -> Result<Self> {
        Self::fit_observed(family, &mut |_, _| Control::Continue)
    }

    /// [`SharedProcess::fit`] whose `observer` is told rounds done and in all, and may stop it.
    ///
    /// # Errors
    /// As [`SharedProcess::fit`]; [`Error::Stopped`].
    pub(crate) fn fit_observed(family: &Family, observer: &mut OfRounds<'_>) -> Result<Self> {
        let curves = Curves::of(family, "gp", FEWEST)?;
        let n = curves.d_obs;
        let one = |c: usize| Fitted::of(&curves, c, &mut |round| observer(c * ROUNDS + round, n * ROUNDS));
        let outputs = (0..n).map(one).collect::<Result<_>>()?;
        Ok(Self { curves, outputs })
    }

    /// Steps that are known.
    pub(crate) fn n_time(&self) -> usize {
        self.curves.n_time
    }

    /// The forecast of the `n_time` steps after `past`, in data units.
    ///
    /// # Shapes
    /// `past` (NaN where missing): any number of steps × d_obs.
    ///
    /// # Errors
    /// Another number of outputs; no steps asked for.
    pub fn forecast(&self, past: &Signal, n_time: usize) -> Result<Forecast> {
        let (d, seen, values) = (self.curves.d_obs, past.n_time(), self.curves.past(past)?);
        let last = seen.max(self.curves.n_time - 1);
        let future: Vec<f64> = (seen..seen + n_time).map(|t| t.min(last) as f64).collect();
        let (mut means, mut std_devs) = (vec![0.0; n_time * d], vec![0.0; n_time * d]);
        for (c, fitted) in self.outputs.iter().enumerate() {
            let shown = (0..seen).map(|t| (t as f64, values[t * d + c])).filter(|(_, y)| !y.is_nan());
            let shown: Vec<(f64, f64)> = shown.collect();
            let shown = &shown[shown.len().saturating_sub(MOST_SEEN)..];
            for (row, (mean, variance)) in fitted.conditional(shown, &future)?.into_iter().enumerate() {
                means[row * d + c] = mean;
                std_devs[row * d + c] = variance.max(LEAST_STD.powi(2)).sqrt();
            }
        }
        self.curves.forecast(seen, vec![1.0], means, DrawNoise::DiagonalByStep(std_devs))
    }
}

impl Fitted {
    fn of(curves: &Curves, c: usize, observer: &mut dyn FnMut(usize) -> Control) -> Result<Self> {
        let problem = Problem::of(curves, c);
        let start = Points::from_points(Kernels::COUNT, &[problem.start()])?;
        let mut wish = observer(0);
        if wish == Control::Stop {
            return Err(Error::Stopped);
        }
        let best = best_climbs(&problem, &start, ROUNDS, &mut |round| {
            wish = observer(round);
            wish
        });
        if wish == Control::Stop {
            return Err(Error::Stopped);
        }
        let best = best.into_iter().next();
        let fitted = best.and_then(|(logs, _)| {
            let kernels = problem.kernels(&logs);
            Some(Self { mean: problem.evidence(&kernels)?.mean, kernels })
        });
        fitted
            .ok_or_else(|| Error::setting("training", "found values of which `gp` has no finite covariance"))
    }

    /// Mean and variance of new values at each time of the future, given (time, value) of a new member.
    fn conditional(&self, shown: &[(f64, f64)], future: &[f64]) -> Result<Vec<(f64, f64)>> {
        let n = shown.len();
        let times: Vec<f64> = shown.iter().map(|(t, _)| *t).chain(future.iter().copied()).collect();
        // Of a member that is not in the family: m as the family left it, and a process of its own.
        let (mean, common) = self.mean.at(&times, &self.kernels);
        let covariance = |i: usize, j: usize| {
            let noise = if i == j { self.kernels.noise() } else { 0.0 };
            common[(i, j)] + self.kernels.own(times[i], times[j]) + noise
        };
        let seen = Matrix::from_fn(n, n, covariance);
        let chol = cholesky(&seen.values, n)
            .ok_or_else(|| Error::setting("past", "found values of which `gp` has no finite covariance"))?;
        let residual: Vec<f64> = shown.iter().zip(&mean).map(|((_, y), m)| y - m).collect();
        let explained = solve_factored(&chol, residual);
        let one = |k: usize| {
            let across: Vec<f64> = (0..n).map(|j| covariance(n + k, j)).collect();
            let taken = dot(&across, &solve_factored(&chol, across.clone()));
            (mean[n + k] + dot(&across, &explained), covariance(n + k, n + k) - taken)
        };
        Ok((0..future.len()).map(one).collect())
    }
}

#[cfg(test)]
mod tests;
