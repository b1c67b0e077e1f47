//! The model that comes with the program, measured as an animator would: do feet slide, do bones keep their lengths, do joints jerk, is it quick.
//!
//! ```text
//! cargo test -p mtds-mocap --test all starter::recordings -- --ignored --nocapture            clips that learning did not see, in all styles
//! cargo test --release -p mtds-mocap --test all starter::quick -- --ignored --nocapture      time of a clip of 10 s, frames a second
//! ```

use std::path::PathBuf;
use std::time::Instant;

use glam::DVec3;
use mtds::random::stream;
use mtds::{CodePath, Model};
use mtds_mocap::bvh::{read, write};
use mtds_mocap::clip::ClipSettings;
use mtds_mocap::control::{Character, MotionModel, Pace, Route, Way};
use mtds_mocap::export::{foot_sliding, lock_feet, posed};
use mtds_mocap::files::{bvh_files_below, read_character};
use mtds_mocap::gait::contacts;
use mtds_mocap::skeleton::{MapOptions, Rules, map};
use mtds_mocap::walker::{Style, Walker};
use mtds_mocap::{Joint, JointTrack, N_JOINTS, starter};

/// What a motion may be worse by than real ones.
const REACH: f64 = 1.5;

/// Of the 16 recorded clips that learning did not see; `recordings_in_all_styles` prints it.
const RECORDED: Quality = Quality { sliding: 0.0604, bones: 1e-5, jerk: 84.0 };

/// What is seen of a motion at once.
#[derive(Debug, Clone, Copy)]
struct Quality {
    /// Mean speed over the ground of feet that stand, in m/s.
    sliding: f64,
    /// Mean distance of bones from their own mean length, in metres.
    bones: f64,
    /// Mean size of the third difference of joints, in m/s³.
    jerk: f64,
}

impl Quality {
    fn of(track: &JointTrack) -> Self {
        let sliding = foot_sliding(track, &contacts(track)).unwrap().mean_speed;
        Self { sliding, bones: bone_error(track), jerk: jerk(track) }
    }

    fn mean(all: &[Self]) -> Self {
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        Self { sliding: mean(|q| q.sliding), bones: mean(|q| q.bones), jerk: mean(|q| q.jerk) }
    }

    fn told(&self, what: &str) {
        let Self { sliding, bones, jerk } = self;
        eprintln!("{what:<42} {:>6.2} cm/s {:>6.2} mm {jerk:>6.1} m/s³", 100.0 * sliding, 1000.0 * bones);
    }

    /// Half a millimetre of bones and half a centimetre a second of feet are nothing: real ones may have less.
    #[track_caller]
    fn is_within_reach_of(&self, real: &Self) {
        assert!(self.sliding <= REACH * real.sliding.max(0.005), "{self:?} {real:?}");
        assert!(self.bones <= REACH * real.bones.max(0.0005), "{self:?} {real:?}");
        assert!(self.jerk <= REACH * real.jerk, "{self:?} {real:?}");
    }
}

fn jerk(track: &JointTrack) -> f64 {
    let at = |t: usize, joint| DVec3::from(track.at(t, joint));
    let third = |t: usize, joint| {
        (at(t + 3, joint) - 3.0 * at(t + 2, joint) + 3.0 * at(t + 1, joint) - at(t, joint)).length()
    };
    let all = (0..track.n_frames() - 3).flat_map(|t| Joint::ALL.map(|joint| third(t, joint)));
    all.sum::<f64>() * track.fps.powi(3) / ((track.n_frames() - 3) * N_JOINTS) as f64
}

fn bone_error(track: &JointTrack) -> f64 {
    let bones = Joint::ALL.into_iter().filter_map(|joint| Some((joint, joint.parent()?)));
    let n = track.n_frames() as f64;
    let errors = bones.map(|(joint, parent)| {
        let lengths: Vec<f64> = (0..track.n_frames())
            .map(|t| DVec3::from(track.at(t, joint)).distance(DVec3::from(track.at(t, parent))))
            .collect();
        let mean = lengths.iter().sum::<f64>() / n;
        lengths.iter().map(|length| (length - mean).abs()).sum::<f64>() / n
    });
    errors.sum::<f64>() / (N_JOINTS - 1) as f64
}

