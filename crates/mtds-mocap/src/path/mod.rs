//! The path that a body follows, smoothed so that it says where somebody walks and not how.
//!
//! ```text
//! p_t = (x_t, z_t, λ ω_t)          hips on the ground and facing, λ = 0.5 m/rad
//! corners of p by Ramer–Douglas–Peucker, the clearest first, two strides apart or more; one or half a stride where
//! the hips would else be further from the path than 5 cm (root mean square)
//! polygon with these corners, nearest to p  →  its points every quarter stride control a cubic B-spline
//!
//! sway      = three quarters of frames are within it of the average over one stride around them
//! tolerance = 1.5 · sway, between 3 and 12 cm
//! ```
//!
//! The tolerance follows the gait: swaying within it makes no corner, and turning makes one. Bird & Williams
//! (2020), supplement, "Extracting the root trajectory". Differs from there: no tuning per style and no corners
//! added by hand; corners are fitted to the whole trajectory.

mod polygon;
mod rdp;
mod spline;

pub use polygon::Polygon;
pub use rdp::{Corner, corners, spread};
pub use spline::Spline;

use serde::{Deserialize, Serialize};

use crate::frame::Placement;
use crate::{Error, Joint, JointTrack, Result, robust};

/// Metres that a radian of facing counts as, λ.
const METRES_PER_RAD: f64 = 0.5;
/// Tolerance relative to the sway.
const TOLERANCE_PER_SWAY: f64 = 1.5;
/// Smallest and largest automatic tolerance, in metres.
const TOLERANCES: [f64; 2] = [0.03, 0.12];
/// Share of frames that are within the sway.
const SWAY_SHARE: f64 = 0.75;
/// Strides between corners, from the smoothest path to the most faithful.
const CORNER_STRIDES: [f64; 3] = [2.0, 1.0, 0.5];
/// Root mean square distance of the hips from a path that is faithful enough, in metres.
const FAITHFUL: f64 = 0.05;
/// Strides between control points of the spline, which thereby averages over one stride.
const CONTROL_STRIDES: f64 = 0.25;
/// Part of the clip, in frames, from which the velocity beyond its end is taken.
const N_END_FRAMES: f64 = 15.0;

/// How far a path may be from the hips before it gets a corner.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub enum Tolerance {
    /// From how much the gait sways.
    #[default]
    Automatic,
    /// Given, in metres.
    Metres(f64),
}

/// A smooth path over time, with where the body faces.
#[derive(Debug, Clone, PartialEq)]
pub struct SmoothPath {
    spline: Spline<3>,
    n_frames: usize,
    /// Number of corners, ends included.
    pub n_corners: usize,
    /// The tolerance that was used, in metres.
    pub tolerance: f64,
    /// Root of the mean squared distance of the hips from the path on the ground, in metres.
    pub deviation: f64,
}

impl SmoothPath {
    /// The path of a clip that faces `facing_rad` (length `n_frames`) and whose strides take `stride_frames`.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of facings; [`Error::Setting`] if the stride or a given tolerance is
    /// not positive.
    pub fn of_track(
        track: &JointTrack,
        facing_rad: &[f64],
        stride_frames: f64,
        tolerance: Tolerance,
    ) -> Result<Self> {
        if facing_rad.len() != track.n_frames() {
            return Err(Error::shape("facings of a motion", track.n_frames(), facing_rad.len()));
        }
        let point = |(frame, &facing): (usize, &f64)| {
            let [x, _, z] = track.at(frame, Joint::Hips);
            [x, z, METRES_PER_RAD * facing]
        };
        let points: Vec<[f64; 3]> = facing_rad.iter().enumerate().map(point).collect();
        Self::of_points(&points, stride_frames, tolerance)
    }

    /// The path through points (x, z, λ ω), one per frame.
    fn of_points(points: &[[f64; 3]], stride_frames: f64, tolerance: Tolerance) -> Result<Self> {
        let positive = |name, value: f64| match value.is_finite() && value > 0.0 {
            true => Ok(value),
            false => Err(Error::setting(name, format!("found {value}; give a number above 0"))),
        };
        let stride_frames = positive("stride_frames", stride_frames)?;
        let tolerance = match tolerance {
            Tolerance::Metres(metres) => positive("tolerance", metres)?,
            Tolerance::Automatic => automatic_tolerance(points, stride_frames),
        };
        let corners = corners(points, tolerance);
        let mut chosen: Option<Self> = None;
        for strides in CORNER_STRIDES {
            if chosen.as_ref().is_some_and(|path| path.deviation <= FAITHFUL) {
                break;
            }
            let places = spread(&corners, strides * stride_frames);
            chosen = Self::through(points, &places, (stride_frames, tolerance));
        }
        chosen.ok_or_else(|| Error::shape("a path", "at least one frame", points.len()))
    }

