//! What a family is compared with: models that share nothing between its members, or everything, and others that know families.
//!
//! | rival | is |
//! |---|---|
//! | [`predict::family_mean`](crate::predict::family_mean) | the training mean at each step |
//! | [`predict::last_value`](crate::predict::last_value) | the last frame holds |
//! | [`NearestMembers`], [`RidgeRegression`], [`FactorCurves`], [`SharedProcess`] | training members by their steps, and the first steps of a new one |
//! | [`PooledLds`] | one linear system for all sequences |
//! | [`SingleTask`] | one linear system for each sequence |
//! | [`network::GruForecaster`] | one gated recurrent network for all sequences |
//! | [`network::fit_groups`] | one for each group of sequences |
//!
//! [`network::SequenceClassifier`] judges what is generated: it tells which class a sequence belongs to.

mod likelihood;
mod markov;
mod members;
pub mod network;
mod pooled;
mod realise;
pub mod single;
mod spread;
mod stable_form;
mod subspace;

pub use likelihood::LikelihoodObjective;
pub(crate) use members::OfRounds;
pub use members::{FactorCurves, NearestMembers, RidgeRegression, SharedProcess};
pub use pooled::{PooledLds, PooledSettings};
pub use single::{SingleTask, SingleTaskFit};
pub use spread::Spread;
pub use subspace::Subspace;
