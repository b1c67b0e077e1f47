//! Skeleton maps of the five kinds of rig, findings of unit, up and side, and the way back to rotations.

use glam::{DQuat, DVec3};
use mtds_mocap::bvh::{Channel, Hierarchy, Motion, Node, read, write};
use mtds_mocap::rotation::{Axis, EulerOrder};
use mtds_mocap::skeleton::*;
use mtds_mocap::{Joint, JointTrack, N_JOINTS};
use proptest::prelude::*;

/// Joint, parent and offset in metres of a standing body that faces +Z.
type Bone<'a> = (&'a str, Option<&'a str>, [f64; 3]);

const LEFT: [f64; 3] = [1.0, 1.0, 1.0];
const RIGHT: [f64; 3] = [-1.0, 1.0, 1.0];

/// One limb of each side; names are given for left.
fn both_sides(names: &[&str], root: &str, offsets: &[[f64; 3]]) -> Vec<(String, String, [f64; 3])> {
    let mut bones = Vec::new();
    for (side, signs) in [("Left", LEFT), ("Right", RIGHT)] {
        let mut parent = root.to_string();
        for (name, offset) in names.iter().zip(offsets) {
            let name = name.replace("Left", side);
            let offset = std::array::from_fn(|n| offset[n] * signs[n]);
            bones.push((name.clone(), parent, offset));
            parent = name;
        }
    }
    bones
}

const LEG: [[f64; 3]; 4] = [[0.09, -0.08, 0.0], [0.0, -0.42, 0.02], [0.0, -0.41, -0.02], [0.0, -0.06, 0.14]];
const ARM: [[f64; 3]; 4] = [[0.05, 0.1, 0.0], [0.13, 0.02, 0.0], [0.28, 0.0, 0.0], [0.26, 0.0, 0.0]];

/// A rig with `trunk` from the hips up, legs on the first of them, arms on the joint called `chest`.
fn rig(trunk: &[Bone], chest: &str, leg: &[&str], arm: &[&str]) -> Motion {
    let own = |(name, parent, offset): &Bone| (name.to_string(), parent.unwrap_or("").to_string(), *offset);
    let mut bones: Vec<(String, String, [f64; 3])> = trunk.iter().map(own).collect();
    bones.extend(both_sides(leg, trunk[0].0, &LEG));
    bones.extend(both_sides(arm, chest, &ARM));
    standing(depth_first(&bones))
}

/// Nodes in the order of a file.
fn depth_first(bones: &[(String, String, [f64; 3])]) -> Hierarchy {
    fn add(bones: &[(String, String, [f64; 3])], name: &str, parent: Option<usize>, nodes: &mut Vec<Node>) {
        for (own, above, offset) in bones.iter().filter(|(_, above, _)| above == name) {
            let rotations = [Axis::Z, Axis::X, Axis::Y].map(Channel::Rotation);
            let mut channels =
                if above.is_empty() { Axis::ALL.map(Channel::Position).to_vec() } else { vec![] };
            channels.extend(rotations);
            let leaf = bones.iter().all(|(_, above, _)| above != own);
            let end = offset.map(|value| 0.3 * value);
            let end_sites = if leaf { vec![end] } else { vec![] };
            nodes.push(Node { name: own.clone(), parent, offset: *offset, channels, end_sites });
            add(bones, own, Some(nodes.len() - 1), nodes);
        }
    }
    let mut nodes = Vec::new();
    add(bones, "", None, &mut nodes);
    Hierarchy::new(nodes).unwrap()
}

/// Two frames of the rest pose, hips a metre up.
fn standing(hierarchy: Hierarchy) -> Motion {
    let mut frame = vec![0.0; hierarchy.n_channels()];
    frame[1] = 1.0;
    let values = frame.repeat(2);
    Motion::new(hierarchy, 1.0 / 60.0, values).unwrap()
}

