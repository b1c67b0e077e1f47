//! Control of motion with a model that was learned in seconds: styles, mixtures, examples, words, restyled clips, and what is refused.

use std::f64::consts::FRAC_PI_2;

use crate::learned::{bvh, walk, walkers};
use glam::DVec3;
use mtds::random::stream;
use mtds::{CodePath, DataColumns, Model};
use mtds_mocap::bvh::{read, write};
use mtds_mocap::clip::{Clip, ClipSettings};
use mtds_mocap::control::{Character, MotionModel, Pace, Restyled, Route, StyleMix, Way};
use mtds_mocap::features::{FeatureSettings, Features};
use mtds_mocap::frame::{D_OBS, facing_rad};
use mtds_mocap::signal::find_floor;
use mtds_mocap::skeleton::{MapOptions, Placement, Target, Up, leg_length, map, pose};
use mtds_mocap::walker::Style;
use mtds_mocap::{Error, Joint, JointTrack, N_JOINTS};

fn settings() -> ClipSettings {
    ClipSettings::default()
}

fn character(style: Style, n_frames: usize, seed: u64) -> Character {
    Character::of_bytes(&bvh(style, n_frames, seed), &settings()).unwrap()
}

fn one(code: Vec<f64>) -> CodePath {
    CodePath::new(vec![code]).unwrap()
}

fn style(model: &MotionModel<'_>, text: &str) -> Vec<f64> {
    model.code_of_mix(&StyleMix::parse(text).unwrap()).unwrap()
}

/// Mean and deviation of every coordinate of the body in its own frame: how somebody moves, wherever he goes.
fn manner(track: &JointTrack) -> Vec<f64> {
    let outputs = Features::of_track(track, &FeatureSettings::default()).unwrap().outputs.values;
    let n = outputs.n_time() as f64;
    let column = |c: usize| {
        let mean = outputs.rows().map(|row| row[c]).sum::<f64>() / n;
        let var = outputs.rows().map(|row| (row[c] - mean).powi(2)).sum::<f64>() / n;
        [mean, var.sqrt()]
    };
    (3..D_OBS).flat_map(column).collect()
}

