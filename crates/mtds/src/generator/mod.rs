//! The generator h_φ, the layout that says which block of θ adapts, and the prior over codes.

pub mod features;
pub mod layout;
pub mod network;
pub mod prior;

pub use features::FeatureMap;
pub use layout::{Block, BlockSpec, Layout, Role};
pub use network::{Activation, Hidden, Network, Skip, Tape, Tensor};
pub use prior::{AroundMembers, Prior};
