//! Multi-task dynamical systems: learn a whole **family** of related sequences at once, so that a short
//! **code** z customises a dynamical system to each member (Bird & Williams 2020).
//!
//! ```text
//! z ~ p(z)      θ = h_φ(z)      x_t = f(x_{t−1}, u_t, θ)      y_t ~ N(g(x_t, u_t, θ), S)
//! ```
//! From a few observations of a new member it forecasts with honest uncertainty; by choosing, mixing or
//! moving z a person controls what is generated.
//!
//! ```
//! use mtds::{Control, Family, Fit, Sequence, Signal};
//! # fn main() -> mtds::Result<()> {
//! // A family: decays of different speeds. Missing outputs would be NaN; lengths may differ.
//! let decay = |rate: f64| Signal::column((0..30).map(|t| (-rate * f64::from(t)).exp()).collect());
//! let members = (1..9).map(|i| Sequence::new(format!("decay {i}"), decay(0.03 * f64::from(i))));
//! let family = Family::new(members.collect::<mtds::Result<_>>()?)?;
//! // Fit: settings that matter, the rest is chosen from the family. This is what `mtds fit` does, to the bit.
//! let mut fit = Fit { seed: 1, ..Fit::default() };
//! fit.wishes.code = Some(1);
//! fit.wishes.effort = Some(0.2); // a fifth of the usual steps
//! let model = fit.run(&family, &mut |_| Control::Continue)?.expect("nobody stops it");
//! // Observe a new member, forecast the rest of it.
//! let mut tracker = model.track(0)?;
//! for t in 0..10 {
//!     tracker.observe(&[(-0.1 * f64::from(t)).exp()], &[])?;
//! }
//! let forecast = tracker.forecast(20, None)?;
//! let (low, high) = (forecast.quantile(0.025)?, forecast.quantile(0.975)?);
//! // Steps 10 to 29 of a decay that no member of the family has.
//! let error = |t: usize| (forecast.mean()[t - 10] - (-0.1 * t as f64).exp()).abs();
//! assert!(error(10) < 0.1 && error(29) < 0.1 && high[19] > low[19]);
//! # Ok(())
//! # }
//! ```
//!
//! | to | see |
//! |---|---|
//! | hold sequences | [`Family`], [`Sequence`], [`Signal`] |
//! | learn | [`Fit`], [`Wishes`]; step by step: [`Fitting`] |
//! | ask: forecast, follow, generate, morph, transfer | [`Model`], [`ModelTracker`], [`Posterior`], [`Forecast`] |
//! | score forecasts of anything | [`evaluate`] |
//! | keep a model | [`store`] |
//! | write a base model of one's own | [`custom`] |
//! | build experiments on the parts: base models, objectives, samplers, baselines | [`parts`] |
//!
//! The library opens no files, reads no clock, prints nothing, and takes its randomness as an argument; the
//! same seed gives the same bits on any number of threads.

mod algebra;
mod base;
mod baseline;
mod engine;
mod error;
pub mod evaluate;
mod family;
mod front;
mod generator;
mod infer;
mod kernel;
mod layer;
mod learn;
mod model;
mod predict;
pub mod random;
mod reader;
pub mod store;
mod system;
mod workflow;

pub use base::BaseName;
pub use engine::Device;
pub use error::{Error, Result};
pub use family::{Family, Inputs, Scaling, Sequence, Signal};
pub use infer::{Diagnostics, Method, Online, Points, Posterior, Status};
pub use learn::{CodeUsage, Control, LearnRule, PriorRule, Progress, Wishes};
pub use model::{DataColumns, Inferred, Member, Model, ModelTracker, Provenance};
pub use predict::{CodePath, Explained, Forecast, PrincipalAxes, Surprise};
pub use system::{Architecture, System};
pub use workflow::{Fit, FitProgress, FitRecord, FitStage, Fitting};

