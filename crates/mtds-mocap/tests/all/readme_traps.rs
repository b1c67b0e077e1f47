//! One test for each trap of real files, by its name in the report: a walk with the trap built in becomes the same clip.

use glam::DVec3;
use mtds::random::stream;
use mtds_mocap::bvh::{Channel, Hierarchy, Motion, Node, write};
use mtds_mocap::clip::{Clip, ClipSettings, Trap};
use mtds_mocap::export::posed;
use mtds_mocap::rotation::{Axis, EulerOrder};
use mtds_mocap::walker::{Style, Walk, Walker};
use mtds_mocap::{Joint, JointTrack};

fn walk(fps: f64) -> Walk {
    let walker = Walker { fps, ..Walker::new(Style::Neutral.parameters()) };
    walker.walk((6.0 * fps) as usize, &mut stream(8, 0)).unwrap()
}

fn clip_of(bytes: &[u8]) -> Clip {
    Clip::of_bytes(bytes, &ClipSettings::default()).unwrap()
}

fn plain() -> Clip {
    clip_of(&write(&walk(30.0).to_bvh().unwrap()))
}

fn text(motion: &Motion) -> String {
    String::from_utf8(write(motion)).unwrap()
}

/// What a clip says about a trap; it must have it, once.
#[track_caller]
fn told<'a>(clip: &'a Clip, name: &str) -> &'a Trap {
    let found: Vec<&Trap> = clip.traps.iter().filter(|trap| trap.name == name).collect();
    let [trap] = found[..] else { panic!("{name}: {:?}", clip.traps) };
    trap
}

#[track_caller]
fn assert_same(a: &JointTrack, b: &JointTrack, tolerance: f64) {
    assert_eq!(a.n_frames(), b.n_frames());
    let pairs = a.positions().iter().zip(b.positions());
    let farthest = pairs.map(|(a, b)| DVec3::from(*a).distance(DVec3::from(*b))).fold(0.0, f64::max);
    assert!(farthest < tolerance, "{farthest} m apart");
}

/// A motion joint by joint, so that joints and channels can be changed.
struct Parts {
    nodes: Vec<Node>,
    /// By frame and node.
    values: Vec<Vec<Vec<f64>>>,
    frame_time: f64,
}

impl Parts {
    fn of(motion: &Motion) -> Self {
        let (hierarchy, n_nodes) = (motion.hierarchy(), motion.hierarchy().nodes().len());
        let frame =
            |t| (0..n_nodes).map(|node| hierarchy.values_of(node, motion.frame(t)).to_vec()).collect();
        let values = (0..motion.n_frames()).map(frame).collect();
        Self { nodes: hierarchy.nodes().to_vec(), values, frame_time: motion.frame_time() }
    }

    fn of_walk() -> Self {
        Self::of(&walk(30.0).to_bvh().unwrap())
    }

    fn motion(self) -> Motion {
        let values = self.values.into_iter().flatten().flatten().collect();
        Motion::new(Hierarchy::new(self.nodes).unwrap(), self.frame_time, values).unwrap()
    }

    fn clip(self) -> Clip {
        clip_of(&write(&self.motion()))
    }

    /// Every axis becomes another, with a sign for what is measured along it and, times `turn`, about it.
    fn with_axes(mut self, becomes: [(Axis, f64); 3], turn: f64) -> Self {
        let place = |axis: Axis| Axis::ALL.iter().position(|other| *other == axis).unwrap();
        let moved = |from: [f64; 3]| {
            let mut to = [0.0; 3];
            (0..3).for_each(|n| to[place(becomes[n].0)] = becomes[n].1 * from[n]);
            to
        };
        for (number, node) in self.nodes.iter_mut().enumerate() {
            node.offset = moved(node.offset);
            node.end_sites.iter_mut().for_each(|end| *end = moved(*end));
            for (channel, at) in node.channels.iter_mut().zip(0..) {
                let (Channel::Position(axis) | Channel::Rotation(axis)) = *channel;
                let (new, sign) = becomes[place(axis)];
                let is_position = matches!(channel, Channel::Position(_));
                *channel = if is_position { Channel::Position(new) } else { Channel::Rotation(new) };
                let sign = if is_position { sign } else { sign * turn };
                self.values.iter_mut().for_each(|frame| frame[number][at] *= sign);
            }
        }
        self
    }

    fn scaled(mut self, factor: f64) -> Self {
        for node in &mut self.nodes {
            node.offset = node.offset.map(|x| x * factor);
            node.end_sites.iter_mut().for_each(|end| *end = end.map(|x| x * factor));
        }
        self.values.iter_mut().for_each(|frame| frame[0][..3].iter_mut().for_each(|x| *x *= factor));
        self
    }
}

