//! Models with generated parameters on an NVIDIA card: layered networks, passes over many pairs of a sequence and a code and whole steps of
//! learning; linear systems, many codes on all sequences.
//!
//! ```text
//! codes ──→ generator ──→ θ of each pair ──┐
//! inputs ──→ gated network ──→ bottleneck ──→ tanh network of each pair ──→ errors, log likelihoods      and all of it back
//!
//! codes ──→ generator ──→ θ of each code ──→ rollout ──→ scores of all sequences ──→ weights, resampled codes ──→ and back
//! ```
//! The crate knows nothing of families or models: it takes sizes, flat parameters and rows of numbers. Kernels are CUDA C++ in
//! `kernels/`, part of the program, compiled for the card and the sizes at hand by NVIDIA's run-time compiler at first use and kept in a
//! folder that the caller names. Driver and compiler are looked for when they are asked for; nothing of CUDA is needed to build.
//!
//! Unsafe code is in `compile` and `queue` alone: calls into the driver and the compiler, and launches of kernels.

mod compile;
mod device;
mod error;
mod learning;
mod linear;
mod network;
mod queue;
mod shape;

pub use compile::{Arch, check_kernels, check_linear_kernels};
pub use device::{Card, Gpu, cards};
pub use error::Error;

pub use learning::{
    AdamNumbers, Learning, LearningPlan, MatchedNoise, Order, ParameterGroup, State, StepFound,
};
pub use linear::{
    Features, Linear, LinearData, LinearGradient, LinearShape, LinearWeights, Scores, StoredSequences,
    Summary,
};
pub use network::{Found, Network, Pull, Weigh};
pub use shape::{Activation, Data, Front, Products, Shape, Source};

/// Result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
