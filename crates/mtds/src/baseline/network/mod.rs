//! Gated recurrent networks without a code: forecasters, one for all sequences or one for each group, and a classifier.
//!
//! ```text
//! r_t = [u_t, ỹ_{t−1}, m_{t−1}]            u: m inputs; ỹ: p outputs, 0 where unknown; m: p flags, 1 where known
//! h_t = GRU(h_{t−1}, r_t)                  h_0 = 0; layers one above the other, any number
//! e_t = C h_t + d                          C: p × units of the last layer
//! ŷ_t = e_t                                OutputForm::Direct
//! ŷ_t = e_t + y_{t−1}, or ŷ_{t−1}          OutputForm::Residual: the prediction where y_{t−1} is unknown; 0 at the first step
//! ```
//! A sequence begins with a seed y_1 … y_τ that warms the state up; there is no encoder of its own \[1\], \[2\]. What
//! is known of y_{t−1} after the seed is the difference between the three kinds of network:
//!
//! | | in learning, t > τ | in a forecast, t > τ | learned from |
//! |---|---|---|---|
//! | [`Loop::Open`] | nothing: ỹ = 0, m = 0 | nothing | steps after the seed |
//! | [`Loop::Fed`] | its own prediction, taken for known: ỹ = ŷ, m = 1 | the same | steps after the seed |
//! | [`Loop::Closed`] | y_{t−1} (teacher forcing) | its own prediction, as above | every step but the first |
//!
//! An output that is missing in the seed, or under teacher forcing, is unknown, too: ỹ = 0, m = 0. It is not scored. Lengths
//! may differ: shorter sequences are padded at their end, and the padding is neither scored nor seen.
//! Everything is in model units ([`Scaling`](crate::family::Scaling)), where 0 is the mean of an output.
//!
//! `Fed` is the network of \[2\], which learns to recover from its own errors. `Open` does, too, but lets the state alone carry
//! what a prediction would say, as the multi-task network of \[1\] does; residual outputs still add up. It learns in one
//! call over whole segments, where `Fed` goes step by step behind the seed. The open loop of \[1\] may be either.
//!
//! The noise of a forecast is the spread of errors h steps after a seed of about its length, over sequences that were held
//! out, or over the training ones where none were ([`GruForecaster::spread`]).
//!
//! Beside these stand two forecasts that learn nothing: [`family_mean`](crate::predict::family_mean) (training mean) and
//! [`last_value`](crate::predict::last_value) (last frame, "zero velocity").
//!
//! References: \[1\] Bird & Williams (2020), section 4.2 and the supplement on motion capture. \[2\] Martinez, Black &
//! Romero (2017), On human motion prediction using recurrent neural networks.

mod batch;
pub mod classifier;
mod forecaster;
mod free_run;
mod groups;
mod loss;
mod material;
mod objective;
mod pass;
mod settings;
mod stack;
#[cfg(test)]
mod tests;

pub use classifier::{ClassifierSettings, SequenceClassifier};
pub use forecaster::GruForecaster;
pub use groups::fit_groups;
pub use settings::{Criterion, GruSettings, HeldOut, Loop, WarmUp};

use crate::learn::Outcome;

/// A network and how learning it went.
#[derive(Clone, Debug)]
pub struct Trained<N> {
    /// The network with the parameters that were best on what was held out; the last ones where nothing was.
    pub network: N,
    /// Status, steps and history. Bounds are minus the criterion per scored value.
    pub outcome: Outcome,
}
