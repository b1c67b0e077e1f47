//! Operations on unit quaternions: interpolation, swing and twist, aiming.
//!
//! ```text
//! slerp        q(s) = p (p⁻¹ q)^s, the shorter way
//! swing–twist  q = swing · twist;  twist turns about the axis, swing about a line across it
//! ```

use glam::{DQuat, DVec3};

/// The angle of the rotation that leads from one to the other, in [0, π].
pub fn angle_between(from: DQuat, to: DQuat) -> f64 {
    let step = from.conjugate() * to;
    // The arctangent is exact for small angles, where the arccosine of the scalar part is not.
    2.0 * step.xyz().length().atan2(step.w.abs())
}

/// The rotation at `share` of the way between two, at constant speed, by the shorter way.
///
/// Halfway around, where both ways are equally long, it is one of them.
pub fn slerp(from: DQuat, to: DQuat, share: f64) -> DQuat {
    let step = from.conjugate() * to;
    let step = if step.w < 0.0 { -step } else { step };
    let sin = step.xyz().length();
    let half_angle = sin.atan2(step.w);
    // sin(s x) / sin(x) tends to s.
    let scale = if sin < 1e-150 { share } else { (share * half_angle).sin() / sin };
    let axis = step.xyz() * scale;
    (from * DQuat::from_xyzw(axis.x, axis.y, axis.z, (share * half_angle).cos())).normalize()
}

/// Splits a rotation as `swing · twist` about a unit axis.
///
/// A half turn across the axis has no definite twist; the twist is then the identity.
pub fn swing_twist(rotation: DQuat, axis: DVec3) -> (DQuat, DQuat) {
    let along = rotation.xyz().dot(axis);
    let size = along.hypot(rotation.w);
    let twist = if size < 1e-12 {
        DQuat::IDENTITY
    } else {
        let part = axis * (along / size);
        DQuat::from_xyzw(part.x, part.y, part.z, rotation.w / size)
    };
    ((rotation * twist.conjugate()).normalize(), twist)
}

/// Angle of the twist of a rotation about a unit axis, in (−π, π].
pub fn twist_angle(rotation: DQuat, axis: DVec3) -> f64 {
    let (_, twist) = swing_twist(rotation, axis);
    let half = twist.xyz().dot(axis).atan2(twist.w);
    crate::rotation::nearest_turn(2.0 * half, 0.0)
}

/// The smallest rotation that turns direction `from` into direction `to`; the identity where one has no length.
///
/// Between opposite directions it is one of the half turns.
pub fn aim(from: DVec3, to: DVec3) -> DQuat {
    let (Some(from), Some(to)) = (from.try_normalize(), to.try_normalize()) else { return DQuat::IDENTITY };
    // The direction halfway: its angle to `from` is the half angle of the quaternion, exact for small turns too.
    let half = from + to;
    if half.length() < 1e-9 {
        let axis = from.any_orthonormal_vector();
        return DQuat::from_xyzw(axis.x, axis.y, axis.z, 0.0);
    }
    let half = half.normalize();
    let axis = from.cross(half);
    DQuat::from_xyzw(axis.x, axis.y, axis.z, from.dot(half)).normalize()
}