fn apart(a: &JointTrack, b: &JointTrack) -> f64 {
    let pairs = manner(a).into_iter().zip(manner(b));
    pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Positions of a restyled clip as a reader of its file finds them.
fn read_back(made: &Restyled) -> JointTrack {
    let reading = read(&write(&made.posed.motion)).unwrap();
    map(&reading.motion, &settings().rules, &MapOptions::default()).unwrap().track
}

/// Largest step of a joint from frame to frame, in metres.
fn largest_step(track: &JointTrack, frames: std::ops::Range<usize>) -> f64 {
    let step =
        |t: usize, joint| DVec3::from(track.at(t, joint)).distance(DVec3::from(track.at(t + 1, joint)));
    frames.flat_map(|t| Joint::ALL.map(|joint| step(t, joint))).fold(0.0, f64::max)
}

/// Mean size of the third difference of joints, in m/s³.
fn jerk(track: &JointTrack) -> f64 {
    let at = |t: usize, joint| DVec3::from(track.at(t, joint));
    let third = |t: usize, joint| {
        (at(t + 3, joint) - 3.0 * at(t + 2, joint) + 3.0 * at(t + 1, joint) - at(t, joint)).length()
    };
    let all = (0..track.n_frames() - 3).flat_map(|t| Joint::ALL.map(|joint| third(t, joint)));
    all.sum::<f64>() * track.fps.powi(3) / ((track.n_frames() - 3) * N_JOINTS) as f64
}

#[test]
fn a_restyled_clip_is_nearer_to_its_new_style_than_to_its_own() {
    let model = MotionModel::of(walkers()).unwrap();
    let mine = character(Style::Neutral, 200, 11);
    // The old walk at half the pace: at that of another what is nearest to them is further away.
    for (target, share) in
        [(Style::Old, 0.9), (Style::Proud, 0.5), (Style::Strutting, 0.5), (Style::Angry, 0.5)]
    {
        let other = character(target, 200, 12);
        let example = model.example(&other.clip, &mut stream(1, 0)).unwrap();
        for (how, code) in [("name", model.code_of(target.name()).unwrap()), ("example", example.code)] {
            let made = mine.restyled(&model, &one(code)).unwrap();
            let (new, own) = (apart(&made.track, &other.clip.track), apart(&made.track, &mine.clip.track));
            assert!(new < share * own, "{} by {how}: {new} from it, {own} from neutral", target.name());
        }
    }
    // In its own style it stays what it was.
    let same = mine.restyled(&model, &one(model.code_of("neutral").unwrap())).unwrap();
    let old = mine.restyled(&model, &one(model.code_of("old").unwrap())).unwrap();
    assert!(apart(&same.track, &mine.clip.track) < 0.4 * apart(&old.track, &mine.clip.track));
}

#[test]
fn a_restyled_clip_keeps_skeleton_place_and_floor_and_does_not_jump() {
    let model = MotionModel::of(walkers()).unwrap();
    let mine = character(Style::Neutral, 200, 13);
    let made = mine.restyled(&model, &one(model.code_of("proud").unwrap())).unwrap();
    assert_eq!(made.posed.motion.hierarchy(), mine.motion.hierarchy());
    assert_eq!(made.posed.motion.n_frames(), 200);
    assert!(made.posed.mean_error_m < 0.005, "{}", made.posed.mean_error_m);
    let (back, track) = (read_back(&made), &mine.clip.track);
    let ground =
        |track: &JointTrack, t: usize| DVec3::from(track.at(t, Joint::Hips)) * DVec3::new(1.0, 0.0, 1.0);
    assert!(ground(&back, 0).distance(ground(track, 0)) < 1e-6);
    let facing = |track: &JointTrack| facing_rad(track, 1.0 / 3.0)[0];
    assert!((facing(&back) - facing(track)).abs() < 0.15);
    let off = (0..200).map(|t| ground(&back, t).distance(ground(track, t))).fold(0.0, f64::max);
    assert!(off < 0.15, "{off} m off the way of the clip");
    eprintln!(
        "restyled: {:.1} cm off its way at most, rotations within {:.2} mm, jerk {:.2} and sliding {:.3} m/s where the clip has {:.2} and {:.3}",
        100.0 * off,
        1000.0 * made.posed.mean_error_m,
        jerk(&back),
        made.sliding.mean_speed,
        jerk(track),
        made.sliding_before.mean_speed,
    );
    // The first frames are no different from others, and none jumps.
    let usual = largest_step(track, 0..199);
    assert!(largest_step(&back, 0..10) < 1.5 * usual && largest_step(&back, 0..199) < 1.7 * usual);
    assert!(jerk(&back) < 1.5 * jerk(track), "{} of {}", jerk(&back), jerk(track));
    // The file's floor is not at 0; feet stand on it as they did.
    let as_read = map(&mine.motion, &settings().rules, &MapOptions::default()).unwrap().track;
    let floors = [&back, &as_read].map(|track| find_floor(track).height);
    assert!((floors[0] - floors[1]).abs() < 0.004, "{floors:?}");
    assert!(made.sliding.mean_speed < made.sliding_before.mean_speed + 0.02, "{:?}", made.sliding);
    assert!(made.glb().unwrap().starts_with(b"glTF"));
}

/// The same file, said to be in another unit: a smaller body makes smaller steps.
#[test]
fn a_small_character_keeps_its_size_and_steps_as_a_large_one_does() {
    let model = MotionModel::of(walkers()).unwrap();
    let bytes = bvh(Style::Neutral, 150, 14);
    let large = Character::of_bytes(&bytes, &settings()).unwrap();
    let unit = 0.7 * large.target.placement.metres_per_unit;
    let shrunk = MapOptions { metres_per_unit: Some(unit), ..MapOptions::default() };
    let small = Character::of_bytes(&bytes, &ClipSettings { map: shrunk, ..settings() }).unwrap();
    let code = one(model.code_of("old").unwrap());
    let [large, small] = [large, small].map(|body| body.restyled(&model, &code).unwrap());
    assert!((small.factor / large.factor * 0.7 - 1.0).abs() < 0.01, "{} {}", small.factor, large.factor);
    assert!((leg_length(&small.track) / leg_length(&large.track) - 0.7).abs() < 1e-3);
    let way = |track: &JointTrack| {
        DVec3::from(track.at(0, Joint::Hips)).distance(DVec3::from(track.at(149, Joint::Hips)))
    };
    assert!((way(&small.track) / way(&large.track) - 0.7).abs() < 0.02);
    assert!(small.sliding.mean_speed < 0.02, "{:?}", small.sliding);
}

/// Another rig, other axes: centimetres on a measured body, Z up.
#[test]
fn a_character_with_another_up_keeps_its_axes() {
    let model = MotionModel::of(walkers()).unwrap();
    let track = walk(Style::Neutral, 150, 22).track;
    let placement = Placement { metres_per_unit: 0.01, up: Up::Z, mirrored: false };
    let target = Target { placement, ..Target::measured(&track).unwrap() };
    let bytes = write(&pose(&track, &target).unwrap().motion);
    let mine = Character::of_bytes(&bytes, &settings()).unwrap();
    assert_eq!(mine.target.placement.up, Up::Z);
    let made = mine.restyled(&model, &one(model.code_of("proud").unwrap())).unwrap();
    assert_eq!(made.posed.motion.hierarchy(), mine.motion.hierarchy());
    let reading = read(&write(&made.posed.motion)).unwrap();
    let back = map(&reading.motion, &settings().rules, &MapOptions::default()).unwrap();
    assert_eq!(back.report.up.up, Up::Z);
    let far =
        |t: usize, joint| DVec3::from(back.track.at(t, joint)).distance(DVec3::from(made.track.at(t, joint)));
    let height = mine.clip.signal.floor.height.abs();
    let farthest = (0..150).flat_map(|t| Joint::ALL.map(|joint| far(t, joint))).fold(0.0, f64::max);
    assert!(farthest < 0.05 + height, "{farthest} {height}");
    // What others open has Y up.
    assert!(made.glb().unwrap().starts_with(b"glTF"));
}

#[test]
fn words_lead_a_walk_to_their_end_and_heading() {
    let model = MotionModel::of(walkers()).unwrap();
    let way = Way::parse("walk 4, left 90, walk 3").unwrap();
    let route = Route::along(&way, Pace::usual(1.2)).unwrap();
    let track = model.walk(&one(model.code_of("neutral").unwrap()), &route).unwrap().to_track().unwrap();
    assert_eq!(track.n_frames(), route.n_frames());
    let [first, last] = [0, track.n_frames() - 1].map(|t| track.at(t, Joint::Hips));
    // Hips sway about the way by some centimetres.
    assert!(first[0].hypot(first[2]) < 0.12, "{first:?}");
    assert!((last[0] - 3.0).hypot(last[2] - 4.0) < 0.15, "{last:?}");
    let facing = *facing_rad(&track, 1.0 / 3.0).last().unwrap();
    assert!((facing - FRAC_PI_2).abs() < 0.2, "{facing}");
    assert_eq!(model.inputs_of(&route).unwrap().n_time(), track.n_frames());
}

#[test]
fn a_style_that_changes_along_the_way_is_as_smooth_as_walkers_are() {
    let model = MotionModel::of(walkers()).unwrap();
    let route = Route::along(&Way::parse("walk 8").unwrap(), Pace::usual(1.1)).unwrap();
    let codes = ["old", "proud", "0.5*sexy+0.5*old"].map(|text| style(&model, text));
    let [old, proud, _] = codes.clone();
    let morph = model.walk(&CodePath::new(codes.to_vec()).unwrap(), &route).unwrap().to_track().unwrap();
    let real = [Style::Old, Style::Proud, Style::Sexy].map(|style| jerk(&walk(style, 240, 15).track));
    let most = real.into_iter().fold(0.0, f64::max);
    eprintln!("jerk of a style that changes {:.1} m/s³, of walkers {real:.1?}", jerk(&morph));
    assert!(jerk(&morph) < 1.5 * most, "{} of {real:?}", jerk(&morph));
    // It begins as the one and is the other halfway.
    let [as_old, as_proud] =
        [old, proud].map(|code| model.walk(&one(code), &route).unwrap().to_track().unwrap());
    let pose = |track: &JointTrack, t: usize| -> Vec<DVec3> {
        let hips = DVec3::from(track.at(t, Joint::Hips));
        track.frame(t).iter().map(|&joint| DVec3::from(joint) - hips).collect()
    };
    let far = |a: &JointTrack, b: &JointTrack, t: usize| -> f64 {
        pose(a, t).into_iter().zip(pose(b, t)).map(|(a, b)| a.distance(b)).sum::<f64>() / N_JOINTS as f64
    };
    // So is a clip whose style changes.
    let mine = character(Style::Neutral, 200, 20);
    let changing = mine.restyled(&model, &CodePath::new(codes.to_vec()).unwrap()).unwrap();
    assert!(jerk(&changing.track) < 1.5 * jerk(&mine.clip.track).max(most), "{}", jerk(&changing.track));
    let half = route.n_frames() / 2;
    assert!(far(&morph, &as_old, 2) < 0.3 * far(&morph, &as_proud, 2));
    assert!(far(&morph, &as_proud, half) < 0.3 * far(&morph, &as_old, half));
}

#[test]
fn mixtures_weigh_codes_and_names_may_be_members() {
    let model = MotionModel::of(walkers()).unwrap();
    let [old, proud, mixed] = ["old", "proud", "0.7*old+0.3*proud"].map(|text| style(&model, text));
    for d in 0..3 {
        assert!((mixed[d] - 0.7 * old[d] - 0.3 * proud[d]).abs() < 1e-12);
        let members = ["old_01", "old_02"].map(|id| model.code_of(id).unwrap()[d]);
        assert!((old[d] - 0.5 * (members[0] + members[1])).abs() < 1e-12, "the mean of its members");
    }
    assert_eq!(model.styles().len(), Style::ALL.len());
    let error = model.code_of("cheerful").unwrap_err();
    assert!(matches!(error, Error::UnknownStyle { .. }));
    let said = error.to_string();
    assert!(Style::ALL.iter().all(|style| said.contains(style.name())), "{said}");
}

#[test]
fn an_example_far_outside_is_known_as_such_and_an_ordinary_one_is_not() {
    let model = MotionModel::of(walkers()).unwrap();
    let clip = character(Style::Childlike, 150, 16).clip;
    let ordinary = model.example(&clip, &mut stream(1, 0)).unwrap();
    assert!(!ordinary.misfit.is_far_outside(), "{:?}", ordinary.misfit.size());
    // Arms straight up all the time.
    let mut positions = clip.track.positions().to_vec();
    for frame in positions.chunks_exact_mut(N_JOINTS) {
        for (shoulder, joint, length) in [
            (Joint::LeftShoulder, Joint::LeftElbow, 0.29),
            (Joint::LeftShoulder, Joint::LeftWrist, 0.55),
            (Joint::RightShoulder, Joint::RightElbow, 0.29),
            (Joint::RightShoulder, Joint::RightWrist, 0.55),
        ] {
            let [x, y, z] = frame[shoulder.index()];
            frame[joint.index()] = [x, y + length, z];
        }
    }
    let raised = JointTrack::new(30.0, positions).unwrap();
    let features = Features::of_track(&raised, &FeatureSettings::default()).unwrap();
    let strange = Clip { track: raised, features, ..clip };
    assert!(model.example(&strange, &mut stream(1, 0)).unwrap().misfit.is_far_outside());
}

#[test]
fn routes_unlike_all_that_was_learned_are_strange() {
    let model = MotionModel::of(walkers()).unwrap();
    let strangeness = |speed: f64| {
        let route = Route::along(&Way::parse("walk 20").unwrap(), Pace::usual(speed)).unwrap();
        model.strangeness(&route).unwrap()
    };
    assert!(strangeness(1.1) < 2.0 && strangeness(6.0) > 8.0, "{} {}", strangeness(1.1), strangeness(6.0));
    let usual = model.usual_speed().unwrap();
    assert!((0.6..1.6).contains(&usual), "{usual}");
}

#[test]
fn clips_that_nothing_can_be_made_of_are_refused() {
    let model = MotionModel::of(walkers()).unwrap();
    let short = Character::of_bytes(&bvh(Style::Old, 20, 17), &settings()).unwrap_err().to_string();
    assert!(short.contains("at least") && short.contains("found 20"), "{short}");
    // Somebody who stands still: one frame of a walk, again and again.
    let walk = walk(Style::Neutral, 60, 18);
    let motion = walk.to_bvh().unwrap();
    let still: Vec<f64> = (0..60).flat_map(|_| motion.frame(0).to_vec()).collect();
    let still = mtds_mocap::bvh::Motion::new(motion.hierarchy().clone(), motion.frame_time(), still).unwrap();
    let still = Character::of_bytes(&write(&still), &settings()).unwrap();
    let code = one(model.code_of("old").unwrap());
    for error in [
        still.restyled(&model, &code).unwrap_err(),
        model.example(&still.clip, &mut stream(1, 0)).unwrap_err(),
    ] {
        assert!(error.to_string().contains("expected a gait"), "{error}");
    }
    let wrong = character(Style::Old, 60, 19).restyled(&model, &one(vec![0.0]));
    assert!(matches!(wrong, Err(Error::Library(_))));
}

#[test]
fn models_of_something_else_are_refused() {
    let model = walkers();
    let refused = |columns: DataColumns, step: Option<&str>| {
        let other = Model { columns, time_step: step.map(Into::into), ..model.clone() };
        MotionModel::of(&other).unwrap_err().to_string()
    };
    let columns = &model.columns;
    let named = |outputs: &[String], inputs: &[String]| DataColumns::named(outputs.to_vec(), inputs.to_vec());
    assert!(refused(named(&columns.outputs[..3], &columns.inputs), None).contains("found 3"));
    let mut renamed = columns.outputs.clone();
    renamed[5] = "weight".into();
    assert!(refused(named(&renamed, &columns.inputs), None).contains("`weight` for `LeftHip_y`"));
    assert!(refused(named(&columns.outputs, &["dose".into()]), None).contains("`dose`"));
    assert!(refused(named(&columns.outputs, &columns.inputs[..5]), None).contains("phase_cos"));
    assert!(refused(columns.clone(), Some("2")).contains("steps of 2"));
    // Names as a family in a file has them, and steps that are counted, are those of motions.
    let with = |letter: char, names: &[String]| {
        names.iter().map(|name| format!("{letter}_{name}")).collect::<Vec<_>>()
    };
    let columns = named(&with('y', &columns.outputs), &with('u', &columns.inputs));
    let same = Model { columns, time_step: Some("1".into()), ..model.clone() };
    assert!(MotionModel::of(&same).is_ok());
}
