//! From a clean clip to a sequence of a family: outputs `y ∈ R^64`, inputs `u ∈ R^32`, the style as its label.
//!
//! ```
//! use mtds_mocap::features::{FeatureSettings, Features, family};
//! use mtds_mocap::walker::{Style, Walker};
//!
//! # fn main() -> mtds_mocap::Result<()> {
//! let sequences = Style::ALL.iter().enumerate().map(|(i, style)| {
//!     let walk = Walker::new(style.parameters()).walk(120, &mut mtds::random::stream(1, i as u64))?;
//!     Features::of_track(&walk.track, &FeatureSettings::default())?.to_sequence(style.name(), style.name())
//! });
//! let family = family(sequences.collect::<Result<Vec<_>, _>>()?)?;
//! assert_eq!((family.n_seq(), family.d_obs(), family.d_input()), (8, 64, 32));
//! # Ok(())
//! # }
//! ```

mod inputs;
mod leak;
mod ridge;

pub use inputs::{AHEAD_FRAMES, D_INPUT, HORIZON, MotionPlan, N_AHEAD, input_names};
pub use leak::{Columns, StyleLeak, style_leak};

use mtds::{Family, Sequence, Signal};
use serde::{Deserialize, Serialize};

use crate::frame::{Outputs, facing_rad, output_names};
use crate::gait::{Phase, contacts, outside_turns};
use crate::path::{SmoothPath, Tolerance};
use crate::{Error, JointTrack, Result};

/// Time of a stride where a clip has no gait, in seconds.
const USUAL_STRIDE_SECS: f64 = 1.15;

/// How to take features from a clip.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FeatureSettings {
    /// Width of the Gaussian under which facings are averaged, in seconds; 1/3.
    pub facing_sigma_secs: f64,
    /// How far the path may be from the hips; automatic.
    pub tolerance: Tolerance,
    /// Cut from both ends, in seconds, where people start and stop; 0.
    pub trim_secs: f64,
}

impl Default for FeatureSettings {
    fn default() -> Self {
        Self { facing_sigma_secs: 1.0 / 3.0, tolerance: Tolerance::Automatic, trim_secs: 0.0 }
    }
}

/// Outputs and inputs of a clip, and what they were made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// Outputs, with the way back to the world; `T × 64`, `T` one less than the frames that were kept.
    pub outputs: Outputs,
    /// Inputs; `T × 32`.
    pub inputs: Signal,
    /// For each foot, left first, and each frame of the clip, whether it stands.
    pub contacts: [Vec<bool>; 2],
    /// Phase of the gait over the clip.
    pub phase: Phase,
    /// The smooth path of the clip.
    pub path: SmoothPath,
}

impl Features {
    /// Features of a clean clip at 30 frames per second that stands on the floor: see [`crate::signal::prepare`].
    ///
    /// # Errors
    /// [`Error::Shape`] if fewer than two frames are left; [`Error::Setting`] if a setting is out of range.
    pub fn of_track(track: &JointTrack, settings: &FeatureSettings) -> Result<Self> {
        let n_trim = trimmed_frames(track, settings)?;
        let facing = facing_rad(track, settings.facing_sigma_secs);
        let contacts = contacts(track);
        let phase = Phase::of_contacts(&contacts);
        let stride_frames = phase.stride_frames.unwrap_or(USUAL_STRIDE_SECS * track.fps);
        let path = SmoothPath::of_track(track, &facing, stride_frames, settings.tolerance)?;
        let outputs = Outputs::of_track(track, &facing)?;
        let inputs = plan(&path, &phase, track).inputs()?;
        let rows = n_trim..outputs.values.n_time() - n_trim;
        // Row t of the inputs looks ahead from frame t; row t of the outputs is frame t + 1.
        let inputs = inputs.slice(rows.clone());
        Ok(Self { outputs: outputs.slice(rows), inputs, contacts, phase, path })
    }

    /// The features as a sequence of a family, labelled by style.
    ///
    /// # Errors
    /// None for features as they were made.
    pub fn to_sequence(&self, id: impl Into<String>, style: impl Into<String>) -> Result<Sequence> {
        let sequence = Sequence::new(id, self.outputs.values.clone())?;
        Ok(sequence.with_inputs(self.inputs.clone())?.with_label(style))
    }
}

