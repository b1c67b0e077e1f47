//! One file from its bytes to a sequence of a family: read, mapped, cleaned, with every trap on the way named.
//!
//! ```text
//! bytes ─ bvh::read ─ skeleton::map ─ (legs to one length) ─ signal::prepare ─ Features::of_track
//! ```

mod findings;
mod trap;

pub use findings::{Failure, Findings, Found, Take, Takes};
pub use trap::Trap;

use crate::bvh::{Reading, read};
use crate::export::{Sliding, foot_sliding};
use crate::features::{FeatureSettings, Features};
use crate::signal::{FPS, SignalReport, prepare};
use crate::skeleton::{MapOptions, MapReport, Rules, map, normalise_legs};
use crate::{JointTrack, Result};

/// How files become clips.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipSettings {
    /// Which joint is which.
    pub rules: Rules,
    /// What is known about the files.
    pub map: MapOptions,
    /// Length that all legs are scaled to, in metres; none leaves bodies as they are.
    pub leg_m: Option<f64>,
    /// How features are taken.
    pub features: FeatureSettings,
}

impl Default for ClipSettings {
    fn default() -> Self {
        let (map, features) = (MapOptions::default(), FeatureSettings::default());
        Self { rules: Rules::built_in(), map, leg_m: None, features }
    }
}

/// A file that became a clip.
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    /// The clean clip at 30 frames per second.
    pub track: JointTrack,
    /// Its features.
    pub features: Features,
    /// How the 21 joints were found.
    pub map: MapReport,
    /// What was found in the signal and done to it.
    pub signal: SignalReport,
    /// How feet slide while they stand.
    pub sliding: Sliding,
    /// What could have gone wrong unseen, and was dealt with or should be looked at.
    pub traps: Vec<Trap>,
}

impl Clip {
    /// The clip in the bytes of a BVH file.
    ///
    /// # Errors
    /// Those of reading, mapping and preparing.
    pub fn of_bytes(bytes: &[u8], settings: &ClipSettings) -> Result<Self> {
        Self::of_reading(bytes, &read(bytes)?, settings)
    }

    /// The clip in a file that was read already, from its bytes and what was read.
    ///
    /// # Errors
    /// Those of mapping and preparing.
    pub fn of_reading(bytes: &[u8], reading: &Reading, settings: &ClipSettings) -> Result<Self> {
        let mapped = map(&reading.motion, &settings.rules, &settings.map)?;
        let sized = match settings.leg_m {
            Some(leg_m) => normalise_legs(&mapped.track, leg_m)?.0,
            None => mapped.track,
        };
        let (track, signal) = prepare(&sized, FPS)?;
        let features = Features::of_track(&track, &settings.features)?;
        let sliding = foot_sliding(&track, &features.contacts)?;
        let mut traps = trap::of_text(bytes);
        traps.extend(trap::of_reading(reading));
        traps.extend(trap::of_map(&mapped.report, reading.motion.hierarchy()));
        traps.extend(trap::of_signal(&signal));
        Ok(Self { track, features, map: mapped.report, signal, sliding, traps })
    }
}

impl Clip {
    /// Time of a stride, where there is a gait.
    #[must_use]
    pub fn stride_secs(&self) -> Option<f64> {
        self.features.phase.stride_frames.map(|frames| frames / self.track.fps)
    }