    /// The spline along the polygon with corners at `places` that is nearest to the points.
    fn through(
        points: &[[f64; 3]],
        places: &[usize],
        (stride_frames, tolerance): (f64, f64),
    ) -> Option<Self> {
        let polygon = Polygon::fit(points, places)?;
        let end = (points.len() - 1) as f64;
        let spline = Spline::along(|t| polygon.at(t), CONTROL_STRIDES * stride_frames, end);
        let n_frames = points.len();
        let squares = (0..n_frames).map(|t| ground_distance(spline.at(t as f64), points[t]).powi(2));
        let deviation = (squares.sum::<f64>() / n_frames as f64).sqrt();
        Some(Self { spline, n_frames, n_corners: polygon.n_corners(), tolerance, deviation })
    }

    /// Where the path is at time `t`, in frames; beyond its ends it goes on straight, with the heading held.
    #[must_use]
    pub fn at(&self, t: f64) -> Placement {
        let last = (self.n_frames - 1) as f64;
        let inside = t.clamp(0.0, last);
        let [mut x, mut z, facing] = self.spline.at(inside);
        if t != inside && last > 0.0 {
            let span = N_END_FRAMES.min(last);
            let other = self.spline.at(if t > last { last - span } else { span });
            let share = (t - inside).abs() / span;
            (x, z) = (x + share * (x - other[0]), z + share * (z - other[1]));
        }
        Placement { x, z, facing_rad: facing / METRES_PER_RAD }
    }
}

/// Half as much again as the sway around the average over one stride.
fn automatic_tolerance(points: &[[f64; 3]], stride_frames: f64) -> f64 {
    let reach = (stride_frames / 2.0).round().max(1.0) as usize;
    // Only whole windows: at the ends an average over fewer frames would count travel as sway.
    let away = |t: usize| {
        let window = &points[t - reach..=t + reach];
        let mean = |d: usize| window.iter().map(|point| point[d]).sum::<f64>() / window.len() as f64;
        (0..3).map(|d| (points[t][d] - mean(d)).powi(2)).sum::<f64>().sqrt()
    };
    let sways = (reach..points.len().saturating_sub(reach)).map(away);
    let sway = robust::quantile(sways, SWAY_SHARE).unwrap_or(0.0);
    (TOLERANCE_PER_SWAY * sway).clamp(TOLERANCES[0], TOLERANCES[1])
}

/// Distance of two points on the ground.
fn ground_distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;

    /// Walks 5 m along Z and then 5 m along X, swaying sideways and in speed with a stride of 36 frames.
    fn swaying_corner(sway: f64) -> Vec<[f64; 3]> {
        let point = |t: usize| {
            let (s, wave) = (t as f64 / 30.0, sway * (TAU * t as f64 / 36.0).sin());
            if s < 5.0 { [wave, s, 0.0] } else { [s - 5.0, 5.0 + wave, 0.25 * TAU * METRES_PER_RAD] }
        };
        (0..301).map(point).collect()
    }

    #[test]
    fn swaying_goes_and_corners_stay() {
        let straight = swaying_corner(0.0);
        let path = SmoothPath::of_points(&swaying_corner(0.04), 36.0, Tolerance::Automatic).unwrap();
        let away = |t: usize| {
            let place = path.at(t as f64);
            ground_distance([place.x, place.z, 0.0], straight[t])
        };
        assert!((20..120).chain(180..280).all(|t| away(t) < 0.03), "far from the straight parts");
        assert!((0..301).all(|t| away(t) < 0.3), "cuts the corner");
        let turn = path.at(250.0).facing_rad - path.at(50.0).facing_rad;
        assert!((turn - 0.25 * TAU).abs() < 0.15, "turned by {turn}");
    }

    #[test]
    fn beyond_its_ends_a_path_goes_on_straight() {
        let path = SmoothPath::of_points(&swaying_corner(0.0), 36.0, Tolerance::Metres(0.05)).unwrap();
        let (end, later) = (path.at(300.0), path.at(330.0));
        assert!((later.x - end.x - 1.0).abs() < 0.05 && (later.z - end.z).abs() < 0.05);
        assert!((path.at(-30.0).z + 1.0).abs() < 0.05);
        assert_eq!(later.facing_rad, end.facing_rad);
    }

    #[test]
    fn degenerate_paths() {
        let one = SmoothPath::of_points(&[[1.0, 2.0, 0.0]], 36.0, Tolerance::Automatic).unwrap();
        assert!((one.at(5.0).x - 1.0).abs() < 1e-6);
        assert!(SmoothPath::of_points(&[], 36.0, Tolerance::Automatic).is_err());
        assert!(SmoothPath::of_points(&[[0.0; 3]; 9], 0.0, Tolerance::Automatic).is_err());
        assert!(SmoothPath::of_points(&[[0.0; 3]; 9], 36.0, Tolerance::Metres(f64::NAN)).is_err());
    }
}
