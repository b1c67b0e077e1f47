//! Prediction and control: forecasts, their scores, simple baselines; generation and morphs from codes.

mod baseline;
mod explained;
mod forecast;
mod future;
mod generate;
mod innovations;
mod marginal;
mod misfit;
mod mixed;
mod noise;
mod quantile;
mod remainder;
mod score;
mod shape;
mod surprise;

pub use baseline::{family_mean, last_value};
pub use explained::{Explained, PrincipalAxes, explained_share, regressed_on_codes};
pub use forecast::Forecast;
pub use future::MAX_DRAWS;
pub use generate::CodePath;
pub use marginal::Marginal;
pub use misfit::Misfit;
pub(crate) use misfit::usual_misfit;
pub use noise::DrawNoise;
pub use quantile::quantile_of;
pub use remainder::{Own, PriorWeight, Remainder};
pub use score::{CENTRAL_LEVELS, Coverage, Estimate, Scores, SequenceScore, score};
pub use surprise::Surprise;
