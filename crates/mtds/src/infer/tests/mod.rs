//! Inference against targets whose answers are known.

mod importance;
mod map;
mod mixture;
mod nuts;
mod targets;
mod timing;
