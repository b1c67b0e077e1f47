//! The cards of this machine, and one of them opened.

use std::path::PathBuf;
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cudarc::driver::sys::CUdevice_attribute;

use crate::compile::{Arch, has_compiler};
use crate::{Error, Result};

/// The oldest compute capability with products in tf32.
const OLDEST: (i32, i32) = (8, 0);

/// A card as it is listed.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// Its number.
    pub ordinal: usize,
    /// Its name.
    pub name: String,
    /// Bytes of memory.
    pub memory: usize,
    /// Compute capability.
    pub capability: (i32, i32),
    /// Why it cannot be used, if it cannot.
    pub trouble: Option<String>,
}

/// The cards of this machine.
///
/// # Errors
/// No driver, or none that finds a card.
pub fn cards() -> Result<Vec<Card>> {
    if !crate::queue::has_driver() {
        return Err(Error::NoDriver);
    }
    let no_card = |why: cudarc::driver::DriverError| Error::NoCard { why: format!("{why:?}") };
    let n = CudaContext::device_count().map_err(no_card)?;
    (0..usize::try_from(n).unwrap_or(0)).map(card).collect()
}

fn card(ordinal: usize) -> Result<Card> {
    let context = CudaContext::new(ordinal).map_err(|why| Error::NoCard { why: format!("{why:?}") })?;
    let asking = Error::driver("asking for its name");
    let (name, capability) =
        (context.name().map_err(&asking)?, context.compute_capability().map_err(&asking)?);
    let memory = context.total_mem().map_err(&asking)?;
    let trouble = if capability < OLDEST {
        Some(Error::TooOld { name: name.clone(), found: capability }.to_string())
    } else if !has_compiler() {
        Some(Error::NoCompiler.to_string())
    } else {
        None
    };
    Ok(Card { ordinal, name, memory, capability, trouble })
}

/// An opened card.
#[derive(Clone, Debug)]
pub struct Gpu {
    pub(crate) context: Arc<CudaContext>,
    pub(crate) arch: Arch,
    /// How many multiprocessors it has.
    pub(crate) n_multiprocessors: usize,
    /// Where compiled kernels are kept, if they are.
    pub(crate) cache: Option<PathBuf>,
    name: String,
}

impl Gpu {
    /// Opens a card by its number; compiled kernels are kept in the folder `cache`.
    ///
    /// # Errors
    /// No driver, no such card, a card that is too old, no compiler.
    pub fn open(ordinal: usize, cache: Option<PathBuf>) -> Result<Self> {
        let cards = cards()?;
        let why =
            || Error::NoCard { why: format!("found {} card(s), and none of number {ordinal}", cards.len()) };
        let card = cards.get(ordinal).ok_or_else(why)?.clone();
        if card.capability < OLDEST {
            return Err(Error::TooOld { name: card.name, found: card.capability });
        }
        if !has_compiler() {
            return Err(Error::NoCompiler);
        }
        let opening = Error::driver("opening it");
        let context = CudaContext::new(ordinal).map_err(&opening)?;
        let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        let n_multiprocessors = context.attribute(attribute).map_err(&opening)?;
        let n_multiprocessors = usize::try_from(n_multiprocessors).unwrap_or(1);
        let arch = Arch::of(card.capability);
        Ok(Self { context, arch, n_multiprocessors, cache, name: card.name })
    }

    /// The name of the card.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}
