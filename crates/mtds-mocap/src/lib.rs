//! Motion capture: BVH files, skeletons and rotations, and the 21 joints that models are made of.

pub mod error;
pub mod track;

pub use error::{Error, Result};
pub use track::{Joint, JointTrack, N_JOINTS};
