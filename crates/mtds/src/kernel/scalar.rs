//! What arithmetic a base model may use: plain numbers and packs of numbers behind one trait.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use super::dispatch::{Level, Outlined, outline_baseline, outline_fused};

/// A number, or several numbers that undergo the same arithmetic.
///
/// Implementations must be branch-free in the value: a pack cannot take two paths. Code generic over
/// `Scalar` that is meant to be fast must be `#[inline(always)]`, or called through [`Scalar::outline`], or it loses the
/// instruction set that `dispatch` selected (it stays correct).
pub trait Scalar:
    Copy
    + Debug
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    /// The number type that parameters and data have.
    type Real: Real;
    /// Whether loops are worth a copy for each small size.
    const BY_SIZE: bool;

    /// Does the work in a function that is compiled once for this scalar, with the instructions it was made for, rather
    /// than again in each of its callers.
    ///
    /// # Panics
    /// For a pack of instructions that this machine lacks; `dispatch` makes none.
    fn outline<K: Outlined<W>, W>(with: W) -> K::Output;

    /// The same number in every lane.
    fn splat(x: Self::Real) -> Self;
    /// A constant.
    #[inline(always)]
    fn constant(x: f64) -> Self {
        Self::splat(Self::Real::from_f64(x))
    }
    /// Zero.
    #[inline(always)]
    fn zero() -> Self {
        Self::constant(0.0)
    }
    /// One.
    #[inline(always)]
    fn one() -> Self {
        Self::constant(1.0)
    }
    /// `self · b + c`, in one rounding where the machine has it.
    #[must_use]
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// The larger of two.
    #[must_use]
    fn max(self, other: Self) -> Self;
    /// The smaller of two.
    #[must_use]
    fn min(self, other: Self) -> Self;
    /// Absolute value.
    #[must_use]
    fn abs(self) -> Self;
    /// Square root.
    #[must_use]
    fn sqrt(self) -> Self;
    /// Exponential; saturates instead of overflowing to infinity.
    #[must_use]
    fn exp(self) -> Self;
    /// Natural logarithm.
    #[must_use]
    fn ln(self) -> Self;
    /// Sine and cosine.
    #[must_use]
    fn sin_cos(self) -> (Self, Self);

    /// Logistic sigmoid, 1 / (1 + e^−x).
    #[inline(always)]
    #[must_use]
    fn sigmoid(self) -> Self {
        Self::one() / (Self::one() + (-self).exp())
    }
    /// Hyperbolic tangent, by way of the sigmoid.
    #[inline(always)]
    #[must_use]
    fn tanh(self) -> Self {
        let two = Self::constant(2.0);
        two.mul_add((two * self).sigmoid(), -Self::one())
    }
    /// ln(1 + e^x), without overflow.
    #[inline(always)]
    #[must_use]
    fn softplus(self) -> Self {
        self.max(Self::zero()) + (Self::one() + (-self.abs()).exp()).ln()
    }
}

/// A scalar whose lanes can be read and written one by one.
pub trait Lanes: Scalar {
    /// How many numbers it holds.
    const COUNT: usize;
    /// The number in lane `i`.
    fn lane(&self, i: usize) -> Self::Real;
    /// Overwrites lane `i`.
    fn set_lane(&mut self, i: usize, x: Self::Real);
    /// Sum over the lanes.
    fn sum(self) -> Self::Real;
    /// One lane per call of `f`.
    #[inline(always)]
    fn from_fn(mut f: impl FnMut(usize) -> Self::Real) -> Self {
        let mut out = Self::zero();
        for i in 0..Self::COUNT {
            out.set_lane(i, f(i));
        }
        out
    }
}

