//! Inverse of small matrices whose symmetric part is positive definite.

use crate::kernel::Scalar;

/// Gauss–Jordan elimination without pivoting, n × n row-major; `on_pivot` sees each pivot.
///
/// Every pivot is positive when the symmetric part is positive definite. The product of the pivots is the
/// determinant.
#[inline(always)]
pub(crate) fn invert_in_place<S: Scalar>(m: &mut [S], n: usize, mut on_pivot: impl FnMut(S)) {
    for c in 0..n {
        on_pivot(m[c * n + c]);
        let inverse = S::one() / m[c * n + c];
        m[c * n + c] = S::one();
        for j in 0..n {
            m[c * n + j] = m[c * n + j] * inverse;
        }
        for r in 0..n {
            if r == c {
                continue;
            }
            let factor = -m[r * n + c];
            m[r * n + c] = S::zero();
            for j in 0..n {
                m[r * n + j] = factor.mul_add(m[c * n + j], m[r * n + j]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::invert_in_place;

    #[test]
    fn inverse_and_determinant_of_a_skew_plus_identity() {
        let m = [1.0, 2.0, -3.0, -2.0, 1.0, 0.5, 3.0, -0.5, 1.0];
        let (mut inverse, mut determinant) = (m, 1.0);
        invert_in_place(&mut inverse, 3, |pivot: f64| determinant *= pivot);
        assert!((determinant - (1.0 + 4.0 + 9.0 + 0.25)).abs() < 1e-12); // 1 + Σ s²
        for i in 0..3 {
            for j in 0..3 {
                let product: f64 = (0..3).map(|k| m[i * 3 + k] * inverse[k * 3 + j]).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
    }
}
