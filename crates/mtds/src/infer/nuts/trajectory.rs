//! One draw of NUTS: a trajectory that doubles, forwards or backwards, until it turns back; a point of it is the next draw.
//!
//! ```text
//! H = −log p(u) + ½ pᵀ Σ p        leapfrog: p += ½ ε ∇log p,  u += ε Σ p,  p += ½ ε ∇log p
//! a span of the trajectory turns when  ρᵀ Σ p_first ≤ 0  or  ρᵀ Σ p_last ≤ 0,        ρ = Σ of its momenta
//! ```
//! Points are chosen by their weights e^{−H}: evenly within a new half, and between halves with a preference for the new one
//! (Betancourt 2017, appendix A). Where two halves meet, the spans across the seam must not turn either.

use rand::RngExt;

use super::Observer;
use super::metric::Metric;
use crate::infer::Evaluator;
use crate::learn::Control;
use crate::random::Random;

/// A rise of the energy by more than this is a divergence.
const DIVERGENCE: f64 = 1000.0;

/// A point with what is known about it.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub position: Vec<f64>,
    pub gradient: Vec<f64>,
    pub log_density: f64,
}

/// The target, what evaluations of it cost, and who may ask for no more of them.
pub(super) struct Density<'a> {
    evaluate: Evaluator<'a>,
    observe: &'a Observer<'a>,
    /// Whether the observer wants no more.
    pub is_stopped: bool,
    pub evaluations: usize,
    /// Densities that were no number, or +∞, or had such a gradient.
    pub nonfinite: usize,
}

impl<'a> Density<'a> {
    pub(super) fn new(evaluate: Evaluator<'a>, observe: &'a Observer<'a>) -> Self {
        Self { evaluate, observe, is_stopped: false, evaluations: 0, nonfinite: 0 }
    }

    /// log p with its gradient; `None` where either is not finite, and once nobody wants it any more: a trajectory, which may be
    /// a thousand steps, ends there.
    pub(super) fn at(&mut self, position: &[f64], gradient: &mut [f64]) -> Option<f64> {
        self.is_stopped = self.is_stopped || (self.observe)() == Control::Stop;
        if self.is_stopped {
            return None;
        }
        let value = (self.evaluate)(position, gradient);
        self.evaluations += 1;
        let usable = value.is_finite() && gradient.iter().all(|g| g.is_finite());
        if !usable {
            self.nonfinite += usize::from(value != f64::NEG_INFINITY);
            return None;
        }
        Some(value)
    }
}

/// How a draw went.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quality {
    /// Mean over the steps of min(1, e^{H₀ − H}).
    pub acceptance: f64,
    pub diverged: bool,
    pub cut_short: bool,
}

/// What a chain moves by.
pub(super) struct Mover<'a, 'd> {
    pub density: &'a mut Density<'d>,
    pub metric: &'a Metric,
    pub step_size: f64,
}

/// An end of a trajectory: a point with its momentum and velocity.
#[derive(Clone, Debug)]
struct End {
    state: State,
    momentum: Vec<f64>,
    velocity: Vec<f64>,
}

/// A stretch of trajectory in the order of time.
struct Span {
    first: End,
    last: End,
    /// Sum of the momenta.
    total: Vec<f64>,
    /// log Σ e^{H₀ − H} of its points.
    log_weight: f64,
    chosen: State,
}

/// What all stretches of a draw have in common.
struct Tally {
    start_energy: f64,
    acceptance: f64,
    n_steps: usize,
    diverged: bool,
}

impl Mover<'_, '_> {
    /// The next draw after `from`.
    pub(super) fn draw(&mut self, from: &State, max_depth: usize, random: &mut Random) -> (State, Quality) {
        let momentum = self.metric.momentum(random);
        let end = self.end(from.clone(), momentum);
        let mut tally = Tally { start_energy: end.energy(), acceptance: 0.0, n_steps: 0, diverged: false };
        let mut span = Span::of(end, 0.0);
        let mut depth = 0;
        while depth < max_depth {
            let forwards = random.random::<bool>();
            let from = if forwards { span.last.clone() } else { span.first.clone() };
            let Some(half) = self.extend(from, depth, forwards, &mut tally, random) else { break };
            if random.random::<f64>().ln() < half.log_weight - span.log_weight {
                span.chosen = half.chosen.clone();
            }
            depth += 1;
            let turns;
            (span, turns) = join(span, half, forwards);
            if turns {
                break;
            }
        }
        let quality = Quality {
            acceptance: tally.acceptance / tally.n_steps.max(1) as f64,
            diverged: tally.diverged,
            cut_short: depth == max_depth,
        };
        (span.chosen, quality)
    }