#[test]
fn frame_rate_of_120_with_few_digits_and_no_leading_zero() {
    let text = text(&walk(120.0).to_bvh().unwrap());
    let line = text.lines().find(|line| line.starts_with("Frame Time:")).unwrap();
    let clip = clip_of(text.replace(line, "Frame Time: .0083333").as_bytes());
    told(&clip, "no-leading-zero");
    assert!(told(&clip, "rounded-frame-time").detail.ends_with("taken as 120 fps"));
    assert!(told(&clip, "frame-rate").detail.starts_with("120 fps"));
    assert_eq!((clip.track.fps, clip.track.n_frames()), (30.0, 180));
    // The same walk, but for what a low-pass takes from a foot that lands.
    assert_same(&clip.track, &plain().track, 0.02);
}

#[test]
fn first_frame_is_an_added_t_pose() {
    let mut parts = Parts::of_walk();
    let mut pose = parts.values[0].clone();
    pose.iter_mut().flatten().for_each(|angle| *angle = 0.0);
    pose[0][..3].copy_from_slice(&parts.values[0][0][..3]);
    parts.values.insert(0, pose);
    let clip = parts.clip();
    assert!(told(&clip, "added-t-pose").detail.starts_with("1 frame"));
    assert_same(&clip.track, &plain().track, 1e-9);
}

#[test]
fn up_axis_and_handedness_are_stated() {
    let clip = plain();
    assert!(told(&clip, "up-axis").detail.starts_with("up is +Y"), "{:?}", told(&clip, "up-axis"));
    assert!(told(&clip, "handedness").detail.starts_with("right-handed"));
    assert!(!told(&clip, "up-axis").look && !told(&clip, "handedness").look);
}

#[test]
fn up_axis_z() {
    let clip = Parts::of_walk().with_axes([(Axis::X, 1.0), (Axis::Z, 1.0), (Axis::Y, -1.0)], 1.0).clip();
    assert!(told(&clip, "up-axis").detail.starts_with("up is +Z"), "{:?}", told(&clip, "up-axis"));
    assert_same(&clip.track, &plain().track, 1e-9);
}

#[test]
fn left_handed_axes() {
    let clip = Parts::of_walk().with_axes([(Axis::X, -1.0), (Axis::Y, 1.0), (Axis::Z, 1.0)], -1.0).clip();
    assert!(told(&clip, "handedness").detail.starts_with("left-handed"));
    // Which axis is turned round is a choice; the body and its steps are the same.
    let (found, expected) = (&clip.features.outputs.values, &plain().features.outputs.values);
    let pairs = (0..found.n_time()).flat_map(|t| found.row(t).iter().zip(expected.row(t)));
    assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-6));
}

#[test]
fn length_unit_of_the_cmu_conversion() {
    let unit_cm = 2.54 / 0.45;
    let clip = Parts::of_walk().scaled(1.0 / unit_cm).clip();
    assert!(told(&clip, "unit").detail.contains("0.056444 m"), "{:?}", told(&clip, "unit"));
    assert!(told(&plain(), "unit").detail.contains("0.010000 m"));
    assert_same(&clip.track, &plain().track, 1e-9);
}

#[test]
fn position_channels_on_every_joint_replace_offsets() {
    let mut parts = Parts::of_walk();
    for (number, node) in parts.nodes.iter_mut().enumerate().skip(1) {
        node.channels = [Axis::ALL.map(Channel::Position).to_vec(), node.channels.clone()].concat();
        for frame in &mut parts.values {
            frame[number] = [node.offset.to_vec(), frame[number].clone()].concat();
        }
    }
    let clip = parts.clip();
    let told = told(&clip, "positions-on-joints");
    assert_eq!(told.detail, "position channels of 20 joints replace their offsets");
    assert_same(&clip.track, &plain().track, 1e-9);
}

#[test]
fn rotation_order_is_that_of_the_file() {
    let mut parts = Parts::of_walk();
    let [from, to] = [[Axis::Z, Axis::Y, Axis::X], [Axis::Z, Axis::X, Axis::Y]];
    let [old, new] = [from, to].map(|axes| EulerOrder::new(axes).unwrap());
    for (number, node) in parts.nodes.iter_mut().enumerate() {
        let first = node.channels.len() - 3;
        node.channels.splice(first.., to.map(Channel::Rotation));
        for frame in &mut parts.values {
            let angles: [f64; 3] = frame[number][first..].try_into().unwrap();
            let turned = new.angles(old.quaternion(angles.map(f64::to_radians))).map(f64::to_degrees);
            frame[number][first..].copy_from_slice(&turned);
        }
    }
    let clip = parts.clip();
    assert_eq!(told(&clip, "rotation-order").detail, "rotations in the order Z X Y");
    assert_eq!(told(&plain(), "rotation-order").detail, "rotations in the order Z Y X");
    assert_same(&clip.track, &plain().track, 1e-9);
}

