//! Any bytes as a NPZ file: they are read or refused, plain and resampled.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use mtds_data::{Format, ReadOptions, Resample, ResampleMethod, Step, read_family_from};

fuzz_target!(|bytes: &[u8]| {
    let mean = Resample { step: Step::Integer(2), method: ResampleMethod::Mean };
    let linear = Resample { step: Step::Micros(3_600_000_000), method: ResampleMethod::Linear };
    for resample in [None, Some(mean), Some(linear)] {
        let options = ReadOptions { resample, ..ReadOptions::default() };
        let _ = read_family_from(bytes, Format::Npz, Path::new("fuzzed"), &options);
    }
});
