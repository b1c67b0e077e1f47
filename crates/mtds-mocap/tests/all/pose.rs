//! From positions back to rotations: bodies measured from tracks, few channels, hinges, continuous angles.

use crate::fixture::{mapped, mixamo, moved};
use glam::{DQuat, DVec3};
use mtds_mocap::bvh::{Channel, Hierarchy, Node, read, write};
use mtds_mocap::rotation::Axis;
use mtds_mocap::skeleton::*;
use mtds_mocap::{Joint, JointTrack};
use proptest::prelude::*;

#[test]
fn few_channels_are_used_as_far_as_they_go() {
    let track = mapped(&moved(&[5.0, -9.0, 14.0, 3.0])).track;
    let track = JointTrack::new(track.fps, track.frame(0).to_vec()).unwrap();
    let full = Target::measured(&track).unwrap();
    let nodes = full.hierarchy.nodes().iter().map(|node| match node.name.as_str() {
        "LeftLeg" => Node { channels: vec![Channel::Rotation(Axis::X)], ..node.clone() },
        "RightLeg" => Node { channels: [Axis::X, Axis::Z].map(Channel::Rotation).to_vec(), ..node.clone() },
        "Head" => Node { channels: vec![], ..node.clone() },
        _ => node.clone(),
    });
    let few = Target { hierarchy: Hierarchy::new(nodes.collect()).unwrap(), ..full.clone() };
    let (full, few) = (pose(&track, &full).unwrap(), pose(&track, &few).unwrap());
    assert!(full.mean_error_m < 1e-9, "{}", full.mean_error_m);
    assert!(few.mean_error_m > full.mean_error_m && few.worst_error_m < 0.2, "{}", few.worst_error_m);
}

#[test]
fn a_body_that_cannot_be_moved_is_refused() {
    let track = mapped(&mixamo()).track;
    let full = Target::measured(&track).unwrap();
    let turn_only = |node: &Node| Node { channels: vec![Channel::Rotation(Axis::X)], ..node.clone() };
    let nodes = full.hierarchy.nodes().iter().map(turn_only).collect();
    let fixed = Target { hierarchy: Hierarchy::new(nodes).unwrap(), ..full };
    assert!(pose(&track, &fixed).unwrap_err().to_string().contains("three position channels"));
}

#[test]
fn knees_and_elbows_bend_about_their_hinges() {
    // A deep squat: thighs forward, shanks back.
    let mut frame: Vec<[f64; 3]> = mapped(&mixamo()).track.frame(0).to_vec();
    for (hip, knee, ankle, toe) in [
        (Joint::LeftHip, Joint::LeftKnee, Joint::LeftAnkle, Joint::LeftToe),
        (Joint::RightHip, Joint::RightKnee, Joint::RightAnkle, Joint::RightToe),
    ] {
        let at = DVec3::from(frame[hip.index()]);
        frame[knee.index()] = (at + DVec3::new(0.0, -0.2, 0.37)).into();
        frame[ankle.index()] = (at + DVec3::new(0.0, -0.6, 0.3)).into();
        frame[toe.index()] = (at + DVec3::new(0.0, -0.66, 0.44)).into();
    }
    let track = JointTrack::new(30.0, frame).unwrap();
    let target = Target::measured(&track).unwrap();
    let posed = pose(&track, &target).unwrap();
    let world = forward(&posed.motion, PositionChannels::Replace);
    let thigh = target.hierarchy.nodes().iter().position(|node| node.name == "LeftUpLeg").unwrap();
    let hinge = world.rotations(0)[thigh] * DVec3::X;
    assert!(hinge.x > 0.99, "{hinge}");
}

