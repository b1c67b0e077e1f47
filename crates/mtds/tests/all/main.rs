//! What must hold of the library as others see it, in one binary: it is linked once.

mod api;
mod base_models;
mod calibration;
mod common;
mod compare;
mod cuda;
mod cuda_linear;
mod degenerate;
mod drift;
mod ensemble;
mod golden_model;
mod gradient;
mod layered;
mod layered_fit;
mod new_members;
mod online;
mod posterior_exact;
mod posterior_long_run;
mod posterior_nuts;
mod random_state;
mod single_task;
#[path = "../../../mtds-mocap/tests/all/skip/mod.rs"]
mod skip;
mod tracker_state;
mod workflow;
