//! A state-space system from Markov parameters, in coordinates in which the transition never expands.
//!
//! ```text
//! H = [h_{f+i+j}]   r p × c m        H = U σ Vᵀ, n terms        O = U σ^½,   R = σ^½ Vᵀ
//! A = σ^−½ Uᵀ H↑ V σ^−½              H↑ = [h_{f+i+j+1}]         C = first p rows of O
//! ```
//! f is the first lag that the state alone explains. Ho & Kalman (1966), *Effective construction of linear
//! state-variable models from input/output functions*; Kung (1978), *A new identification and model reduction
//! algorithm via singular value decompositions*. A balanced stable A has ‖A‖₂ ≤ 1 (Pernebo & Silverman 1982).
//! Finite data and noise can break that. Then P = Aᵀ P A / ρ² + I gives coordinates in which it holds,
//!
//! ```text
//! P = L Lᵀ        A ← Lᵀ A L⁻ᵀ,   C ← C L⁻ᵀ        AᵀA = ρ² (I − (Lᵀ L)⁻¹)
//! ```
//! with ρ = 1 for stable systems; growing modes are clipped to the edge.

use super::markov::Markov;
use crate::algebra::Matrix;
use crate::algebra::Svd;
use crate::algebra::{cholesky, invert_lower};
use crate::{Error, Result};

/// Largest singular value of the transition, just under 1: its raw value stays of moderate size.
pub(crate) const LARGEST_GAIN: f64 = 1.0 - 1e-5;
/// Hankel singular values below this share of the largest are rounding.
const NEGLIGIBLE: f64 = 1e-8;

/// What outputs show of a state: transition and emission, up to a change of coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Observable {
    /// A, n × n, ‖A‖₂ ≤ [`LARGEST_GAIN`].
    pub(crate) transition: Matrix,
    /// C, p × n.
    pub(crate) emission: Matrix,
    /// All singular values of the Hankel matrix, largest first.
    pub(crate) hankel_values: Vec<f64>,
}

/// Fewest Markov parameters from which a state of size `n` can be seen.
pub(crate) fn fewest_lags(n: usize, (p, m): (usize, usize), first: usize) -> usize {
    first + n.div_ceil(p) + n.div_ceil(m)
}

impl Observable {
    /// The part of a system of order `n` that explains the response from lag `first` on.
    ///
    /// There must be [`fewest_lags`] of them.
    ///
    /// # Errors
    /// An order beyond what the response shows.
    pub(crate) fn realise(markov: &Markov, n: usize, first: usize) -> Result<Self> {
        let (p, m) = (markov.offset.len(), markov.lags.first().map_or(1, |h| h.cols));
        debug_assert!(markov.lags.len() >= fewest_lags(n, (p, m), first));
        let n_lags = markov.lags.len() - first;
        let r = (n_lags / 2).clamp(n.div_ceil(p), n_lags - n.div_ceil(m));
        let hankel = |shift: usize| {
            Matrix::from_fn(r * p, (n_lags - r) * m, |i, j| {
                markov.lags[first + i / p + j / m + shift][(i % p, j % m)]
            })
        };
        let svd = Svd::of(&hankel(0));
        check_order(&svd.values, n)?;
        let root: Vec<f64> = svd.values[..n].iter().map(|s| s.sqrt()).collect();
        let left = Matrix::from_fn(r * p, n, |i, k| svd.left[(i, k)] / root[k]);
        let right = Matrix::from_fn((n_lags - r) * m, n, |j, k| svd.right[(j, k)] / root[k]);
        let balanced = left.transposed().times(&hankel(1)).times(&right);
        let emission = Matrix::from_fn(p, n, |i, k| svd.left[(i, k)] * root[k]);
        let (transition, emission) = contracted(balanced, emission);
        Ok(Self { transition, emission, hankel_values: svd.values })
    }
}

fn check_order(values: &[f64], n: usize) -> Result<()> {
    let shown = values.iter().filter(|&&s| s > NEGLIGIBLE * values[0]).count();
    if shown >= n {
        return Ok(());
    }
    let why = match shown {
        0 => format!("found {n}, but the outputs do not respond to the inputs at all: check the columns"),
        _ => format!(
            "found {n}, but the response is that of a system of order {shown}: choose at most {shown}"
        ),
    };
    Err(Error::setting("d_state", why))
}

/// The same system in coordinates in which the transition never expands; growing modes are clipped.
fn contracted(transition: Matrix, emission: Matrix) -> (Matrix, Matrix) {
    if Svd::of(&transition).values[0] <= LARGEST_GAIN {
        return (transition, emission);
    }
    let (a, c) = contracting_coordinates(&transition, &emission).unwrap_or((transition, emission));
    (clipped(&a), c)
}

/// Coordinates from the Lyapunov equation; `None` where it cannot be solved in f64.
fn contracting_coordinates(a: &Matrix, c: &Matrix) -> Option<(Matrix, Matrix)> {
    let n = a.rows;
    // Just outside the spectral radius the equation has a solution of moderate size.
    let edge = spectral_radius(a) * (1.0 + 1e-6);
    let p = lyapunov(&a.scaled(1.0 / edge.max(1.0)))?;
    let l = Matrix { rows: n, cols: n, values: cholesky(&p.values, n)? };
    let inverse = Matrix { rows: n, cols: n, values: invert_lower(&l.values, n) }.transposed();
    Some((l.transposed().times(a).times(&inverse), c.times(&inverse)))
}