#[test]
fn a_body_measured_from_a_rest_pose_stands_in_it_untwisted() {
    let track = mapped(&mixamo()).track;
    let target = Target::measured(&track).unwrap();
    let posed = pose(&track, &target).unwrap();
    // Pelvis and chest need no turn at all: the measured forks are those of the pose.
    for name in
        ["Hips", "LHipJoint", "RHipJoint", "LowerBack", "Spine1", "Neck", "LeftShoulder", "RightShoulder"]
    {
        let node = target.hierarchy.nodes().iter().position(|node| node.name == name).unwrap();
        let values = target.hierarchy.values_of(node, posed.motion.frame(0));
        assert!(values[values.len() - 3..].iter().all(|angle| angle.abs() < 1e-3), "{name}: {values:?}");
    }
}

#[test]
fn exported_angles_do_not_jump() {
    let rest = mapped(&mixamo()).track;
    // The whole body turns five times about the vertical.
    let mut positions = Vec::new();
    for step in 0..300 {
        let turn = DQuat::from_rotation_y(f64::from(step) * 0.1);
        positions.extend(rest.frame(0).iter().map(|p| <[f64; 3]>::from(turn * DVec3::from(*p))));
    }
    let track = JointTrack::new(30.0, positions).unwrap();
    let posed = pose(&track, &Target::measured(&track).unwrap()).unwrap();
    let n = posed.motion.hierarchy().n_channels();
    for (before, after) in posed.motion.values().iter().zip(&posed.motion.values()[n..]) {
        assert!((before - after).abs() < 30.0, "{before} → {after}");
    }
    assert!(posed.worst_error_m < 1e-9);
}

proptest! {
    #[test]
    fn rotations_from_positions_lead_back_to_the_positions(angles in prop::collection::vec(-60.0..60.0f64, 5..30)) {
        let options = MapOptions {
            metres_per_unit: Some(1.0),
            up: Some(Up::Y),
            handedness: Some(Handedness::Right),
            position_channels: None,
        };
        let track = map(&moved(&angles), &Rules::built_in(), &options).unwrap().track;
        // One frame, so that every bone has the length that the body is given.
        let track = JointTrack::new(track.fps, track.frame(0).to_vec()).unwrap();
        let posed = pose(&track, &Target::measured(&track).unwrap()).unwrap();
        prop_assert!(posed.worst_error_m < 1e-9, "{}", posed.worst_error_m);
        let back = read(&write(&posed.motion)).unwrap().motion;
        let centimetres = MapOptions { metres_per_unit: Some(0.01), ..options };
        let back = map(&back, &Rules::built_in(), &centimetres).unwrap().track;
        for (a, b) in track.positions().iter().zip(back.positions()) {
            prop_assert!(DVec3::from(*a).distance(DVec3::from(*b)) < 1e-9);
        }
    }
}

/// Twists are not in positions: a rig that is told nothing about them is turned the shortest way, one that knows its motion as it usually is.
#[test]
fn a_rig_is_twisted_as_it_was_in_its_own_motion() {
    let walker = mtds_mocap::walker::Walker::new(mtds_mocap::walker::Style::Strutting.parameters());
    let motion = walker.walk(120, &mut mtds::random::stream(21, 0)).unwrap().to_bvh().unwrap();
    let mapped = map(&motion, &Rules::built_in(), &MapOptions::default()).unwrap();
    let target = Target::rig_of(&motion, &mapped.report);
    let n_nodes = target.hierarchy.nodes().len();
    let plain =
        Target { turns: vec![DQuat::IDENTITY; n_nodes], hinges: vec![None; n_nodes], ..target.clone() };
    let truth = forward(&motion, target.position_channels);
    let [own, plain] = [target, plain].map(|target| {
        let posed = pose(&mapped.track, &target).unwrap();
        let world = forward(&posed.motion, target.position_channels);
        let angle = |t: usize, place: usize| {
            mtds_mocap::rotation::angle_between(truth.rotations(t)[place], world.rotations(t)[place])
        };
        let all = (0..120).flat_map(|t| (0..n_nodes).map(move |place| (t, place)));
        all.map(|(t, place)| angle(t, place)).sum::<f64>().to_degrees() / (120 * n_nodes) as f64
    });
    eprintln!("{own} {plain}");
    assert!(own < 8.0 && own < 0.7 * plain, "mean angle {own} and {plain} degrees");
}
