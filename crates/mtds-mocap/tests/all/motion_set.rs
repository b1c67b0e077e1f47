//! Signal, gait and features on the shared working set of 214 files; each test says so and passes where it is absent.

use crate::recordings::recordings;
use crate::skip::skip;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use mtds::random::stream;
use mtds::{Family, Sequence, Signal};
use mtds_mocap::features::{Columns, FeatureSettings, Features, HORIZON, MotionPlan, StyleLeak, style_leak};
use mtds_mocap::files::read_bvh;
use mtds_mocap::frame::facing_rad;
use mtds_mocap::path::{SmoothPath, Tolerance};
use mtds_mocap::signal::{FPS, SignalReport, TPose, prepare};
use mtds_mocap::skeleton::{MapOptions, Rules, map};
use mtds_mocap::{Joint, JointTrack};

struct Clip {
    name: String,
    style: String,
    clip: JointTrack,
    report: SignalReport,
    features: Features,
}

impl Clip {
    fn is_cmu(&self) -> bool {
        self.name.starts_with("cmu_")
    }
}

fn clip(path: &Path, rules: &Rules) -> Clip {
    let text = |part: Option<&std::ffi::OsStr>| part.unwrap().to_string_lossy().into_owned();
    let name = text(path.file_name());
    let mapped = map(&read_bvh(path).unwrap().motion, rules, &MapOptions::default()).unwrap();
    let (clip, report) = prepare(&mapped.track, FPS).unwrap();
    let features = Features::of_track(&clip, &FeatureSettings::default()).unwrap();
    Clip { style: text(path.parent().unwrap().file_name()), name, clip, report, features }
}

/// All clips, prepared once; none, and a visible line, where the set is absent.
fn clips_or_skip(test: &str) -> &'static [Clip] {
    static CLIPS: OnceLock<Vec<Clip>> = OnceLock::new();
    let clips = CLIPS.get_or_init(|| {
        let Some(folder) = recordings() else { return vec![] };
        let entries = |path: PathBuf| std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        let styles = entries(folder).filter(|path| path.is_dir());
        let mut paths: Vec<_> =
            styles.flat_map(entries).filter(|path| path.extension().is_some_and(|e| e == "bvh")).collect();
        paths.sort();
        let rules = Rules::built_in();
        paths.iter().map(|path| clip(path, &rules)).collect()
    });
    if clips.is_empty() {
        skip(test, "no ../shared/data/mocap beside the workspace");
    }
    clips
}

