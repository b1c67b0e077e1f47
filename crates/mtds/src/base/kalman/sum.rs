//! A sum over thousands of steps that keeps its digits in f32.

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

#[cfg(test)]
mod tests {
    use super::Sum;

    #[test]
    fn ten_million_small_terms_lose_nothing() {
        let mut sum = Sum::zero();
        for _ in 0..10_000_000 {
            sum.add(0.1f32);
        }
        assert!((sum.total() - 1e6).abs() < 0.1, "{}", sum.total()); // a plain sum is off by 87 000
    }
}
