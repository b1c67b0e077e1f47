//! Small dense algebra, row-major: what codes, states and Hankel matrices of up to about a hundred rows need.
//!
//! | module | has |
//! |---|---|
//! | `symmetric` | Cholesky factors, triangular inverses, eigenvalues of symmetric matrices as slices |
//! | `matrix`, `svd` | matrices that read like their equations, singular values, least squares |
//! | `inverse` | inverses within kernels, for any kind of number |

mod inverse;
mod matrix;
mod svd;
mod symmetric;

pub(crate) use inverse::invert_in_place;
pub(crate) use matrix::Matrix;
pub(crate) use svd::Svd;
pub(crate) use symmetric::{
    cholesky, dot, gram_of_lower, invert_lower, invert_spd, log_diagonal_sum, raise_eigenvalues,
    solve_factored, symmetric_eigen, symmetrise, times_vector,
};
