//! The generating distribution as a likelihood over the unit cube, many points at a time.
//!
//! ```text
//! x_jt = 2 ρ_j cos(ω_j) x_{j,t−1} − ρ_j² x_{j,t−2}        x_j0 = 0,   x_j1 = γ_j ρ_j sin ω_j
//! y_t ~ N(x_1t + x_2t, s²)
//!
//! u = (ω_1, ω_2, ν_1, ν_2), each as its place between the smallest and the largest value
//! ```
//!
//! The recurrence is [`OscillatorParameters::mean`] without a sine and a power at every step; points travel
//! in lanes side by side, so that the compiler can use vectors.

use std::f64::consts::PI;
use std::ops::Range;

use mtds::{Error, Result};
use mtds_data::oscillators::{AMPLITUDES, HALF_LIFE_RANGES, OMEGA_RANGES_RAD, OscillatorParameters};

use crate::smc::{Reach, Terms};

/// Parameters of the family: two frequencies, two half-lives.
pub const N_PARAMETERS: usize = 4;
/// A point of the unit cube.
pub type Point = [f64; N_PARAMETERS];

/// Points that travel together.
const LANES: usize = 8;
type Lanes = [f64; LANES];

/// The likelihood of one sequence under the generating distribution.
#[derive(Clone, Copy, Debug)]
pub struct Truth<'a> {
    outputs: &'a [f64],
    noise_std: f64,
}

impl<'a> Truth<'a> {
    /// For `outputs` y_1, y_2, …, NaN where missing, with noise of standard deviation `noise_std`.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for an infinite output; [`Error::Setting`] for noise that is not above 0.
    pub fn new(outputs: &'a [f64], noise_std: f64) -> Result<Self> {
        if let Some(t) = outputs.iter().position(|y| y.is_infinite()) {
            let what = format!("output at step {}", t + 1);
            return Err(Error::NotFinite {
                what,
                value: outputs[t],
                hint: "; write NaN for a missing output",
            });
        }
        if !(noise_std.is_finite() && noise_std > 0.0) {
            let why = format!("found {noise_std}; expected a finite number above 0");
            return Err(Error::Setting { name: "noise_std".into(), why });
        }
        Ok(Self { outputs, noise_std })
    }

    /// −log s − ½ log 2π.
    fn log_constant(&self) -> f64 {
        -self.noise_std.ln() - 0.5 * (2.0 * PI).ln()
    }
}

impl Terms<N_PARAMETERS> for Truth<'_> {
    fn n_terms(&self) -> usize {
        self.outputs.len()
    }

    fn terms(&self, points: &[Point], range: Range<usize>) -> Vec<f64> {
        let (outputs, constant) = (&self.outputs[range.clone()], self.log_constant());
        let scale = 1.0 / self.noise_std;
        let mut terms = mean_paths(points, range);
        for (mean, y) in terms.iter_mut().zip(outputs.iter().cycle()) {
            let r = (y - *mean) * scale;
            *mean = if y.is_nan() { 0.0 } else { constant - 0.5 * r * r };
        }
        terms
    }

    fn log_likelihoods(&self, points: &[Point], reach: Reach) -> Vec<f64> {
        let n_time = reach.whole + usize::from(reach.share > 0.0);
        let exponent = |t: usize| if t < reach.whole { 1.0 } else { reach.share };
        let observed = (0..n_time).filter(|&t| !self.outputs[t].is_nan()).map(exponent);
        let constant = self.log_constant() * observed.sum::<f64>();
        let precision = 1.0 / (self.noise_std * self.noise_std);
        let mut log_likelihoods = Vec::with_capacity(points.len());
        for block in points.chunks(LANES) {
            let mut squares = [0.0; LANES];
            roll_out(block, n_time, |t, means| {
                if self.outputs[t].is_nan() {
                    return;
                }
                for l in 0..LANES {
                    let r = self.outputs[t] - means[l];
                    squares[l] += exponent(t) * r * r;
                }
            });
            log_likelihoods.extend(squares[..block.len()].iter().map(|s| constant - 0.5 * precision * s));
        }
        log_likelihoods
    }
}

/// The parameters that a point of the cube stands for.
#[must_use]
pub fn parameters_at(point: &Point) -> OscillatorParameters {
    let between = |[low, high]: [f64; 2], u: f64| low + (high - low) * u;
    OscillatorParameters {
        omega_rad: std::array::from_fn(|j| between(OMEGA_RANGES_RAD[j], point[j])),
        half_life: std::array::from_fn(|j| between(HALF_LIFE_RANGES[j], point[2 + j])),
    }
}

