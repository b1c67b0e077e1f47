//! Inputs `u ∈ R^32`: what an animator decides, taken from a smooth path and the gait.
//!
//! ```text
//! u_t = [q_1 … q_6, d_1 … d_6, cos φ, sin φ, f_1 … f_6]         at frame t, P the smooth path
//!
//! q_k = R_Y(−ω_t) (P_{t+5k} − P_t)        12 numbers: the path over the next second, seen from the path at t
//! d_k = P_{t+5k} − P_{t+5(k−1)}           12 numbers: its differences, in the axes of the world
//! f_k = 1 if P_{t+5k} is in a turn to the outside
//! ```
//!
//! Row `t` goes with the outputs of frame `t + 1`: it says what lies ahead before the step is taken. The frame is
//! that of the smooth path, heading included, so that no swaying of the body comes in with it. Bird & Williams
//! (2020), supplement, "Choice of inputs". Differs from there: the body's own frame would do that.

use mtds::Signal;

use crate::frame::Placement;
use crate::{Error, Result};

/// Number of points ahead.
pub const N_AHEAD: usize = 6;
/// Frames between points ahead.
pub const AHEAD_FRAMES: usize = 5;
/// Frames that inputs look ahead: a second at 30 frames per second.
pub const HORIZON: usize = N_AHEAD * AHEAD_FRAMES;
/// Number of inputs.
pub const D_INPUT: usize = 5 * N_AHEAD + 2;

/// What drives a body: where to, at which phase of the gait, and which turns go outside.
#[derive(Debug, Clone, PartialEq)]
pub struct MotionPlan {
    /// Smooth path, one place per frame, and [`HORIZON`] more beyond the last.
    pub path: Vec<Placement>,
    /// Phase φ of the gait in every frame, in radians.
    pub phase_rad: Vec<f64>,
    /// For every place of the path, whether it is in a turn to the outside.
    pub outside: Vec<bool>,
}

impl MotionPlan {
    /// The inputs of all frames, `n_frames × 32`.
    ///
    /// # Errors
    /// [`Error::Shape`] if path or flags do not reach [`HORIZON`] frames further than the phase;
    /// [`Error::NotFinite`] if a number is not finite.
    pub fn inputs(&self) -> Result<Signal> {
        let n_frames = self.phase_rad.len();
        for (what, found) in [("path of the plan", self.path.len()), ("turning flags", self.outside.len())] {
            if found != n_frames + HORIZON {
                return Err(Error::shape(what, n_frames + HORIZON, found));
            }
        }
        let values: Vec<f64> = (0..n_frames).flat_map(|t| self.row(t)).collect();
        if let Some(place) = values.iter().position(|value| !value.is_finite()) {
            let what = format!("input {} in frame {}", input_names()[place % D_INPUT], place / D_INPUT);
            return Err(Error::NotFinite { what, value: values[place] });
        }
        Ok(Signal::new(n_frames, D_INPUT, values)?)
    }

    /// The inputs of frame `t`.
    fn row(&self, t: usize) -> [f64; D_INPUT] {
        let now = self.path[t];
        let mut row = [0.0; D_INPUT];
        for k in 0..N_AHEAD {
            let (before, place) = (self.path[t + AHEAD_FRAMES * k], self.path[t + AHEAD_FRAMES * (k + 1)]);
            let seen = now.turned_back([place.x - now.x, place.z - now.z]);
            row[2 * k..2 * k + 2].copy_from_slice(&seen);
            let difference = [place.x - before.x, place.z - before.z];
            row[2 * (N_AHEAD + k)..2 * (N_AHEAD + k) + 2].copy_from_slice(&difference);
            row[4 * N_AHEAD + 2 + k] = f64::from(u8::from(self.outside[t + AHEAD_FRAMES * (k + 1)]));
        }
        let (sin, cos) = self.phase_rad[t].sin_cos();
        row[4 * N_AHEAD..4 * N_AHEAD + 2].copy_from_slice(&[cos, sin]);
        row
    }
}

/// Names of the 32 inputs, in column order, e.g. `path_left_5`, `step_x_10`, `phase_cos`, `outside_30`.
#[must_use]
pub fn input_names() -> Vec<String> {
    let ahead = || (1..=N_AHEAD).map(|k| k * AHEAD_FRAMES);
    let path = ahead().flat_map(|t| [format!("path_left_{t}"), format!("path_forward_{t}")]);
    let steps = ahead().flat_map(|t| [format!("step_x_{t}"), format!("step_z_{t}")]);
    let phase = ["phase_cos", "phase_sin"].map(String::from);
    path.chain(steps).chain(phase).chain(ahead().map(|t| format!("outside_{t}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_see_the_path_ahead() {
        let facing_rad = std::f64::consts::FRAC_PI_2;
        let path = (0..40).map(|t| Placement { x: 0.1 * t as f64, z: 3.0, facing_rad }).collect();
        let mut outside = vec![false; 40];
        outside[12] = true;
        let plan = MotionPlan { path, phase_rad: vec![0.0; 10], outside };
        let inputs = plan.inputs().unwrap();
        assert_eq!((inputs.n_time(), inputs.width(), input_names().len()), (10, 32, 32));
        for k in 0..N_AHEAD {
            // Walking along +X and facing it: all of the way is forward.
            assert!(inputs.get(2, 2 * k).abs() < 1e-12);
            assert!((inputs.get(2, 2 * k + 1) - 0.5 * (k + 1) as f64).abs() < 1e-12);
            assert!((inputs.get(2, 12 + 2 * k) - 0.5).abs() < 1e-12 && inputs.get(2, 13 + 2 * k) == 0.0);
        }
        assert_eq!(inputs.row(2)[24..26], [1.0, 0.0]);
        assert_eq!(inputs.row(2)[26..], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn plans_must_reach_beyond_the_horizon() {
        let place = Placement { x: 0.0, z: 0.0, facing_rad: 0.0 };
        let short = MotionPlan { path: vec![place; 39], phase_rad: vec![0.0; 10], outside: vec![false; 40] };
        assert!(matches!(short.inputs(), Err(Error::Shape { .. })));
        let broken = MotionPlan { path: vec![place; 40], phase_rad: vec![f64::NAN; 10], ..short };
        assert!(broken.inputs().unwrap_err().to_string().contains("phase_cos in frame 0"));
    }
}
