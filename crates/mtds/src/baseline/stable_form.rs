//! Any contraction in the stable form of the linear system: A = Σ Q, with the raw values that give it.
//!
//! ```text
//! A = U σ Vᵀ        Uᵀ A U = σ (Vᵀ U) = (σ E)(E Vᵀ U) = Σ Q          E = diag(±1)
//! υ = artanh diag Σ        𝒮 = 2 (I + Q)⁻¹ − I,   the inverse of Q = (I − 𝒮)(I + 𝒮)⁻¹
//! ```
//! 𝒮 exists unless −1 is an eigenvalue of Q, and some E always avoids that (Liebeck & Osborne 1991, *The
//! generation of all rational orthogonal matrices*): elimination of E + Vᵀ U, each sign chosen as that of the
//! pivot it joins. Turning the signs i and j multiplies det(I + Q) by 𝒮_ij², so turning pairs while some
//! |𝒮_ij| > 1 must end, with every entry of 𝒮 between −1 and 1 (O'Dorney 2014, *Minimizing the Cayley
//! transform of an orthogonal matrix by multiplying by signature matrices*): far inside the range in which
//! the linear system takes raw entries as they are.

use crate::algebra::Matrix;
use crate::algebra::Svd;
use crate::algebra::invert_in_place;

/// A transition in its stable form, and how to get there.
#[derive(Clone, Debug)]
pub(crate) struct StableForm {
    /// U: new coordinates are Uᵀ x.
    pub(crate) basis: Matrix,
    /// υ, n.
    pub(crate) decay: Vec<f64>,
    /// Upper triangle of 𝒮 by rows, n (n − 1) / 2.
    pub(crate) rotation: Vec<f64>,
}

impl StableForm {
    /// The stable form of a transition whose singular values are below 1.
    pub(crate) fn of(transition: &Matrix) -> Self {
        let n = transition.rows;
        let svd = Svd::of(transition);
        let orthogonal = svd.right.transposed().times(&svd.left);
        let mut signs = avoiding_minus_one(&orthogonal);
        let mut skew = cayley(&orthogonal, &signs);
        // A small margin keeps rounding from turning a pair back and forth.
        while let Some((i, j)) = largest_entry(&skew).filter(|&at| skew[at].abs() > 1.0 + 1e-9) {
            (signs[i], signs[j]) = (-signs[i], -signs[j]);
            skew = cayley(&orthogonal, &signs);
        }
        let decay = svd.values.iter().zip(&signs).map(|(s, e)| (s * e).atanh()).collect();
        let rotation = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).map(|at| skew[at]).collect();
        Self { basis: svd.left, decay, rotation }
    }
}

/// Signs E for which I + E Q is far from singular: every pivot of E + Q is at least 1.
fn avoiding_minus_one(orthogonal: &Matrix) -> Vec<f64> {
    let n = orthogonal.rows;
    let mut rest = orthogonal.clone();
    let mut signs = vec![1.0; n];
    for k in 0..n {
        signs[k] = if rest[(k, k)] < 0.0 { -1.0 } else { 1.0 };
        rest[(k, k)] += signs[k];
        for i in k + 1..n {
            let factor = rest[(i, k)] / rest[(k, k)];
            for j in k + 1..n {
                let upper = rest[(k, j)];
                rest[(i, j)] -= factor * upper;
            }
        }
    }
    signs
}

/// 𝒮 = 2 (I + E Q)⁻¹ − I, made exactly skew.
fn cayley(orthogonal: &Matrix, signs: &[f64]) -> Matrix {
    let n = signs.len();
    let mut inverse =
        Matrix::from_fn(n, n, |i, j| signs[i] * orthogonal[(i, j)] + if i == j { 1.0 } else { 0.0 });
    // The symmetric part of I + Q is positive definite, so elimination needs no pivoting here either.
    invert_in_place(&mut inverse.values, n, |_| ());
    Matrix::from_fn(n, n, |i, j| inverse[(i, j)] - inverse[(j, i)])
}

fn largest_entry(skew: &Matrix) -> Option<(usize, usize)> {
    let n = skew.rows;
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    pairs.max_by(|&a, &b| skew[a].abs().total_cmp(&skew[b].abs()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Σ Q as the linear system makes it.
    fn rebuilt(form: &StableForm) -> Matrix {
        let n = form.decay.len();
        let (mut skew, mut k) = (Matrix::identity(n), 0);
        for i in 0..n {
            for j in i + 1..n {
                (skew[(i, j)], skew[(j, i)]) = (form.rotation[k], -form.rotation[k]);
                k += 1;
            }
        }
        invert_in_place(&mut skew.values, n, |_| ());
        Matrix::from_fn(n, n, |i, j| {
            form.decay[i].tanh() * (2.0 * skew[(i, j)] - if i == j { 1.0 } else { 0.0 })
        })
    }

    fn check(transition: &Matrix) {
        let form = StableForm::of(transition);
        assert!(form.rotation.iter().all(|s| s.abs() <= 1.0 + 1e-9), "{:?}", form.rotation);
        let expected = form.basis.transposed().times(transition).times(&form.basis);
        for (found, expected) in rebuilt(&form).values.iter().zip(&expected.values) {
            assert!((found - expected).abs() < 1e-11, "{transition:?}");
        }
    }

    proptest! {
        #[test]
        fn every_contraction_has_a_stable_form(
            (n, rank, gain) in (1..8usize, 0..8usize, 0.0..0.99999f64),
            seed in prop::collection::vec(-1.0..1.0f64, 128),
        ) {
            let left = Matrix::from_fn(n, rank, |i, j| seed[i * 8 + j]);
            let right = Matrix::from_fn(rank, n, |i, j| seed[64 + i * 8 + j]);
            let product = left.times(&right);
            let largest = Svd::of(&product).values[0].max(1e-300);
            check(&product.scaled(gain / largest));
        }
    }

    #[test]
    fn reflections_half_turns_and_nothing_at_all_have_one() {
        for diagonal in [[-0.9, -0.9, 0.9], [-0.5, 0.5, 0.5], [-0.7, -0.7, -0.7], [0.0, 0.0, 0.0]] {
            check(&Matrix::from_fn(3, 3, |i, j| if i == j { diagonal[i] } else { 0.0 }));
        }
        // A cyclic shift of four has the eigenvalue −1.
        check(&Matrix::from_fn(4, 4, |i, j| if (i + 1) % 4 == j { 0.9 } else { 0.0 }));
    }
}