/// ρ(A) = lim ‖Aᵏ‖^(1/k), by squaring.
fn spectral_radius(a: &Matrix) -> f64 {
    let (mut power, mut log_size, mut exponent) = (a.clone(), 0.0, 1.0);
    for _ in 0..40 {
        let size = power.frobenius();
        if size == 0.0 {
            return 0.0;
        }
        log_size += size.ln() / exponent;
        let unit = power.scaled(1.0 / size);
        power = unit.times(&unit);
        exponent *= 2.0;
    }
    log_size.exp()
}

/// P = Aᵀ P A + I by doubling: P ← P + Aᵀ P A, A ← A² (Smith 1968).
fn lyapunov(a: &Matrix) -> Option<Matrix> {
    let (mut p, mut power) = (Matrix::identity(a.rows), a.clone());
    for _ in 0..60 {
        let added = power.transposed().times(&p).times(&power);
        p.values.iter_mut().zip(&added.values).for_each(|(p, x)| *p += x);
        if added.frobenius() <= 1e-15 * p.frobenius() {
            return Some(p);
        }
        power = power.times(&power);
    }
    None
}

/// The matrix with singular values of at most [`LARGEST_GAIN`].
fn clipped(a: &Matrix) -> Matrix {
    let Svd { left, values, right } = Svd::of(a);
    let scaled = Matrix::from_fn(a.rows, a.cols, |i, k| left[(i, k)] * values[k].min(LARGEST_GAIN));
    scaled.times(&right.transposed())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// h_k = C Aᵏ B of a system with one input and one output.
    fn response(a: &Matrix, b: &Matrix, c: &Matrix, n_lags: usize) -> Markov {
        let mut lags = vec![];
        let mut state = b.clone();
        for _ in 0..n_lags {
            lags.push(c.times(&state));
            state = a.times(&state);
        }
        Markov { lags, offset: vec![0.0; c.rows] }
    }

    fn turning(radius: f64, angle_rad: f64) -> Matrix {
        let (sin, cos) = angle_rad.sin_cos();
        Matrix { rows: 2, cols: 2, values: vec![radius * cos, -radius * sin, radius * sin, radius * cos] }
    }

    fn determinant_and_trace(a: &Matrix) -> (f64, f64) {
        (a[(0, 0)] * a[(1, 1)] - a[(0, 1)] * a[(1, 0)], a[(0, 0)] + a[(1, 1)])
    }

    #[test]
    fn spectrum_and_contraction_whatever_the_damping() {
        let (b, c) = (Matrix::from_fn(2, 1, |i, _| 1.0 - i as f64), Matrix::from_fn(1, 2, |_, j| j as f64));
        for radius in [0.3, 0.9, 0.99, 0.9999] {
            let a = turning(radius, 0.3);
            let found = Observable::realise(&response(&a, &b, &c, 21), 2, 0).unwrap();
            let ((det, trace), (det0, trace0)) =
                (determinant_and_trace(&found.transition), determinant_and_trace(&a));
            assert!((det - det0).abs() < 1e-9 && (trace - trace0).abs() < 1e-9, "{radius}: {det} {trace}");
            assert!(Svd::of(&found.transition).values[0] <= LARGEST_GAIN + 1e-12);
        }
    }

    #[test]
    fn growing_modes_are_clipped_to_the_edge_and_keep_their_angle() {
        let (b, c) = (Matrix::from_fn(2, 1, |i, _| 1.0 - i as f64), Matrix::from_fn(1, 2, |_, j| j as f64));
        let found = Observable::realise(&response(&turning(1.05, 0.3), &b, &c, 21), 2, 0).unwrap();
        let (det, trace) = determinant_and_trace(&found.transition);
        assert!(Svd::of(&found.transition).values[0] <= LARGEST_GAIN + 1e-12);
        assert!((det.sqrt() - 1.0).abs() < 1e-3, "{det}");
        assert!(((trace / (2.0 * det.sqrt())).acos() - 0.3).abs() < 1e-3, "{trace}");
    }

    #[test]
    fn the_radius_and_the_lyapunov_solution_satisfy_their_equations() {
        let shear = Matrix { rows: 2, cols: 2, values: vec![0.5, 40.0, 0.0, -0.8] };
        assert!((spectral_radius(&shear) - 0.8).abs() < 1e-9);
        assert_eq!(spectral_radius(&Matrix::zeros(3, 3)), 0.0);
        let p = lyapunov(&shear).unwrap();
        let again = shear.transposed().times(&p).times(&shear);
        for k in 0..4 {
            let identity = if k % 3 == 0 { 1.0 } else { 0.0 };
            assert!((p.values[k] - again.values[k] - identity).abs() < 1e-10 * p.frobenius());
        }
    }
}