/// Frames to cut from each end, so many that at least two are left.
fn trimmed_frames(track: &JointTrack, settings: &FeatureSettings) -> Result<usize> {
    let (trim, sigma) = (settings.trim_secs, settings.facing_sigma_secs);
    for (name, value) in [("trim_secs", trim), ("facing_sigma_secs", sigma)] {
        if !(value.is_finite() && value >= 0.0) {
            return Err(Error::setting(name, format!("found {value}; give seconds, 0 or more")));
        }
    }
    let n_trim = (trim * track.fps).round() as usize;
    if track.n_frames() < n_trim.saturating_mul(2).saturating_add(2) {
        let expected = format!("at least {} frames, {n_trim} to cut from each end", 2 * n_trim + 2);
        return Err(Error::shape("a motion", expected, track.n_frames()));
    }
    Ok(n_trim)
}

/// What drives a clip, with its path going on beyond the end.
fn plan(path: &SmoothPath, phase: &Phase, track: &JointTrack) -> MotionPlan {
    let places: Vec<_> = (0..track.n_frames() + HORIZON).map(|t| path.at(t as f64)).collect();
    let outside = outside_turns(&places, track.fps);
    MotionPlan { path: places, phase_rad: phase.rad.clone(), outside }
}

/// A family of motions, its columns named.
///
/// # Errors
/// [`Error::Library`] without sequences, with two of one name, or with sequences of other widths.
pub fn family(sequences: Vec<Sequence>) -> Result<Family> {
    Ok(Family::new(sequences)?.with_output_names(output_names())?.with_input_names(input_names())?)
}

/// The family without the inputs that say where north is: differences of the path in the axes of the world.
///
/// They tell nothing that the path seen from the body does not, and a model that has them must learn that all headings are alike.
///
/// # Errors
/// None for a family of [`family`].
pub fn without_heading(motions: &Family) -> Result<Family> {
    let kept: Vec<usize> = (0..motions.d_input())
        .filter(|&c| motions.input_names().get(c).is_none_or(|name| !name.starts_with("step_")))
        .collect();
    let sequence = |i: usize| -> Result<Sequence> {
        let from = motions.sequence(i);
        let Some(inputs) = motions.inputs_of(i) else { return Ok(from.clone()) };
        let values = inputs.rows().flat_map(|row| kept.iter().map(|&c| row[c])).collect();
        let sequence = Sequence::new(from.id(), from.outputs().clone())?;
        let sequence = sequence.with_inputs(Signal::new(inputs.n_time(), kept.len(), values)?)?;
        Ok(from.label().map_or(sequence.clone(), |label| sequence.with_label(label)))
    };
    let names = kept.iter().map(|&c| motions.input_names()[c].clone()).collect::<Vec<_>>();
    let sequences = (0..motions.n_seq()).map(sequence).collect::<Result<Vec<_>>>()?;
    Ok(Family::new(sequences)?.with_output_names(motions.output_names().to_vec())?.with_input_names(names)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walker::{Style, Walker};

    #[test]
    fn headings_are_left_out_and_nothing_else() {
        let walk = Walker::new(Style::Old.parameters()).walk(90, &mut mtds::random::stream(1, 0)).unwrap();
        let features = Features::of_track(&walk.track, &FeatureSettings::default()).unwrap();
        let motions = family(vec![features.to_sequence("a", "old").unwrap()]).unwrap();
        let free = without_heading(&motions).unwrap();
        assert_eq!((free.d_input(), free.sequence(0).label()), (20, Some("old")));
        assert!(free.input_names().iter().all(|name| !name.starts_with("step_")));
        for (c, name) in free.input_names().iter().enumerate() {
            let there = motions.input_names().iter().position(|found| found == name).unwrap();
            let column = |family: &Family, c: usize| family.inputs_of(0).unwrap().get(33, c);
            assert_eq!(column(&free, c), column(&motions, there), "{name}");
        }
        // A body that walks elsewhere has the same inputs, up to rounding.
        let turned: Vec<[f64; 3]> = walk.track.positions().iter().map(|&[x, y, z]| [z, y, -x]).collect();
        let turned = JointTrack::new(walk.track.fps, turned).unwrap();
        let turned = Features::of_track(&turned, &FeatureSettings::default()).unwrap();
        let turned =
            without_heading(&family(vec![turned.to_sequence("b", "old").unwrap()]).unwrap()).unwrap();
        let values = |family: &Family| family.inputs_of(0).unwrap().values().to_vec();
        for (a, b) in values(&free).iter().zip(values(&turned)) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }
}
