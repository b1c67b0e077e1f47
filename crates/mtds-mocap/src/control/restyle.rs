//! A clip in another style: the way, the phase and the body of a character, moved as a code says.
//!
//! ```text
//! BVH ─ clip ─ route ─ scaled to the body that the model knows ─ motion in the style ─ scaled back
//!                       ─ on the bones of the character ─ feet locked ─ rotations on its own skeleton
//! ```
//! Scaling keeps feet where they stand.

use mtds::CodePath;

use super::motion_model::{MotionModel, too_short};
use super::route::Route;
use crate::bvh::{Motion, read};
use crate::clip::{Clip, ClipSettings};
use crate::export::{METRES_PER_UNIT, Sliding, foot_sliding, glb, lock_feet, posed};
use crate::features::FeatureSettings;
use crate::gait::contacts;
use crate::signal::{find_floor, lower};
use crate::skeleton::{Placement, Posed, Proportions, Target, Up, pose};
use crate::{JointTrack, Result};

/// A clip together with the skeleton that it came on.
#[derive(Debug, Clone)]
pub struct Character {
    /// The clean clip.
    pub clip: Clip,
    /// The skeleton.
    pub target: Target,
    /// The file as it was read.
    pub motion: Motion,
}

/// A clip in another style.
#[derive(Debug, Clone)]
pub struct Restyled {
    /// Positions of the 21 joints as the file has them, feet locked, the floor at height 0.
    pub track: JointTrack,
    /// Rotations on the character's own skeleton, at its place in the world.
    pub posed: Posed,
    /// How feet slide in the clip as it came.
    pub sliding_before: Sliding,
    /// How feet slide now.
    pub sliding: Sliding,
    /// How much larger the model's body is than the character's.
    pub factor: f64,
    /// How the skeleton's coordinates lie in the world.
    placement: Placement,
}

impl Restyled {
    /// The clip as the bytes of a GLB file: on the character's own skeleton, or on a measured body where that has not Y up.
    ///
    /// # Errors
    /// None for a clip as it was made.
    pub fn glb(&self) -> Result<Vec<u8>> {
        match self.placement {
            Placement { metres_per_unit, up: Up::Y, mirrored: false } => {
                glb(&self.posed.motion, metres_per_unit)
            }
            _ => glb(&posed(&self.track)?.motion, METRES_PER_UNIT),
        }
    }
}

impl Character {
    /// The character in the bytes of a BVH file.
    ///
    /// # Errors
    /// Those of reading and mapping; [`crate::Error::Unusable`] for less than a second.
    pub fn of_bytes(bytes: &[u8], settings: &ClipSettings) -> Result<Self> {
        // The clip as a whole, as it is: what is trimmed or resized would come back so.
        let features = FeatureSettings { trim_secs: 0.0, ..settings.features };
        let settings = ClipSettings { leg_m: None, features, ..settings.clone() };
        let reading = read(bytes)?;
        let clip = Clip::of_reading(bytes, &reading, &settings)?;
        if clip.track.n_frames() <= crate::signal::FPS as usize {
            return Err(too_short(clip.track.n_frames()));
        }
        let target = Target::rig_of(&reading.motion, &clip.map);
        Ok(Self { clip, target, motion: reading.motion })
    }

    /// The clip in the style of `codes`, which it passes evenly in time.
    ///
    /// # Errors
    /// [`crate::Error::Unusable`] for a clip without a gait; codes that do not fit the model.
    pub fn restyled(&self, model: &MotionModel<'_>, codes: &CodePath) -> Result<Restyled> {
        let route = Route::of_clip(&self.clip)?;
        let body = Proportions::of(&self.clip.track);
        let factor = model.leg_m(codes)? / body.leg_m();
        let large = model.walk(codes, &route.scaled(factor))?.to_track()?;
        // Contacts go by speeds and heights of bodies as the model knows them.
        let stands = contacts(&large);
        let positions = large.positions().iter().map(|joint| joint.map(|value| value / factor)).collect();
        let track = body.applied(&JointTrack::new(large.fps, positions)?)?;
        let locked = lock_feet(&track, &stands)?;
        // By the measure that put the clip on its floor.
        let floor = self.clip.signal.floor.height;
        let posed = pose(&lower(&locked, find_floor(&locked).height - floor)?, &self.target)?;
        // What a rig cannot do, such as raise shoulders that it has fixed, is not in the file.
        let track = lower(&posed.track, floor)?;
        Ok(Restyled {
            posed,
            sliding_before: self.clip.sliding,
            sliding: foot_sliding(&track, &stands)?,
            track,
            factor,
            placement: self.target.placement,
        })
    }
}
