//! Quasi-Newton ascent from many starts in lockstep: one batched call of the target per round.
//!
//! ```text
//! p = H g          u' = u + a p          s = a p          y = g − g'
//! accept a when    f' ≥ f + 1e-4 a gᵀp   and   g'ᵀp ≤ 0.9 gᵀp            (weak Wolfe)
//! H ← H − ρ (s (Hy)ᵀ + (Hy) sᵀ) + (ρ² yᵀHy + ρ) s sᵀ          ρ = 1 / sᵀy
//! ```
//!
//! `f` is the log density, maximised; `H` approximates the inverse of its negative Hessian. Each start has its
//! own `H` and its own bracket for the step `a`, halved or doubled until both conditions hold. A target
//! evaluates many points at the price of few, so starts share rounds rather than run one after the other.
//! Reference: Nocedal & Wright (2006), Numerical Optimization, ch. 6; the bracket of Lewis & Overton (2013),
//! Nonsmooth optimization via quasi-Newton methods.

use super::Points;
use super::target::{self, SmoothTarget};
use crate::algebra::{dot, times_vector};
use crate::learn::Control;

/// A bracket shorter than this, relative to the full step, cannot give progress any more.
const SHORTEST_BRACKET: f64 = 1e-12;

/// How a climb ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Still on its way, or out of rounds.
    Running,
    /// The next step would gain less than the tolerance.
    Converged,
    /// No step gives an increase: rounding or a kink is in the way.
    Stalled,
    /// The start has no finite density.
    Impossible,
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Most batched evaluations.
    pub(crate) rounds: usize,
    /// A predicted gain in log density below which a climb has converged.
    pub(crate) tolerance: f64,
}

/// One ascent.
#[derive(Clone, Debug)]
pub(crate) struct Climb {
    pub(crate) point: Vec<f64>,
    pub(crate) value: f64,
    pub(crate) gradient: Vec<f64>,
    /// `H`, row-major.
    pub(crate) inverse_hessian: Vec<f64>,
    pub(crate) outcome: Outcome,
    direction: Vec<f64>,
    slope: f64,
    step: f64,
    bracket: (f64, f64),
    /// Whether `H` still is the metric it began with.
    fresh: bool,
}

/// All ascents, and the points and non-finite values that they cost.
pub(crate) struct Climbs {
    pub(crate) climbs: Vec<Climb>,
    pub(crate) evaluations: usize,
    pub(crate) nonfinite: usize,
}

/// Climbs from every start; `metric` (a covariance, row-major) is the first `H`.
pub(crate) fn climb(target: &dyn SmoothTarget, starts: &Points, metric: &[f64], limits: Limits) -> Climbs {
    climb_observed(target, (starts, metric), limits, &mut |_| Control::Continue)
}

/// [`climb`] that ends where it is when `observer`, told the number of rounds, says so.
pub(crate) fn climb_observed(
    target: &dyn SmoothTarget,
    (starts, metric): (&Points, &[f64]),
    limits: Limits,
    observer: &mut dyn FnMut(usize) -> Control,
) -> Climbs {
    let mut all = Climbs { climbs: Vec::new(), evaluations: 0, nonfinite: 0 };
    let (values, gradients) = all.evaluate(target, starts);
    for (i, value) in values.iter().enumerate() {
        all.climbs.push(Climb::new(starts.point(i), *value, gradients.point(i), metric, limits));
    }
    for round in 1..limits.rounds {
        let active: Vec<usize> =
            (0..all.climbs.len()).filter(|&i| all.climbs[i].outcome == Outcome::Running).collect();
        if active.is_empty() || observer(round) == Control::Stop {
            break;
        }
        let mut trials = Points::zeros(starts.dim(), active.len());
        active.iter().enumerate().for_each(|(k, &i)| trials.set_point(k, &all.climbs[i].trial()));
        let (values, gradients) = all.evaluate(target, &trials);
        for (k, &i) in active.iter().enumerate() {
            all.climbs[i].advance(values[k], gradients.point(k), limits);
        }
    }
    all
}

