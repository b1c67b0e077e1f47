//! `mtds mocap`: BVH files into a family, a look at them, and back.

mod check;
mod clip_file;
mod export;
mod manifest;
mod prepare;
mod restyle;
pub(super) mod side;
mod take;

use clap::Subcommand;

pub(super) use manifest::{files_of, read_column, usual_manifest};
pub(super) use take::{check_folder, read_all, say_failures};

/// What is done with motions.
#[derive(Debug, Subcommand)]
pub enum Arguments {
    /// Turn all BVH files below a folder into a family
    Prepare(prepare::Prepare),
    /// Look at all BVH files below a folder: a page with findings and pictures
    Check(check::Check),
    /// Turn a sequence of a prepared family into BVH, GLB or a picture
    Export(export::Export),
    /// Move a BVH file in another style, along its own way and on its own skeleton
    Restyle(restyle::Restyle),
}
