//! Posteriors over codes: from a log density to weighted draws, a mixture, the evidence and its quality.
//!
//! The methods know no model: they take a [`LogTarget`] over points `u ∈ R^d` and give a [`Posterior`].
//! [`CodeTarget`] makes one of a model and a sequence (u is the code z, perhaps with `log s` beside it), and
//! [`Tracker`] follows a sequence online, [`EnsembleTracker`] under several models at once.
//!
//! * [`adaptive_importance`]: Algorithm 2 of Bird & Williams (2020), online, no gradients;
//! * [`map_laplace`]: several ascents to the modes, Laplace at each, corrected by importance weights;
//! * [`proposed`](proposed()): draws of a belief that is already there, e.g. an inference network's, weighed;
//! * [`nuts`](nuts()): Hamiltonian Monte Carlo without U-turns, for posteriors that no mixture fits.

mod bfgs;
mod carried;
mod code;
mod drift;
mod em;
mod ensemble;
mod ensemble_tracker;
mod followed;
mod hot;
mod importance;
mod kmeans;
mod known;
mod laplace;
mod map;
mod memory;
mod missed;
mod mixture;
mod mixture_algebra;
mod mixture_reduction;
mod nuts;
mod online;
mod pareto;
mod points;
mod posterior;
mod proposed;
mod target;
mod tracker_state;
mod weighted;

#[cfg(test)]
mod tests;

pub use carried::CarriedState;
pub use code::{CodeTarget, NoiseBelief};
pub(crate) use drift::Drift;
pub use ensemble::{Candidate, Ensemble};
pub use ensemble_tracker::EnsembleTracker;
pub use followed::{Followed, Whole};
pub use importance::{AdaptiveImportance, FirstMixture, adaptive_importance};
pub use known::KnownCode;
pub(crate) use map::best_climbs;
pub use map::{MapLaplace, map_laplace};
pub use mixture::GaussianMixture;
pub use nuts::{ChainReport, Nuts, Observer, effective_draws, nuts, nuts_observed, split_r_hat};
pub use online::{Online, Tracker};
pub use pareto::pareto_shape;
pub use points::Points;
pub use posterior::{Diagnostics, Method, Posterior, Status};
pub use proposed::{Correction, Proposed, proposed};
pub(crate) use target::one_by_one;
pub use target::{Evaluator, LogTarget, SmoothTarget};
pub use tracker_state::TrackerState;
