//! Prediction in plain numbers: weighted draws rolled forward, their marginals, their scores, simple baselines.

pub mod baseline;
pub mod forecast;
pub mod marginal;
pub mod noise;
pub mod score;

pub use baseline::{family_mean, last_value};
pub use forecast::Forecast;
pub use marginal::Marginal;
pub use noise::DrawNoise;
pub use score::{CENTRAL_LEVELS, Coverage, Estimate, Scores, SequenceScore, score};
