//! The hot loops: packs of lanes, run-time dispatch, dense layers, Gaussian scores. Nothing else is unsafe.
//!
//! Sixteen particles travel together, one per *lane* of a pack. A base model is written once over
//! [`Scalar`]; at `S = f64` it is its own plain version, at `S = Pack<f32, Fused>` it is the fast one.
#![allow(unsafe_code)]

pub(crate) mod dense;
pub(crate) mod dispatch;
mod elementary;
pub(crate) mod normal;
pub(crate) mod pack;
pub(crate) mod packing;
pub(crate) mod panels;
pub(crate) mod product;
#[cfg(test)]
mod product_tests;
pub(crate) mod recurrent;
#[cfg(test)]
mod recurrent_tests;
pub(crate) mod scalar;
#[cfg(target_arch = "x86_64")]
mod wide;

#[doc(hidden)]
pub use dispatch::Outlined;
pub(crate) use dispatch::{Kernel, dispatch};
#[cfg(test)]
pub(crate) use dispatch::{Level, dispatch_at};
pub(crate) use pack::{Arch, Fused, LANES, Pack, Separate, Wide};
pub(crate) use panels::{Panels, PanelsRef};
pub use scalar::{Lanes, Real, Scalar};