/// f32 and f64.
pub trait Real: Lanes<Real = Self> + PartialOrd + Default {
    /// Rounds from f64.
    fn from_f64(x: f64) -> Self;
    /// Widens to f64.
    fn to_f64(self) -> f64;
    /// Whether the number is neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// `self · b + c` in one rounding; slow where the machine lacks the instruction.
    #[must_use]
    fn fused_mul_add(self, b: Self, c: Self) -> Self;
    /// Branch-free exponential that vectorises: about 1 ulp in f32 and 2 ulp in f64 between the
    /// saturation limits.
    #[must_use]
    fn exp_branch_free(self, mul_add: impl Fn(Self, Self, Self) -> Self) -> Self;
    /// Branch-free hyperbolic tangent, never beyond ±1; NaN stays.
    #[must_use]
    fn tanh_branch_free(self, mul_add: impl Fn(Self, Self, Self) -> Self) -> Self;
    /// Branch-free logistic sigmoid, accurate to about 1e-7 (f32) and 1e-16 (f64) absolutely.
    #[must_use]
    fn sigmoid_branch_free(self, mul_add: impl Fn(Self, Self, Self) -> Self) -> Self;
    /// Branch-free sine and cosine, accurate to a few ulp for |x| ≤ [`Real::SIN_COS_LIMIT`].
    #[must_use]
    fn sin_cos_branch_free(self, mul_add: impl Fn(Self, Self, Self) -> Self) -> (Self, Self);
    /// Beyond this the argument reduction of [`Real::sin_cos_branch_free`] loses digits.
    const SIN_COS_LIMIT: Self;
}

macro_rules! real {
    ($r:ident, $limit:expr, $exp:path, $tanh:path, $sigmoid:path, $sin_cos:path) => {
        impl Scalar for $r {
            type Real = $r;
            const BY_SIZE: bool = true;
            #[inline(always)]
            fn outline<K: Outlined<W>, W>(with: W) -> K::Output {
                match Level::detect() {
                    Level::Baseline => outline_baseline::<K, W>(with),
                    Level::Fused | Level::Wide => outline_fused::<K, W>(with),
                }
            }
            #[inline(always)]
            fn splat(x: $r) -> $r {
                x
            }
            #[inline(always)]
            fn mul_add(self, b: $r, c: $r) -> $r {
                self * b + c // one rounding more than a fused one, but never a library call
            }
            #[inline(always)]
            fn max(self, other: $r) -> $r {
                $r::max(self, other)
            }
            #[inline(always)]
            fn min(self, other: $r) -> $r {
                $r::min(self, other)
            }
            #[inline(always)]
            fn abs(self) -> $r {
                $r::abs(self)
            }
            #[inline(always)]
            fn sqrt(self) -> $r {
                $r::sqrt(self)
            }
            #[inline(always)]
            fn exp(self) -> $r {
                $r::exp(self).min($r::MAX)
            }
            #[inline(always)]
            fn ln(self) -> $r {
                $r::ln(self)
            }
            #[inline(always)]
            fn sin_cos(self) -> ($r, $r) {
                $r::sin_cos(self)
            }
        }

        impl Lanes for $r {
            const COUNT: usize = 1;
            #[inline(always)]
            fn lane(&self, _: usize) -> $r {
                *self
            }
            #[inline(always)]
            fn set_lane(&mut self, _: usize, x: $r) {
                *self = x;
            }
            #[inline(always)]
            fn sum(self) -> $r {
                self
            }
        }

        impl Real for $r {
            #[inline(always)]
            fn from_f64(x: f64) -> $r {
                x as $r
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $r::is_finite(self)
            }
            #[inline(always)]
            fn fused_mul_add(self, b: $r, c: $r) -> $r {
                $r::mul_add(self, b, c)
            }
            #[inline(always)]
            fn exp_branch_free(self, mul_add: impl Fn($r, $r, $r) -> $r) -> $r {
                $exp(self, mul_add)
            }
            #[inline(always)]
            fn tanh_branch_free(self, mul_add: impl Fn($r, $r, $r) -> $r) -> $r {
                $tanh(self, mul_add)
            }
            #[inline(always)]
            fn sigmoid_branch_free(self, mul_add: impl Fn($r, $r, $r) -> $r) -> $r {
                $sigmoid(self, mul_add)
            }
            #[inline(always)]
            fn sin_cos_branch_free(self, mul_add: impl Fn($r, $r, $r) -> $r) -> ($r, $r) {
                $sin_cos(self, mul_add)
            }
            const SIN_COS_LIMIT: $r = $limit;
        }
    };
}

use super::elementary as e;
real!(f32, 8_192.0, e::exp_f32, e::tanh_f32, e::sigmoid_f32, e::sin_cos_f32);
real!(f64, 1.0e6, e::exp_f64, e::tanh_f64, e::sigmoid_f64, e::sin_cos_f64);