fn farthest(a: &JointTrack, b: &JointTrack, first: usize) -> f64 {
    let distance = |frame: usize, joint| {
        let (a, b) = (a.at(frame, joint), b.at(frame + first, joint));
        (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt()
    };
    let frames = (0..a.n_frames()).flat_map(|frame| Joint::ALL.map(|joint| distance(frame, joint)));
    frames.fold(0.0, f64::max)
}

#[test]
fn features_lead_back_to_every_clip_within_a_millimetre() {
    let clips = clips_or_skip("features_lead_back_to_every_clip_within_a_millimetre");
    for clip in clips {
        let back = clip.features.outputs.to_track().unwrap();
        assert_eq!(back.n_frames() + 1, clip.clip.n_frames());
        assert!(farthest(&back, &clip.clip, 1) < 1e-3, "{}", clip.name);
    }
}

#[test]
fn t_poses_are_dropped_from_cmu_files_only() {
    for clip in clips_or_skip("t_poses_are_dropped_from_cmu_files_only") {
        let expected = if clip.is_cmu() { TPose::Added { n_frames: 1 } } else { TPose::Absent };
        assert_eq!(clip.report.t_pose, expected, "{}", clip.name);
        let n_captured = clip.report.n_frames_in - expected.n_frames();
        let n_frames = if clip.is_cmu() { n_captured.div_ceil(4) } else { n_captured };
        assert_eq!(clip.clip.n_frames(), n_frames, "{}", clip.name);
    }
}

#[test]
fn published_clips_have_plausible_rates_and_hardly_a_glitch() {
    let clips = clips_or_skip("published_clips_have_plausible_rates_and_hardly_a_glitch");
    let suspect: Vec<_> =
        clips.iter().filter(|clip| clip.report.rate.is_suspect()).map(|clip| &clip.name).collect();
    assert!(suspect.is_empty(), "{suspect:?}");
    // Runs of the set fall freely, which fixes the rate to a tenth and better.
    for clip in clips {
        if let Some(fps) = clip.report.rate.free_fall_fps {
            assert!((fps / clip.report.fps_in - 1.0).abs() < 0.1, "{}: {fps}", clip.name);
        }
    }
    let n_glitches: usize = clips.iter().map(|clip| clip.report.glitches.len()).sum();
    assert!(n_glitches <= 4, "{n_glitches} glitches in files that were cleaned by their publishers");
}

#[test]
fn wrong_labels_on_real_clips_are_found() {
    let clips = clips_or_skip("wrong_labels_on_real_clips_are_found");
    let mislabelled = |clip: &Clip, factor: f64| {
        let wrong = JointTrack::new(clip.clip.fps * factor, clip.clip.positions().to_vec()).unwrap();
        prepare(&wrong, FPS).unwrap().1.rate
    };
    // Clips too short for a stride, or all turns, say nothing; slow walks sped up by four look like fast ones.
    for (factor, least) in [(0.25, 0.75), (4.0, 0.75)] {
        let found = clips.iter().filter(|clip| mislabelled(clip, factor).is_suspect()).count();
        let share = found as f64 / clips.len().max(1) as f64;
        eprintln!("labelled with {factor} times the true rate: {found} of {} found", clips.len());
        assert!(clips.is_empty() || share > least, "{share}");
    }
}

#[test]
fn floors_are_even_and_bodies_stand_on_them() {
    for clip in clips_or_skip("floors_are_even_and_bodies_stand_on_them") {
        assert!(clip.report.floor.spread < 0.02, "{}: {:?}", clip.name, clip.report.floor);
        assert!(clip.report.floor.height.abs() < 0.06, "{}: {:?}", clip.name, clip.report.floor);
    }
}

#[test]
fn strides_by_contacts_agree_with_strides_by_autocorrelation() {
    let clips = clips_or_skip("strides_by_contacts_agree_with_strides_by_autocorrelation");
    let both = clips.iter().filter_map(|clip| {
        let by_contacts = clip.features.phase.stride_frames? / FPS;
        Some((by_contacts / clip.report.rate.stride_secs? - 1.0).abs())
    });
    let (agree, other): (Vec<f64>, Vec<f64>) = both.partition(|away| *away < 0.15);
    eprintln!("{} of {} clips agree", agree.len(), agree.len() + other.len());
    assert!(agree.len() >= 19 * other.len());
    assert!(clips.iter().all(|clip| clip.features.phase.strikes.len() >= 2));
}

#[test]
fn paths_are_smooth_and_near_the_hips() {
    for clip in clips_or_skip("paths_are_smooth_and_near_the_hips") {
        let path = &clip.features.path;
        assert!(path.deviation < 0.1, "{}: {} m", clip.name, path.deviation);
        // At most two corners a stride, whatever the gait does.
        let strides = clip.clip.n_frames() as f64 / clip.features.phase.stride_frames.unwrap_or(30.0);
        assert!(path.n_corners as f64 <= 2.0 * strides + 3.0, "{}: {} corners", clip.name, path.n_corners);
    }
}

/// Scores of the style classifier on other inputs of the same clips.
fn leak(clips: &[&Clip], inputs: impl Fn(&Clip) -> Signal) -> StyleLeak {
    let sequence = |clip: &&Clip| {
        let outputs = clip.features.outputs.values.clone();
        let sequence = Sequence::new(&clip.name, outputs).unwrap();
        sequence.with_inputs(inputs(clip)).unwrap().with_label(&clip.style)
    };
    let family = Family::new(clips.iter().map(sequence).collect()).unwrap();
    style_leak(&family, Columns::Inputs, &mut stream(1, 0)).unwrap()
}

/// The inputs with the path of the hips as it is.
fn inputs_of_raw_path(clip: &Clip) -> Signal {
    let facing = facing_rad(&clip.clip, FeatureSettings::default().facing_sigma_secs);
    let path = SmoothPath::of_track(&clip.clip, &facing, 1.0, Tolerance::Metres(1e-4)).unwrap();
    let path: Vec<_> = (0..clip.clip.n_frames() + HORIZON).map(|t| path.at(t as f64)).collect();
    let outside = vec![false; path.len()];
    MotionPlan { path, phase_rad: clip.features.phase.rad.clone(), outside }.inputs().unwrap()
}

/// Nothing but the speed of the smooth path and the speed of the phase.
fn speed_and_cadence(clip: &Clip) -> Signal {
    let (inputs, phase) = (&clip.features.inputs, &clip.features.phase.rad);
    let row = |t: usize| vec![inputs.get(t, 10).hypot(inputs.get(t, 11)), phase[t + 1] - phase[t]];
    Signal::from_rows((0..inputs.n_time()).map(row).collect()).unwrap()
}

/// Columns of the path among the inputs in units of the clip's own speed: where to, not how fast.
fn path_without_pace(clip: &Clip, columns: impl Iterator<Item = usize> + Clone) -> Signal {
    let inputs = &clip.features.inputs;
    let speeds = (0..inputs.n_time()).map(|t| inputs.get(t, 10).hypot(inputs.get(t, 11)));
    let speed = speeds.sum::<f64>() / inputs.n_time() as f64;
    let row = |t: usize| columns.clone().map(|column| inputs.get(t, column) / speed).collect();
    Signal::from_rows((0..inputs.n_time()).map(row).collect()).unwrap()
}

/// Prints how well styles are recognised from inputs, from parts of them, and from outputs.
#[test]
fn inputs_leak_less_style_than_the_raw_path() {
    let clips = clips_or_skip("inputs_leak_less_style_than_the_raw_path");
    for (name, is_cmu) in [("cmu", true), ("bandai-namco-2", false)] {
        let clips: Vec<&Clip> = clips.iter().filter(|clip| clip.is_cmu() == is_cmu).collect();
        if clips.is_empty() {
            return;
        }
        let inputs = leak(&clips, |clip| clip.features.inputs.clone());
        let raw = leak(&clips, inputs_of_raw_path);
        let pace = leak(&clips, speed_and_cadence);
        let paceless = leak(&clips, |clip| path_without_pace(clip, 0..24));
        let aside = leak(&clips, |clip| path_without_pace(clip, (0..12).step_by(2)));
        let forward = leak(&clips, |clip| path_without_pace(clip, (1..12).step_by(2)));
        let outputs = leak(&clips, |clip| clip.features.outputs.values.clone());
        for (what, leak) in [
            ("inputs", &inputs),
            ("inputs of the raw path", &raw),
            ("speed and cadence alone", &pace),
            ("path, speed divided out", &paceless),
            ("path to the sides, speed divided out", &aside),
            ("path forward, speed divided out", &forward),
            ("outputs", &outputs),
        ] {
            eprintln!(
                "{name}: {what}: {:.2} ± {:.2}, chance {:.2}",
                leak.score, leak.standard_error, leak.chance
            );
        }
        // Few performers per style make the scores on CMU clips too uncertain for more than this.
        assert!(inputs.score < raw.score + raw.standard_error, "{name}");
        assert!(is_cmu || inputs.score < raw.score - 4.0 * raw.standard_error, "{name}");
        assert!(inputs.score < 0.7 * outputs.score, "{name}");
        // Most of what inputs give away is how fast somebody walks, which they are there to say.
        assert!(is_cmu || paceless.score < inputs.score - 4.0 * inputs.standard_error, "{name}");
    }
}
