//! Rollout and adjoint of any base model as functions of their own, compiled once for each kind of pack.

use std::marker::PhantomData;

use super::{BaseModel, Drive, Trace, TraceGradient};
use crate::kernel::{Outlined, Scalar};

/// [`BaseModel::rollout`], not inlined.
#[inline(always)]
pub(crate) fn roll_out<B: BaseModel, S: Scalar>(
    base: &B,
    theta: &[S],
    start: Option<&[S]>,
    drive: Drive<'_, S>,
    trace: &mut Trace<S>,
) {
    S::outline::<Rollout<B>, _>((base, theta, start, drive, trace));
}

/// [`BaseModel::adjoint`], not inlined.
#[inline(always)]
pub(crate) fn pull_back<B: BaseModel, S: Scalar>(
    base: &B,
    theta: &[S],
    drive: Drive<'_, S>,
    trace: &Trace<S>,
    gradient: TraceGradient<'_, S>,
) {
    S::outline::<Adjoint<B>, _>((base, theta, drive, trace, gradient));
}

struct Rollout<B>(PhantomData<B>);
type Forwards<'a, B, S> = (&'a B, &'a [S], Option<&'a [S]>, Drive<'a, S>, &'a mut Trace<S>);

impl<'a, B: BaseModel, S: Scalar> Outlined<Forwards<'a, B, S>> for Rollout<B> {
    type Output = ();

    #[inline(always)]
    fn run((base, theta, start, drive, trace): Forwards<'a, B, S>) {
        base.rollout(theta, start, drive, trace);
    }
}

struct Adjoint<B>(PhantomData<B>);
type Backwards<'a, B, S> = (&'a B, &'a [S], Drive<'a, S>, &'a Trace<S>, TraceGradient<'a, S>);

impl<'a, B: BaseModel, S: Scalar> Outlined<Backwards<'a, B, S>> for Adjoint<B> {
    type Output = ();

    #[inline(always)]
    fn run((base, theta, drive, trace, gradient): Backwards<'a, B, S>) {
        base.adjoint(theta, drive, trace, gradient);
    }
}
