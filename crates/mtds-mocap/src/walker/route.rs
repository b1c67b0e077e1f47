//! Random routes: how the direction of travel changes with distance, and where that leads.
//!
//! ```text
//! h(s) = h_0 + Σ_i a_i sin(2π s / l_i + b_i)        heading at distance s
//! p(s) = p_0 + ∫ (sin h, cos h) ds                  tabulated every centimetre
//!
//! l_i ~ U[8, 20] m        a_i ~ U[0.2, 0.6] rad, either sign        b_i ~ U[0, 2π)        i = 1 … 3
//! ```

use std::f64::consts::TAU;
use std::ops::Range;

use mtds::random::Random;
use rand::RngExt;

use crate::frame::Placement;

/// Number of waves that make up a heading.
const N_WAVES: usize = 3;
/// Shortest and longest wave, in metres.
const WAVELENGTHS: [f64; 2] = [8.0, 20.0];
/// Smallest and largest amplitude of a wave, in radians.
const AMPLITUDES_RAD: [f64; 2] = [0.2, 0.6];
/// Distance between entries of the table, in metres.
const STEP: f64 = 0.01;

/// A route over an interval of distances.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    waves: Vec<[f64; 3]>,
    first_rad: f64,
    start: f64,
    table: Vec<[f64; 2]>,
}

impl Route {
    /// A random route over the distances `range`, in metres; at distance 0 it is at the origin.
    #[must_use]
    pub fn random(range: Range<f64>, random: &mut Random) -> Self {
        let mut uniform = |low: f64, high: f64| low + (high - low) * random.random::<f64>();
        let first_rad = uniform(0.0, TAU);
        let wave = |_| {
            let (length, size) =
                (uniform(WAVELENGTHS[0], WAVELENGTHS[1]), uniform(AMPLITUDES_RAD[0], AMPLITUDES_RAD[1]));
            let sign = if uniform(-1.0, 1.0) < 0.0 { -1.0 } else { 1.0 };
            [sign * size, TAU / length, uniform(0.0, TAU)]
        };
        Self::tabulated((0..N_WAVES).map(wave).collect(), first_rad, range)
    }

    /// A straight route along +Z.
    #[must_use]
    pub fn straight(range: Range<f64>) -> Self {
        Self::tabulated(Vec::new(), 0.0, range)
    }

    fn tabulated(waves: Vec<[f64; 3]>, first_rad: f64, range: Range<f64>) -> Self {
        // A whole number of steps before distance 0, so that one entry is the origin.
        let n_before = (-range.start / STEP).ceil().max(0.0) as usize;
        let n_after = (range.end / STEP).ceil().max(1.0) as usize;
        let mut route = Self { waves, first_rad, start: -(n_before as f64) * STEP, table: vec![[0.0; 2]] };
        for i in 0..n_before + n_after {
            let (sin, cos) = route.heading_rad(route.start + (i as f64 + 0.5) * STEP).sin_cos();
            let [x, z] = route.table[i];
            route.table.push([x + STEP * sin, z + STEP * cos]);
        }
        let [x0, z0] = route.table[n_before];
        route.table.iter_mut().for_each(|[x, z]| (*x, *z) = (*x - x0, *z - z0));
        route
    }

    /// Heading at distance `s`, in radians.
    #[must_use]
    pub fn heading_rad(&self, s: f64) -> f64 {
        self.first_rad
            + self.waves.iter().map(|[size, rate, shift]| size * (rate * s + shift).sin()).sum::<f64>()
    }

    /// Place and heading at distance `s`; straight on beyond the table.
    #[must_use]
    pub fn at(&self, s: f64) -> Placement {
        let place = (s - self.start) / STEP;
        let i = (place.floor().max(0.0) as usize).min(self.table.len() - 2);
        let share = place - i as f64;
        let [a, b] = [self.table[i], self.table[i + 1]];
        let along = |d: usize| a[d] + share * (b[d] - a[d]);
        Placement { x: along(0), z: along(1), facing_rad: self.heading_rad(s) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_moves_along_its_heading_at_unit_speed() {
        let route = Route::random(-2.0..20.0, &mut mtds::random::stream(3, 0));
        let origin = route.at(0.0);
        assert!(origin.x.abs() < 1e-12 && origin.z.abs() < 1e-12);
        for s in [-1.5, 0.003, 7.77, 19.9] {
            let (a, b) = (route.at(s - 0.05), route.at(s + 0.05));
            let (sin, cos) = route.heading_rad(s).sin_cos();
            assert!(((b.x - a.x) / 0.1 - sin).abs() < 1e-2 && ((b.z - a.z) / 0.1 - cos).abs() < 1e-2, "{s}");
        }
    }

    #[test]
    fn routes_differ_by_stream_and_not_by_call() {
        let route = |stream| Route::random(0.0..5.0, &mut mtds::random::stream(3, stream));
        assert_eq!(route(1), route(1));
        assert_ne!(route(1), route(2));
        let straight = Route::straight(0.0..1.0).at(3.0);
        assert!(straight.x.abs() < 1e-12 && (straight.z - 3.0).abs() < 1e-9);
    }
}
