//! The verbs, one file each: a plan is carried out, the result is printed, files are left behind.

pub mod data;
mod delivery;
mod drive;
pub mod evaluate;
pub mod fit;
pub mod forecast;
pub mod gait;
pub mod generate;
pub mod infer;
pub mod inspect;
mod known;
pub mod mocap;
pub mod morph;
mod observed;
pub mod quickstart;
pub mod report;
pub mod reproduce;
pub mod shell;
pub mod transfer;
pub mod watch;
