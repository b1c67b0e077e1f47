//! Control of motion: a style, a way and a pace become a motion, and a clip becomes one in another style.
//!
//! ```text
//! style   by name, as a mixture, by example, by code        ─→ a code, or several to pass        StyleMix, MotionModel
//! route  words, a table of points, another clip; a pace    ─→ inputs of a model                 Way, Pace, Route
//! motion  what the model answers, kept on its route        ─→ outputs of a family               MotionModel::walk
//! clip    a character's own skeleton, floor and way         ─→ the same in another style         Character
//! ```

mod motion_model;
mod restyle;
mod route;
mod steering;
mod style;
mod way;

pub use motion_model::{Example, MotionModel};
pub use restyle::{Character, Restyled};
pub use route::{Pace, Route};
pub use style::StyleMix;
pub use way::Way;
