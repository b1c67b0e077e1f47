//! Files of families and models, in one binary: it is linked once.

mod attributes;
mod local_days;
mod many_rows;
mod mutated;
mod old_fit;
mod old_model;
mod pooled_oscillators;
mod read_arrow;
mod read_csv;
mod read_formats;
mod read_parquet;
mod round_trip;
mod throughput;
