//! Correlated outputs: S = L Lᵀ, with the marginal of the observed outputs at each step.
//!
//! ```text
//! log p(y_o | ŷ) = −½ eᵀ Λ e − ½ log|S_oo| − ½ |o| ln 2π        e = y_o − ŷ_o,  Λ = S_oo⁻¹
//! ŷ̄_o = w Λ e        S̄_oo = ½ w (Λ e eᵀ Λ − Λ)        L̄ = 2 S̄ L
//! ```
//! Λ is computed once per distinct set o of observed outputs and pack, not once per step.

use super::{Group, HALF_LN_2PI, Pull};
use crate::algebra::invert_in_place;
use crate::kernel::{Lanes, Real, Scalar};

/// The Cholesky factor and, for each distinct set of outputs observed together, the precision.
struct Precisions<S> {
    factor: Vec<S>,
    sets: Vec<Set<S>>,
    /// (member · n_time + t) ↦ place in `sets`; `None` where nothing was observed.
    set_of: Vec<Option<usize>>,
}

struct Set<S> {
    observed: Vec<usize>,
    /// |o| × |o|.
    precision: Vec<S>,
    /// ½ log|S_oo| + ½ |o| ln 2π.
    log_norm: S,
}

impl<S: Lanes> Precisions<S> {
    fn new(raw: &[S], group: &Group<S::Real>) -> Self {
        let p = group.d_obs;
        let factor = lower_factor(raw, p);
        let mut this = Self { factor, sets: vec![], set_of: vec![] };
        for i in 0..group.n_members() {
            let pattern = &group.patterns[group.pattern_of[i]];
            for row in pattern.chunks_exact(p) {
                let observed: Vec<usize> = (0..p).filter(|&d| row[d]).collect();
                let place = (!observed.is_empty()).then(|| this.place(observed, p));
                this.set_of.push(place);
            }
        }
        this
    }

    fn place(&mut self, observed: Vec<usize>, p: usize) -> usize {
        if let Some(known) = self.sets.iter().position(|s| s.observed == observed) {
            return known;
        }
        let n = observed.len();
        let mut precision = vec![S::zero(); n * n];
        for (a, &i) in observed.iter().enumerate() {
            for (b, &j) in observed.iter().enumerate() {
                let product = |s: S, k: usize| self.factor[i * p + k].mul_add(self.factor[j * p + k], s);
                precision[a * n + b] = (0..=i.min(j)).fold(S::zero(), product);
            }
        }
        let mut log_norm = S::constant(n as f64 * HALF_LN_2PI);
        invert_in_place(&mut precision, n, |pivot| log_norm += S::constant(0.5) * pivot.ln());
        self.sets.push(Set { observed, precision, log_norm });
        self.sets.len() - 1
    }
}

fn lower_factor<S: Scalar>(raw: &[S], p: usize) -> Vec<S> {
    let mut factor = vec![S::zero(); p * p];
    let mut strict = p;
    for i in 0..p {
        for j in 0..i {
            factor[i * p + j] = raw[strict];
            strict += 1;
        }
        factor[i * p + i] = raw[i].exp();
    }
    factor
}

impl<S: Lanes> Set<S> {
    /// e and Λ e of one step.
    fn residual(&self, y: impl Fn(usize) -> S::Real, outputs: &[S]) -> (Vec<S>, Vec<S>) {
        let n = self.observed.len();
        let e: Vec<S> = self.observed.iter().map(|&d| S::splat(y(d)) - outputs[d]).collect();
        let row = |a: usize| (0..n).fold(S::zero(), |s, b| self.precision[a * n + b].mul_add(e[b], s));
        let scaled = (0..n).map(row).collect();
        (e, scaled)
    }

    fn log_density(&self, e: &[S], scaled: &[S]) -> S {
        let square = e.iter().zip(scaled).fold(S::zero(), |s, (&a, &b)| a.mul_add(b, s));
        S::constant(-0.5).mul_add(square, -self.log_norm)
    }
}

