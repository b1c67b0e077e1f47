//! The gait of a clip: foot contacts, the phase between them, and turns to the outside.

mod contact;
mod hmm;
mod phase;
mod turning;

pub use contact::{Foot, contacts};
pub use hmm::{D_EMISSION, Learning, Observation, TwoStates};
pub use phase::{Phase, Strike};
pub use turning::outside_turns;
