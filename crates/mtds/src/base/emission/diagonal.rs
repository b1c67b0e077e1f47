//! Independent outputs: likelihoods of many sequences from one rollout by dense products.
//!
//! ```text
//! log p(Y_i | ŷ) = −½ Σ_d v_d Σ_t (y_itd − ŷ_td)² − Σ_d n_id (log s_d + ½ ln 2π)        v_d = s_d^−2
//!                = Σ_td y_itd (v_d ŷ_td) − ½ Σ_td∈obs v_d ŷ_td² − ½ Σ_d v_d Σ_t y_itd² − …
//! gradient       ŷ̄_td = v_d (Σ_i w_i y_itd − ŷ_td Σ_{i: td∈obs} w_i)
//! ```
//! The products over sequences are dense ones (`kernel::dense`), and the only ones that grow with N.

use super::{Group, HALF_LN_2PI, Pull};
use crate::kernel::{Lanes, Outlined, Real, Scalar, dense};

/// v_d = e^(−2 raw_d).
#[inline(always)]
fn precisions<S: Scalar>(raw: &[S]) -> Vec<S> {
    let mut v = raw.to_vec();
    for v in &mut v {
        *v = (S::constant(-2.0) * *v).exp();
    }
    v
}

/// Σ a b over the observed places of a pattern.
#[inline(always)]
fn masked_dot<S: Scalar>(pattern: &[bool], a: &[S], b: &[S]) -> S {
    let mut sum = S::zero();
    for at in 0..pattern.len() {
        if pattern[at] {
            sum = a[at].mul_add(b[at], sum);
        }
    }
    sum
}

/// [`Noise::scores`](super::Noise::scores), outlined.
pub(super) enum Scores {}

impl<'a, S: Lanes> Outlined<(&'a [S], &'a [S], &'a Group<S::Real>, &'a mut [S])> for Scores {
    type Output = ();

    #[inline(always)]
    fn run((raw, outputs, group, scores): (&'a [S], &'a [S], &'a Group<S::Real>, &'a mut [S])) {
        let p = group.d_obs;
        let v = precisions(raw);
        let mut scaled = outputs.to_vec();
        for (at, y) in scaled.iter_mut().enumerate() {
            *y = *y * v[at % p];
        }
        dense::pull_back(&group.values, &scaled, scores);
        let mut own = vec![S::zero(); group.patterns.len()];
        for (own, pattern) in own.iter_mut().zip(&group.patterns) {
            *own = masked_dot(pattern, outputs, &scaled);
        }
        for (i, score) in scores.iter_mut().enumerate() {
            *score = S::constant(-0.5).mul_add(own[group.pattern_of[i]], *score);
            for d in 0..p {
                let (square, count) = (group.squares[i * p + d], group.counts[i * p + d]);
                *score = (S::constant(-0.5) * S::splat(square)).mul_add(v[d], *score);
                *score = (-S::splat(count)).mul_add(raw[d] + S::constant(HALF_LN_2PI), *score);
            }
        }
    }
}

/// With respect to the outputs, and to the raw noise.
type Gradients<'a, S> = (&'a mut [S], &'a mut [S]);

/// What the weighted sequences add up to, per lane.
struct Weighted<S> {
    /// Σ_i w_i y_i, n_time · p.
    target: Vec<S>,
    /// Σ of w_i over the members of each pattern.
    mass: Vec<S>,
    /// Σ_i w_i Σ_t y², per output.
    squares: Vec<S>,
    /// Σ_i w_i n_i, per output.
    counts: Vec<S>,
}

impl<S: Lanes> Weighted<S> {
    #[inline(always)]
    fn zero(group: &Group<S::Real>) -> Self {
        Self {
            target: vec![S::zero(); group.n_time * group.d_obs],
            mass: vec![S::zero(); group.patterns.len()],
            squares: vec![S::zero(); group.d_obs],
            counts: vec![S::zero(); group.d_obs],
        }
    }

    #[inline(always)]
    fn dense(group: &Group<S::Real>, weights: &[S]) -> Self {
        let mut sum = Self::zero(group);
        let no_bias = vec![S::Real::default(); sum.target.len()];
        dense::affine(&group.values, &no_bias, weights, &mut sum.target);
        let p = group.d_obs;
        for (i, &w) in weights.iter().enumerate() {
            sum.mass[group.pattern_of[i]] += w;
            for d in 0..p {
                sum.squares[d] = S::splat(group.squares[i * p + d]).mul_add(w, sum.squares[d]);
                sum.counts[d] = S::splat(group.counts[i * p + d]).mul_add(w, sum.counts[d]);
            }
        }
        sum
    }

