//! Which way the body faces: across hips and shoulders, at right angles to it, smoothed over time.
//!
//! ```text
//! a_t = (left hip − right hip) + (left shoulder − right shoulder)
//! ω_t = atan2(−a_z, a_x), unwrapped          forward = a × up
//! ω̄_t = Σ_s g(s) ω_{t+s}                     g a Gaussian of width σ, the ends held
//! ```
//!
//! Hips turn with every step and shoulders against them, so their sum is steadier than either; the Gaussian
//! takes most of the rest.

use crate::{Joint, JointTrack};

/// Shortest ground vector across the body from which a facing is taken, in metres.
const SHORTEST_ACROSS: f64 = 1e-3;

/// The facing ω in one frame, in (−π, π]; none where hips and shoulders lie above one another.
#[must_use]
pub fn facing_of_frame(track: &JointTrack, frame: usize) -> Option<f64> {
    let across = |axis: usize| {
        track.at(frame, Joint::LeftHip)[axis] - track.at(frame, Joint::RightHip)[axis]
            + track.at(frame, Joint::LeftShoulder)[axis]
            - track.at(frame, Joint::RightShoulder)[axis]
    };
    let (x, z) = (across(0), across(2));
    (x.hypot(z) > SHORTEST_ACROSS).then(|| (-z).atan2(x))
}

/// The facing of every frame, unwrapped and smoothed by a Gaussian of `sigma_secs`; length `n_frames`.
///
/// A frame without a facing takes that of its neighbour; 0 if no frame has one.
#[must_use]
pub fn facing_rad(track: &JointTrack, sigma_secs: f64) -> Vec<f64> {
    let found: Vec<Option<f64>> = (0..track.n_frames()).map(|frame| facing_of_frame(track, frame)).collect();
    let mut last = found.iter().flatten().next().copied().unwrap_or(0.0);
    let unwrapped: Vec<f64> = found
        .into_iter()
        .map(|angle| {
            last += angle.map_or(0.0, |angle| wrapped(angle - last));
            last
        })
        .collect();
    smooth(&unwrapped, sigma_secs * track.fps)
}

/// The angle plus a multiple of 2π, in [−π, π].
pub(crate) fn wrapped(angle_rad: f64) -> f64 {
    let turns = (angle_rad / std::f64::consts::TAU).round();
    angle_rad - turns * std::f64::consts::TAU
}

/// Values averaged under a Gaussian of `sigma` places, the first and last held beyond the ends.
///
/// Unchanged where `sigma` is not positive.
#[must_use]
pub fn smooth(values: &[f64], sigma: f64) -> Vec<f64> {
    if !(sigma > 0.0 && sigma.is_finite()) || values.is_empty() {
        return values.to_vec();
    }
    let reach = (4.0 * sigma).ceil() as isize;
    let weights: Vec<f64> = (-reach..=reach).map(|s| (-0.5 * (s as f64 / sigma).powi(2)).exp()).collect();
    let total: f64 = weights.iter().sum();
    let last = values.len() as isize - 1;
    let average = |t: isize| {
        let terms = (-reach..=reach).zip(&weights).map(|(s, w)| w * values[(t + s).clamp(0, last) as usize]);
        terms.sum::<f64>() / total
    };
    (0..=last).map(average).collect()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI, TAU};

    use super::*;
    use crate::N_JOINTS;
    use crate::frame::Placement;

    /// A body whose hips and shoulders face `angles`, standing at the origin.
    fn facing(angles: &[f64]) -> JointTrack {
        let mut positions = vec![[0.0, 1.0, 0.0]; angles.len() * N_JOINTS];
        for (t, &facing_rad) in angles.iter().enumerate() {
            let body = Placement { x: 0.0, z: 0.0, facing_rad };
            for (joint, left) in [
                (Joint::LeftHip, 0.1),
                (Joint::RightHip, -0.1),
                (Joint::LeftShoulder, 0.2),
                (Joint::RightShoulder, -0.2),
            ] {
                positions[t * N_JOINTS + joint.index()] = body.world_from_local([left, 1.0, 0.0]);
            }
        }
        JointTrack::new(30.0, positions).unwrap()
    }

    #[test]
    fn facing_is_the_normal_of_hips_and_shoulders() {
        for angle in [0.0, 0.7, FRAC_PI_2, 3.0, -2.0] {
            assert!((facing_of_frame(&facing(&[angle]), 0).unwrap() - angle).abs() < 1e-12);
        }
        let collapsed = JointTrack::new(30.0, vec![[0.0; 3]; N_JOINTS]).unwrap();
        assert_eq!(facing_of_frame(&collapsed, 0), None);
        assert_eq!(facing_rad(&collapsed, 0.3), [0.0]);
    }

    #[test]
    fn facing_runs_on_through_a_whole_turn() {
        let angles: Vec<f64> = (0..200).map(|t| t as f64 * 2.0 * TAU / 199.0).collect();
        let found = facing_rad(&facing(&angles), 0.0);
        for (found, angle) in found.iter().zip(&angles) {
            assert!((found - angle).abs() < 1e-9);
        }
    }

    #[test]
    fn smoothing_keeps_straight_lines_and_damps_swaying() {
        let sway: Vec<f64> =
            (0..300).map(|t| 0.01 * t as f64 + 0.2 * (TAU * t as f64 / 20.0).sin()).collect();
        let smoothed = smooth(&sway, 10.0);
        for t in 60..240 {
            assert!((smoothed[t] - 0.01 * t as f64).abs() < 0.2 * 0.01);
        }
        assert_eq!(smooth(&sway, 0.0), sway);
        assert!(smooth(&[], 3.0).is_empty());
    }

    #[test]
    fn wrapped_angles_are_within_half_a_turn() {
        for angle in [-9.0, -PI, 0.0, 2.0, 40.0] {
            let short = wrapped(angle);
            assert!(short.abs() <= PI + 1e-12 && ((angle - short) / TAU).fract().abs() < 1e-12);
        }
    }
}