/// The same motion with every length changed.
fn changed(motion: &Motion, change: impl Fn(DVec3) -> DVec3) -> Motion {
    let hierarchy = motion.hierarchy();
    let nodes = hierarchy.nodes().iter().map(|node| Node {
        offset: change(DVec3::from(node.offset)).into(),
        end_sites: node.end_sites.iter().map(|end| change(DVec3::from(*end)).into()).collect(),
        ..node.clone()
    });
    let nodes = Hierarchy::new(nodes.collect()).unwrap();
    let mut values = motion.values().to_vec();
    for frame in values.chunks_exact_mut(hierarchy.n_channels()) {
        let root = change(DVec3::new(frame[0], frame[1], frame[2]));
        frame[..3].copy_from_slice(&root.to_array());
    }
    Motion::new(nodes, motion.frame_time(), values).unwrap()
}

fn mixamo() -> Motion {
    let trunk: [Bone; 6] = [
        ("mixamorig:Hips", None, [0.0, 0.0, 0.0]),
        ("mixamorig:Spine", Some("mixamorig:Hips"), [0.0, 0.1, 0.0]),
        ("mixamorig:Spine1", Some("mixamorig:Spine"), [0.0, 0.12, 0.0]),
        ("mixamorig:Spine2", Some("mixamorig:Spine1"), [0.0, 0.13, 0.0]),
        ("mixamorig:Neck", Some("mixamorig:Spine2"), [0.0, 0.15, 0.0]),
        ("mixamorig:Head", Some("mixamorig:Neck"), [0.0, 0.1, 0.02]),
    ];
    let leg = ["mixamorig:LeftUpLeg", "mixamorig:LeftLeg", "mixamorig:LeftFoot", "mixamorig:LeftToeBase"];
    let arm = ["mixamorig:LeftShoulder", "mixamorig:LeftArm", "mixamorig:LeftForeArm", "mixamorig:LeftHand"];
    rig(&trunk, "mixamorig:Spine2", &leg, &arm)
}

fn xsens() -> Motion {
    let trunk: [Bone; 7] = [
        ("Hips", None, [0.0, 0.0, 0.0]),
        ("Chest", Some("Hips"), [0.0, 0.1, 0.0]),
        ("Chest2", Some("Chest"), [0.0, 0.1, 0.0]),
        ("Chest3", Some("Chest2"), [0.0, 0.1, 0.0]),
        ("Chest4", Some("Chest3"), [0.0, 0.1, 0.0]),
        ("Neck", Some("Chest4"), [0.0, 0.13, 0.0]),
        ("Head", Some("Neck"), [0.0, 0.1, 0.0]),
    ];
    let leg = ["LeftHip", "LeftKnee", "LeftAnkle", "LeftToe"];
    rig(&trunk, "Chest4", &leg, &["LeftCollar", "LeftShoulder", "LeftElbow", "LeftWrist"])
}

fn biovision() -> Motion {
    let trunk: [Bone; 4] = [
        ("Hips", None, [0.0, 0.0, 0.0]),
        ("Chest", Some("Hips"), [0.0, 0.12, 0.0]),
        ("Neck", Some("Chest"), [0.0, 0.4, 0.0]),
        ("Head", Some("Neck"), [0.0, 0.1, 0.0]),
    ];
    let leg = ["LeftHip", "LeftKnee", "LeftAnkle"];
    rig(&trunk, "Chest", &leg, &["LeftCollar", "LeftShoulder", "LeftElbow", "LeftWrist"])
}

fn mapped(motion: &Motion) -> Mapped {
    map(motion, &Rules::built_in(), &MapOptions::default()).unwrap()
}

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
    let rules = Rules::from_json(include_bytes!("../src/skeleton/rigs.json")).unwrap();
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

/// A motion of the Mixamo rig with these angles on every joint in turn.
fn moved(angles: &[f64]) -> Motion {
    let rest = mixamo();
    let n = rest.hierarchy().n_channels();
    let turn = |(place, value): (usize, &f64)| match place % n {
        0..3 => *value,
        _ => angles[(place % n * 7 + place / n) % angles.len()],
    };
    let values = rest.values().iter().enumerate().map(turn).collect();
    Motion::new(rest.hierarchy().clone(), rest.frame_time(), values).unwrap()
}

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
    fn forward_kinematics_equals_products_of_matrices(angles in prop::collection::vec(-400.0..400.0f64, 5..30)) {
        let motion = moved(&angles);
        let world = forward(&motion, PositionChannels::Replace);
        for (found, twin) in world.positions(1).iter().zip(matrix_positions(&motion, 1)) {
            prop_assert!(found.distance(twin) < 1e-12);
        }
    }

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
