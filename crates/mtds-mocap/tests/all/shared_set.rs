//! The whole pipeline on the shared working set of 214 files; each test says so and passes where the set is absent.

use crate::recordings::recordings;
use crate::skip::skip;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use glam::DVec3;
use mtds_mocap::bvh::{Motion, read, write};
use mtds_mocap::files::read_bvh;
use mtds_mocap::skeleton::*;
use mtds_mocap::{Joint, JointTrack};

struct Clip {
    name: String,
    bytes: Vec<u8>,
    motion: Motion,
    mapped: Mapped,
}

impl Clip {
    fn is_cmu(&self) -> bool {
        self.name.starts_with("cmu_")
    }
}

fn paths() -> Vec<PathBuf> {
    let Some(folder) = recordings() else { return vec![] };
    let entries = |path: PathBuf| std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let styles = entries(folder).filter(|path| path.is_dir());
    let mut paths: Vec<_> =
        styles.flat_map(entries).filter(|path| path.extension().is_some_and(|e| e == "bvh")).collect();
    paths.sort();
    paths
}

/// All clips, read and mapped once.
fn clips() -> &'static [Clip] {
    static CLIPS: OnceLock<Vec<Clip>> = OnceLock::new();
    CLIPS.get_or_init(|| {
        let rules = Rules::built_in();
        let clip = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let reading = read_bvh(path).unwrap();
            assert_eq!(reading.remarks, vec![], "{name}");
            let mapped = map(&reading.motion, &rules, &MapOptions::default()).unwrap();
            Clip { name, bytes: std::fs::read(path).unwrap(), motion: reading.motion, mapped }
        };
        paths().iter().map(clip).collect()
    })
}

/// The clips, or a visible line that the test is skipped.
fn clips_or_skip(test: &str) -> &'static [Clip] {
    let clips = clips();
    if clips.is_empty() {
        skip(test, "no ../shared/data/mocap beside the workspace");
    }
    clips
}

#[test]
fn every_file_is_read_mapped_and_a_human() {
    let clips = clips_or_skip("every_file_is_read_mapped_and_a_human");
    assert!(clips.is_empty() || clips.len() == 214, "{} files", clips.len());
    let mut heights: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let least = |found: fn(&MapReport) -> f64| {
        clips.iter().map(|clip| found(&clip.mapped.report)).fold(f64::MAX, f64::min)
    };
    eprintln!(
        "least agreement: up {:.2}, side {:.2}",
        least(|r| r.up.agreement),
        least(|r| r.side.agreement)
    );
    for clip in clips {
        let report = &clip.mapped.report;
        let (rig, unit, fps) = match clip.is_cmu() {
            true => ("cmu", 0.0254 / 0.45, 120.0),
            false => ("bandai-namco", 0.01, 30.0),
        };
        assert_eq!(report.rig.rig, rig, "{}", clip.name);
        assert!((report.unit.metres_per_unit - unit).abs() < 1e-9, "{}: {}", clip.name, report.unit);
        assert_eq!((report.up.up, report.up.basis), (Up::Y, Basis::Measured), "{}: {}", clip.name, report.up);
        let right = (Handedness::Right, Basis::Measured);
        assert_eq!((report.side.handedness, report.side.basis), right, "{}: {}", clip.name, report.side);
        assert_eq!(clip.mapped.track.fps, fps, "{}", clip.name);
        assert!((1.4..2.0).contains(&report.unit.height_m), "{}: {}", clip.name, report.unit);
        heights.entry(rig).or_default().push(report.unit.height_m);
        assert_eq!(clip.mapped.track.n_frames(), clip.motion.n_frames());
    }
    for (rig, mut all) in heights {
        all.sort_by(f64::total_cmp);
        eprintln!("{rig}: {} files, heights {:.2} to {:.2} m", all.len(), all[0], all[all.len() - 1]);
    }
}

#[test]
fn rigs_lack_what_the_reports_say() {
    for clip in clips_or_skip("rigs_lack_what_the_reports_say") {
        let made_up: Vec<Joint> = clip.mapped.report.synthesised().iter().map(|(joint, _)| *joint).collect();
        let expected = if clip.is_cmu() { vec![] } else { vec![Joint::LeftFingers, Joint::RightFingers] };
        assert_eq!(made_up, expected, "{}", clip.name);
        // Hands are more or less in line with forearms, made up or not.
        let track = &clip.mapped.track;
        let bone = |i, from, to| (DVec3::from(track.at(i, to)) - DVec3::from(track.at(i, from))).normalize();
        let straight = |i| {
            bone(i, Joint::LeftElbow, Joint::LeftWrist).dot(bone(i, Joint::LeftWrist, Joint::LeftFingers))
        };
        let mean = (0..track.n_frames()).map(straight).sum::<f64>() / track.n_frames() as f64;
        assert!(mean > 0.4, "{}: mean cosine {mean}", clip.name);
    }
}