/// Calls `f(member, t, set)` for every step with something observed.
fn each_step<S: Lanes>(
    precisions: &Precisions<S>,
    group: &Group<S::Real>,
    mut f: impl FnMut(usize, usize, usize),
) {
    for i in 0..group.n_members() {
        for t in 0..group.n_time {
            if let Some(set) = precisions.set_of[i * group.n_time + t] {
                f(i, t, set);
            }
        }
    }
}

pub(super) fn scores<S: Lanes>(raw: &[S], outputs: &[S], group: &Group<S::Real>, scores: &mut [S]) {
    let precisions = Precisions::new(raw, group);
    let (p, n) = (group.d_obs, group.n_members());
    scores.fill(S::zero());
    each_step(&precisions, group, |i, t, set| {
        let set = &precisions.sets[set];
        let (e, scaled) = set.residual(|d| group.values[(t * p + d) * n + i], &outputs[t * p..(t + 1) * p]);
        scores[i] += set.log_density(&e, &scaled);
    });
}

pub(super) fn log_density<S: Lanes>(raw: &[S], outputs: &[S], group: &Group<S::Real>, out: &mut [f64]) {
    let precisions = Precisions::new(raw, group);
    let (p, n) = (group.d_obs, group.n_members());
    out.fill(0.0);
    each_step(&precisions, group, |i, t, set| {
        if i > 0 {
            return;
        }
        let set = &precisions.sets[set];
        let (e, scaled) = set.residual(|d| group.values[(t * p + d) * n], &outputs[t * p..(t + 1) * p]);
        let density = set.log_density(&e, &scaled);
        for (l, out) in out.iter_mut().enumerate() {
            *out += density.lane(l).to_f64();
        }
    });
}

pub(super) fn pull<S: Lanes>(
    raw: &[S],
    outputs: &[S],
    group: &Group<S::Real>,
    pull: Pull<'_, S>,
    d_outputs: &mut [S],
    d_raw: &mut [S],
) -> S {
    let precisions = Precisions::new(raw, group);
    let (p, n) = (group.d_obs, group.n_members());
    let mut d_covariance = vec![S::zero(); p * p];
    let mut total = S::zero();
    d_outputs.fill(S::zero());
    let weights = lane_weights(group, pull);
    each_step(&precisions, group, |i, t, set| {
        let (set, w) = (&precisions.sets[set], weights[i]);
        let (e, scaled) = set.residual(|d| group.values[(t * p + d) * n + i], &outputs[t * p..(t + 1) * p]);
        total = w.mul_add(set.log_density(&e, &scaled), total);
        let half = S::constant(0.5) * w;
        for (a, &i) in set.observed.iter().enumerate() {
            d_outputs[t * p + i] = w.mul_add(scaled[a], d_outputs[t * p + i]);
            for (b, &j) in set.observed.iter().enumerate() {
                let outer = scaled[a].mul_add(scaled[b], -set.precision[a * set.observed.len() + b]);
                d_covariance[i * p + j] = half.mul_add(outer, d_covariance[i * p + j]);
            }
        }
    });
    factor_adjoint(&precisions.factor, &d_covariance, p, d_raw);
    total
}

fn lane_weights<S: Lanes>(group: &Group<S::Real>, pull: Pull<'_, S>) -> Vec<S> {
    match pull {
        Pull::Dense(weights) => weights.to_vec(),
        Pull::Sparse(lanes) => {
            let mut weights = vec![S::zero(); group.n_members()];
            for (lane, pairs) in lanes.iter().enumerate() {
                for &(i, w) in *pairs {
                    let sum = weights[i].lane(lane) + S::Real::from_f64(w);
                    weights[i].set_lane(lane, sum);
                }
            }
            weights
        }
    }
}

/// Adds the gradient with respect to the raw factor: L̄ = 2 S̄ L on the lower triangle.
fn factor_adjoint<S: Scalar>(factor: &[S], d_covariance: &[S], p: usize, d_raw: &mut [S]) {
    let mut strict = p;
    for i in 0..p {
        for j in 0..=i {
            let product = |s: S, k: usize| d_covariance[i * p + k].mul_add(factor[k * p + j], s);
            let d = S::constant(2.0) * (j..p).fold(S::zero(), product);
            if i == j {
                d_raw[i] += d * factor[i * p + i];
            } else {
                d_raw[strict] += d;
                strict += 1;
            }
        }
    }
}