fn one(code: Vec<f64>) -> CodePath {
    CodePath::new(vec![code]).unwrap()
}

/// Joints as a reader of the file finds them.
fn read_back(bytes: &[u8]) -> JointTrack {
    let reading = read(bytes).unwrap();
    map(&reading.motion, &Rules::built_in(), &MapOptions::default()).unwrap().track
}

/// The clip in a style, as its file has it.
fn restyled(character: &Character, model: &MotionModel<'_>, style: &str) -> JointTrack {
    let code = one(model.code_of(style).unwrap());
    read_back(&write(&character.restyled(model, &code).unwrap().posed.motion))
}

/// A motion along the way of a clip, as an exported file has it.
fn generated(character: &Character, model: &MotionModel<'_>, style: &str) -> [JointTrack; 2] {
    let route = Route::of_clip(&character.clip).unwrap();
    let raw = model.walk(&one(model.code_of(style).unwrap()), &route).unwrap().to_track().unwrap();
    let locked = lock_feet(&raw, &contacts(&raw)).unwrap();
    let file = read_back(&write(&posed(&locked).unwrap().motion));
    [raw, file]
}

fn walker(style: Style, n_frames: usize) -> Character {
    let walk = Walker::new(style.parameters()).walk(n_frames, &mut stream(31, 0)).unwrap();
    Character::of_bytes(&write(&walk.to_bvh().unwrap()), &ClipSettings::default()).unwrap()
}

/// Clips of the database that the model was learned from, of the split that learning did not see.
fn unseen() -> Option<Vec<Character>> {
    let folder = crate::recordings::recordings()?;
    let manifest = std::fs::read_to_string(folder.join("manifest.csv")).unwrap();
    let is_unseen = |path: &PathBuf| {
        let file = path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
        let line = manifest.lines().find(|line| line.starts_with(&format!("{file},"))).unwrap_or_default();
        line.contains(",cmu,") && line.ends_with(",test")
    };
    let files = bvh_files_below(&folder).unwrap().into_iter().filter(is_unseen);
    Some(files.map(|path| read_character(&path, &ClipSettings::default()).unwrap()).collect())
}

fn styles(model: &Model) -> Vec<&str> {
    MotionModel::of(model).unwrap().styles()
}

/// A brisk walk: marching at twice the pace of soldiers jerks more than anybody who was recorded, so that styles count together.
#[test]
fn a_walker_moves_in_every_style_without_sliding_stretching_or_jerking() {
    let model = starter::model().unwrap();
    let motion = MotionModel::of(&model).unwrap();
    let mine = walker(Style::Neutral, 150);
    Quality::of(&mine.clip.track).told("the walker");
    let made: Vec<Quality> = styles(&model)
        .into_iter()
        .map(|style| {
            let made = restyled(&mine, &motion, style);
            assert_eq!(made.n_frames(), mine.clip.track.n_frames());
            let quality = Quality::of(&made);
            quality.told(style);
            assert!(quality.sliding < 0.04 && quality.bones < 1e-4, "{style}: {quality:?}");
            quality
        })
        .collect();
    let all = Quality::mean(&made);
    all.told("all styles");
    all.is_within_reach_of(&RECORDED);
}

