//! The procedural walker: feet stand still, bones keep their length, and the gait module finds what is known.

use std::f64::consts::TAU;

use mtds::random::stream;
use mtds_mocap::bvh::{read, write};
use mtds_mocap::features::{FeatureSettings, Features};
use mtds_mocap::frame::Outputs;
use mtds_mocap::gait::{Foot, Phase};
use mtds_mocap::skeleton::{MapOptions, Rules, map};
use mtds_mocap::walker::{GaitParameters, RouteKind, Style, Walk, Walker, rest_offset};
use mtds_mocap::{Error, Joint, JointTrack};

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt()
}

fn walk(style: Style, n_frames: usize) -> Walk {
    Walker::new(style.parameters()).walk(n_frames, &mut stream(11, style as u64)).unwrap()
}

#[test]
fn feet_that_stand_do_not_slide() {
    for style in Style::ALL {
        let walk = walk(style, 400);
        for foot in Foot::BOTH {
            let toe = foot.joints()[1];
            let stands = &walk.contacts[foot as usize];
            for frame in (1..400).filter(|&frame| stands[frame] && stands[frame - 1]) {
                let slid = distance(walk.track.at(frame, toe), walk.track.at(frame - 1, toe));
                assert!(slid < 1e-9, "{}: {toe:?} slid {slid} m in frame {frame}", style.name());
            }
            let share = stands.iter().filter(|&&stands| stands).count() as f64 / 400.0;
            assert!((share - style.parameters().duty).abs() < 0.05, "{}: stands {share}", style.name());
        }
    }
}

#[test]
fn contacts_are_a_function_of_the_phase() {
    for style in Style::ALL {
        let (walk, duty) = (walk(style, 300), style.parameters().duty);
        for (frame, phase) in walk.phase_rad.iter().enumerate() {
            for (foot, shift) in [(0, 0.0), (1, 0.5)] {
                let place = (phase / TAU - shift).rem_euclid(1.0);
                assert_eq!(walk.contacts[foot][frame], place < duty, "{} frame {frame}", style.name());
            }
        }
    }
}

/// Left feet land where the phase passes 2π k and right ones where it passes 2π k + π, in the very frame.
#[test]
fn strikes_are_where_the_phase_says() {
    for style in Style::ALL {
        let walk = walk(style, 300);
        for (foot, shift) in [(0, 0.0), (1, 0.5)] {
            let cycle = |frame: usize| (walk.phase_rad[frame] / TAU - shift).floor();
            for frame in 1..300 {
                let lands = walk.contacts[foot][frame] && !walk.contacts[foot][frame - 1];
                assert_eq!(lands, cycle(frame) > cycle(frame - 1), "{} frame {frame}", style.name());
            }
        }
    }
}

/// From exact contacts the phase is exact but for the part of a frame at which a foot lands.
#[test]
fn phase_of_exact_contacts_is_exact_to_a_frame() {
    for style in Style::ALL {
        let walk = walk(style, 600);
        let phase = Phase::of_contacts(&walk.contacts);
        let (first, last) = (phase.strikes[0].frame, phase.strikes[phase.strikes.len() - 1].frame);
        let per_frame = walk.phase_rad.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
        for frame in first..=last {
            let away = phase.rad[frame] - walk.phase_rad[frame];
            let away = (away - TAU * (away / TAU).round()).abs();
            assert!(away < 1.2 * per_frame, "{} frame {frame}: {away} of {per_frame}", style.name());
        }
        for strike in &phase.strikes {
            let expected = if strike.foot == Foot::Left { 0.0 } else { TAU / 2.0 };
            let found = phase.rad[strike.frame].rem_euclid(TAU);
            assert!((found - expected).abs() < 1e-9 || (found - expected - TAU).abs() < 1e-9);
        }
    }
}

#[test]
fn bones_keep_their_length_and_nothing_sinks_into_the_ground() {
    for style in Style::ALL {
        let walk = walk(style, 300);
        for frame in 0..300 {
            for joint in &Joint::ALL[1..] {
                let bone =
                    distance(walk.track.at(frame, *joint), walk.track.at(frame, joint.parent().unwrap()));
                assert!((bone - distance(rest_offset(*joint), [0.0; 3])).abs() < 1e-9, "{joint:?}");
                assert!(walk.track.at(frame, *joint)[1] > 0.015, "{} {joint:?}", style.name());
            }
        }
    }
}

#[test]
fn motion_is_smooth() {
    for style in Style::ALL {
        let walk =
            Walker { fps: 240.0, ..Walker::new(style.parameters()) }.walk(960, &mut stream(2, 0)).unwrap();
        for frame in 1..960 {
            for joint in Joint::ALL {
                let speed = 240.0 * distance(walk.track.at(frame, joint), walk.track.at(frame - 1, joint));
                assert!(speed < 8.0, "{} {joint:?} moves at {speed} m/s in frame {frame}", style.name());
            }
        }
    }
}

#[test]
fn a_walk_is_its_seed_and_its_gait() {
    let walker = Walker::new(Style::Neutral.parameters());
    let walk = |seed| walker.walk(50, &mut stream(seed, 0)).unwrap();
    assert_eq!(walk(1), walk(1));
    assert_ne!(walk(1).track, walk(2).track);
    let one = walker.walk(1, &mut stream(1, 0)).unwrap();
    assert_eq!((one.track.n_frames(), one.phase_rad[0]), (1, walk(1).phase_rad[0]));
}

