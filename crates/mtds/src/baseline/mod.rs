//! What a family is compared with: models that share nothing between its members, or everything.

mod likelihood;
mod markov;
mod matrix;
pub mod network;
mod pooled;
mod realise;
pub mod single;
mod spread;
mod stable_form;
mod subspace;
mod svd;

pub use likelihood::LikelihoodObjective;
pub use pooled::{PooledLds, PooledSettings};
pub use single::{SingleTask, SingleTaskFit};
pub use spread::Spread;
pub use subspace::{Feedthrough, LinearSystem, Subspace};
