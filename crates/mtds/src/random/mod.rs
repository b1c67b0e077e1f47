//! Randomness as an argument: one generator type, and independent streams of it.

pub(crate) mod sobol;
mod stream;

pub(crate) use sobol::ShiftedSobol;
pub use stream::{Stream, stream};

/// The random generator that every function of this library takes.
///
/// Its state can be saved and restored, so that a resumed run continues to the same bits.
pub type Random = rand_chacha::ChaCha8Rng;
