//! What was found in a clip and done to it, in a form that can be stored.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::rate::RateCheck;
use crate::Joint;

/// What happened to one clip between the file and the prepared motion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SignalReport {
    /// Frames that came.
    pub n_frames_in: usize,
    /// Frames of the prepared clip.
    pub n_frames_out: usize,
    /// Frames per second as labelled.
    pub fps_in: f64,
    /// Frames per second of the prepared clip.
    pub fps_out: f64,
    /// Leading frames in a T-pose, which were dropped.
    pub t_pose: TPose,
    /// Frames, joints and cuts that do not look like motion, in the order of the clip as it came.
    pub glitches: Vec<Glitch>,
    /// Whether the labelled rate agrees with how people move.
    pub rate: RateCheck,
    /// Where the floor was and how even it is.
    pub floor: Floor,
}

impl SignalReport {
    /// Whether nothing was found that a person should look at.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.glitches.is_empty() && !self.rate.is_suspect()
    }
}

/// A T-pose at the beginning of a clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TPose {
    /// There is none.
    Absent,
    /// Frames put there by a conversion: the body jumps into the first captured frame.
    Added {
        /// How many.
        n_frames: usize,
    },
    /// Captured frames in which the performer holds the pose.
    Held {
        /// How many.
        n_frames: usize,
    },
}

impl TPose {
    /// Number of leading frames in the pose.
    #[must_use]
    pub fn n_frames(self) -> usize {
        match self {
            Self::Absent => 0,
            Self::Added { n_frames } | Self::Held { n_frames } => n_frames,
        }
    }
}

/// Something in a clip that is not motion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Glitch {
    /// What it is.
    pub kind: GlitchKind,
    /// The frames of the clip as it came.
    pub frames: Range<usize>,
    /// What was done.
    pub repair: Repair,
}

/// Kinds of glitches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum GlitchKind {
    /// All joints in one point, as where all channels were zero and positions replace offsets.
    Collapsed,
    /// The whole body is elsewhere for a moment, as where a rig fell back to its rest pose.
    Displaced,
    /// The whole body jumps and does not come back: two takes in one file, or a lost interval.
    Cut,
    /// One joint leaves its path and comes back.
    Spike {
        /// Which.
        joint: Joint,
    },
}

/// What was done about a glitch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Repair {
    /// Positions were interpolated from the frames around.
    Interpolated,
    /// The frames stood at an end of the clip and were dropped.
    Dropped,
    /// Nothing.
    Left,
}

impl fmt::Display for Glitch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            GlitchKind::Collapsed => write!(out, "all joints in one point")?,
            GlitchKind::Displaced => write!(out, "the whole body is elsewhere")?,
            GlitchKind::Cut => write!(out, "the whole body jumps and does not come back")?,
            GlitchKind::Spike { joint } => write!(out, "{} leaves its path and comes back", joint.name())?,
        }
        let Range { start, end } = self.frames;
        match end.saturating_sub(start) {
            0 | 1 => write!(out, " in frame {start}")?,
            _ => write!(out, " in frames {start} to {}", end - 1)?,
        }
        match self.repair {
            Repair::Interpolated => write!(out, ", interpolated"),
            Repair::Dropped => write!(out, ", dropped"),
            Repair::Left => write!(out, ", left as it is"),
        }
    }
}

/// The floor under a clip.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// Height of the floor in the clip as it came, in metres; the prepared clip stands on 0.
    pub height: f64,
    /// Half of the resting feet are within this of it, in metres: large on slopes and where feet never rest.
    pub spread: f64,
    /// Number of resting feet, counted once per frame, on which it rests.
    pub n_resting: usize,
}
