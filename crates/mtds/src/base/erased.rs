//! Base models whose type is forgotten, so that all that stands above them is compiled once, not once for each.
//!
//! Only rollout and adjoint know the type. They are looked up by scalar in a table that is compiled where
//! [`BaseModel::erase`] is written, one function per kind of base model and of pack.

use std::any::{Any, TypeId};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{BaseModel, Kinds, Noise, RolloutInputs, StochasticLds, Trace, TraceGradient};
use crate::Result;
use crate::generator::BlockSpec;
use crate::kernel::{Fused, Outlined, Pack, Scalar, Separate, Wide};

/// A base model of any kind: cheap to clone, and never changed.
#[derive(Clone)]
pub struct Base(Arc<dyn Erased>);

impl Base {
    /// Forgets the type of a base model; see [`BaseModel::erase`].
    #[must_use]
    pub fn new<B: BaseModel>(base: B) -> Self {
        Self(Arc::new(base))
    }

    /// The name under which models of this kind are stored.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// The base model itself, if it is of this type.
    #[must_use]
    pub fn downcast_ref<B: BaseModel>(&self) -> Option<&B> {
        self.0.as_any().downcast_ref()
    }

    /// Width of the state.
    #[must_use]
    pub fn d_state(&self) -> usize {
        self.0.d_state()
    }

    /// Width of the outputs.
    #[must_use]
    pub fn d_obs(&self) -> usize {
        self.0.d_obs()
    }

    /// Width of the inputs; 0 for none.
    #[must_use]
    pub fn d_input(&self) -> usize {
        self.0.d_input()
    }

    /// The blocks of θ, in order.
    #[must_use]
    pub fn blocks(&self) -> Vec<BlockSpec> {
        self.0.blocks()
    }

    /// The covariance of the emission, and where in θ its parameters lie.
    #[must_use]
    pub fn noise(&self) -> Noise {
        self.0.noise()
    }

    /// The block of θ that holds the initial state.
    #[must_use]
    pub fn start_range(&self) -> Range<usize> {
        self.0.start_range()
    }

    /// The linear system with process noise that this one is; `None` where the state is a function of θ.
    #[must_use]
    pub fn stochastic(&self) -> Option<&StochasticLds> {
        self.0.stochastic()
    }

    /// How many values say what is known of a state: the state, or its mean and a factor of its covariance.
    #[must_use]
    pub fn d_belief(&self) -> usize {
        let n = self.d_state();
        if self.stochastic().is_some() { n + n * n } else { n }
    }

    /// Checks the sizes.
    ///
    /// # Errors
    /// As [`BaseModel::validate`].
    pub fn validate(&self) -> Result<()> {
        self.0.validate()
    }

    /// What can read it back: its own kind alone.
    pub(crate) fn kinds(&self) -> Kinds {
        self.0.kinds()
    }

    /// Scratch for a rollout of `n_time` steps.
    #[must_use]
    pub fn trace<S: Scalar>(&self, n_time: usize) -> Trace<S> {
        Trace::new(n_time, self.d_state(), self.d_obs(), self.0.system_len())
    }

    /// [`BaseModel::rollout`].
    ///
    /// # Panics
    /// For a scalar other than the numbers and packs of the library.
    #[inline(always)]
    pub fn roll_out<S: Scalar>(
        &self,
        theta: &[S],
        start: Option<&[S]>,
        drive: RolloutInputs<'_, S>,
        trace: &mut Trace<S>,
    ) {
        (self.rollouts::<S>().forwards)(self.0.as_any(), theta, start, drive, trace);
    }

    /// [`BaseModel::adjoint`].
    ///
    /// # Panics
    /// As [`Base::roll_out`].
    #[inline(always)]
    pub fn pull_back<S: Scalar>(
        &self,
        theta: &[S],
        drive: RolloutInputs<'_, S>,
        trace: &Trace<S>,
        gradient: TraceGradient<'_, S>,
    ) {
        (self.rollouts::<S>().backwards)(self.0.as_any(), theta, drive, trace, gradient);
    }