/// What a base model of one's own needs: its equations as a [`Step`](custom::Step), or a whole
/// [`BaseModel`](custom::BaseModel) with an adjoint.
pub mod custom {
    pub use crate::base::custom::{Custom, Step, StepSizes};
    pub use crate::base::{Base, BaseModel, Kinds, Noise, NoiseForm, RolloutInputs, Trace, TraceGradient};
    pub use crate::generator::{BlockSpec, Role};
    pub use crate::kernel::{Lanes, Real, Scalar};
}

/// The parts that a fit and a model are made of, for experiments with the method itself. They may change with every version.
pub mod parts {
    pub use crate::base::emission::{Batch, Group};
    pub use crate::base::{
        Gru, InputMap, Lds, OrthogonalRnn, OutputForm, Pharmacodynamic, Rnn, StochasticLds,
    };
    pub use crate::baseline::network::{
        ClassifierSettings, Criterion, GruForecaster, GruSettings, HeldOut, Loop, SequenceClassifier, WarmUp,
        fit_groups,
    };
    pub use crate::baseline::{
        FactorCurves, LikelihoodObjective, NearestMembers, PooledLds, PooledSettings, RidgeRegression,
        SharedProcess, SingleTask, SingleTaskFit, Spread, Subspace,
    };
    pub use crate::engine::{
        CodeScores, Codes, DeviceName, Gradient, OwnBatch, OwnPull, OwnResult, OwnWeights, Products, Rollout,
        Weights,
    };
    pub use crate::evaluate::baselines::{BaselineProgress, BaselineSettings, Learned, OfMembers};
    pub use crate::evaluate::follow::{Following, FollowingEnsemble, Updates};
    pub use crate::family::{ColumnRole, ColumnSummary, Phase};
    pub use crate::front::{Front, FrontStart, InputSkip};
    pub use crate::generator::{Activation, AroundMembers, Block, FeatureMap, Layout, Prior, Skip};
    pub use crate::infer::{
        AdaptiveImportance, Candidate, CarriedState, ChainReport, CodeTarget, Correction, Ensemble,
        EnsembleTracker, FirstMixture, Followed, GaussianMixture, KnownCode, LogTarget, MapLaplace,
        NoiseBelief, Nuts, Observer, Proposed, SmoothTarget, Tracker, TrackerState, Whole,
        adaptive_importance, effective_draws, map_laplace, nuts, nuts_observed, split_r_hat,
    };
    pub use crate::learn::choice::{Beginning, Key, REST, RateRule, Recipe, Topic};
    pub use crate::learn::elbo::LEAST;
    pub use crate::learn::{
        Adapted, Calibrated, Calibration, CalibrationTrial, Carriers, Choice, CodeSearch, Course, CourseData,
        CutFrom, Estimator, Facts, Fitted, GroupRule, HardEnding, HardPhase, InferenceNetwork, Interpolation,
        LearnedNetwork, Learner, MonteCarlo, MonteCarloObjective, NewMembers, NoiseRule, Objective, Outcome,
        PriorSearch, PriorStart, PriorTrial, RandomEffects, Refine, RefineRule, RemainderRecord,
        RemainderRule, RemainderTrial, RunEnd, ScalingRule, Schedule, SegmentCodes, StageRecord, StartRule,
        Trainer, TrainingPlan, UsageStatus, Variational, VariationalObjective, VariationalRefine,
    };
    pub use crate::model::{
        Attribute, Blend, CardScore, Companion, ExpectedStep, Follower, FollowingModel, Levels,
        ModelTrackerState, Remembered, SegmentCode, WatchRules, Watched, WatchedState, WatchedStep,
        WaysBySeen, Widths,
    };
    pub use crate::predict::{
        DrawNoise, MAX_DRAWS, Marginal, Misfit, Own, PriorWeight, Remainder, Scores, explained_share,
        family_mean, last_value, quantile_of, regressed_on_codes,
    };
    pub use crate::random::sobol::ShiftedSobol;
    pub use crate::system::Clock;
    pub use crate::workflow::{BestRival, CalibrationRecord, PriorRecord, SelectionRow, StructureRow};
}
