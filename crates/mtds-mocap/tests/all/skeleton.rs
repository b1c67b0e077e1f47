//! Skeleton maps of the five kinds of rig, findings of unit, up and side, and forward kinematics.

use crate::fixture::{biovision, changed, mapped, mixamo, moved, standing, xsens};
use glam::DVec3;
use mtds_mocap::bvh::{Channel, Hierarchy, Motion, Node, read, write};
use mtds_mocap::rotation::{Axis, EulerOrder};
use mtds_mocap::skeleton::*;
use mtds_mocap::{Joint, JointTrack, N_JOINTS};
use proptest::prelude::*;

fn names_of(motion: &Motion, report: &MapReport) -> Vec<String> {
    let name = |source: &Source| match *source {
        Source::Node(node) => motion.hierarchy().nodes()[node].name.clone(),
        Source::EndSite { node, .. } => format!("{}/end", motion.hierarchy().nodes()[node].name),
        Source::Synthesised(how) => how.to_string(),
    };
    report.rig.sources.iter().map(name).collect()
}

#[test]
fn built_in_rules_are_read_and_name_every_joint() {
    let rules = Rules::from_json(include_bytes!("../../src/skeleton/rigs.json")).unwrap();
    assert_eq!(rules, Rules::built_in());
    let names: Vec<&str> = rules.rigs.iter().map(|rig| rig.name.as_str()).collect();
    assert_eq!(names, ["cmu", "bandai-namco", "mixamo", "xsens", "xsens-segments", "biovision"]);
    assert!(rules.rigs.iter().all(|rig| rig.joints.len() == N_JOINTS));
}

#[test]
fn mixamo_is_mapped_with_its_prefix() {
    let motion = mixamo();
    let Mapped { track, report } = mapped(&motion);
    assert_eq!((report.rig.rig.as_str(), report.synthesised().len()), ("mixamo", 0));
    let names = names_of(&motion, &report);
    assert_eq!(names[Joint::Chest.index()], "mixamorig:Spine2");
    assert_eq!(names[Joint::LeftFingers.index()], "mixamorig:LeftHand/end");
    assert_eq!((track.fps, report.unit.name.as_str()), (60.0, "metre"));
    assert!((track.at(0, Joint::Head)[1] - 1.6).abs() < 1e-12);
}

#[test]
fn xsens_is_told_from_biovision_by_its_chest() {
    let motion = xsens();
    let report = mapped(&motion).report;
    assert_eq!((report.rig.rig.as_str(), report.synthesised().len()), ("xsens", 0));
    assert_eq!(names_of(&motion, &report)[Joint::Chest.index()], "Chest4");
}

#[test]
fn plain_biovision_lacks_a_chest_and_says_so() {
    let motion = biovision();
    let Mapped { track, report } = mapped(&motion);
    assert_eq!(report.rig.rig, "biovision");
    let made_up: Vec<Joint> = report.synthesised().iter().map(|(joint, _)| *joint).collect();
    assert_eq!(made_up, [Joint::Chest]);
    assert!(
        report.notes().iter().any(|note| note.contains("Chest made up: 50 % of the way from Spine to Neck"))
    );
    assert_eq!(names_of(&motion, &report)[Joint::LeftToe.index()], "LeftAnkle/end");
    assert!((track.at(0, Joint::Chest)[1] - 1.32).abs() < 1e-12);
}

#[test]
fn toes_neck_and_head_are_made_up_where_a_rig_lacks_them() {
    let without = |names: &[&str]| {
        let motion = biovision();
        let keep: Vec<_> =
            motion.hierarchy().nodes().iter().filter(|node| !names.contains(&node.name.as_str())).collect();
        let place = |name: &str| keep.iter().position(|node| node.name == name);
        let nodes = keep.iter().map(|node| {
            let parent = node.parent.map(|parent| &motion.hierarchy().nodes()[parent]);
            let parent = parent.and_then(|parent| place(&parent.name).or_else(|| place("Chest")));
            Node { parent, end_sites: vec![[0.0; 3]], ..(*node).clone() }
        });
        mapped(&standing(Hierarchy::new(nodes.collect()).unwrap()))
    };
    let Mapped { track, report } = without(&["Head"]);
    let how =
        |report: &MapReport, joint| report.synthesised().iter().find(|(made, _)| *made == joint).unwrap().1;
    assert!(matches!(how(&report, Joint::Head), Synthesis::Past { through: Joint::Neck, .. }));
    assert!(track.at(0, Joint::Head)[1] > track.at(0, Joint::Neck)[1]);
    assert_eq!(how(&report, Joint::LeftToe), Synthesis::At(Joint::LeftAnkle));
    assert_eq!(track.at(0, Joint::LeftToe), track.at(0, Joint::LeftAnkle));
    let fingers = track.at(0, Joint::LeftFingers)[0] - track.at(0, Joint::LeftWrist)[0];
    assert!((fingers - 0.25 * 0.26).abs() < 1e-12, "straight on from the wrist: {fingers}");
    let Mapped { track, report } = without(&["Neck"]);
    assert!(matches!(how(&report, Joint::Neck), Synthesis::Between { to: Joint::Head, .. }));
    assert!(track.at(0, Joint::Neck)[1] < track.at(0, Joint::Head)[1]);
}

