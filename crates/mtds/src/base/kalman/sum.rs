//! Sums over thousands of steps that keep their digits in f32.

use crate::kernel::Scalar;

/// Compensated summation (Kahan 1965), without branches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sum<S> {
    total: S,
    excess: S,
}

impl<S: Scalar> Sum<S> {
    #[inline(always)]
    pub(super) fn zero() -> Self {
        Self { total: S::zero(), excess: S::zero() }
    }

    #[inline(always)]
    pub(super) fn add(&mut self, x: S) {
        let wanted = x - self.excess;
        let total = self.total + wanted;
        self.excess = (total - self.total) - wanted;
        self.total = total;
    }

    #[inline(always)]
    pub(super) fn total(self) -> S {
        self.total
    }
}

/// Σ ln f of many f ≥ 1, with one logarithm for several of them: it is the one function here that does not vectorise.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogProduct<S> {
    halves: Sum<S>,
    product: S,
    n_factors: usize,
}

impl<S: Scalar> LogProduct<S> {
    /// Roots of f up to 10⁹ cannot overflow in f32 when multiplied by fours.
    const AT_ONCE: usize = 4;

    #[inline(always)]
    pub(super) fn one() -> Self {
        Self { halves: Sum::zero(), product: S::one(), n_factors: 0 }
    }

    /// Multiplies by f, given √f.
    #[inline(always)]
    pub(super) fn multiply(&mut self, root: S) {
        self.product = self.product * root;
        self.n_factors += 1;
        if self.n_factors.is_multiple_of(Self::AT_ONCE) {
            self.halves.add(self.product.ln());
            self.product = S::one();
        }
    }

    /// ½ Σ ln f.
    #[inline(always)]
    pub(super) fn half_log(mut self) -> S {
        self.halves.add(self.product.ln());
        self.halves.total()
    }
}

#[cfg(test)]
mod tests {
    use super::{LogProduct, Sum};

    #[test]
    fn logarithms_of_products_are_sums_of_logarithms() {
        for n in [0, 1, 4, 7, 1_000] {
            let mut product = LogProduct::one();
            let f = |i: usize| 1.0 + 1e3 * (i as f64).sin().abs().powi(8) * 1e13;
            (0..n).for_each(|i| product.multiply(f(i).sqrt() as f32));
            let want: f64 = (0..n).map(|i| 0.5 * f(i).ln()).sum();
            assert!((f64::from(product.half_log()) - want).abs() < 1e-6 * (1.0 + want));
        }
    }

    #[test]
    fn ten_million_small_terms_lose_nothing() {
        let mut sum = Sum::zero();
        for _ in 0..10_000_000 {
            sum.add(0.1f32);
        }
        assert!((sum.total() - 1e6).abs() < 0.1, "{}", sum.total()); // a plain sum is off by 87 000
    }
}
