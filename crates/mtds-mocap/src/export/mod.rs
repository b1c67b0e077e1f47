//! Back out: a clip of positions as bytes that other programs open, and pictures for a quick look.
//!
//! ```text
//! positions ─→ feet locked, on request ─→ rotations on a measured body ─→ BVH, GLB
//!     └──────→ lines on a plane ─→ PNG montage, animated PNG, or any other drawing
//! ```
//!
//! ```
//! use mtds_mocap::export;
//! use mtds_mocap::walker::{Style, Walker};
//!
//! # fn main() -> mtds_mocap::Result<()> {
//! let walk = Walker::new(Style::Old.parameters()).walk(30, &mut mtds::random::stream(1, 0))?;
//! let posed = export::posed(&walk.track)?;
//! assert!(posed.mean_error_m < 0.01);
//! assert!(mtds_mocap::bvh::write(&posed.motion).starts_with(b"HIERARCHY"));
//! assert!(export::glb(&posed.motion, export::METRES_PER_UNIT)?.starts_with(b"glTF"));
//! assert!(export::montage_png(&walk.track)?.starts_with(b"\x89PNG"));
//! # Ok(())
//! # }
//! ```

mod bone_mesh;
mod canvas;
mod figure;
mod glb;
mod glb_buffer;
mod lock;
mod loss;
mod picture;
mod png;
mod sliding;

pub use figure::{Line, MONTAGE_SIZE, Tone, montage};
pub use glb::glb;
pub use lock::lock_feet;
pub use loss::Loss;
pub use picture::{animated_png, montage_png};
pub use sliding::{Sliding, foot_sliding};

use crate::skeleton::{Posed, Target, pose};
use crate::{JointTrack, Result};

/// Metres in one unit of a [`posed`] body, which is in centimetres.
pub const METRES_PER_UNIT: f64 = 0.01;

/// The clip as rotations on a body with its bone lengths, in centimetres, Y up.
///
/// # Errors
/// None for a valid track.
pub fn posed(track: &JointTrack) -> Result<Posed> {
    pose(track, &Target::measured(track)?)
}
