//! `mtds mocap`: BVH files into a family, a look at them, and back.

mod check;
mod export;
mod loss;
mod manifest;
mod page;
mod prepare;
mod report;
mod side;
mod take;

pub use check::check;
pub use export::export;
pub use prepare::prepare;
