//! The verbs, one file each: a plan is carried out, the result is printed, files are left behind.

pub mod data;
pub mod fit;
pub mod gait;
pub mod mocap;
pub mod quickstart;
pub mod reproduce;
pub mod shell;
