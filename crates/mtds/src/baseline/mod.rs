//! What a multi-task model has to beat: one linear system for all sequences, learned as well as it can be.

mod likelihood;
mod markov;
mod matrix;
mod pooled;
mod realise;
mod spread;
mod stable_form;
mod subspace;
mod svd;

pub use likelihood::LikelihoodObjective;
pub use pooled::{PooledLds, PooledSettings};
pub use spread::Spread;
pub use subspace::{Feedthrough, LinearSystem, Subspace};