#[test]
fn a_rig_of_nobody_is_refused_with_names_and_a_users_rule_helps() {
    let other: Vec<Node> = mixamo()
        .hierarchy()
        .nodes()
        .iter()
        .map(|node| Node { name: format!("x{}", node.name.replace("mixamorig:", "")), ..node.clone() })
        .collect();
    let motion = standing(Hierarchy::new(other).unwrap());
    let error = map(&motion, &Rules::built_in(), &MapOptions::default()).unwrap_err().to_string();
    assert!(error.contains("lacks Hips, LeftHip") && error.contains("`xHips`"), "{error}");
    let own = Rules::from_json(br#"{ "prefixes": ["x"], "rigs": [] }"#).unwrap();
    let rules = Rules::built_in().extended_by(own);
    assert_eq!(map(&motion, &rules, &MapOptions::default()).unwrap().report.rig.rig, "mixamo");
    let chest = br#"{ "rigs": [{ "name": "mixamo", "joints": { "Chest": ["Spine"] } }] }"#;
    let rules = Rules::built_in().extended_by(Rules::from_json(chest).unwrap());
    assert_eq!(rules.rigs.iter().filter(|rig| rig.name == "mixamo").count(), 1);
}

#[test]
fn rules_that_are_none_are_refused() {
    for (text, words) in [
        ("{", "line 1"),
        (r#"{ "rigs": [{ "name": "a", "joints": { "Tail": ["t"] } }] }"#, "Tail"),
        (r#"{ "rigs": [{ "name": "a", "joints": { "Hips": [] } }] }"#, "Hips has no names"),
        (r#"{ "rigs": [{ "name": "a", "metres_per_unit": 0, "joints": {} }] }"#, "above 0"),
        (r#"{ "rigs": [], "rig": 1 }"#, "rig"),
    ] {
        let error = Rules::from_json(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let none = Rules::from_json(br#"{ "rigs": [] }"#).unwrap();
    assert!(map(&mixamo(), &none, &MapOptions::default()).is_err());
}

#[test]
fn two_bodies_in_one_file_are_noted() {
    let motion = biovision();
    let nodes = motion.hierarchy().nodes();
    let shifted =
        nodes.iter().map(|node| Node { parent: node.parent.map(|p| p + nodes.len()), ..node.clone() });
    let both = nodes.iter().cloned().chain(shifted).collect();
    let report = mapped(&standing(Hierarchy::new(both).unwrap())).report;
    assert!(report.notes().iter().any(|note| note.contains("2 joints are called `LeftKnee`")));
}

#[test]
fn units_are_found_by_the_length_of_legs() {
    let expected = mapped(&mixamo()).track;
    for (units_per_metre, name) in [
        (1.0, "metre"),
        (100.0, "centimetre"),
        (1000.0, "millimetre"),
        (1.0 / 0.0254, "inch"),
        (45.0 / 2.54, "CMU"),
    ] {
        let Mapped { track, report } = mapped(&changed(&mixamo(), |v| v * units_per_metre));
        assert!(report.unit.name.starts_with(name), "{}", report.unit);
        assert_eq!(report.unit.basis, Basis::Measured);
        assert!((track.at(1, Joint::Head)[1] - expected.at(1, Joint::Head)[1]).abs() < 1e-9);
    }
    let odd = mapped(&changed(&mixamo(), |v| v * 8.0)).report.unit;
    assert_eq!(odd.basis, Basis::Assumed);
    assert!((odd.height_m - 1.7).abs() < 1e-9);
    let options = MapOptions { metres_per_unit: Some(0.5), ..MapOptions::default() };
    let given = map(&mixamo(), &Rules::built_in(), &options).unwrap();
    assert_eq!(given.report.unit.basis, Basis::Given);
    assert!((given.track.at(0, Joint::Hips)[1] - 0.5).abs() < 1e-12);
    let wrong = MapOptions { metres_per_unit: Some(-1.0), ..MapOptions::default() };
    assert!(map(&mixamo(), &Rules::built_in(), &wrong).is_err());
}

#[test]
fn every_direction_of_up_is_found_and_turned_to_y() {
    let expected = mapped(&mixamo()).track;
    for axis in Axis::ALL {
        for negative in [false, true] {
            let up = Up { axis, negative };
            let placement = Placement { metres_per_unit: 1.0, up, mirrored: false };
            let Mapped { track, report } = mapped(&changed(&mixamo(), |v| placement.to_file(v)));
            assert_eq!((report.up.up, report.up.basis), (up, Basis::Measured));
            assert_eq!(report.side.handedness, Handedness::Right);
            assert_eq!(track, expected, "up {up}");
        }
    }
}

#[test]
fn a_left_handed_file_is_mirrored() {
    let expected = mapped(&mixamo()).track;
    let Mapped { track, report } = mapped(&changed(&mixamo(), |v| DVec3::new(v.x, v.y, -v.z)));
    assert_eq!((report.side.handedness, report.side.basis), (Handedness::Left, Basis::Measured));
    assert!(report.side.agreement < -0.99);
    // Turned by half a circle about the vertical, which no file tells.
    for joint in Joint::ALL {
        let [x, y, z] = expected.at(0, joint);
        assert_eq!(track.at(0, joint), [-x, y, -z]);
    }
}

#[test]
fn legs_are_normalised_and_feet_still_stand() {
    let Mapped { track, report } = mapped(&mixamo());
    assert!((report.leg_m - (0.42f64.hypot(0.02) + 0.41f64.hypot(0.02))).abs() < 1e-12);
    let (scaled, factor) = normalise_legs(&track, 0.5).unwrap();
    assert!((leg_length(&scaled) - 0.5).abs() < 1e-12);
    assert!((scaled.at(0, Joint::Hips)[1] - factor * track.at(0, Joint::Hips)[1]).abs() < 1e-12);
    assert!(normalise_legs(&track, 0.0).is_err());
    let nobody = JointTrack::new(30.0, vec![[0.0; 3]; N_JOINTS]).unwrap();
    assert!(normalise_legs(&nobody, 0.5).is_err());
}

#[test]
fn positions_below_the_root_replace_or_add() {
    let text = |position: &str| {
        format!(
            "HIERARCHY\nROOT a\n{{\nOFFSET 5 5 5\nCHANNELS 3 Xposition Yposition Zposition\nJOINT b\n{{\nOFFSET 0 10 0\n\
             CHANNELS 4 Xposition Yposition Zposition Zrotation\nJOINT c\n{{\nOFFSET 1 0 0\n}}\n}}\n}}\n\
             MOTION\nFrames: 1\nFrame Time: 1\n1 2 3 {position} 90\n"
        )
    };
    let motion = read(text("0 9.5 0").as_bytes()).unwrap().motion;
    assert_eq!(PositionChannels::detect(&motion), PositionChannels::Replace);
    let world = forward(&motion, PositionChannels::Replace);
    assert!(world.positions(0)[2].distance(DVec3::new(1.0, 12.5, 3.0)) < 1e-12, "{}", world.positions(0)[2]);
    let motion = read(text("0 0.5 0").as_bytes()).unwrap().motion;
    assert_eq!(PositionChannels::detect(&motion), PositionChannels::Add);
    let world = forward(&motion, PositionChannels::Add);
    // The root's position replaces its offset all the same.
    assert_eq!(world.positions(0)[1], DVec3::new(1.0, 12.5, 3.0));
}

/// Plain 4 × 4 matrices: the twin of forward kinematics.
fn matrix_positions(motion: &Motion, frame: usize) -> Vec<DVec3> {
    let mut worlds: Vec<glam::DMat4> = Vec::new();
    for (place, node) in motion.hierarchy().nodes().iter().enumerate() {
        let values = motion.hierarchy().values_of(place, motion.frame(frame));
        let mut local = glam::DMat4::IDENTITY;
        let mut position = DVec3::from(node.offset);
        for (channel, &value) in node.channels.iter().zip(values) {
            match channel {
                Channel::Position(axis) => position[axis.index()] = value,
                Channel::Rotation(axis) => {
                    local *= glam::DMat4::from_axis_angle(axis.unit(), value.to_radians())
                }
            }
        }
        let own = glam::DMat4::from_translation(position) * local;
        worlds.push(node.parent.map_or(own, |parent| worlds[parent] * own));
    }
    worlds.iter().map(|world| world.w_axis.truncate()).collect()
}

proptest! {
    #[test]
    fn forward_kinematics_equals_products_of_matrices(angles in prop::collection::vec(-400.0..400.0f64, 5..30)) {
        let motion = moved(&angles);
        let world = forward(&motion, PositionChannels::Replace);
        for (found, twin) in world.positions(1).iter().zip(matrix_positions(&motion, 1)) {
            prop_assert!(found.distance(twin) < 1e-12);
        }
    }

    #[test]
    fn euler_channels_survive_the_file(angles in prop::array::uniform3(-180.0..180.0f64)) {
        for order in EulerOrder::all() {
            let channels = order.axes().map(Channel::Rotation).to_vec();
            let root = Node { name: "a".into(), channels, ..Node::default() };
            let motion = Motion::new(Hierarchy::new(vec![root]).unwrap(), 1.0, angles.to_vec()).unwrap();
            let again = read(&write(&motion)).unwrap().motion;
            let turned = forward(&again, PositionChannels::Replace).rotations(0)[0];
            let twin = order.quaternion(angles.map(f64::to_radians));
            prop_assert!(mtds_mocap::rotation::angle_between(turned, twin) < 1e-13);
        }
    }
}
