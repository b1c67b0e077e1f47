//! The verbs, one file each: a plan is carried out, the result is printed, files are left behind.

pub mod data;
pub mod evaluate;
pub mod fit;
pub mod quickstart;
pub mod reproduce;
pub mod shell;
pub mod watch;
