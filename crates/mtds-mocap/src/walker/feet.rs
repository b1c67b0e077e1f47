//! Where the feet are: planted while they stand, and swinging from one plant to the next.
//!
//! ```text
//! c = (φ − φ_foot) / 2π        φ_left = 0, φ_right = π        plant number k = ⌊c⌋, place in the cycle f = c − k
//! stands   f < duty            toe at plant k; the heel rises over the last part
//! swings   f ≥ duty            toe from plant k to plant k + 1
//!
//! plant k is under the body in the middle of its stance: distance on the route = L (k + duty/2 + φ_foot/2π),
//! less most of what the rising heel will bring the ankle forward, so that the leg reaches as far back as ahead
//! ```

use std::f64::consts::{PI, TAU};

use glam::{DQuat, DVec3};

use super::body::{ANKLE_HEIGHT, ANKLE_TO_TOE};
use super::route::Route;
use super::style::GaitParameters;
use crate::gait::Foot;

/// Part of the stance after which the heel rises.
const HEEL_RISES: f64 = 0.5;
/// How far back a foot is planted, relative to what its rising heel makes up for.
const PLANT_BACK: f64 = 0.9;
/// Parts of the swing between which the heel comes down.
const HEEL_FALLS: [f64; 2] = [0.1, 0.8];

/// A foot at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FootPose {
    /// Where the ankle is.
    pub ankle: DVec3,
    /// World rotation of the foot.
    pub rotation: DQuat,
    /// Whether the toe is planted.
    pub stands: bool,
}

/// The foot at phase `phase_rad` of a gait along a route; distances grow with the phase from 0.
pub(super) fn foot_pose(foot: Foot, phase_rad: f64, gait: &GaitParameters, route: &Route) -> FootPose {
    let cycle = (phase_rad - strike_phase(foot)) / TAU;
    let (k, f) = (cycle.floor(), cycle - cycle.floor());
    let (toe, yaw, heel) = if f < gait.duty {
        let (toe, yaw) = plant(foot, k, gait, route);
        (toe, yaw, gait.heel_rise_rad * smooth((f / gait.duty - HEEL_RISES) / (1.0 - HEEL_RISES)))
    } else {
        swing(foot, k, (f - gait.duty) / (1.0 - gait.duty), (gait, route))
    };
    let rotation = DQuat::from_rotation_y(yaw) * DQuat::from_rotation_x(heel);
    FootPose { ankle: toe - rotation * ANKLE_TO_TOE, rotation, stands: f < gait.duty }
}

/// Phase at which a foot lands.
fn strike_phase(foot: Foot) -> f64 {
    match foot {
        Foot::Left => 0.0,
        Foot::Right => PI,
    }
}

/// Toe and yaw of plant number `k`.
fn plant(foot: Foot, k: f64, gait: &GaitParameters, route: &Route) -> (DVec3, f64) {
    let distance = gait.stride_length() * (k + 0.5 * gait.duty + strike_phase(foot) / TAU);
    let (sin, cos) = gait.heel_rise_rad.sin_cos();
    let brought_forward = ANKLE_TO_TOE.z * (1.0 - cos) - ANKLE_TO_TOE.y * sin;
    let place = route.at(distance - PLANT_BACK * brought_forward);
    let side = if foot == Foot::Left { 0.5 } else { -0.5 };
    let toe_height = ANKLE_HEIGHT + ANKLE_TO_TOE.y;
    let toe = place.world_from_local([side * gait.step_width, toe_height, ANKLE_TO_TOE.z]);
    (DVec3::from_array(toe), place.facing_rad)
}

/// Toe, yaw and pitch of a foot on a share `w` of the way from plant `k` to the next.
fn swing(foot: Foot, k: f64, w: f64, (gait, route): (&GaitParameters, &Route)) -> (DVec3, f64, f64) {
    let ((from, yaw_from), (to, yaw_to)) = (plant(foot, k, gait, route), plant(foot, k + 1.0, gait, route));
    let share = smooth(w);
    let lift = gait.foot_lift * (PI * w).sin().powi(2);
    // The heel comes down while the toe swings, so that the foot lands flat.
    let heel = gait.heel_rise_rad * (1.0 - smooth((w - HEEL_FALLS[0]) / (HEEL_FALLS[1] - HEEL_FALLS[0])));
    (from.lerp(to, share) + DVec3::Y * lift, yaw_from + share * (yaw_to - yaw_from), heel)
}

/// From 0 to 1 with level ends; held outside.
fn smooth(share: f64) -> f64 {
    let share = share.clamp(0.0, 1.0);
    share * share * (3.0 - 2.0 * share)
}
