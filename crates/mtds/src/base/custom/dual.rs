//! Dual numbers: a value and its slopes along several directions, carried through any arithmetic.
//!
//! ```text
//! a = v + Σ_k s_k ε_k,   ε_j ε_k = 0           f(a) = f(v) + Σ_k f'(v) s_k ε_k
//! ```
//! Code over [`Scalar`] that is run on duals gives its own derivative, to the last digits. Where `max`, `min` and `abs` have
//! a corner, the slope is the mean of both sides.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use crate::kernel::{Outlined, Scalar};

/// A number with slopes along `K` directions.
#[derive(Clone, Copy, Debug)]
pub struct Dual<S, const K: usize> {
    /// The number.
    pub value: S,
    /// Its slopes.
    pub slopes: [S; K],
}

impl<S: Scalar, const K: usize> Dual<S, K> {
    /// A number that depends on no direction.
    #[inline(always)]
    pub fn flat(value: S) -> Self {
        Self { value, slopes: [S::zero(); K] }
    }

    /// f(self), given f and its derivative at the value.
    #[inline(always)]
    fn through(self, value: S, derivative: S) -> Self {
        let mut slopes = self.slopes;
        for slope in &mut slopes {
            *slope = *slope * derivative;
        }
        Self { value, slopes }
    }

    /// f(self, other), given f and its two derivatives at the values.
    #[inline(always)]
    fn through_both(self, other: Self, value: S, (first, second): (S, S)) -> Self {
        let mut slopes = self.slopes;
        for k in 0..K {
            slopes[k] = slopes[k].mul_add(first, other.slopes[k] * second);
        }
        Self { value, slopes }
    }
}

/// −1, 0 or 1 by the sign of x.
#[inline(always)]
fn sign<S: Scalar>(x: S) -> S {
    (x * S::constant(1e30)).max(-S::one()).min(S::one())
}

impl<S: Scalar, const K: usize> Add for Dual<S, K> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let mut slopes = self.slopes;
        for k in 0..K {
            slopes[k] += other.slopes[k];
        }
        Self { value: self.value + other.value, slopes }
    }
}

impl<S: Scalar, const K: usize> Sub for Dual<S, K> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let mut slopes = self.slopes;
        for k in 0..K {
            slopes[k] -= other.slopes[k];
        }
        Self { value: self.value - other.value, slopes }
    }
}

impl<S: Scalar, const K: usize> Mul for Dual<S, K> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.through_both(other, self.value * other.value, (other.value, self.value))
    }
}

impl<S: Scalar, const K: usize> Div for Dual<S, K> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        let inverse = S::one() / other.value;
        self.through_both(other, value, (inverse, -(value * inverse)))
    }
}

impl<S: Scalar, const K: usize> Neg for Dual<S, K> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.through(-self.value, -S::one())
    }
}

impl<S: Scalar, const K: usize> AddAssign for Dual<S, K> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<S: Scalar, const K: usize> SubAssign for Dual<S, K> {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl<S: Scalar, const K: usize> Scalar for Dual<S, K> {
    type Real = S::Real;
    const BY_SIZE: bool = false;

    #[inline(always)]
    fn outline<Work: Outlined<W>, W>(with: W) -> Work::Output {
        S::outline::<Work, W>(with)
    }
    #[inline(always)]
    fn splat(x: S::Real) -> Self {
        Self::flat(S::splat(x))
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        let mut slopes = c.slopes;
        for k in 0..K {
            slopes[k] = self.slopes[k].mul_add(b.value, b.slopes[k].mul_add(self.value, slopes[k]));
        }
        Self { value: self.value.mul_add(b.value, c.value), slopes }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        let half = S::constant(0.5);
        let first = half.mul_add(sign(self.value - other.value), half);
        self.through_both(other, self.value.max(other.value), (first, S::one() - first))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        let half = S::constant(0.5);
        let first = half.mul_add(sign(other.value - self.value), half);
        self.through_both(other, self.value.min(other.value), (first, S::one() - first))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.through(self.value.abs(), sign(self.value))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.through(root, S::constant(0.5) / root)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        let e = self.value.exp();
        self.through(e, e)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        self.through(self.value.ln(), S::one() / self.value)
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (sin, cos) = self.value.sin_cos();
        (self.through(sin, cos), self.through(cos, -sin))
    }
    #[inline(always)]
    fn sigmoid(self) -> Self {
        let g = self.value.sigmoid();
        self.through(g, (-g).mul_add(g, g))
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        let t = self.value.tanh();
        self.through(t, (-t).mul_add(t, S::one()))
    }
    #[inline(always)]
    fn softplus(self) -> Self {
        self.through(self.value.softplus(), self.value.sigmoid())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type D = Dual<f64, 2>;

    /// Every operation of [`Scalar`] on two numbers.
    fn operations<S: Scalar>(a: S, b: S) -> Vec<S> {
        let (sin, cos) = (a * b).sin_cos();
        let mut sum = a;
        sum += b * b;
        sum -= a * a;
        vec![
            a + b,
            a - b,
            a * b,
            a / b,
            -a,
            sum,
            a.mul_add(b, a),
            a.max(b),
            a.min(b),
            (a - b).abs(),
            b.abs().sqrt(),
            a.exp(),
            b.abs().ln(),
            sin,
            cos,
            a.sigmoid(),
            a.tanh(),
            a.softplus(),
            S::constant(3.0) * a,
        ]
    }

    #[test]
    fn slopes_match_central_differences() {
        let h = 1e-6;
        for (a, b) in [(0.3, 0.8), (-1.2, 0.4), (2.0, -0.7), (-0.1, -1.5)] {
            let duals = operations(D { value: a, slopes: [1.0, 0.0] }, D { value: b, slopes: [0.0, 1.0] });
            let at = |da: f64, db: f64| operations(a + da, b + db);
            let (up, down, right, left) = (at(h, 0.0), at(-h, 0.0), at(0.0, h), at(0.0, -h));
            for (i, (dual, plain)) in duals.iter().zip(at(0.0, 0.0)).enumerate() {
                assert!((dual.value - plain).abs() < 1e-14, "operation {i}");
                let numeric = [(up[i] - down[i]) / (2.0 * h), (right[i] - left[i]) / (2.0 * h)];
                for (got, want) in dual.slopes.iter().zip(numeric) {
                    assert!((got - want).abs() < 1e-8 * (1.0 + want.abs()), "operation {i}: {got} {want}");
                }
            }
        }
    }

    #[test]
    fn corners_have_the_mean_of_both_slopes() {
        let (a, b) = (D { value: 1.0, slopes: [1.0, 0.0] }, D { value: 1.0, slopes: [0.0, 1.0] });
        assert_eq!((a.max(b).slopes, a.min(b).slopes, (a - b).abs().slopes), ([0.5; 2], [0.5; 2], [0.0; 2]));
    }
}