    /// Features of its mirror image: a clip more to learn from, in the same style.
    ///
    /// # Errors
    /// None for settings that the clip itself was made with.
    pub fn mirrored(&self, settings: &ClipSettings) -> Result<Features> {
        Features::of_track(&self.track.mirrored(), &settings.features)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::bvh::write;
    use crate::walker::{Style, Walker};

    fn file(n_frames: usize) -> Vec<u8> {
        let walker = Walker::new(Style::Proud.parameters());
        write(&walker.walk(n_frames, &mut mtds::random::stream(2, 0)).unwrap().to_bvh().unwrap())
    }

    #[test]
    fn parts_of_a_clip_fit_together() {
        let clip = Clip::of_bytes(&file(120), &ClipSettings::default()).unwrap();
        assert_eq!((clip.signal.n_frames_in, clip.signal.n_frames_out), (120, 120));
        assert_eq!((clip.track.n_frames(), clip.features.outputs.values.n_time()), (120, 119));
        assert_eq!((clip.features.inputs.n_time(), clip.features.contacts[0].len()), (119, 120));
        assert!(clip.sliding.mean_speed < 0.1, "the walker's feet stand: {:?}", clip.sliding);
        assert!(clip.traps.iter().all(|trap| !trap.look), "{:?}", clip.traps);
    }

    #[test]
    fn legs_are_scaled_before_features_are_taken() {
        let settings = ClipSettings { leg_m: Some(0.4), ..ClipSettings::default() };
        let (own, small) =
            (Clip::of_bytes(&file(90), &ClipSettings::default()), Clip::of_bytes(&file(90), &settings));
        let (own, small) = (own.unwrap(), small.unwrap());
        let share = 0.4 / own.map.leg_m;
        let height = |clip: &Clip| clip.features.outputs.values.get(40, 3);
        assert!((height(&small) / height(&own) - share).abs() < 0.02);
        assert_eq!(small.map, own.map, "the report is about the file");
    }

    /// Sideways numbers change sign and sides change places; the phase is half a turn on, as the other foot comes down.
    #[test]
    fn a_mirror_image_has_mirrored_features() {
        let settings = ClipSettings::default();
        let clip = Clip::of_bytes(&file(150), &settings).unwrap();
        let image = clip.mirrored(&settings).unwrap();
        let (names, inputs) = (crate::frame::output_names(), crate::features::input_names());
        let other = |name: &str| match name.strip_prefix("Left") {
            Some(rest) => format!("Right{rest}"),
            None => name.strip_prefix("Right").map_or(name.to_owned(), |rest| format!("Left{rest}")),
        };
        let (mut worst, mut worst_input) = (0.0f64, 0.0f64);
        for t in 0..clip.features.inputs.n_time() {
            for (c, name) in names.iter().enumerate() {
                let sideways = name.ends_with("_x") || ["velocity_left", "turning"].contains(&name.as_str());
                let there = names.iter().position(|found| *found == other(name)).unwrap();
                let expected = clip.features.outputs.values.get(t, there) * if sideways { -1.0 } else { 1.0 };
                worst = worst.max((image.outputs.values.get(t, c) - expected).abs());
            }
            for (c, name) in inputs.iter().enumerate() {
                let turned = ["path_left", "step_x", "phase"].iter().any(|part| name.contains(part));
                let expected = clip.features.inputs.get(t, c) * if turned { -1.0 } else { 1.0 };
                worst_input = worst_input.max((image.inputs.get(t, c) - expected).abs());
            }
        }
        assert!(worst < 1e-9 && worst_input < 0.05, "{worst} {worst_input}");
        assert_eq!(clip.track.mirrored().mirrored(), clip.track);
    }

    #[test]
    fn trimming_cuts_features_and_leaves_the_clip() {
        let features = FeatureSettings { trim_secs: 1.0, ..FeatureSettings::default() };
        let clip = Clip::of_bytes(&file(120), &ClipSettings { features, ..ClipSettings::default() }).unwrap();
        assert_eq!((clip.track.n_frames(), clip.features.inputs.n_time()), (120, 59));
    }

    #[test]
    fn what_is_no_clip_is_refused() {
        let of = |bytes: &[u8]| Clip::of_bytes(bytes, &ClipSettings::default());
        assert!(of(b"").is_err() && of(b"HIERARCHY\n").is_err());
        // One frame has no velocity.
        assert!(matches!(of(&file(1)), Err(Error::Shape { .. })));
        let text = String::from_utf8(file(30)).unwrap();
        assert!(of(text.replace("Leg", "Tentacle").as_bytes()).is_err(), "nobody's legs");
    }
}
