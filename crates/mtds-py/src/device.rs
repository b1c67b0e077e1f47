//! Devices by name, and what there is to compute with.

use crate::error::Result;
use mtds::Device;
use mtds::parts::{DeviceName, Products};
use mtds_data::kernel_cache;
use pyo3::prelude::*;

/// The device to learn with.
///
/// # Errors
/// A name that is none; a card that was asked for and cannot be used.
pub(crate) fn open(name: &str) -> Result<Device> {
    Ok(name.parse::<DeviceName>()?.open(Products::Exact, kernel_cache())?)
}

/// The device to use a model with: by itself a card only for models that gain by it.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_for(name: &str, model: &mtds::Model) -> Result<Device> {
    Ok(name.parse::<DeviceName>()?.open_for(model, Products::Exact, kernel_cache())?)
}

/// A card by number, name, bytes of memory, compute capability, and why it cannot be used, if so.
type Card = (usize, String, u64, (i32, i32), Option<String>);

/// The cards of this machine, and why none can be used.
#[pyfunction]
pub(crate) fn cards(py: Python<'_>) -> (Vec<Card>, Option<String>) {
    match py.detach(Device::cards) {
        Ok(cards) => {
            let cards = cards.into_iter();
            let shown = cards
                .map(|card| (card.ordinal, card.name, card.memory as u64, card.capability, card.trouble));
            (shown.collect(), None)
        }
        Err(why) => (vec![], Some(why.to_string())),
    }
}