    /// 2^depth more steps; `None` where they turn or diverge.
    fn extend(
        &mut self,
        from: End,
        depth: usize,
        forwards: bool,
        tally: &mut Tally,
        random: &mut Random,
    ) -> Option<Span> {
        if depth == 0 {
            return self.step(&from, forwards, tally);
        }
        let near = self.extend(from, depth - 1, forwards, tally, random)?;
        let from = if forwards { near.last.clone() } else { near.first.clone() };
        let far = self.extend(from, depth - 1, forwards, tally, random)?;
        let total = log_add(near.log_weight, far.log_weight);
        let takes_far = random.random::<f64>().ln() < far.log_weight - total;
        let chosen = if takes_far { far.chosen.clone() } else { near.chosen.clone() };
        let (mut span, turns) = join(near, far, forwards);
        span.chosen = chosen;
        (!turns).then_some(span)
    }

    /// One leapfrog step; `None` where it diverges.
    fn step(&mut self, from: &End, forwards: bool, tally: &mut Tally) -> Option<Span> {
        let size = if forwards { self.step_size } else { -self.step_size };
        tally.n_steps += 1;
        let Some(end) = self.leapfrog(from, size) else {
            tally.diverged = true;
            return None;
        };
        let log_weight = tally.start_energy - end.energy();
        if log_weight.is_nan() || log_weight <= -DIVERGENCE {
            tally.diverged = true;
            return None;
        }
        tally.acceptance += log_weight.min(0.0).exp();
        Some(Span::of(end, log_weight))
    }

    fn leapfrog(&mut self, from: &End, size: f64) -> Option<End> {
        let half =
            |p: &[f64], g: &[f64]| -> Vec<f64> { p.iter().zip(g).map(|(p, g)| p + 0.5 * size * g).collect() };
        let momentum = half(&from.momentum, &from.state.gradient);
        let velocity = self.metric.velocity(&momentum);
        let position: Vec<f64> =
            from.state.position.iter().zip(&velocity).map(|(u, v)| u + size * v).collect();
        let mut gradient = vec![0.0; position.len()];
        let log_density = self.density.at(&position, &mut gradient)?;
        let momentum = half(&momentum, &gradient);
        Some(self.end(State { position, gradient, log_density }, momentum))
    }

    fn end(&self, state: State, momentum: Vec<f64>) -> End {
        let velocity = self.metric.velocity(&momentum);
        End { state, momentum, velocity }
    }

    /// The acceptance of a single step with fresh momentum, by which a first step size is found.
    pub(super) fn trial(&mut self, from: &State, random: &mut Random) -> f64 {
        let momentum = self.metric.momentum(random);
        let end = self.end(from.clone(), momentum);
        let after = self.leapfrog(&end, self.step_size);
        after.map_or(0.0, |after| (end.energy() - after.energy()).exp())
    }
}

impl End {
    fn energy(&self) -> f64 {
        0.5 * dot(&self.momentum, &self.velocity) - self.state.log_density
    }
}

impl Span {
    fn of(end: End, log_weight: f64) -> Self {
        let (total, chosen) = (end.momentum.clone(), end.state.clone());
        Self { first: end.clone(), last: end, total, log_weight, chosen }
    }
}

/// Both stretches as one, with the point of the first chosen, and whether it, or a span across the seam, turns back.
fn join(old: Span, new: Span, forwards: bool) -> (Span, bool) {
    let (log_weight, chosen) = (log_add(old.log_weight, new.log_weight), old.chosen.clone());
    let (early, late) = if forwards { (old, new) } else { (new, old) };
    let total = sum(&early.total, &late.total);
    let turns = turns(&early.first, &late.last, &total)
        || turns(&early.first, &late.first, &sum(&early.total, &late.first.momentum))
        || turns(&early.last, &late.last, &sum(&late.total, &early.last.momentum));
    (Span { first: early.first, last: late.last, total, log_weight, chosen }, turns)
}

fn turns(first: &End, last: &End, total: &[f64]) -> bool {
    !(dot(&first.velocity, total) > 0.0 && dot(&last.velocity, total) > 0.0)
}

fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    high + (low - high).exp().ln_1p()
}
