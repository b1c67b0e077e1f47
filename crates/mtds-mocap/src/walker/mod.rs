//! A procedural walker: gaits with known styles, contacts and phase, for tests and demonstrations anywhere.
//!
//! ```text
//! φ(t) = φ_0 + 2π t / stride · (1 + small, slow changes of pace)      phase: 0 left foot lands, π right foot
//! s(φ) = stride length · φ / 2π                                        distance along a random route
//! hips, trunk and arms swing with φ; feet stand where they landed; legs follow by inverse kinematics
//! ```
//!
//! All 21 joints come with rotations, so that a walk can be written as BVH without fitting anything.
//!
//! ```
//! use mtds_mocap::walker::{Style, Walker};
//!
//! # fn main() -> mtds_mocap::Result<()> {
//! let walk = Walker::new(Style::Strutting.parameters()).walk(90, &mut mtds::random::stream(7, 0))?;
//! assert_eq!((walk.track.n_frames(), walk.contacts[0].len(), walk.phase_rad.len()), (90, 90, 90));
//! let bytes = mtds_mocap::bvh::write(&walk.to_bvh()?);
//! assert!(bytes.starts_with(b"HIERARCHY"));
//! # Ok(())
//! # }
//! ```

mod body;
mod cast;
mod feet;
mod pose;
mod rig;
mod route;
mod style;

pub use body::rest_offset;
pub use cast::{Cast, CastWalk};
pub use route::Route;
pub use style::{GaitParameters, N_PARAMETERS, PARAMETER_NAMES, Style};

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};
use mtds::random::Random;
use rand::RngExt;

use crate::frame::Placement;
use crate::{Error, JointTrack, N_JOINTS, Result};

/// Largest share by which the pace rises and falls.
const PACE_CHANGE: f64 = 0.08;
/// Shortest and longest time over which it does, in seconds.
const PACE_SECS: [f64; 2] = [5.0, 12.0];
/// Phases of a cycle at which the usual height is measured.
const N_HEIGHT_PHASES: usize = 120;
/// How much lower the hips are than a straight route would allow, in metres.
const BEND_ROOM: f64 = 0.01;
/// Strides of route before the first and after the last frame, so that every plant is on it.
const N_SPARE_STRIDES: f64 = 3.0;

/// Who walks, and how it is recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Walker {
    /// The gait.
    pub gait: GaitParameters,
    /// Frames per second; 30.
    pub fps: f64,
    /// Where to; a random route.
    pub route: RouteKind,
}

/// Where a walker goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteKind {
    /// A random route with bends to both sides.
    Random,
    /// Straight along +Z, at an even pace.
    Straight,
}

/// A walk, and what is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Walk {
    /// Positions of the 21 joints.
    pub track: JointTrack,
    /// World rotations of the joints from the T-pose, frame by frame.
    pub rotations: Vec<[DQuat; N_JOINTS]>,
    /// For each foot, left first, and each frame, whether it stands.
    pub contacts: [Vec<bool>; 2],
    /// Phase of the gait in every frame, unwrapped: a multiple of 2π where the left foot lands.
    pub phase_rad: Vec<f64>,
    /// Place and heading on the route in every frame, which the hips sway around.
    pub route: Vec<Placement>,
}

impl Walker {
    /// Somebody with this gait, on a random route at 30 frames per second.
    #[must_use]
    pub fn new(gait: GaitParameters) -> Self {
        Self { gait, fps: crate::signal::FPS, route: RouteKind::Random }
    }

    /// Walks for `n_frames` frames; route, pace and the first phase are random.
    ///
    /// # Errors
    /// [`Error::Setting`] if a parameter is out of its range, the rate is not positive, or the stride too long for
    /// the legs; [`Error::Shape`] without frames.
    pub fn walk(&self, n_frames: usize, random: &mut Random) -> Result<Walk> {
        self.gait.check()?;
        if !(self.fps.is_finite() && self.fps > 0.0) {
            return Err(Error::setting(
                "fps",
                format!("found {}; give frames per second, above 0", self.fps),
            ));
        }
        if n_frames == 0 {
            return Err(Error::shape("frames of a walk", "at least one", 0));
        }
        let phase_rad = self.phases(n_frames, random);
        let spare = N_SPARE_STRIDES * self.gait.stride_length();
        let end = phase_rad[n_frames - 1] / TAU * self.gait.stride_length();
        let route = match self.route {
            RouteKind::Random => Route::random(-spare..end + spare, random),
            RouteKind::Straight => Route::straight(-spare..end + spare),
        };
        self.along(&route, phase_rad)
    }

    /// Phase of every frame.
    fn phases(&self, n_frames: usize, random: &mut Random) -> Vec<f64> {
        let mut uniform = |low: f64, high: f64| low + (high - low) * random.random::<f64>();
        let first = uniform(0.0, TAU);
        let change = match self.route {
            RouteKind::Random => uniform(0.0, PACE_CHANGE),
            RouteKind::Straight => 0.0,
        };
        let (rate, shift) = (TAU / uniform(PACE_SECS[0], PACE_SECS[1]), uniform(0.0, TAU));
        // The integral of a pace 1 + change · cos(rate t + shift), which is never negative.
        let progress = |t: f64| t + change / rate * ((rate * t + shift).sin() - shift.sin());
        let per_sec = TAU / self.gait.stride_secs;
        (0..n_frames).map(|frame| first + per_sec * progress(frame as f64 / self.fps)).collect()
    }

    /// Height of the hips on a straight route, with room for gentle bends: most walks of a gait are equally tall.
    fn usual_height(&self) -> f64 {
        let route = Route::straight(-3.0 * self.gait.stride_length()..3.0 * self.gait.stride_length());
        let phases = (0..N_HEIGHT_PHASES).map(|i| TAU * i as f64 / N_HEIGHT_PHASES as f64);
        let stances: Vec<_> = phases.map(|phase| pose::stance(phase, &self.gait, &route)).collect();
        pose::hip_height(&stances).map_or(f64::INFINITY, |height| height - BEND_ROOM)
    }

    /// The walk along a route with these phases.
    fn along(&self, route: &Route, phase_rad: Vec<f64>) -> Result<Walk> {
        let stances: Vec<_> = phase_rad.iter().map(|&phase| pose::stance(phase, &self.gait, route)).collect();
        let height = pose::hip_height(&stances).ok_or_else(|| {
            let length = self.gait.stride_length();
            let why = format!(
                "a stride of {length:.2} m is too long for the legs; lower the speed or the stride's time"
            );
            Error::setting("stride_secs", why)
        })?;
        let height = height.min(self.usual_height()) - self.gait.crouch;
        let mut positions = Vec::with_capacity(stances.len() * N_JOINTS);
        let mut rotations = Vec::with_capacity(stances.len());
        for (stance, &phase) in stances.iter().zip(&phase_rad) {
            let hips = stance.hips + DVec3::Y * height;
            let turned = pose::rotations(stance, hips, phase, &self.gait)
                .ok_or_else(|| Error::setting("crouch", "the legs do not reach the ground; lower it"))?;
            positions.extend(body::positions(hips, &turned).map(|joint| joint.to_array()));
            rotations.push(turned);
        }
        let contacts = [0, 1].map(|foot| stances.iter().map(|stance| stance.feet[foot].stands).collect());
        let route = phase_rad.iter().map(|phase| route.at(phase / TAU * self.gait.stride_length())).collect();
        Ok(Walk { track: JointTrack::new(self.fps, positions)?, rotations, contacts, phase_rad, route })
    }
}
