//! One test for each thing that real files do to a naive reader, on walks with the trap built in.

use mtds::random::stream;
use mtds_mocap::signal::{FPS, GlitchKind, RateVerdict, Repair, TOE_HEIGHT, TPose, prepare};
use mtds_mocap::walker::{Style, Walker, rest_offset};
use mtds_mocap::{Joint, JointTrack, N_JOINTS};

fn walk(fps: f64, secs: f64, style: Style) -> JointTrack {
    let walker = Walker { fps, ..Walker::new(style.parameters()) };
    walker.walk((secs * fps) as usize, &mut stream(5, style as u64)).unwrap().track
}

/// The rest pose of the walker, hips at `hips`.
fn t_pose(hips: [f64; 3]) -> Vec<[f64; 3]> {
    let mut positions = vec![hips; N_JOINTS];
    for joint in &Joint::ALL[1..] {
        let parent = positions[joint.parent().unwrap().index()];
        let offset = rest_offset(*joint);
        positions[joint.index()] = std::array::from_fn(|axis| parent[axis] + offset[axis]);
    }
    positions
}

fn farthest(a: &JointTrack, b: &JointTrack) -> f64 {
    let distance = |(a, b): (&[f64; 3], &[f64; 3])| (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt();
    a.positions().iter().zip(b.positions()).map(distance).fold(0.0, f64::max)
}

#[test]
fn clean_walks_are_left_alone() {
    for style in Style::ALL {
        let track = walk(FPS, 8.0, style);
        let (clip, report) = prepare(&track, FPS).unwrap();
        assert!(report.is_clean(), "{}: {report:?}", style.name());
        assert_eq!(
            (report.t_pose, report.rate.verdict),
            (TPose::Absent, RateVerdict::Plausible),
            "{}",
            style.name()
        );
        assert!(farthest(&clip, &track) < 2e-3, "{}: {:?}", style.name(), report.floor);
    }
}

#[test]
fn t_pose_in_the_first_frame() {
    let track = walk(120.0, 6.0, Style::Neutral);
    let start = track.at(0, Joint::Hips);
    for n_frames in [1, 4] {
        let posed = [t_pose(start).repeat(n_frames), track.positions().to_vec()].concat();
        let (clip, report) = prepare(&JointTrack::new(120.0, posed).unwrap(), FPS).unwrap();
        assert_eq!(report.t_pose, TPose::Added { n_frames });
        let (alone, _) = prepare(&track, FPS).unwrap();
        assert!(clip.n_frames() == alone.n_frames() && farthest(&clip, &alone) < 1e-12);
    }
}

#[test]
fn t_pose_that_a_performer_holds() {
    let track = walk(30.0, 6.0, Style::Neutral);
    let first = track.frame(0).to_vec();
    let posed = t_pose(track.at(0, Joint::Hips));
    let between = |share: f64| {
        let mix = move |(a, b): (&[f64; 3], &[f64; 3])| std::array::from_fn(|i| a[i] + share * (b[i] - a[i]));
        posed.iter().zip(&first).map(mix).collect::<Vec<[f64; 3]>>()
    };
    let mut positions = posed.repeat(30);
    (1..60).for_each(|k| positions.extend(between(f64::from(k) / 60.0)));
    positions.extend(track.positions());
    let (_, report) = prepare(&JointTrack::new(30.0, positions).unwrap(), FPS).unwrap();
    assert!(matches!(report.t_pose, TPose::Held { n_frames } if n_frames >= 30), "{:?}", report.t_pose);
}

#[test]
fn mislabelled_rate_by_cadence() {
    for (true_fps, labelled, style) in
        [(120.0, 30.0, Style::Neutral), (30.0, 120.0, Style::Neutral), (120.0, 30.0, Style::Old)]
    {
        let track = walk(true_fps, 8.0, style);
        let wrong = JointTrack::new(labelled, track.positions().to_vec()).unwrap();
        let (_, report) = prepare(&wrong, FPS).unwrap();
        let RateVerdict::SuspectByCadence { likely_fps } = report.rate.verdict else {
            panic!("{true_fps} labelled {labelled}: {:?}", report.rate)
        };
        assert!((likely_fps / true_fps).ln().abs() < 0.4, "{true_fps} labelled {labelled}: {likely_fps}");
        assert!(!report.is_clean());
    }
}

#[test]
fn frame_times_with_few_digits() {
    let track = walk(120.0, 6.0, Style::Proud);
    let rounded = JointTrack::new(1.0 / 0.0083333, track.positions().to_vec()).unwrap();
    assert_eq!(prepare(&rounded, FPS).unwrap().0, prepare(&track, FPS).unwrap().0);
}

#[test]
fn zero_frames_in_the_middle() {
    let track = walk(30.0, 6.0, Style::Neutral);
    let mut positions = track.positions().to_vec();
    positions[50 * N_JOINTS..52 * N_JOINTS].fill([0.0; 3]);
    let (clip, report) = prepare(&JointTrack::new(30.0, positions).unwrap(), FPS).unwrap();
    let [glitch] = report.glitches.as_slice() else { panic!("{:?}", report.glitches) };
    assert_eq!(
        (glitch.kind, glitch.frames.clone(), glitch.repair),
        (GlitchKind::Collapsed, 50..52, Repair::Interpolated)
    );
    assert!(farthest(&clip, &prepare(&track, FPS).unwrap().0) < 0.12);
}

#[test]
fn rest_pose_at_the_origin_in_the_middle() {
    let track = walk(120.0, 6.0, Style::Neutral);
    let mut positions = track.positions().to_vec();
    positions[300 * N_JOINTS..301 * N_JOINTS].copy_from_slice(&t_pose([0.0; 3]));
    let (clip, report) = prepare(&JointTrack::new(120.0, positions).unwrap(), FPS).unwrap();
    let [glitch] = report.glitches.as_slice() else { panic!("{:?}", report.glitches) };
    assert_eq!(
        (glitch.kind, glitch.frames.clone(), glitch.repair),
        (GlitchKind::Displaced, 300..301, Repair::Interpolated)
    );
    assert!(farthest(&clip, &prepare(&track, FPS).unwrap().0) < 0.01);
}

#[test]
fn zero_frames_at_the_ends_are_dropped() {
    let track = walk(30.0, 6.0, Style::Neutral);
    let zero = vec![[0.0; 3]; 2 * N_JOINTS];
    let padded = [zero.clone(), track.positions().to_vec(), zero].concat();
    let (clip, report) = prepare(&JointTrack::new(30.0, padded).unwrap(), FPS).unwrap();
    assert_eq!(
        report.glitches.iter().map(|g| (g.frames.clone(), g.repair)).collect::<Vec<_>>(),
        [(0..2, Repair::Dropped), (182..184, Repair::Dropped)]
    );
    assert_eq!(clip, prepare(&track, FPS).unwrap().0);
}

#[test]
fn a_cut_between_two_takes() {
    let track = walk(30.0, 6.0, Style::Neutral);
    let mut positions = track.positions().to_vec();
    positions[90 * N_JOINTS..].iter_mut().for_each(|position| position[0] += 3.0);
    let (_, report) = prepare(&JointTrack::new(30.0, positions).unwrap(), FPS).unwrap();
    let [glitch] = report.glitches.as_slice() else { panic!("{:?}", report.glitches) };
    assert_eq!((glitch.kind, glitch.frames.start, glitch.repair), (GlitchKind::Cut, 90, Repair::Left));
}

#[test]
fn spikes_of_single_joints() {
    for fps in [30.0, 120.0] {
        let track = walk(fps, 6.0, Style::Strutting);
        let mut positions = track.positions().to_vec();
        for (frame, joint, jump) in
            [(40, Joint::LeftWrist, 0.4), (90, Joint::RightToe, -0.3), (91, Joint::RightToe, -0.3)]
        {
            positions[frame * N_JOINTS + joint.index()][1] += jump;
        }
        let (clip, report) = prepare(&JointTrack::new(fps, positions).unwrap(), FPS).unwrap();
        let found: Vec<_> =
            report.glitches.iter().map(|glitch| (glitch.kind, glitch.frames.clone())).collect();
        let spike = |joint| GlitchKind::Spike { joint };
        assert_eq!(found, [(spike(Joint::LeftWrist), 40..41), (spike(Joint::RightToe), 90..92)]);
        assert!(farthest(&clip, &prepare(&track, FPS).unwrap().0) < 0.06);
    }
}

#[test]
fn floor_at_another_height() {
    let track = walk(30.0, 6.0, Style::Depressed);
    let raised = track.positions().iter().map(|&[x, y, z]| [x, y + 0.73, z]).collect();
    let (clip, report) = prepare(&JointTrack::new(30.0, raised).unwrap(), FPS).unwrap();
    assert!((report.floor.height - 0.73).abs() < 2e-3 && report.floor.spread < 1e-3, "{:?}", report.floor);
    let lowest =
        (0..clip.n_frames()).map(|frame| clip.at(frame, Joint::LeftToe)[1]).fold(f64::INFINITY, f64::min);
    assert!((lowest - TOE_HEIGHT).abs() < 2e-3);
}

#[test]
fn clips_of_one_or_two_frames() {
    let track = walk(120.0, 1.0, Style::Neutral);
    for n_frames in [1, 2] {
        let short = JointTrack::new(120.0, track.positions()[..n_frames * N_JOINTS].to_vec()).unwrap();
        let (clip, report) = prepare(&short, FPS).unwrap();
        assert_eq!((clip.n_frames(), report.rate.verdict), (1, RateVerdict::Unknown));
    }
    assert!(prepare(&track, f64::NAN).is_err());
}

#[test]
fn reports_can_be_stored() {
    let (_, report) = prepare(&walk(30.0, 4.0, Style::Neutral), FPS).unwrap();
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<mtds_mocap::signal::SignalReport>(&text).unwrap(), report);
}