/// The outputs without noise at the steps of `rows`, row 0 being t = 1: `points.len() × rows.len()`.
#[must_use]
pub fn mean_paths(points: &[Point], rows: Range<usize>) -> Vec<f64> {
    let width = rows.len();
    let mut paths = vec![0.0; points.len() * width];
    for (block, out) in points.chunks(LANES).zip(paths.chunks_mut((LANES * width).max(1))) {
        roll_out(block, rows.end, |t, means| {
            if t >= rows.start {
                out.chunks_exact_mut(width).zip(means).for_each(|(path, mean)| path[t - rows.start] = *mean);
            }
        });
    }
    paths
}

/// Calls `visit` with every row `0..n_time` and the outputs without noise of up to eight points.
#[inline(always)]
fn roll_out(block: &[Point], n_time: usize, mut visit: impl FnMut(usize, &Lanes)) {
    let [mut first, mut second] = [0, 1].map(|j| Oscillator::new(block, j));
    for t in 0..n_time {
        let means = std::array::from_fn(|l| first.now[l] + second.now[l]);
        visit(t, &means);
        first.step();
        second.step();
    }
}

/// One of the two oscillators of several points.
struct Oscillator {
    /// 2 ρ cos ω.
    turn: Lanes,
    /// ρ².
    decay: Lanes,
    now: Lanes,
    before: Lanes,
}

impl Oscillator {
    fn new(block: &[Point], j: usize) -> Self {
        let mut all =
            Self { turn: [0.0; LANES], decay: [0.0; LANES], now: [0.0; LANES], before: [0.0; LANES] };
        for (l, point) in block.iter().enumerate() {
            let theta = parameters_at(point);
            let rho = (-1.0 / theta.half_life[j]).exp2();
            let (sin, cos) = theta.omega_rad[j].sin_cos();
            all.turn[l] = 2.0 * rho * cos;
            all.decay[l] = rho * rho;
            all.now[l] = AMPLITUDES[j] * rho * sin;
        }
        all
    }

    #[inline(always)]
    fn step(&mut self) {
        for l in 0..LANES {
            let next = self.turn[l] * self.now[l] - self.decay[l] * self.before[l];
            self.before[l] = self.now[l];
            self.now[l] = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use mtds::random::stream;
    use rand::RngExt;

    use super::*;

    /// Points, and 80 outputs of the first of them with a gap.
    fn points_and_outputs(n: usize) -> (Vec<Point>, Vec<f64>) {
        let mut random = stream(1, 0);
        let points: Vec<Point> = (0..n).map(|_| std::array::from_fn(|_| random.random())).collect();
        let theta = parameters_at(&points[0]);
        let mut outputs: Vec<f64> = (1..=80).map(|t| theta.mean(t) + 0.03).collect();
        outputs[4] = f64::NAN;
        (points, outputs)
    }

    #[test]
    fn rollouts_equal_the_formula() {
        for n in [1, 7, 8, 19] {
            let (points, _) = points_and_outputs(n);
            let paths = mean_paths(&points, 10..80);
            for (i, point) in points.iter().enumerate() {
                let theta = parameters_at(point);
                for t in 10..80 {
                    assert!((paths[i * 70 + t - 10] - theta.mean(t + 1)).abs() < 1e-12, "{i} {t}");
                }
            }
        }
    }

    #[test]
    fn tempered_likelihoods_are_sums_of_terms() {
        let (points, outputs) = points_and_outputs(11);
        let truth = Truth::new(&outputs, 0.05).unwrap();
        let term = |i: usize, t: usize| {
            let r = (outputs[t] - parameters_at(&points[i]).mean(t + 1)) / 0.05;
            if r.is_nan() { 0.0 } else { -0.5 * r * r - 0.05f64.ln() - 0.5 * (2.0 * PI).ln() }
        };
        let terms = truth.terms(&points, 3..30);
        for (whole, share) in [(0, 0.0), (0, 0.4), (4, 0.5), (29, 0.0), (29, 0.9)] {
            let totals = truth.log_likelihoods(&points, Reach { whole, share });
            for (i, total) in totals.iter().enumerate() {
                let expected = (0..whole).map(|t| term(i, t)).sum::<f64>() + share * term(i, whole);
                assert!((total - expected).abs() < 1e-10 * expected.abs().max(1.0), "{total} {expected}");
                assert!((3..30).all(|t| (terms[i * 27 + t - 3] - term(i, t)).abs() < 1e-8));
            }
        }
    }

    #[test]
    fn corners_of_the_cube_are_the_ends_of_the_ranges() {
        let (low, high) = (parameters_at(&[0.0; 4]), parameters_at(&[1.0; 4]));
        for j in 0..2 {
            assert_eq!([low.omega_rad[j], high.omega_rad[j]], OMEGA_RANGES_RAD[j]);
            assert_eq!([low.half_life[j], high.half_life[j]], HALF_LIFE_RANGES[j]);
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        assert!(matches!(Truth::new(&[0.0, f64::INFINITY], 0.05), Err(Error::NotFinite { .. })));
        assert!(matches!(Truth::new(&[0.0], 0.0), Err(Error::Setting { .. })));
    }
}
