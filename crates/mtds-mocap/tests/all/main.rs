//! Motion capture as others see it, in one binary: it is linked once.

mod bvh;
mod bvh_mutations;
mod control;
mod export;
mod fixture;
mod learned;
mod motion_set;
mod novel_styles;
mod pose;
mod readme_traps;
mod recordings;
mod rotation;
mod shared_set;
mod signal_traps;
mod skeleton;
mod skip;
mod starter;
mod styles_apart;
mod walker;
