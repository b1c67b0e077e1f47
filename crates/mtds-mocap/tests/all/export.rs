//! Exported files, read back by readers that are not ours: BVH by `bvh_anim`, GLB by `gltf`, PNG by `png`.

use std::io::Cursor;

use glam::{DQuat, DVec3};
use gltf::animation::Property;
use gltf::animation::util::ReadOutputs;
use mtds_mocap::bvh::{read, write};
use mtds_mocap::export::{METRES_PER_UNIT, animated_png, glb, lock_feet, montage_png, posed};
use mtds_mocap::skeleton::{MapOptions, Rules, map};
use mtds_mocap::walker::{Style, Walk, Walker};
use mtds_mocap::{Joint, JointTrack, N_JOINTS};

fn walk(style: Style, n_frames: usize) -> Walk {
    Walker::new(style.parameters()).walk(n_frames, &mut mtds::random::stream(5, 0)).unwrap()
}

fn mean_distance(a: &JointTrack, b: &JointTrack) -> f64 {
    assert_eq!(a.n_frames(), b.n_frames());
    let pairs = a.positions().iter().zip(b.positions());
    pairs.map(|(a, b)| DVec3::from(*a).distance(DVec3::from(*b))).sum::<f64>() / a.positions().len() as f64
}

#[test]
fn bvh_leads_back_to_the_walk_locked_or_not() {
    let walk = walk(Style::Proud, 90);
    for track in [walk.track.clone(), lock_feet(&walk.track, &walk.contacts).unwrap()] {
        let bytes = write(&posed(&track).unwrap().motion);
        let back = map(&read(&bytes).unwrap().motion, &Rules::built_in(), &MapOptions::default()).unwrap();
        assert_eq!(back.track.fps, 30.0);
        assert!(mean_distance(&track, &back.track) < 0.01);
    }
}

/// World positions of all joints in frame `t` of a file as another reader sees it, by name, in its units.
fn world_of_other(bvh: &bvh_anim::Bvh, t: usize) -> Vec<(String, DVec3)> {
    let mut world: Vec<(String, DVec3, DQuat)> = Vec::new();
    for joint in bvh.joints() {
        let data = joint.data();
        let offset = data.offset();
        let mut local = DVec3::new(offset.x.into(), offset.y.into(), offset.z.into());
        let mut turn = DQuat::IDENTITY;
        for channel in data.channels() {
            let axis = channel.channel_type().axis_vector::<f64>();
            let axis = DVec3::new(axis.x, axis.y, axis.z);
            let value = f64::from(bvh.get_motion(t, channel));
            match channel.channel_type().is_position() {
                true => local = local * (DVec3::ONE - axis) + axis * value,
                false => turn *= DQuat::from_axis_angle(axis, value.to_radians()),
            }
        }
        let (origin, above) = joint.parent().map_or((DVec3::ZERO, DQuat::IDENTITY), |parent| {
            let name = parent.data().name().to_string();
            let (_, origin, turned) = world.iter().find(|(found, ..)| *found == name).unwrap();
            (*origin, *turned)
        });
        world.push((data.name().to_string(), origin + above * local, above * turn));
    }
    world.into_iter().map(|(name, place, _)| (name, place)).collect()
}

/// Names of joints in exported files, and which of the 21 they are.
const NAMES: [(&str, Joint); 6] = [
    ("Hips", Joint::Hips),
    ("LeftFoot", Joint::LeftAnkle),
    ("RightToeBase", Joint::RightToe),
    ("Head", Joint::Head),
    ("LeftForeArm", Joint::LeftElbow),
    ("RightHand", Joint::RightWrist),
];

#[test]
fn another_reader_of_bvh_sees_the_same_walk() {
    let walk = walk(Style::Strutting, 60);
    let exported = write(&posed(&walk.track).unwrap().motion);
    for bytes in [exported, write(&walk.to_bvh().unwrap())] {
        let other = bvh_anim::from_bytes(&bytes[..]).unwrap();
        assert_eq!(
            (other.frames().count(), other.num_channels()),
            (60, read(&bytes).unwrap().motion.hierarchy().n_channels())
        );
        assert!((other.frame_time().as_secs_f64() - 1.0 / 30.0).abs() < 1e-8);
        for t in [0, 31, 59] {
            let world = world_of_other(&other, t);
            for (name, joint) in NAMES {
                let (_, found) = world.iter().find(|(found, _)| found == name).unwrap();
                let distance = (*found * METRES_PER_UNIT).distance(DVec3::from(walk.track.at(t, joint)));
                assert!(distance < 1e-3, "{name} in frame {t}: {distance} m");
            }
        }
    }
}

/// Values of every animated node, frame by frame.
struct Played {
    rotations: Vec<Vec<[f32; 4]>>,
    translations: Vec<Vec<[f32; 3]>>,
    times: Vec<f32>,
}