impl Climbs {
    fn evaluate(&mut self, target: &dyn SmoothTarget, points: &Points) -> (Vec<f64>, Points) {
        let mut values = vec![0.0; points.len()];
        let mut gradients = Points::zeros(points.dim(), points.len());
        self.nonfinite += target::evaluate_smooth(target, points, &mut values, &mut gradients);
        self.evaluations += points.len();
        (values, gradients)
    }
}

impl Climb {
    fn new(point: Vec<f64>, value: f64, gradient: Vec<f64>, metric: &[f64], limits: Limits) -> Self {
        let possible = value > f64::NEG_INFINITY;
        let mut climb = Self {
            point,
            value,
            gradient,
            inverse_hessian: metric.to_vec(),
            outcome: if possible { Outcome::Running } else { Outcome::Impossible },
            direction: Vec::new(),
            slope: 0.0,
            step: 1.0,
            bracket: (0.0, f64::INFINITY),
            fresh: true,
        };
        if possible {
            climb.aim(limits);
        }
        climb
    }

    /// The next point to evaluate.
    fn trial(&self) -> Vec<f64> {
        self.point.iter().zip(&self.direction).map(|(u, p)| u + self.step * p).collect()
    }

    /// Sets direction and first step from the current gradient.
    fn aim(&mut self, limits: Limits) {
        self.direction = times_vector(&self.inverse_hessian, &self.gradient);
        self.slope = dot(&self.gradient, &self.direction);
        self.bracket = (0.0, f64::INFINITY);
        // The first metric is the prior's: a step is at most one standard deviation long.
        self.step = if self.fresh { 1.0 / self.slope.sqrt().max(1.0) } else { 1.0 };
        if !self.slope.is_finite() {
            self.outcome = Outcome::Stalled;
        } else if 0.5 * self.slope <= limits.tolerance {
            self.outcome = Outcome::Converged;
        }
    }

    /// Takes the trial's value and gradient: accepts it, or shrinks the bracket of the step.
    fn advance(&mut self, value: f64, gradient: Vec<f64>, limits: Limits) {
        let (low, high) = self.bracket;
        if value.is_nan() || value < self.value + 1e-4 * self.step * self.slope {
            self.bracket = (low, self.step);
            self.step = 0.5 * (low + self.step);
        } else if dot(&gradient, &self.direction) > 0.9 * self.slope {
            self.bracket = (self.step, high);
            self.step = if high.is_finite() { 0.5 * (self.step + high) } else { 2.0 * self.step };
        } else {
            self.accept(value, gradient);
            return self.aim(limits);
        }
        let (low, high) = self.bracket;
        if high - low < SHORTEST_BRACKET || !self.step.is_finite() {
            self.outcome = Outcome::Stalled;
        }
    }

    /// Moves to the trial point and updates `H`.
    fn accept(&mut self, value: f64, gradient: Vec<f64>) {
        let n = self.point.len();
        let s: Vec<f64> = self.direction.iter().map(|p| self.step * p).collect();
        let y: Vec<f64> = self.gradient.iter().zip(&gradient).map(|(old, new)| old - new).collect();
        self.point = self.trial();
        self.value = value;
        self.gradient = gradient;
        let sy = dot(&s, &y);
        let mut hy = times_vector(&self.inverse_hessian, &y);
        let mut yhy = dot(&y, &hy);
        if !(sy.is_finite() && sy > 0.0 && yhy.is_finite() && yhy > 0.0) {
            return;
        }
        if std::mem::take(&mut self.fresh) {
            let scale = sy / yhy;
            self.inverse_hessian.iter_mut().for_each(|h| *h *= scale);
            hy.iter_mut().for_each(|h| *h *= scale);
            yhy *= scale;
        }
        let rho = 1.0 / sy;
        for i in 0..n {
            for j in 0..n {
                let cross = s[i] * hy[j] + hy[i] * s[j];
                self.inverse_hessian[i * n + j] += rho * ((rho * yhy + 1.0) * s[i] * s[j] - cross);
            }
        }
    }
}
