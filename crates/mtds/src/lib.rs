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
//! | hold sequences | [`family`] |
//! | choose a system, and what the code adapts | [`base`], [`generator`], [`Architecture`] |
//! | learn | [`Fit`], [`workflow`]; its parts: [`learn`] |
//! | ask: forecast, follow, generate, morph, transfer | [`Model`]; its parts: [`infer`], [`predict`] |
//! | average several models by evidence | [`infer::Ensemble`] |
//! | score forecasts of anything | [`evaluate`] |
//! | compare with one system for all, or one for each; with recurrent networks | [`baseline`] |
//! | keep a model | [`store`] |
//!
//! The library opens no files, reads no clock, prints nothing, and takes its randomness as an argument; the
//! same seed gives the same bits on any number of threads.

mod algebra;
pub mod base;
pub mod baseline;
mod engine;
pub mod error;
pub mod evaluate;
pub mod family;
pub mod front;
pub mod generator;
pub mod infer;
pub mod kernel;
mod layer;
pub mod learn;
pub mod model;
pub mod predict;
pub mod random;
mod reader;
pub mod store;
pub mod system;
pub mod workflow;

pub use base::Lds;
pub use error::{Error, Result};
pub use family::{Family, Sequence, Signal};
pub use infer::{Online, Posterior, Tracker};
pub use learn::Control;
pub use model::Model;
pub use predict::Forecast;
pub use system::{Architecture, System};
pub use workflow::Fit;
