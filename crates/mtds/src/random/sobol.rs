//! Low-discrepancy draws of a standard normal: a Sobol sequence moved by a random shift.
//!
//! ```text
//! z_m = Φ⁻¹(frac(v_m + δ)),   v_m the m-th Sobol point in [0, 1)^k,   δ ~ U[0, 1)^k
//! ```
//! One shift per set keeps every point uniform, so averages stay unbiased, while the set keeps its even
//! spread (Cranley & Patterson 1976).

use rand::RngExt;

use super::Random;
use crate::engine::Codes;
use crate::kernel::normal;
use crate::{Error, Result};

/// Points per scramble that the Sobol generator offers.
const POINTS_PER_SCRAMBLE: usize = 1 << 16;

/// A Sobol sequence in the unit cube that hands out shifted normal points.
#[derive(Clone, Debug)]
pub struct ShiftedSobol {
    dim: usize,
    /// Points computed so far, `dim` values each.
    points: Vec<f32>,
}

impl ShiftedSobol {
    /// A sequence in `dim` dimensions.
    ///
    /// # Errors
    /// More dimensions than the direction numbers cover.
    pub fn new(dim: usize) -> Result<Self> {
        let most = sobol_burley::NUM_DIMENSIONS as usize;
        if dim == 0 || dim > most {
            return Err(Error::setting("code", format!("found length {dim}; expected 1 to {most}")));
        }
        Ok(Self { dim, points: vec![] })
    }

    /// The first `n` points under a new random shift.
    pub fn draw(&mut self, n: usize, random: &mut Random) -> Codes {
        let shift: Vec<f64> = (0..self.dim).map(|_| random.random()).collect();
        self.shifted(n, &shift)
    }

    /// The first `n` points under a given shift.
    pub fn shifted(&mut self, n: usize, shift: &[f64]) -> Codes {
        self.extend_to(n);
        let (points, dim) = (&self.points, self.dim);
        Codes::from_fn(n, dim, |m, d| {
            let u = f64::from(points[m * dim + d]) + shift[d];
            // Points have 24 bits: half a cell keeps them off the ends, where Φ⁻¹ is infinite.
            normal::quantile((u - u.floor()).clamp(3e-8, 1.0 - 3e-8))
        })
    }

    /// The first `n` points in the unit cube, `dim` values each, not shifted.
    pub(crate) fn unit_points(&mut self, n: usize) -> &[f32] {
        self.extend_to(n);
        &self.points[..n * self.dim]
    }

    fn extend_to(&mut self, n: usize) {
        for m in self.points.len() / self.dim..n {
            let (index, scramble) = (m % POINTS_PER_SCRAMBLE, m / POINTS_PER_SCRAMBLE);
            let point = |d: usize| sobol_burley::sample(index as u32, d as u32, scramble as u32);
            self.points.extend((0..self.dim).map(point));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn moments_are_far_closer_than_independent_draws() {
        let mut sobol = ShiftedSobol::new(4).unwrap();
        let n = 4096;
        let z = sobol.draw(n, &mut stream(1, 0));
        for d in 0..4 {
            let mean = (0..n).map(|i| z.get(i, d)).sum::<f64>() / n as f64;
            let square = (0..n).map(|i| z.get(i, d).powi(2)).sum::<f64>() / n as f64;
            // Independent draws would scatter by 1/√n = 0.016 and √(2/n) = 0.022.
            assert!(mean.abs() < 2e-3 && (square - 1.0).abs() < 1e-2, "{mean} {square}");
        }
    }

    #[test]
    fn sets_beyond_one_scramble_do_not_repeat() {
        let mut sobol = ShiftedSobol::new(2).unwrap();
        let z = sobol.shifted(POINTS_PER_SCRAMBLE + 8, &[0.3, 0.6]);
        assert!((0..8).all(|i| z.get(i, 0) != z.get(POINTS_PER_SCRAMBLE + i, 0)));
        assert!((0..z.len()).all(|i| z.get(i, 1).is_finite()));
    }

    #[test]
    fn too_many_dimensions_are_refused() {
        assert!(ShiftedSobol::new(100_000).unwrap_err().to_string().contains("found length 100000"));
        assert!(ShiftedSobol::new(0).is_err());
    }
}
