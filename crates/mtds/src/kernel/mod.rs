//! The hot loops: packs of lanes, run-time dispatch, dense layers, Gaussian scores. Nothing else is unsafe.
//!
//! Sixteen particles travel together, one per *lane* of a [`Pack`]. A base model is written once over
//! [`Scalar`]; at `S = f64` it is its own plain version, at `S = Pack<f32, Fused>` it is the fast one.
#![allow(unsafe_code)]

pub mod dense;
pub mod dispatch;
mod elementary;
pub mod normal;
pub mod pack;
pub(crate) mod packing;
pub mod panels;
pub mod product;
#[cfg(test)]
mod product_tests;
pub(crate) mod recurrent;
#[cfg(test)]
mod recurrent_tests;
pub mod scalar;

pub use dispatch::{Kernel, Level, Outlined, dispatch, dispatch_at};
pub use pack::{Arch, Fused, LANES, Pack, Separate};
pub use panels::{Panels, PanelsRef};
pub use scalar::{Lanes, Real, Scalar};
