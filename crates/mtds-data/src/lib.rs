//! Where families come from and where models go: files of sequences, built-in families, model directories.
//!
//! A family is read from a long table (CSV, Parquet, JSON lines, plain or compressed by gzip) with a row per
//! sequence and time, or from the arrays of an NPZ file:
//!
//! ```
//! use std::path::Path;
//! use mtds_data::{Format, ReadOptions, read_family_from};
//!
//! # fn main() -> mtds_data::Result<()> {
//! let text = "series,t,y,label\na,2024-01-01,0.5,calm\na,2024-01-02,,calm\nb,2024-01-01,0.7,\n";
//! let read = read_family_from(text.as_bytes(), Format::Csv, Path::new("stdin"), &ReadOptions::default())?;
//! assert_eq!((read.family.n_seq(), read.family.n_observed()), (2, 2));
//! assert_eq!(read.time.format(0, 3), "2024-01-04");
//! # Ok(())
//! # }
//! ```
//!
//! Which column is what: `series`, `t` and `label`, or the names in [`ReadOptions`]. Outputs are the columns
//! named there, else `y`, `y1`, `y_left`, …, else all others that hold numbers; inputs are those named, else `u`,
//! `u1`, …. A column holds numbers if its first value is one; a later cell that is none is an error, not text.
//! An output that is empty, NaN, NA or null is missing. Times are integers, numbers or dates. Steps without a row are missing; times that
//! have no step of their own are put on a grid, or resampled on request. Whatever a reader noticed or did is in [`ReadFamily::notes`], and
//! an error says file, row, column, what was expected, what was found and what to try.
//!
//! From a file to a forecast, and a model to go on with; the same bits as `mtds fit`:
//!
//! ```no_run
//! use std::path::Path;
//! use mtds::{Control, DataColumns, Fit};
//! use mtds_data::{ReadOptions, model::save_model, read_family};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let read = read_family(Path::new("family.csv"), &ReadOptions::default())?;
//! let fit = Fit { seed: 1, ..read.fit(DataColumns::default()) };
//! let model = fit.run(&read.family, &mut |_| Control::Continue)?.expect("nobody stopped it");
//! let forecast = model.forecast(read.family.sequence(0), 20)?;
//! println!("{:?}", forecast.quantile(0.9)?);
//! save_model(Path::new("model"), &model)?;
//! # Ok(())
//! # }
//! ```
//!
//! [`write_family`] writes what the readers read; [`write_table`] writes results, and
//! [`TableWriter`] those that are too long to be held.

mod cache;
pub mod directory;
pub mod error;
pub mod fit_file;
mod format;
mod lock;
pub mod model;
mod note;
mod npz;
pub mod oscillators;
mod outside;
pub mod pharmacodynamics;
mod problem;
mod read;
mod shown;
mod time;
mod write;

pub use cache::kernel_cache;
pub use error::{Error, Result};
pub use format::Format;
pub use lock::Lock;
pub use note::Note;
pub use outside::{FAR_OUTSIDE, Outside};
pub use problem::{DataError, Place, Problem};
#[cfg(feature = "arrow")]
pub use read::read_family_from_batches;
pub use read::{
    Columns, Moves, ReadFamily, ReadInputs, ReadOptions, Resample, ResampleMethod, columns_of, prolonged,
    read_family, read_family_from, read_inputs, time_step_of,
};
pub use shown::{shown, spelled_out};
pub use time::{Step, Time, TimeAxis, TimeKind};
pub use write::{
    Column, Table, TableWriter, family_table, score_table, write_family, write_table, write_table_to,
};
