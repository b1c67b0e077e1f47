//! What inference of a code asks of a model, compiled once for each precision.
//!
//! A target is generic over its precision, and generic code is compiled again by every crate that calls it. Functions
//! behind pointers are compiled in this one alone.

use crate::infer::{
    CodeTarget, DensityChunk, Evaluator, GradientPack, PackGradient, one_by_one, plain_evaluator,
};
use crate::kernel::{Real, dispatch};

/// The precisions in which densities of codes are computed: f32 and f64.
pub trait Precision: Real {
    /// The compiled functions.
    #[doc(hidden)]
    const KERNELS: &'static CodeKernels<Self>;
    /// Evaluates a target at one point after another.
    #[doc(hidden)]
    fn evaluator<'a>(target: &'a CodeTarget<'_, Self>) -> Evaluator<'a>;
}

/// What inference asks of many codes at once, in one precision.
#[derive(Debug)]
pub struct CodeKernels<R: Real> {
    pub(crate) density: fn(DensityChunk<'_, R>),
    pub(crate) gradient: fn(GradientPack<'_, R>) -> PackGradient,
}

static SINGLE: CodeKernels<f32> =
    CodeKernels { density: |work| dispatch(work), gradient: |work| dispatch(work) };
static DOUBLE: CodeKernels<f64> =
    CodeKernels { density: |work| dispatch(work), gradient: |work| dispatch(work) };

impl Precision for f32 {
    const KERNELS: &'static CodeKernels<f32> = &SINGLE;

    /// By packs with one point in them: samplers, which ask for single points, want double precision.
    fn evaluator<'a>(target: &'a CodeTarget<'_, f32>) -> Evaluator<'a> {
        one_by_one(target)
    }
}

impl Precision for f64 {
    const KERNELS: &'static CodeKernels<f64> = &DOUBLE;

    fn evaluator<'a>(target: &'a CodeTarget<'_, f64>) -> Evaluator<'a> {
        plain_evaluator(target)
    }
}
