//! Properties of rotations: conversions invert each other, interpolation is steady, splits multiply back.

use glam::{DMat3, DQuat, DVec3};
use mtds_mocap::rotation::*;
use proptest::prelude::*;
use std::f64::consts::{FRAC_PI_2, PI};

/// Several roundings of products of unit numbers.
const TOLERANCE: f64 = 1e-13;

fn rotations() -> impl Strategy<Value = DQuat> {
    prop::array::uniform4(-1.0..1.0f64)
        .prop_filter("has a direction", |q| q.iter().map(|x| x * x).sum::<f64>() > 1e-3)
        .prop_map(|[x, y, z, w]| DQuat::from_xyzw(x, y, z, w).normalize())
}

fn directions() -> impl Strategy<Value = DVec3> {
    prop::array::uniform3(-1.0..1.0f64)
        .prop_filter("has a direction", |v| DVec3::from(*v).length() > 1e-2)
        .prop_map(|v| DVec3::from(v).normalize())
}

/// Textbook matrices, written out: the twin of `EulerOrder::quaternion`.
fn matrix_about(axis: Axis, angle: f64) -> DMat3 {
    let (s, c) = angle.sin_cos();
    let rows = match axis {
        Axis::X => [[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]],
        Axis::Y => [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]],
        Axis::Z => [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]],
    };
    DMat3::from_cols_array_2d(&rows).transpose()
}

fn distance(a: DMat3, b: DMat3) -> f64 {
    (a - b).to_cols_array().iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

#[test]
fn there_are_twelve_orders() {
    assert_eq!(EulerOrder::all().count(), 12);
    assert!(EulerOrder::new([Axis::X, Axis::X, Axis::Y]).is_none());
}

#[test]
fn gimbal_lock_keeps_the_rotation() {
    for order in EulerOrder::all() {
        for middle in [FRAC_PI_2, -FRAC_PI_2, 0.0, PI, FRAC_PI_2 - 1e-9, 1e-9] {
            for outer in [-3.0, -0.4, 0.0, 1.0, 2.5] {
                let rotation = order.quaternion([outer, middle, 0.7]);
                let back = order.quaternion(order.angles(rotation));
                assert!(angle_between(rotation, back) < 1e-13, "{order:?} {outer} {middle}");
            }
        }
    }
}

#[test]
fn nearest_angles_follow_a_turn_without_jumps() {
    for order in EulerOrder::all() {
        let mut previous = order.angles(DQuat::IDENTITY);
        for step in 1..=2000 {
            let turn = order.axes()[0].rotation(0.01 * f64::from(step));
            let angles = order.angles_near(turn, previous);
            let jump = angles.iter().zip(previous).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(jump < 0.011, "{order:?}: {previous:?} → {angles:?}");
            assert!(angle_between(order.quaternion(angles), turn) < 1e-12);
            previous = angles;
        }
    }
}

proptest! {
    #[test]
    fn euler_to_quaternion_is_the_product_of_matrices(angles in prop::array::uniform3(-7.0..7.0f64)) {
        for order in EulerOrder::all() {
            let [i, j, k] = order.axes();
            let [a, b, c] = angles;
            let twin = matrix_about(i, a) * matrix_about(j, b) * matrix_about(k, c);
            prop_assert!(distance(DMat3::from_quat(order.quaternion(angles)), twin) < TOLERANCE);
        }
    }

    #[test]
    fn quaternion_to_euler_and_back(rotation in rotations(), previous in prop::array::uniform3(-9.0..9.0f64)) {
        for order in EulerOrder::all() {
            let angles = order.angles(rotation);
            prop_assert!(angle_between(order.quaternion(angles), rotation) < TOLERANCE);
            let near = order.angles_near(rotation, previous);
            prop_assert!(angle_between(order.quaternion(near), rotation) < TOLERANCE);
        }
    }

    #[test]
    fn quaternion_to_matrix_and_back(rotation in rotations()) {
        let back = DQuat::from_mat3(&DMat3::from_quat(rotation));
        prop_assert!(angle_between(rotation, back) < TOLERANCE);
    }

    #[test]
    fn slerp_turns_steadily(from in rotations(), to in rotations(), share in 0.0..1.0f64) {
        let whole = angle_between(from, to);
        let part = slerp(from, to, share);
        prop_assert!((angle_between(from, part) - share * whole).abs() < 1e-12);
        prop_assert!((angle_between(part, to) - (1.0 - share) * whole).abs() < 1e-12);
        prop_assert!(angle_between(slerp(from, -to, share), part) < 1e-6 || whole > PI - 1e-6);
    }

    #[test]
    fn slerp_of_near_rotations_is_exact(from in rotations(), axis in directions(), tiny in 1e-12..1e-3f64) {
        let to = from * DQuat::from_axis_angle(axis, tiny);
        let half = slerp(from, to, 0.5);
        let expected = from * DQuat::from_axis_angle(axis, 0.5 * tiny);
        prop_assert!(angle_between(half, expected) < TOLERANCE);
    }

    #[test]
    fn swing_and_twist_multiply_back(rotation in rotations(), axis in directions()) {
        let (swing, twist) = swing_twist(rotation, axis);
        prop_assert!(angle_between(swing * twist, rotation) < TOLERANCE);
        prop_assert!((twist * axis - axis).length() < TOLERANCE);
        prop_assert!(swing.xyz().dot(axis).abs() < TOLERANCE);
        let again = DQuat::from_axis_angle(axis, twist_angle(rotation, axis));
        prop_assert!(angle_between(again, twist) < TOLERANCE);
    }

    #[test]
    fn aim_turns_one_direction_into_the_other(from in directions(), to in directions()) {
        // Opposite directions included: every fourth case or so is turned around.
        let to = if from.x > 0.5 { -from } else { to };
        prop_assert!((aim(from, to) * from - to).length() < 1e-7);
    }

    #[test]
    fn aim_is_exact_for_small_turns(from in directions(), across in directions(), tiny in 1e-12..1e-4f64) {
        let to = from + across * tiny;
        prop_assert!((aim(from, to) * from - to.normalize()).length() < 1e-14);
    }

    #[test]
    fn best_rotation_finds_the_one_that_made_the_pairs(
        rotation in rotations(),
        vectors in prop::collection::vec(directions(), 2..5),
    ) {
        prop_assume!(vectors[0].cross(vectors[1]).length() > 0.1);
        let pairs: Vec<Pair> =
            vectors.iter().map(|&v| Pair { from: v, to: rotation * v, weight: 2.0 }).collect();
        prop_assert!(angle_between(best_rotation(&pairs, rotation), rotation) < 1e-9);
        // A wrong prior pulls no further than its weight.
        prop_assert!(angle_between(best_rotation(&pairs, DQuat::IDENTITY), rotation) < 1e-3);
    }

    #[test]
    fn best_rotation_keeps_the_prior_where_pairs_are_silent(prior in rotations(), axis in directions()) {
        prop_assert!(angle_between(best_rotation(&[], prior), prior) < TOLERANCE);
        let pair = Pair { from: axis, to: prior * axis, weight: 1.0 };
        prop_assert!(angle_between(best_rotation(&[pair], prior), prior) < 1e-6);
    }
}
