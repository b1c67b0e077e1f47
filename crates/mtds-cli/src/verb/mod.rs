//! The verbs, one module each: its options, and what is done with them.

pub mod data;
mod delivery;
pub mod devices;
pub mod evaluate;
pub mod fit;
pub mod forecast;
pub mod generate;
pub mod infer;
pub mod inspect;
mod known;
mod made_up;
pub mod mocap;
mod model;
pub mod morph;
mod motion;
mod observed;
pub mod quickstart;
pub mod report;
pub mod reproduce;
pub mod shell;
pub mod transfer;
pub mod watch;