/// Hip heights as measured independently in `qc.csv`, with two decimals.
#[test]
fn hip_heights_agree_with_the_published_measurements() {
    let clips = clips_or_skip("hip_heights_agree_with_the_published_measurements");
    let Some(folder) = recordings() else { return };
    let table = std::fs::read_to_string(folder.join("qc.csv")).unwrap();
    let header: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|h| *h == name).unwrap();
    let (low, high) = (column("hip_min_m"), column("hip_max_m"));
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let clip = clips.iter().find(|clip| cells[0].ends_with(&format!("/{}", clip.name))).unwrap();
        let track = &clip.mapped.track;
        let first = usize::from(clip.is_cmu());
        let heights = || (first..track.n_frames()).map(|i| track.at(i, Joint::Hips)[1]);
        let (least, most) = (heights().fold(f64::MAX, f64::min), heights().fold(f64::MIN, f64::max));
        // Published to two decimals, of every fourth frame for CMU.
        for (found, published) in [(least, cells[low]), (most, cells[high])] {
            let published: f64 = published.parse().unwrap();
            assert!((found - published).abs() < 0.012, "{}: {found} against {published}", clip.name);
        }
    }
}

/// Generous by an order of magnitude, so that only a reader gone quadratic fails on a busy machine.
#[test]
fn all_files_are_read_in_a_few_seconds() {
    let clips = clips_or_skip("all_files_are_read_in_a_few_seconds");
    let start = std::time::Instant::now();
    let n_values: usize = clips.iter().map(|clip| read(&clip.bytes).unwrap().motion.values().len()).sum();
    let seconds = start.elapsed().as_secs_f64();
    let megabytes = clips.iter().map(|clip| clip.bytes.len()).sum::<usize>() as f64 / 1e6;
    eprintln!("read {n_values} values, {megabytes:.0} MB, in {seconds:.2} s");
    assert!(seconds < 20.0, "{seconds} s");
}

#[test]
fn bvh_to_bvh_keeps_every_bit() {
    for clip in clips_or_skip("bvh_to_bvh_keeps_every_bit") {
        let written = write(&clip.motion);
        let again = read(&written).unwrap();
        assert_eq!(again.motion, clip.motion, "{}", clip.name);
        assert!(written.len() <= clip.bytes.len() + 200, "{}: shortest decimals", clip.name);
    }
}

#[test]
fn cmu_traps_crlf_t_pose_and_joints_on_top_of_their_parents() {
    let clips = clips_or_skip("cmu_traps_crlf_t_pose_and_joints_on_top_of_their_parents");
    for clip in clips.iter().filter(|clip| clip.is_cmu()) {
        assert!(clip.bytes.windows(2).any(|pair| pair == b"\r\n"), "{}", clip.name);
        let nodes = clip.motion.hierarchy().nodes();
        // Ten besides the root.
        assert_eq!((nodes.len(), nodes.iter().filter(|node| node.length() == 0.0).count()), (31, 11));
        assert_eq!(clip.motion.hierarchy().n_channels(), 96);
        // The added T-pose faces +Z with arms to the sides: left is +X.
        let track = &clip.mapped.track;
        let span = DVec3::from(track.at(0, Joint::LeftWrist)) - DVec3::from(track.at(0, Joint::RightWrist));
        assert!(span.normalize().x > 0.99, "{}: {span}", clip.name);
        let foot = track.at(0, Joint::LeftToe)[2] - track.at(0, Joint::LeftAnkle)[2];
        assert!(foot > 0.0, "{}", clip.name);
    }
}

#[test]
fn bandai_namco_traps_positions_replace_offsets_and_the_root_stands_still() {
    let clips = clips_or_skip("bandai_namco_traps_positions_replace_offsets_and_the_root_stands_still");
    for clip in clips.iter().filter(|clip| !clip.is_cmu()) {
        let nodes = clip.motion.hierarchy().nodes();
        assert_eq!(nodes.len(), 22);
        assert!(nodes.iter().all(|node| node.channels.len() == 6));
        assert_eq!(clip.mapped.report.position_channels, PositionChannels::Replace, "{}", clip.name);
        let world = forward(&clip.motion, PositionChannels::Replace);
        assert!(world.positions(world.n_frames() - 1)[0].length() < 1e-3, "{}", clip.name);
        // End sites of length zero.
        assert!(nodes.iter().flat_map(|node| &node.end_sites).all(|offset| *offset == [0.0; 3]));
    }
}

