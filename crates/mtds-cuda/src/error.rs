//! What can go wrong with a card, in words that say what to try.

use cudarc::driver::{DriverError, sys::CUresult};

/// The one error type of the crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no driver.
    #[error(
        "no NVIDIA driver: the library `libcuda` is not there; install the driver, or compute with `--device cpu`"
    )]
    NoDriver,
    /// There is a driver, and no card.
    #[error("no NVIDIA card: {why}; try `nvidia-smi`, or compute with `--device cpu`")]
    NoCard {
        /// What the driver said.
        why: String,
    },
    /// The card lacks what kernels need.
    #[error(
        "{name} has compute capability {found:?}; kernels need (8, 0), Ampere or later; compute with `--device cpu`"
    )]
    TooOld {
        /// Name of the card.
        name: String,
        /// Its compute capability.
        found: (i32, i32),
    },
    /// The run-time compiler is missing.
    #[error(
        "no CUDA compiler: the library `libnvrtc` is not there; install CUDA's NVRTC (for Python: `pip install nvidia-cuda-nvrtc`) and name \
         its folder in LD_LIBRARY_PATH, or compute with `--device cpu`"
    )]
    NoCompiler,
    /// Kernels do not compile: a defect, or a compiler that does not know the card.
    #[error("kernels do not compile for {arch}: {log}")]
    Compile {
        /// The architecture asked for.
        arch: String,
        /// What the compiler said.
        log: String,
    },
    /// The memory of the card is full.
    #[error(
        "the card is out of memory while {doing}; close what else uses it, take smaller batches, or compute with `--device cpu`"
    )]
    OutOfMemory {
        /// What was being done.
        doing: &'static str,
    },
    /// Anything else that the driver says.
    #[error("the card failed while {doing}: {why}; what was learned up to the last checkpoint is kept")]
    Driver {
        /// What was being done.
        doing: &'static str,
        /// The driver's words.
        why: String,
    },
    /// A network that the kernels do not have.
    #[error("{what}")]
    Unsupported {
        /// Which, and what they have.
        what: String,
    },
}

impl Error {
    /// What the driver said while something was being done.
    pub(crate) fn driver(doing: &'static str) -> impl Fn(DriverError) -> Self {
        move |error| match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => Self::OutOfMemory { doing },
            _ => Self::Driver { doing, why: format!("{error:?}") },
        }
    }
}