#[test]
fn impossible_walks_are_errors() {
    let neutral = Style::Neutral.parameters();
    let mut random = stream(1, 0);
    let giant = GaitParameters { speed: 2.2, stride_secs: 3.0, ..neutral };
    assert!(matches!(Walker::new(giant).walk(90, &mut random), Err(Error::Setting { .. })));
    assert!(matches!(Walker::new(neutral).walk(0, &mut random), Err(Error::Shape { .. })));
    let stopped = Walker { fps: 0.0, ..Walker::new(neutral) };
    assert!(matches!(stopped.walk(9, &mut random), Err(Error::Setting { .. })));
}

#[test]
fn mixed_styles_can_walk() {
    for from in Style::ALL {
        for to in Style::ALL {
            let gait = from.parameters().mixed(&to.parameters(), 0.5);
            Walker::new(gait).walk(60, &mut stream(4, 0)).unwrap();
        }
    }
}

#[test]
fn the_gait_module_finds_contacts_and_phase() {
    for style in Style::ALL {
        let walk = walk(style, 600);
        let features = Features::of_track(&walk.track, &FeatureSettings::default()).unwrap();
        for foot in 0..2 {
            let wrong = (0..600).filter(|&t| features.contacts[foot][t] != walk.contacts[foot][t]).count();
            assert!(wrong < 60, "{}: {wrong} of 600 contacts of foot {foot} are wrong", style.name());
        }
        let error = |t: usize| {
            let away = features.phase.rad[t] - walk.phase_rad[t];
            (away - TAU * (away / TAU).round()).abs()
        };
        let mean = (60..540).map(error).sum::<f64>() / 480.0;
        let worst = (60..540).map(error).fold(0.0, f64::max);
        assert!(mean < 0.25 && worst < 0.7, "{}: phase is off by {mean} rad, at worst {worst}", style.name());
        let stride = features.phase.stride_frames.unwrap() / 30.0;
        assert!(
            (stride / style.parameters().stride_secs - 1.0).abs() < 0.15,
            "{}: stride {stride} s",
            style.name()
        );
    }
}

#[test]
fn the_smooth_path_is_near_the_route_and_the_facing_near_its_heading() {
    for style in Style::ALL {
        let walk = walk(style, 600);
        let features = Features::of_track(&walk.track, &FeatureSettings::default()).unwrap();
        for (t, route) in walk.route.iter().enumerate().skip(30).take(540) {
            let place = features.path.at(t as f64);
            let away = (place.x - route.x).hypot(place.z - route.z);
            assert!(away < 0.15, "{}: {away} m from the route in frame {t}", style.name());
            let turned = place.facing_rad - route.facing_rad;
            let turned = turned - TAU * (turned / TAU).round();
            assert!(turned.abs() < 0.3, "{}: faces {turned} rad off in frame {t}", style.name());
        }
    }
}

#[test]
fn features_lead_back_to_the_walk() {
    let walk = walk(Style::Childlike, 2000);
    let features = Features::of_track(&walk.track, &FeatureSettings::default()).unwrap();
    assert_eq!((features.outputs.values.n_time(), features.inputs.n_time()), (1999, 1999));
    assert_within_a_millimetre(&features.outputs, &walk.track, 1);
    let trimmed = FeatureSettings { trim_secs: 1.0, ..FeatureSettings::default() };
    let features = Features::of_track(&walk.track, &trimmed).unwrap();
    assert_eq!((features.outputs.values.n_time(), features.inputs.n_time()), (1939, 1939));
    assert_within_a_millimetre(&features.outputs, &walk.track, 31);
    let short = FeatureSettings { trim_secs: 40.0, ..trimmed };
    assert!(Features::of_track(&walk.track, &short).is_err());
}

fn assert_within_a_millimetre(outputs: &Outputs, track: &JointTrack, first: usize) {
    let back = outputs.to_track().unwrap();
    for frame in 0..back.n_frames() {
        for joint in Joint::ALL {
            assert!(distance(back.at(frame, joint), track.at(frame + first, joint)) < 1e-3);
        }
    }
}

#[test]
fn straight_walks_have_the_speed_of_their_gait() {
    let walker = Walker { route: RouteKind::Straight, ..Walker::new(Style::Proud.parameters()) };
    let walk = walker.walk(900, &mut stream(1, 0)).unwrap();
    let way = distance(walk.track.at(899, Joint::Hips), walk.track.at(0, Joint::Hips));
    assert!((way / (899.0 / 30.0) - walker.gait.speed).abs() < 0.02);
}

#[test]
fn a_walk_written_as_bvh_reads_back_as_the_same_walk() {
    for style in Style::ALL {
        let walk = walk(style, 120);
        let motion = read(&write(&walk.to_bvh().unwrap())).unwrap().motion;
        let mapped = map(&motion, &Rules::built_in(), &MapOptions::default()).unwrap();
        assert_eq!(mapped.track.n_frames(), 120);
        assert!((mapped.track.fps - 30.0).abs() < 1e-6 && mapped.report.synthesised().is_empty());
        for frame in 0..120 {
            for joint in Joint::ALL {
                let away = distance(mapped.track.at(frame, joint), walk.track.at(frame, joint));
                assert!(away < 1e-4, "{}: {joint:?} is {away} m off in frame {frame}", style.name());
            }
        }
    }
}