/// Arms of zombies are stretched out, proud people swing theirs, soldiers lift their knees: a style is more than its name.
#[test]
fn styles_look_as_they_are_called() {
    let model = starter::model().unwrap();
    let motion = MotionModel::of(&model).unwrap();
    let mine = walker(Style::Neutral, 150);
    let tracks = |style: &str| restyled(&mine, &motion, style);
    let [neutral, zombie, proud, marching] = ["neutral", "zombie", "proud", "marching"].map(tracks);
    let heights = |track: &JointTrack, joint| -> Vec<f64> {
        (0..track.n_frames()).map(|t| track.at(t, joint)[1]).collect()
    };
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let most = |values: Vec<f64>| values.into_iter().fold(0.0, f64::max);
    // Of the higher wrist: one arm of the zombies hangs.
    let wrist = |track: &JointTrack| {
        [Joint::LeftWrist, Joint::RightWrist]
            .map(|joint| mean(heights(track, joint)))
            .into_iter()
            .fold(0.0, f64::max)
    };
    let found = [&zombie, &neutral].map(wrist);
    assert!(found[0] > found[1] + 0.2, "{found:?}");
    let found = [&proud, &neutral].map(|track| most(heights(track, Joint::LeftWrist)));
    assert!(found[0] > found[1] + 0.1, "{found:?}");
    let found = [&marching, &neutral].map(|track| most(heights(track, Joint::LeftKnee)));
    assert!(found[0] > found[1] + 0.1, "{found:?}");
}

#[test]
#[ignore = "a measurement on recordings, minutes"]
fn recordings_in_all_styles() {
    let Some(clips) = unseen() else { return crate::skip::skip("recordings_in_all_styles", "no ../shared") };
    let model = starter::model().unwrap();
    let motion = MotionModel::of(&model).unwrap();
    let real = Quality::mean(&clips.iter().map(|clip| Quality::of(&clip.clip.track)).collect::<Vec<_>>());
    real.told(&format!("{} recorded clips", clips.len()));
    let (mut all, mut raw, mut files) = (vec![], vec![], vec![]);
    for style in styles(&model) {
        let made: Vec<_> = clips.iter().map(|clip| Quality::of(&restyled(clip, &motion, style))).collect();
        Quality::mean(&made).told(&format!("restyled, {style}"));
        all.extend(made);
        for clip in &clips {
            let [before, file] = generated(clip, &motion, style);
            raw.push(Quality::of(&before));
            files.push(Quality::of(&file));
        }
    }
    let [all, raw, files] = [all, raw, files].map(|found| Quality::mean(&found));
    let near = |found: f64, told: f64| (found / told - 1.0).abs() < 0.05;
    assert!(near(real.sliding, RECORDED.sliding) && near(real.jerk, RECORDED.jerk), "{real:?}");
    all.told("restyled, all styles");
    files.told("generated and exported, all styles");
    raw.told("generated, as the model says it");
    all.is_within_reach_of(&real);
    files.is_within_reach_of(&real);
}

#[test]
#[ignore = "a measurement of time, on a quiet machine"]
fn quick_enough_for_a_person() {
    let model = starter::model().unwrap();
    let motion = MotionModel::of(&model).unwrap();
    let clip = walker(Style::Neutral, 300);
    let code = one(motion.code_of("proud").unwrap());
    let median = |mut secs: Vec<f64>| {
        secs.sort_by(f64::total_cmp);
        secs[secs.len() / 2]
    };
    let took = |work: &dyn Fn()| {
        let once = || {
            let started = Instant::now();
            work();
            started.elapsed().as_secs_f64()
        };
        median((0..5).map(|_| once()).collect())
    };
    let by_name = took(&|| drop(clip.restyled(&motion, &code).unwrap()));
    let other = walker(Style::Old, 300);
    let by_example = took(&|| {
        let code = motion.example(&other.clip, &mut stream(1, 0)).unwrap().code;
        drop(clip.restyled(&motion, &one(code)).unwrap());
    });
    let route = Route::along(&Way::straight(100.0), Pace::usual(1.0)).unwrap();
    let walk = took(&|| drop(motion.walk(&code, &route).unwrap()));
    let rate = route.n_frames() as f64 / walk;
    eprintln!("10 s in another style: {by_name:.2} s by name, {by_example:.2} s by example");
    eprintln!("generated: {rate:.0} frames a second");
    assert!(by_name < 3.0 && by_example < 3.0 && rate > 1000.0);
}