fn played(document: &gltf::Gltf) -> Played {
    let blob = document.blob.as_deref().expect("a binary part");
    let n_nodes = document.nodes().count();
    let mut played =
        Played { rotations: vec![vec![]; n_nodes], translations: vec![vec![]; n_nodes], times: vec![] };
    let animation = document.animations().next().expect("one animation");
    for channel in animation.channels() {
        let reader = channel.reader(|_| Some(blob));
        let node = channel.target().node().index();
        played.times = reader.read_inputs().unwrap().collect();
        match (channel.target().property(), reader.read_outputs().unwrap()) {
            (Property::Rotation, ReadOutputs::Rotations(values)) => {
                played.rotations[node] = values.into_f32().collect();
            }
            (Property::Translation, ReadOutputs::Translations(values)) => {
                played.translations[node] = values.collect();
            }
            (property, _) => panic!("{property:?} is not animated"),
        }
    }
    played
}

/// World positions of all joint nodes in frame `t`, by name.
fn world(document: &gltf::Gltf, played: &Played, t: usize) -> Vec<(String, DVec3)> {
    let mut found = Vec::new();
    let mut open: Vec<_> =
        document.scenes().next().unwrap().nodes().map(|node| (node, DVec3::ZERO, DQuat::IDENTITY)).collect();
    while let Some((node, origin, turned)) = open.pop() {
        if node.mesh().is_some() {
            continue;
        }
        let translation = played.translations[node.index()].get(t).copied();
        let translation = translation.unwrap_or(node.transform().decomposed().0).map(f64::from);
        let position = origin + turned * DVec3::from(translation);
        let rotation = turned * DQuat::from_array(played.rotations[node.index()][t].map(f64::from));
        found.push((node.name().unwrap().to_owned(), position));
        open.extend(node.children().map(|child| (child, position, rotation)));
    }
    found
}

#[test]
fn glb_is_valid_and_moves_as_the_walk_does() {
    let walk = walk(Style::Angry, 60);
    let bytes = glb(&posed(&walk.track).unwrap().motion, METRES_PER_UNIT).unwrap();
    // The reader validates indices, ranges and required fields.
    let document = gltf::Gltf::from_slice(&bytes).unwrap();
    let played = played(&document);
    assert_eq!(played.times.len(), 60);
    assert!((played.times[59] - 59.0 / 30.0).abs() < 1e-5);
    for t in [0, 17, 59] {
        let world = world(&document, &played, t);
        for (name, joint) in NAMES {
            let (_, found) = world.iter().find(|(found, _)| found == name).unwrap();
            let distance = found.distance(DVec3::from(walk.track.at(t, joint)));
            assert!(distance < 0.02, "{name} in frame {t}: {distance} m");
        }
    }
}

#[test]
fn glb_has_a_mesh_for_every_bone_within_its_bytes() {
    let walk = walk(Style::Old, 3);
    let bytes = glb(&posed(&walk.track).unwrap().motion, METRES_PER_UNIT).unwrap();
    let document = gltf::Gltf::from_slice(&bytes).unwrap();
    let blob = document.blob.as_deref().unwrap();
    // Twenty bones between joints and five ends.
    assert_eq!(document.nodes().filter(|node| node.mesh().is_some()).count(), N_JOINTS - 1 + 5);
    for accessor in document.accessors() {
        let view = accessor.view().unwrap();
        assert!(view.offset() + view.length() <= blob.len() && view.offset() % 4 == 0);
        assert_eq!(view.length(), accessor.count() * accessor.size());
    }
    for primitive in document.meshes().flat_map(|mesh| mesh.primitives().collect::<Vec<_>>()) {
        let reader = primitive.reader(|_| Some(blob));
        assert_eq!(
            (reader.read_positions().unwrap().count(), reader.read_normals().unwrap().count()),
            (24, 24)
        );
    }
    assert!(glb(&posed(&walk.track).unwrap().motion, 0.0).is_err());
}

#[test]
fn montage_is_a_picture_with_bodies_of_both_sides() {
    let bytes = montage_png(&walk(Style::Strutting, 90).track).unwrap();
    let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height, info.color_type), (1200, 300, png::ColorType::Rgb));
    let count = |is: fn(&[u8]) -> bool| pixels.chunks_exact(3).filter(|pixel| is(pixel)).count();
    let blue = count(|p| p[2] > 150 && p[0] < 80);
    let orange = count(|p| p[0] > 180 && p[2] < 80);
    let white = count(|p| *p == [255; 3]);
    assert!(blue > 3000 && orange > 3000 && white > 250_000, "{blue} {orange} {white}");
}

#[test]
fn moving_picture_has_every_second_frame() {
    let bytes = animated_png(&walk(Style::Childlike, 21).track).unwrap();
    let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().unwrap();
    assert_eq!(reader.info().animation_control.unwrap().num_frames, 11);
    let mut pictures = Vec::new();
    for _ in 0..11 {
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        let control = reader.info().frame_control.unwrap();
        assert_eq!((control.delay_num, control.delay_den), (67, 1000));
        pictures.push(pixels);
    }
    assert!(pictures.windows(2).all(|pair| pair[0] != pair[1]), "it moves");
}
