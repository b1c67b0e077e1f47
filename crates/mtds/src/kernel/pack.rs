//! Sixteen numbers that undergo the same arithmetic; the instruction set is part of the type.

use std::marker::PhantomData;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use super::dispatch::{Level, Outlined, outline_baseline, outline_fused, outline_wide};
use super::scalar::{Lanes, Real, Scalar};

/// Lanes of a [`Pack`]: two AVX2 registers of f32, which leaves room for a tile of six accumulators.
pub const LANES: usize = 16;

/// How `a · b + c` is rounded.
pub trait Arch: Copy + std::fmt::Debug + Default + Send + Sync + 'static {
    /// The instructions that it needs.
    const LEVEL: Level;
    /// Packs of f32 that registers hold beside two others: rows of a tile of products.
    const TILE: usize;
    /// `a · b + c`.
    fn mul_add<R: Real>(a: R, b: R, c: R) -> R;
    /// `a · b + c` in every lane.
    #[inline(always)]
    fn mul_add_lanes<R: Real>(a: [R; LANES], b: [R; LANES], c: [R; LANES]) -> [R; LANES] {
        let mut out = c;
        for i in 0..LANES {
            out[i] = Self::mul_add(a[i], b[i], c[i]);
        }
        out
    }
    /// Does the work in a function of its own with these instructions, and no other: what a machine lacks is not compiled
    /// for it either.
    ///
    /// # Panics
    /// If this machine lacks them.
    fn outline<K: Outlined<W>, W>(with: W) -> K::Output;
}

/// A machine with fused multiply-add.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fused;

/// A machine with fused multiply-add whose registers hold a whole pack.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wide;

/// A machine without: two roundings, no library call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Separate;

impl Arch for Fused {
    const LEVEL: Level = Level::Fused;
    const TILE: usize = 6;

    #[inline(always)]
    fn mul_add<R: Real>(a: R, b: R, c: R) -> R {
        a.fused_mul_add(b, c)
    }

    #[inline(always)]
    fn outline<K: Outlined<W>, W>(with: W) -> K::Output {
        outline_fused::<K, W>(with)
    }
}

impl Arch for Wide {
    const LEVEL: Level = Level::Wide;
    const TILE: usize = 16;

    #[inline(always)]
    fn mul_add<R: Real>(a: R, b: R, c: R) -> R {
        a.fused_mul_add(b, c)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn mul_add_lanes<R: Real>(a: [R; LANES], b: [R; LANES], c: [R; LANES]) -> [R; LANES] {
        // SAFETY: packs of this level are made by what `dispatch` runs alone, after the check that its instructions exist.
        unsafe { super::wide::mul_add(a, b, c) }
    }

    #[inline(always)]
    fn outline<K: Outlined<W>, W>(with: W) -> K::Output {
        outline_wide::<K, W>(with)
    }
}

impl Arch for Separate {
    const LEVEL: Level = Level::Baseline;
    const TILE: usize = 6;

    #[inline(always)]
    fn mul_add<R: Real>(a: R, b: R, c: R) -> R {
        a * b + c
    }

    #[inline(always)]
    fn outline<K: Outlined<W>, W>(with: W) -> K::Output {
        outline_baseline::<K, W>(with)
    }
}

/// Sixteen lanes of f32 or f64.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Pack<R, A> {
    lanes: [R; LANES],
    arch: PhantomData<A>,
}

impl<R: Real, A: Arch> Pack<R, A> {
    /// From an array.
    #[inline(always)]
    pub fn new(lanes: [R; LANES]) -> Self {
        Self { lanes, arch: PhantomData }
    }

    /// As an array.
    #[inline(always)]
    pub fn to_array(self) -> [R; LANES] {
        self.lanes
    }

    #[inline(always)]
    fn map(self, f: impl Fn(R) -> R) -> Self {
        let mut out = self;
        for i in 0..LANES {
            out.lanes[i] = f(self.lanes[i]);
        }
        out
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(R, R) -> R) -> Self {
        let mut out = self;
        for i in 0..LANES {
            out.lanes[i] = f(self.lanes[i], other.lanes[i]);
        }
        out
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident) => {
        impl<R: Real, A: Arch> $trait for Pack<R, A> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.zip(other, |x, y| x.$method(y))
            }
        }
    };
}
operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);
operator!(Div, div);

impl<R: Real, A: Arch> Neg for Pack<R, A> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|x| -x)
    }
}

impl<R: Real, A: Arch> AddAssign for Pack<R, A> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<R: Real, A: Arch> SubAssign for Pack<R, A> {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl<R: Real, A: Arch> Scalar for Pack<R, A> {
    type Real = R;
    // A machine without fused instructions gets one copy of every loop, which is enough for a fallback.
    const BY_SIZE: bool = matches!(A::LEVEL, Level::Fused | Level::Wide);

    #[inline(always)]
    fn outline<K: Outlined<W>, W>(with: W) -> K::Output {
        A::outline::<K, W>(with)
    }

    #[inline(always)]
    fn splat(x: R) -> Self {
        Self::new([x; LANES])
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self::new(A::mul_add_lanes(self.lanes, b.lanes, c.lanes))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, R::max)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, R::min)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.map(R::abs)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.map(R::sqrt)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        self.map(|x| x.exp_branch_free(A::mul_add))
    }
    #[inline(always)]
    fn ln(self) -> Self {
        self.map(R::ln)
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        self.map(|x| x.tanh_branch_free(A::mul_add))
    }
    #[inline(always)]
    fn sigmoid(self) -> Self {
        self.map(|x| x.sigmoid_branch_free(A::mul_add))
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let largest = self.lanes.iter().fold(R::default(), |m, &x| m.max(R::abs(x)));
        let (mut sin, mut cos) = (self, self);
        if largest <= R::SIN_COS_LIMIT {
            for i in 0..LANES {
                (sin.lanes[i], cos.lanes[i]) = self.lanes[i].sin_cos_branch_free(A::mul_add);
            }
        } else {
            for i in 0..LANES {
                (sin.lanes[i], cos.lanes[i]) = R::sin_cos(self.lanes[i]);
            }
        }
        (sin, cos)
    }
}

impl<R: Real, A: Arch> Lanes for Pack<R, A> {
    const COUNT: usize = LANES;
    #[inline(always)]
    fn lane(&self, i: usize) -> R {
        self.lanes[i]
    }
    #[inline(always)]
    fn set_lane(&mut self, i: usize, x: R) {
        self.lanes[i] = x;
    }
    #[inline(always)]
    fn sum(self) -> R {
        // Halving keeps the additions independent; the order is fixed, so the sum is reproducible.
        let mut half = self.lanes;
        let mut width = LANES / 2;
        while width > 0 {
            for i in 0..width {
                half[i] += half[i + width];
            }
            width /= 2;
        }
        half[0]
    }
}
