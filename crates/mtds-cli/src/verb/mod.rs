//! The verbs, one file each: a plan is carried out, the result is printed, files are left behind.

pub mod quickstart;
pub mod reproduce;