#[test]
fn bone_lengths_differ_by_subject_in_cmu_and_not_in_bandai_namco() {
    let clips = clips_or_skip("bone_lengths_differ_by_subject_in_cmu_and_not_in_bandai_namco");
    // CMU names are `cmu_SUBJECT_TRIAL.bvh`.
    let subject = |clip: &Clip| {
        if clip.is_cmu() { clip.name.split('_').nth(1).unwrap().to_string() } else { String::new() }
    };
    let mut legs: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for clip in clips {
        legs.entry(subject(clip)).or_default().push(clip.mapped.report.leg_m);
    }
    assert!(clips.is_empty() || legs.len() == 6, "{:?}", legs.keys());
    for (name, legs) in &legs {
        let spread = legs.iter().map(|leg| (leg - legs[0]).abs()).fold(0.0, f64::max);
        assert!(spread < 1e-4, "subject {name}: {legs:?}");
    }
    let mut means: Vec<f64> = legs.values().map(|legs| legs[0]).collect();
    means.sort_by(f64::total_cmp);
    assert!(means.windows(2).all(|pair| pair[1] - pair[0] > 1e-4), "{means:?}");
}

#[test]
fn bones_keep_their_lengths_under_forward_kinematics() {
    for clip in clips_or_skip("bones_keep_their_lengths_under_forward_kinematics") {
        let world = forward(&clip.motion, clip.mapped.report.position_channels);
        let unit = clip.mapped.report.unit.metres_per_unit;
        for frame in (0..world.n_frames()).step_by(97) {
            for (place, node) in clip.motion.hierarchy().nodes().iter().enumerate() {
                let Some(parent) = node.parent.filter(|_| node.name != "Hips") else { continue };
                let length = world.positions(frame)[place].distance(world.positions(frame)[parent]);
                // Position channels of Bandai Namco wander by a fraction of a millimetre.
                assert!((length - node.length()).abs() * unit < 1e-3, "{} {}", clip.name, node.name);
            }
        }
    }
}

/// Every fourth frame of a clip at 120 fps.
fn at_30_fps(track: &JointTrack) -> JointTrack {
    let step = (track.fps / 30.0) as usize;
    let frames = (0..track.n_frames()).step_by(step);
    JointTrack::new(30.0, frames.flat_map(|i| track.frame(i).to_vec()).collect()).unwrap()
}

/// Positions → rotations → BVH bytes → positions, on a body measured from the track and on the file's own rig.
#[test]
fn exported_rotations_come_within_a_centimetre() {
    let rules = Rules::built_in();
    let mut means: BTreeMap<(bool, &str), Vec<f64>> = BTreeMap::new();
    for clip in clips_or_skip("exported_rotations_come_within_a_centimetre").iter() {
        let track = &at_30_fps(&clip.mapped.track);
        let targets = [
            ("measured body", Target::measured(track).unwrap()),
            ("own rig", Target::rig_of(&clip.motion, &clip.mapped.report)),
        ];
        for (kind, target) in targets {
            let posed = pose(track, &target).unwrap();
            let back = read(&write(&posed.motion)).unwrap().motion;
            let back = map(&back, &rules, &MapOptions::default()).unwrap();
            assert_eq!(back.track.fps, track.fps, "{} on {kind}", clip.name);
            let count = track.positions().len() as f64;
            let distance = |(a, b): (&[f64; 3], &[f64; 3])| DVec3::from(*a).distance(DVec3::from(*b));
            let mean =
                track.positions().iter().zip(back.track.positions()).map(distance).sum::<f64>() / count;
            assert!(mean < 0.01, "{} on {kind}: {mean} m", clip.name);
            assert!(
                posed.mean_error_m < 0.01 && posed.worst_error_m < 0.15,
                "{} on {kind}: {}",
                clip.name,
                posed.worst_error_m
            );
            means.entry((clip.is_cmu(), kind)).or_default().push(mean);
        }
    }
    for ((cmu, kind), all) in means {
        let most = all.iter().fold(0.0f64, |most, mean| most.max(*mean));
        eprintln!("cmu {cmu}, {kind}: mean error of the worst of {} files {:.2} mm", all.len(), 1e3 * most);
    }
}
