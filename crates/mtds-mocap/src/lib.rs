//! Motion capture: BVH files, skeletons and rotations, and the 21 joints that models are made of.

pub mod bvh;
pub mod clip;
pub mod control;
pub mod error;
pub mod export;
pub mod features;
pub mod files;
pub mod frame;
pub mod gait;
pub mod path;
mod robust;
pub mod rotation;
pub mod signal;
pub mod skeleton;
pub mod starter;
pub mod track;
pub mod walker;

pub use error::{Error, Result};
pub use track::{Joint, JointTrack, N_JOINTS};