    fn sparse(group: &Group<S::Real>, lanes: &[&[(usize, f64)]]) -> Self {
        let (mut sum, p) = (Self::zero(group), group.d_obs);
        let len = sum.target.len();
        for (lane, pairs) in lanes.iter().enumerate() {
            for &(i, w) in *pairs {
                let w = S::Real::from_f64(w);
                let add = |to: &mut S, x: S::Real| to.set_lane(lane, to.lane(lane) + w * x);
                for (to, &y) in sum.target.iter_mut().zip(&group.by_member[i * len..(i + 1) * len]) {
                    add(to, y);
                }
                add(&mut sum.mass[group.pattern_of[i]], S::Real::from_f64(1.0));
                for d in 0..p {
                    add(&mut sum.squares[d], group.squares[i * p + d]);
                    add(&mut sum.counts[d], group.counts[i * p + d]);
                }
            }
        }
        sum
    }
}

/// [`Noise::pull`](super::Noise::pull), outlined.
pub(super) enum WeightedPull {}

impl<'a, S: Lanes> Outlined<(&'a [S], &'a [S], &'a Group<S::Real>, Pull<'a, S>, Gradients<'a, S>)>
    for WeightedPull
{
    type Output = S;

    #[inline(always)]
    fn run(
        (raw, outputs, group, pull, (d_outputs, d_raw)): (
            &'a [S],
            &'a [S],
            &'a Group<S::Real>,
            Pull<'a, S>,
            Gradients<'a, S>,
        ),
    ) -> S {
        let weighted = match pull {
            Pull::Dense(weights) => Weighted::dense(group, weights),
            Pull::Sparse(lanes) => Weighted::sparse(group, lanes),
        };
        let (p, v) = (group.d_obs, precisions(raw));
        // Σ_i w_i Σ_t (y − ŷ)², per output, gathered on the way.
        let mut residual = weighted.squares;
        for (at, &y) in outputs.iter().enumerate() {
            let d = at % p;
            let mut mass = S::zero();
            for (pattern, &of_pattern) in group.patterns.iter().zip(&weighted.mass) {
                if pattern[at] {
                    mass += of_pattern;
                }
            }
            let error = mass.mul_add(y, -weighted.target[at]);
            d_outputs[at] = -v[d] * error;
            residual[d] = y.mul_add(error - weighted.target[at], residual[d]);
        }
        let mut total = S::zero();
        for d in 0..p {
            let scaled = v[d] * residual[d];
            d_raw[d] += scaled - weighted.counts[d];
            let log_norm = weighted.counts[d] * (raw[d] + S::constant(HALF_LN_2PI));
            total += S::constant(-0.5).mul_add(scaled, -log_norm);
        }
        total
    }
}

/// Steps added in the lanes' own precision before they go to f64.
const RUN: usize = 8;

/// [`Noise::log_density`](super::Noise::log_density), outlined.
pub(super) enum LogDensity {}

impl<'a, S: Lanes> Outlined<(&'a [S], &'a [S], &'a Group<S::Real>, &'a mut [f64])> for LogDensity {
    type Output = ();

    #[inline(always)]
    fn run((raw, outputs, group, out): (&'a [S], &'a [S], &'a Group<S::Real>, &'a mut [f64])) {
        let (p, n) = (group.d_obs, group.n_members());
        let pattern = &group.patterns[group.pattern_of[0]];
        out.fill(0.0);
        for d in 0..p {
            let inverse_std = (-raw[d]).exp();
            let count = group.counts[d].to_f64();
            let mut sum = vec![0.0; S::COUNT];
            let mut t = 0;
            while t < group.n_time {
                let end = (t + RUN).min(group.n_time);
                let mut run = S::zero();
                for t in t..end {
                    let at = t * p + d;
                    if !pattern[at] {
                        continue;
                    }
                    let error = (S::splat(group.values[at * n]) - outputs[at]) * inverse_std;
                    run = error.mul_add(error, run);
                }
                for (l, sum) in sum.iter_mut().enumerate() {
                    *sum += run.lane(l).to_f64();
                }
                t = end;
            }
            for (l, out) in out.iter_mut().enumerate() {
                *out -= 0.5 * sum[l] + count * (raw[d].lane(l).to_f64() + HALF_LN_2PI);
            }
        }
    }
}
