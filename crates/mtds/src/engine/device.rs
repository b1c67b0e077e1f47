//! Where models are computed with: the processor, or a graphics card.

use std::path::PathBuf;
use std::sync::Arc;

use mtds_cuda::{Card, Gpu};

use super::Engine;
use super::cpu::Cpu;
use super::cuda::{Cuda, Takes};
use crate::{Error, Result};

/// How a card makes products of many numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Products {
    /// As exact as f32.
    #[default]
    Exact,
    /// Of factors that are rounded to ten bits (tf32): faster, and good enough to learn.
    Tf32,
}

/// What computes with a model. Models and checkpoints do not depend on it; numbers do, by rounding.
#[derive(Clone, Debug)]
pub struct Device {
    pub(crate) engine: Arc<dyn Engine>,
    name: String,
}

impl Default for Device {
    fn default() -> Self {
        Self::cpu()
    }
}

impl Device {
    /// This machine's processor.
    #[must_use]
    pub fn cpu() -> Self {
        Self { engine: Arc::new(Cpu), name: "cpu".into() }
    }

    /// An NVIDIA card by its number. Kernels that were compiled for it are kept in the folder `cache`, if one is given.
    ///
    /// # Errors
    /// [`Error::Device`]: no driver, no card, one that is too old, no compiler.
    pub fn cuda(ordinal: usize, products: Products, cache: Option<PathBuf>) -> Result<Self> {
        Self::card(ordinal, products, cache, Takes::All)
    }

    /// A card that takes so much.
    pub(super) fn card(
        ordinal: usize,
        products: Products,
        cache: Option<PathBuf>,
        takes: Takes,
    ) -> Result<Self> {
        let gpu = Gpu::open(ordinal, cache).map_err(failed)?;
        let name = format!("cuda:{ordinal} ({})", gpu.name());
        Ok(Self { engine: Arc::new(Cuda::new(gpu, products, takes)), name })
    }

    /// The cards of this machine, and why one cannot be used.
    ///
    /// # Errors
    /// [`Error::Device`]: no driver, or one that finds nothing.
    pub fn cards() -> Result<Vec<Card>> {
        mtds_cuda::cards().map_err(failed)
    }

    /// `cpu`, or number and name of a card.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What went wrong with it so far, if anything did: what it could not do was done by the processor.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.engine.trouble()
    }
}

/// What a card says, as an error of the library.
pub(super) fn failed(error: mtds_cuda::Error) -> Error {
    Error::Device { why: error.to_string() }
}
