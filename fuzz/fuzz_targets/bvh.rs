//! Any bytes at the BVH reader: it refuses or reads, and what it read survives writing, mapping and posing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mtds_mocap::bvh::{read, write};
use mtds_mocap::skeleton::{MapOptions, Rules, Target, map, pose};

fuzz_target!(|bytes: &[u8]| {
    let Ok(reading) = read(bytes) else { return };
    let again = read(&write(&reading.motion)).expect("what was written can be read");
    assert_eq!(again.motion, reading.motion);
    if let Ok(mapped) = map(&reading.motion, &Rules::built_in(), &MapOptions::default()) {
        let _ = pose(&mapped.track, &Target::rig_of(&reading.motion, &mapped.report));
    }
});
