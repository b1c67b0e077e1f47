//! Files of settings that 0.1.0 wrote mean what they meant: `fit-0.1.0.toml` is that of `model-0.1.0` but for its two lists, which are as
//! after `--adapt decay,rotation --share emission,noise,process_noise`; they replaced the usual ones.

use mtds::Fit;
use mtds_data::fit_file::FitFile;
use mtds_data::oscillators::Oscillators;
use std::fs;
use std::path::Path;

const OLD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/fit-0.1.0.toml");

/// Blocks that are adapted, shared and held by a fit of these settings.
fn blocks(settings: FitFile) -> [Vec<String>; 3] {
    let family = Oscillators::default().draw(16, 1).unwrap().family;
    let fitting = Fit { wishes: settings.learn, ..Fit::default() }.begin(&family).unwrap();
    let chosen = fitting.choices();
    [chosen.adapt.clone(), chosen.share.clone(), chosen.fix.clone()]
}

/// What reading says of the file after `change`.
fn read(change: impl Fn(String) -> String) -> mtds_data::Result<FitFile> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.toml");
    fs::write(&path, change(fs::read_to_string(OLD).unwrap())).unwrap();
    FitFile::read(&path)
}

#[test]
fn lists_of_0_1_0_name_all_blocks_that_are_learned() {
    let found = blocks(FitFile::read(Path::new(OLD)).unwrap());
    assert_eq!(found[..2], [vec!["decay", "rotation"], vec!["emission", "noise", "process_noise"]]);
    for held in ["input", "input_gate", "offset", "initial_state"] {
        assert!(found[2].iter().any(|block| block == held), "{held}: {:?}", found[2]);
    }
}

#[test]
fn other_files_are_read_as_they_are() {
    // Written by hand: what no list names keeps its role.
    let by_hand = read(|text| text.lines().skip(1).map(|line| format!("{line}\n")).collect()).unwrap();
    assert!(blocks(by_hand)[0].iter().any(|block| block == "offset"));
    // Written since.
    let later = read(|text| text.replace("segment = 0", "segment = 0\noverlap = 0")).unwrap();
    assert_eq!(later.learn.fix, None);
}

#[test]
fn one_list_of_0_1_0_alone_is_refused() {
    for key in ["adapt", "share"] {
        let without = |text: String| {
            text.lines().filter(|line| !line.starts_with(key)).map(|line| format!("{line}\n")).collect()
        };
        let error = read(without).unwrap_err().to_string();
        assert!(error.contains("0.1.0") && error.contains("fit.toml"), "{error}");
    }
    assert_eq!(read(|_| String::new()).unwrap(), FitFile::default());
}
