//! The coarse operations of a model, compiled once for each base model.
//!
//! They are generic over the base model so that it is inlined into them, and generic code is compiled again by every crate that
//! calls it: minutes of optimisation, repeated. A table of functions that stands in the crate of the base model is
//! compiled there alone. It is also where another device would put its own functions.

use super::own::{OwnChunk, OwnResult};
use super::particles::{Gradient, GradientChunk, ScoreChunk};
use super::simulate::{Rollout, SimulatePack};
use crate::base::BaseModel;
use crate::infer::{DensityChunk, GradientPack, GradientPoint, PackGradient};
use crate::kernel::{Real, dispatch};

/// The compiled operations of models with base model `B`; see [`BaseModel::kernels`].
#[derive(Debug)]
pub struct Kernels<B> {
    pub(crate) score: fn(ScoreChunk<'_, B>),
    pub(crate) gradient: fn(GradientChunk<'_, B>) -> Gradient,
    pub(crate) own_gradient: fn(OwnChunk<'_, B>) -> OwnResult,
    pub(crate) simulate: fn(SimulatePack<'_, B>) -> Rollout,
    single: CodeKernels<B, f32>,
    double: CodeKernels<B, f64>,
}

/// What inference of a code asks for, in one precision.
#[derive(Debug)]
pub struct CodeKernels<B, R: Real> {
    pub(crate) density: fn(DensityChunk<'_, B, R>),
    pub(crate) gradient_of_pack: fn(GradientPack<'_, B, R>) -> PackGradient,
    pub(crate) gradient_at_point: fn(GradientPoint<'_, B, R>) -> R,
}

impl<B: BaseModel> Kernels<B> {
    /// The operations, compiled where this is called.
    #[must_use]
    #[allow(clippy::new_without_default)] // a default would be compiled wherever it is asked for
    pub const fn new() -> Self {
        Self {
            score: |work| dispatch(work),
            gradient: |work| dispatch(work),
            own_gradient: |work| dispatch(work),
            simulate: |work| dispatch(work),
            single: CodeKernels::new(),
            double: CodeKernels::new(),
        }
    }
}

impl<B: BaseModel, R: Real> CodeKernels<B, R> {
    const fn new() -> Self {
        Self {
            density: |work| dispatch(work),
            gradient_of_pack: |work| dispatch(work),
            gradient_at_point: |work| dispatch(work),
        }
    }
}

/// The precisions in which codes are inferred: f32 and f64.
pub trait Precision: Real {
    /// The operations in this precision.
    fn of<B>(kernels: &Kernels<B>) -> &CodeKernels<B, Self>;
}

impl Precision for f32 {
    fn of<B>(kernels: &Kernels<B>) -> &CodeKernels<B, Self> {
        &kernels.single
    }
}

impl Precision for f64 {
    fn of<B>(kernels: &Kernels<B>) -> &CodeKernels<B, Self> {
        &kernels.double
    }
}
