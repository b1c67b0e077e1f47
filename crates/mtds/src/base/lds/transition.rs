//! A = Σ Q from raw values, and back.
//!
//! ```text
//! S_ij = −S_ji = bound(s_k)           bound(s) = s for |s| ≤ 8, smoothly to ±16 beyond
//! Q = 2 (I + S)⁻¹ − I                 = (I − S)(I + S)⁻¹
//! s̄_k = (G_ij − G_ji) bound'(s_k),    G = −½ (I + Q)ᵀ Q̄ (I + Q)ᵀ      from dQ = −½ (I + Q) dS (I + Q)
//! ```
//! I + S has a positive definite symmetric part, so elimination needs no pivoting. The bound keeps its
//! condition number small, so that Q stays orthogonal to the last digits for codes far out in the prior's
//! tail; at 16 the rotation angle, 2 arctan s, is within 8° of its supremum.

use crate::algebra::invert_in_place;
use crate::kernel::Scalar;

const LINEAR_UP_TO: f64 = 8.0;

/// bound(s) and its derivative.
#[inline(always)]
fn bound<S: Scalar>(s: S) -> (S, S) {
    let limit = S::constant(LINEAR_UP_TO);
    let excess = (s.abs() - limit).max(S::zero());
    let t = (excess / limit).tanh();
    // Within the limit t = 0, so the magnitude is |s| itself; multiplying by s/|s| restores the sign.
    let magnitude = s.abs().min(limit) + limit * t;
    let sign = s / s.abs().max(S::constant(1e-30));
    (sign * magnitude, (-t).mul_add(t, S::one()))
}

/// Writes A and Q (both n × n) from υ (n) and the raw upper triangle of S.
#[inline(always)]
pub(in crate::base) fn forward<S: Scalar>(decay: &[S], rotation: &[S], a: &mut [S], q: &mut [S]) {
    let n = decay.len();
    q.fill(S::zero());
    let mut k = 0;
    for i in 0..n {
        q[i * n + i] = S::one();
        for j in i + 1..n {
            let (s, _) = bound(rotation[k]);
            q[i * n + j] = s;
            q[j * n + i] = -s;
            k += 1;
        }
    }
    invert_in_place(q, n, |_| ());
    for i in 0..n {
        let sigma = decay[i].tanh();
        for j in 0..n {
            let identity = if i == j { -S::one() } else { S::zero() };
            q[i * n + j] = S::constant(2.0).mul_add(q[i * n + j], identity);
            a[i * n + j] = sigma * q[i * n + j];
        }
    }
}

/// Adds the gradient with respect to υ and the raw rotation, given that with respect to A.
#[inline(always)]
pub(in crate::base) fn adjoint<S: Scalar>(
    (decay, rotation): (&[S], &[S]),
    q: &[S],
    d_a: &[S],
    scratch: &mut [S],
    d_decay: &mut [S],
    d_rotation: &mut [S],
) {
    let n = decay.len();
    let (d_q, product) = scratch.split_at_mut(n * n);
    for i in 0..n {
        let sigma = decay[i].tanh();
        let mut d_sigma = S::zero();
        for j in 0..n {
            d_sigma = d_a[i * n + j].mul_add(q[i * n + j], d_sigma);
            d_q[i * n + j] = sigma * d_a[i * n + j];
        }
        d_decay[i] += d_sigma * (-sigma).mul_add(sigma, S::one());
    }
    // product = Q̄ (I + Q)ᵀ, then G = −½ (I + Q)ᵀ product.
    for i in 0..n {
        for j in 0..n {
            let mut dot = d_q[i * n + j];
            for k in 0..n {
                dot = d_q[i * n + k].mul_add(q[j * n + k], dot);
            }
            product[i * n + j] = dot;
        }
    }
    for i in 0..n {
        for j in 0..n {
            let mut dot = product[i * n + j];
            for k in 0..n {
                dot = q[k * n + i].mul_add(product[k * n + j], dot);
            }
            d_q[i * n + j] = S::constant(-0.5) * dot;
        }
    }
    let mut k = 0;
    for i in 0..n {
        for j in i + 1..n {
            let (_, slope) = bound(rotation[k]);
            d_rotation[k] += (d_q[i * n + j] - d_q[j * n + i]) * slope;
            k += 1;
        }
    }
}
