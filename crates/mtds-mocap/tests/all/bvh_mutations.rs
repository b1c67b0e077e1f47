//! Throws mutated files at the reader: it must refuse or read, never panic, and read again what it wrote.

use mtds_mocap::bvh::{read, write};
use mtds_mocap::clip::{Clip, ClipSettings};
use mtds_mocap::skeleton::{MapOptions, Rules, Target, map, pose};
use mtds_mocap::walker::{Style, Walker};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SEED_FILE: &[u8] = b"HIERARCHY\r\nROOT Hips\r\n{\r\n\tOFFSET 0 .5 -.5\r\n\tCHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation \r\n\tJOINT mixamorig:Left Arm\r\n\t{\r\n\t\tOFFSET 1e-5 5.5 0\r\n\t\tCHANNELS 3 Zrotation Xrotation Yrotation\r\n\t\tEnd Site\r\n\t\t{\r\n\t\t\tOFFSET 0 0 0\r\n\t\t}\r\n\t}\r\n\tJOINT b\r\n\t{\r\n\t\tOFFSET 0 0 1\r\n\t}\r\n}\r\nMOTION\r\nFrames:\t2\r\nFrame Time: .0083333\r\n1 2 3 4 5 6 7 8 9\r\n.1 -.2 3e1 4 5 6 7 8 9 \r\n";

/// Pieces that mean something to the reader, so that mutations reach deep into it.
const PIECES: [&[u8]; 24] = [
    b"{",
    b"}",
    b"\n",
    b"\r",
    b"\t",
    b" ",
    b":",
    b"-",
    b".",
    b"e9",
    b"nan",
    b"99999999999999999999",
    b"ROOT r",
    b"JOINT j\n{",
    b"End Site\n{",
    b"OFFSET 1 2 3",
    b"CHANNELS 1 Xrotation",
    b"CHANNELS 0",
    b"MOTION",
    b"Frames: 1",
    b"Frame Time: 1",
    b"\xff\xfe",
    b"\x00",
    "é".as_bytes(),
];

fn mutate(bytes: &mut Vec<u8>, random: &mut ChaCha8Rng) {
    let at = random.random_range(0..=bytes.len());
    let length = random.random_range(0..=20.min(bytes.len() - at));
    match random.random_range(0..9) {
        0 | 1 => drop(bytes.drain(at..at + length)),
        2 | 3 => {
            let piece = PIECES[random.random_range(0..PIECES.len())];
            bytes.splice(at..at, piece.iter().copied());
        }
        4 | 5 => {
            let copy = bytes[at..at + length].to_vec();
            let to = random.random_range(0..=bytes.len());
            bytes.splice(to..to, copy);
        }
        6 | 7 if at < bytes.len() => bytes[at] = random.random(),
        _ => bytes.truncate(at.max(bytes.len() / 2)),
    }
}

#[test]
fn thousands_of_mutated_files_are_refused_or_read() {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let mut n_read = 0;
    for _ in 0..30_000 {
        let mut bytes = SEED_FILE.to_vec();
        for _ in 0..random.random_range(1..6) {
            mutate(&mut bytes, &mut random);
        }
        if let Ok(reading) = read(&bytes) {
            n_read += 1;
            let again = read(&write(&reading.motion)).expect("what was written can be read");
            assert_eq!(again.motion, reading.motion);
        }
    }
    // Mutations that leave files readable keep the check above from being empty; so do those that do not.
    assert!((1_000..29_000).contains(&n_read), "{n_read} of 30000 mutated files were read");
}

/// What the fuzz target does, and the rest of the way to a clip: bodies that were damaged are refused or become motions.
#[test]
fn mutated_bodies_are_mapped_posed_and_cleaned_or_refused() {
    let walker = Walker::new(Style::Neutral.parameters());
    let walk = walker.walk(6, &mut mtds::random::stream(1, 0)).unwrap();
    let file = write(&walk.to_bvh().unwrap());
    let (rules, settings) = (Rules::built_in(), ClipSettings::default());
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut n_clips = 0;
    for _ in 0..3_000 {
        let mut bytes = file.clone();
        for _ in 0..random.random_range(1..4) {
            mutate(&mut bytes, &mut random);
        }
        let Ok(reading) = read(&bytes) else { continue };
        if let Ok(mapped) = map(&reading.motion, &rules, &MapOptions::default()) {
            let _ = pose(&mapped.track, &Target::rig_of(&reading.motion, &mapped.report));
        }
        if let Ok(clip) = Clip::of_bytes(&bytes, &settings) {
            n_clips += 1;
            assert!(clip.track.positions().iter().flatten().all(|value| value.is_finite()));
        }
    }
    assert!((300..2_900).contains(&n_clips), "{n_clips} of 3000 mutated files became clips");
}