    fn rollouts<S: Scalar>(&self) -> &'static Rollouts<S> {
        let table = self.0.rollouts(TypeId::of::<S>());
        table.and_then(|table| table.downcast_ref()).expect("a rollout is compiled for every number and pack")
    }
}

impl<B: BaseModel> From<B> for Base {
    fn from(base: B) -> Self {
        base.erase()
    }
}

impl fmt::Debug for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The same kind with the same sizes and forms.
impl PartialEq for Base {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.0.stored_form().ok() == other.0.stored_form().ok()
    }
}

/// As the base model itself is stored; its kind is kept beside.
impl Serialize for Base {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.0.stored_form().map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

/// What is asked of a base model without knowing its type.
trait Erased: fmt::Debug + Send + Sync {
    fn kind(&self) -> &'static str;
    fn d_state(&self) -> usize;
    fn d_obs(&self) -> usize;
    fn d_input(&self) -> usize;
    fn blocks(&self) -> Vec<BlockSpec>;
    fn noise(&self) -> Noise;
    fn start_range(&self) -> Range<usize>;
    fn system_len(&self) -> usize;
    fn stochastic(&self) -> Option<&StochasticLds>;
    fn validate(&self) -> Result<()>;
    fn stored_form(&self) -> serde_json::Result<Value>;
    /// Its own kind alone.
    fn kinds(&self) -> Kinds;
    fn as_any(&self) -> &dyn Any;
    /// The [`Rollouts`] over a scalar.
    fn rollouts(&self, scalar: TypeId) -> Option<&'static dyn Any>;
}

impl<B: BaseModel> Erased for B {
    fn kind(&self) -> &'static str {
        B::KIND
    }
    fn d_state(&self) -> usize {
        BaseModel::d_state(self)
    }
    fn d_obs(&self) -> usize {
        BaseModel::d_obs(self)
    }
    fn d_input(&self) -> usize {
        BaseModel::d_input(self)
    }
    fn blocks(&self) -> Vec<BlockSpec> {
        BaseModel::blocks(self)
    }
    fn noise(&self) -> Noise {
        BaseModel::noise(self)
    }
    fn start_range(&self) -> Range<usize> {
        BaseModel::start_range(self)
    }
    fn system_len(&self) -> usize {
        BaseModel::system_len(self)
    }
    fn stochastic(&self) -> Option<&StochasticLds> {
        BaseModel::stochastic(self)
    }
    fn validate(&self) -> Result<()> {
        BaseModel::validate(self)
    }
    fn stored_form(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }
    fn kinds(&self) -> Kinds {
        Kinds::none().with::<B>()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn rollouts(&self, scalar: TypeId) -> Option<&'static dyn Any> {
        let tables: [(TypeId, &'static dyn Any); 7] = [
            Rollouts::<Pack<f32, Fused>>::of::<B>(),
            Rollouts::<Pack<f64, Fused>>::of::<B>(),
            Rollouts::<Pack<f32, Wide>>::of::<B>(),
            Rollouts::<Pack<f64, Wide>>::of::<B>(),
            Rollouts::<Pack<f32, Separate>>::of::<B>(),
            Rollouts::<Pack<f64, Separate>>::of::<B>(),
            Rollouts::<f64>::of::<B>(),
        ];
        tables.into_iter().find(|(of, _)| *of == scalar).map(|(_, table)| table)
    }
}

type Forwards<S> = fn(&dyn Any, &[S], Option<&[S]>, RolloutInputs<'_, S>, &mut Trace<S>);
type Backwards<S> = fn(&dyn Any, &[S], RolloutInputs<'_, S>, &Trace<S>, TraceGradient<'_, S>);

/// Rollout and adjoint over one scalar, compiled for the instructions of its packs.
struct Rollouts<S: 'static> {
    forwards: Forwards<S>,
    backwards: Backwards<S>,
}

impl<S: Scalar> Rollouts<S> {
    fn of<B: BaseModel>() -> (TypeId, &'static dyn Any) {
        let table = const { &Self { forwards: forwards::<B, S>, backwards: backwards::<B, S> } };
        (TypeId::of::<S>(), table)
    }
}

fn forwards<B: BaseModel, S: Scalar>(
    base: &dyn Any,
    theta: &[S],
    start: Option<&[S]>,
    drive: RolloutInputs<'_, S>,
    trace: &mut Trace<S>,
) {
    S::outline::<RollOut<B>, _>((of_type::<B>(base), theta, start, drive, trace));
}

fn backwards<B: BaseModel, S: Scalar>(
    base: &dyn Any,
    theta: &[S],
    drive: RolloutInputs<'_, S>,
    trace: &Trace<S>,
    gradient: TraceGradient<'_, S>,
) {
    S::outline::<PullBack<B>, _>((of_type::<B>(base), theta, drive, trace, gradient));
}

fn of_type<B: BaseModel>(base: &dyn Any) -> &B {
    base.downcast_ref().expect("the table is that of the base model")
}

/// [`BaseModel::rollout`] of a part of another base model, not compiled again for that one.
#[inline(always)]
pub(super) fn roll_out_apart<B: BaseModel, S: Scalar>(
    base: &B,
    theta: &[S],
    start: Option<&[S]>,
    drive: RolloutInputs<'_, S>,
    trace: &mut Trace<S>,
) {
    S::outline::<RollOut<B>, _>((base, theta, start, drive, trace));
}

/// [`BaseModel::adjoint`], likewise.
#[inline(always)]
pub(super) fn pull_back_apart<B: BaseModel, S: Scalar>(
    base: &B,
    theta: &[S],
    drive: RolloutInputs<'_, S>,
    trace: &Trace<S>,
    gradient: TraceGradient<'_, S>,
) {
    S::outline::<PullBack<B>, _>((base, theta, drive, trace, gradient));
}

struct RollOut<B>(PhantomData<B>);
type RollOutOf<'a, B, S> = (&'a B, &'a [S], Option<&'a [S]>, RolloutInputs<'a, S>, &'a mut Trace<S>);