#[test]
fn joints_at_zero_distance_from_their_parents() {
    // Exported bodies have them where bones fork, as the CMU rig does.
    let track = walk(30.0).track;
    let clip = clip_of(&write(&posed(&track).unwrap().motion));
    assert_eq!(told(&clip, "joints-without-length").detail, "6 of 27 joints stand on top of their parents");
    assert_same(&clip.track, &plain().track, 1e-3);
}

#[test]
fn end_sites_without_length() {
    let mut parts = Parts::of_walk();
    parts.nodes.iter_mut().flat_map(|node| &mut node.end_sites).for_each(|end| *end = [0.0; 3]);
    let clip = parts.clip();
    told(&clip, "ends-without-length");
    assert_same(&clip.track, &plain().track, 1e-9);
}

#[test]
fn a_root_above_the_hips_that_never_moves() {
    let mut parts = Parts::of_walk();
    let root =
        Node { name: "joint_Root".into(), channels: parts.nodes[0].channels.clone(), ..Node::default() };
    parts.nodes.iter_mut().for_each(|node| node.parent = Some(node.parent.map_or(0, |parent| parent + 1)));
    parts.nodes.insert(0, root);
    parts.values.iter_mut().for_each(|frame| frame.insert(0, vec![0.0; 6]));
    let clip = parts.clip();
    assert!(told(&clip, "root-stands-still").detail.starts_with("`joint_Root` never moves"));
    assert_eq!(told(&clip, "hips-below-root").detail, "the hips are joint 2 of the file");
    assert_same(&clip.track, &plain().track, 1e-9);
}

#[test]
fn joints_that_a_rig_lacks_are_made_up_and_said_so() {
    let mut parts = Parts::of_walk();
    // The last joint of the file, so that no number of a parent changes.
    assert_eq!(parts.nodes.pop().unwrap().name, "RightHandIndex1");
    parts.values.iter_mut().for_each(|frame| drop(frame.pop()));
    // As in Bandai Namco files: an end that lies on the wrist does not say where fingers are.
    parts.nodes.last_mut().unwrap().end_sites.push([0.0; 3]);
    let clip = parts.clip();
    assert!(told(&clip, "joints-made-up").detail.starts_with("RightFingers: "));
    let whole = plain().track;
    for joint in Joint::ALL.into_iter().filter(|joint| *joint != Joint::RightFingers) {
        for frame in 0..whole.n_frames() {
            let away = DVec3::from(whole.at(frame, joint)).distance(clip.track.at(frame, joint).into());
            assert!(away < 1e-9, "{joint:?}");
        }
    }
}

#[test]
fn bone_lengths_differ_by_subject() {
    let subjects = [0.9, 1.1].map(|size| write(&Parts::of_walk().scaled(size).motion()));
    let legs = |settings: &ClipSettings| {
        let clips = subjects.each_ref().map(|bytes| Clip::of_bytes(bytes, settings).unwrap());
        let leg = |clip: &Clip| {
            let bone = |a, b| DVec3::from(clip.track.at(9, a)).distance(clip.track.at(9, b).into());
            bone(Joint::LeftHip, Joint::LeftKnee) + bone(Joint::LeftKnee, Joint::LeftAnkle)
        };
        let told = clips.each_ref().map(|clip| clip.map.leg_m);
        assert!((told[1] / told[0] - 11.0 / 9.0).abs() < 1e-6, "each file's own legs are told: {told:?}");
        clips.each_ref().map(leg)
    };
    let own = legs(&ClipSettings::default());
    assert!((own[1] / own[0] - 11.0 / 9.0).abs() < 1e-6, "{own:?}");
    let same = legs(&ClipSettings { leg_m: Some(0.8), ..ClipSettings::default() });
    assert!(same.iter().all(|leg| (leg - 0.8).abs() < 1e-3), "{same:?}");
}

#[test]
fn lines_end_with_carriage_returns() {
    let clip = clip_of(text(&walk(30.0).to_bvh().unwrap()).replace('\n', "\r\n").as_bytes());
    told(&clip, "line-ends");
    assert_eq!(clip.track, plain().track);
}

#[test]
fn a_tab_after_the_word_frames() {
    let clip = clip_of(text(&walk(30.0).to_bvh().unwrap()).replace("Frames: ", "Frames:\t").as_bytes());
    told(&clip, "tab-in-header");
    assert_eq!(clip.track, plain().track);
}
