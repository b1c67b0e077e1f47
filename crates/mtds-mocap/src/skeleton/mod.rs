//! Skeletons: from any rig to the 21 joints in metres with Y up, and from these back to rotations on a rig.

mod body;
mod forward;
mod habit;
mod inverse;
mod legs;
mod map;
mod matching;
mod measure;
mod placement;
mod proportions;
mod rest;
mod rules;

pub use body::Target;
pub use forward::{PositionChannels, World, forward};
pub use inverse::{Posed, pose};
pub(crate) use legs::bent_leg;
pub use legs::{leg_length, normalise_legs};
pub use map::{MapOptions, MapReport, Mapped, map};
pub use matching::{RigMatch, Source, Synthesis};
pub use measure::{Basis, Handedness, SideFinding, UnitFinding, UpFinding};
pub use placement::{Placement, Up};
pub use proportions::Proportions;
pub use rules::{Rig, Rules};