impl<'a, B: BaseModel, S: Scalar> Outlined<RollOutOf<'a, B, S>> for RollOut<B> {
    type Output = ();

    #[inline(always)]
    fn run((base, theta, start, drive, trace): RollOutOf<'a, B, S>) {
        base.rollout(theta, start, drive, trace);
    }
}

struct PullBack<B>(PhantomData<B>);
type PullBackOf<'a, B, S> = (&'a B, &'a [S], RolloutInputs<'a, S>, &'a Trace<S>, TraceGradient<'a, S>);

impl<'a, B: BaseModel, S: Scalar> Outlined<PullBackOf<'a, B, S>> for PullBack<B> {
    type Output = ();

    #[inline(always)]
    fn run((base, theta, drive, trace, gradient): PullBackOf<'a, B, S>) {
        base.adjoint(theta, drive, trace, gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Gru, Lds, NoiseForm};

    #[test]
    fn bases_are_equal_where_their_kinds_and_sizes_are() {
        let base = Base::from(Lds::new(3, 2, 1));
        assert_eq!(base, Base::from(Lds::new(3, 2, 1)));
        assert_ne!(base, Base::from(Lds::new(3, 1, 1)));
        assert_ne!(base, Base::from(Lds { noise_form: NoiseForm::Full, ..Lds::new(3, 2, 1) }));
        assert_ne!(Base::from(Gru::new(3, 2, 1)), base);
    }

    #[test]
    fn the_type_can_be_asked_for() {
        let base = Base::from(Lds::new(3, 2, 1));
        assert_eq!(base.kind(), "lds");
        assert_eq!(base.downcast_ref::<Lds>(), Some(&Lds::new(3, 2, 1)));
        assert_eq!(base.downcast_ref::<Gru>(), None);
    }
}
