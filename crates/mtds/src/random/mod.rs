//! Randomness as an argument: one generator type, and independent streams of it.

use rand_chacha::rand_core::SeedableRng;

/// The random generator that every function of this library takes.
///
/// Its state can be saved and restored, so that a resumed run continues to the same bits.
pub type Random = rand_chacha::ChaCha8Rng;

/// The generator for stream `stream` of `seed`.
///
/// Streams of one seed never overlap: giving each sequence or each particle block its own stream makes a
/// result independent of the order, and so of the number of threads, in which they are worked on.
#[must_use]
pub fn stream(seed: u64, stream: u64) -> Random {
    let mut random = Random::seed_from_u64(seed);
    random.set_stream(stream);
    random
}

mod sobol;

pub use sobol::ShiftedSobol;
