//! One file from its bytes to a sequence of a family: read, mapped, cleaned, with every trap on the way named.
//!
//! ```text
//! bytes ─ bvh::read ─ skeleton::map ─ (legs to one length) ─ signal::prepare ─ Features::of_track
//! ```

mod trap;

pub use trap::Trap;

use crate::bvh::read;
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
        let reading = read(bytes)?;
        let mapped = map(&reading.motion, &settings.rules, &settings.map)?;
        let sized = match settings.leg_m {
            Some(leg_m) => normalise_legs(&mapped.track, leg_m)?.0,
            None => mapped.track,
        };
        let (track, signal) = prepare(&sized, FPS)?;
        let features = Features::of_track(&track, &settings.features)?;
        let sliding = foot_sliding(&track, &features.contacts)?;
        let mut traps = trap::of_text(bytes);
        traps.extend(trap::of_reading(&reading));
        traps.extend(trap::of_map(&mapped.report, reading.motion.hierarchy()));
        traps.extend(trap::of_signal(&signal));
        Ok(Self { track, features, map: mapped.report, signal, sliding, traps })
    }
}
