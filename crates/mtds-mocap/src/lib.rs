//! Motion capture: BVH files, skeletons and rotations, and the 21 joints that models are made of.

pub mod bvh;
pub mod error;
pub mod files;
pub mod rotation;
pub mod skeleton;
pub mod track;

pub use error::{Error, Result};
pub use track::{Joint, JointTrack, N_JOINTS};
