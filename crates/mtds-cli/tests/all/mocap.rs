//! `mtds mocap` and `mtds data gait`: files become a family and come back; traps are named; nothing is copied.

use crate::program::{json, must, must_fail, run, stderr};
use crate::skip::skip;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder with walks in two styles and their family.
fn prepared() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory");
    must(folder.path(), "data gait -o walks --styles old,proud --walks 2 --frames 120");
    must(folder.path(), "mocap prepare walks -o walks.csv -q");
    folder
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn walks_have_their_truth_beside_them() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let told = json(folder.path(), "data gait -o walks --styles old --walks 2 --frames 90 --seed 3");
    assert_eq!((told["n_walks"].as_u64(), told["frames"].as_u64()), (Some(2), Some(90)));
    let truth = read(folder.path(), "walks/old/old_01.truth.csv");
    assert_eq!(truth.lines().count(), 91);
    assert!(truth.starts_with("frame,left_stands,right_stands,phase_rad\n0,"));
    assert!(read(folder.path(), "walks/manifest.csv").contains("old/old_02.bvh,old,30,90,test"));
    let gaits: serde_json::Value =
        serde_json::from_str(&read(folder.path(), "walks/gaits.json")).expect("JSON");
    assert!(gaits["old_01"]["gait"]["speed"].as_f64().is_some_and(|speed| speed > 0.0));
    let first = read(folder.path(), "walks/old/old_01.bvh");
    must(folder.path(), "data gait -o again --styles old --walks 1 --frames 90 --seed 3");
    assert_eq!(first, read(folder.path(), "again/old/old_01.bvh"), "same seed, same walk");
}

#[test]
fn a_folder_becomes_a_family_with_splits_and_a_report() {
    let folder = prepared();
    let header = read(folder.path(), "walks.csv").lines().next().map(str::to_owned).unwrap_or_default();
    assert!(
        header.starts_with("series,t,y_velocity_left,y_velocity_forward,y_turning,y_Hips_y,y_LeftHip_x"),
        "{header}"
    );
    assert!(header.contains(",u_path_left_5,") && header.ends_with(",label"), "{header}");
    let rows = |name: &str| read(folder.path(), name).lines().count() - 1;
    // One row less than frames, as velocities lead from one to the next.
    // The two that are learned from come with their mirror images.
    assert_eq!(
        (rows("walks.csv"), rows("walks.train.csv"), rows("walks.test.csv")),
        (6 * 119, 4 * 119, 2 * 119)
    );
    let side: serde_json::Value =
        serde_json::from_str(&read(folder.path(), "walks.mocap.json")).expect("JSON");
    assert_eq!((side["fps"].as_f64(), side["clips"]["old_02"]["split"].as_str()), (Some(30.0), Some("test")));
    let report = read(folder.path(), "walks.report.md");
    assert!(
        report.contains("### old/old_01.bvh") && report.contains("- unit: 1 unit = 0.010000 m"),
        "{report}"
    );
    // Any verb that reads families finds outputs and inputs.
    let told = json(folder.path(), "data convert walks.csv -o again.jsonl");
    assert_eq!(
        (told["outputs"].as_array().map(Vec::len), told["inputs"].as_array().map(Vec::len)),
        (Some(64), Some(20))
    );
}

#[test]
fn mirror_images_and_headings_are_a_choice() {
    let folder = prepared();
    let mirrored = json(folder.path(), "mocap prepare walks -o mirrored.csv");
    assert_eq!((mirrored["n_seq"].as_u64(), mirrored["n_mirrored"].as_u64()), (Some(6), Some(2)));
    assert!(read(folder.path(), "mirrored.train.csv").contains("\nold_01~mirrored,"));
    assert!(!read(folder.path(), "mirrored.test.csv").contains("~mirrored"));
    must(folder.path(), "mocap export mirrored.csv --series old_01~mirrored -o image.bvh");
    let plain = json(folder.path(), "mocap prepare walks -o plain.csv --no-mirror --heading");
    assert_eq!((plain["n_seq"].as_u64(), plain["n_mirrored"].as_u64()), (Some(4), Some(0)));
    let header = read(folder.path(), "plain.csv").lines().next().map(str::to_owned).unwrap_or_default();
    assert!(header.contains(",u_step_x_5,") && header.matches(",u_").count() == 32, "{header}");
}

#[test]
fn legs_are_scaled_on_request_and_results_do_not_depend_on_threads() {
    let folder = prepared();
    let one = json(folder.path(), "mocap prepare walks -o one.csv --legs 0.7 --threads 1");
    let two = json(folder.path(), "mocap prepare walks -o two.csv --legs 0.7 --threads 2");
    assert_eq!(one["fingerprint"], two["fingerprint"]);
    assert_eq!(read(folder.path(), "one.csv"), read(folder.path(), "two.csv"));
    let plain = json(folder.path(), "mocap prepare walks -o three.csv");
    assert_ne!(one["fingerprint"], plain["fingerprint"]);
}

#[test]
fn sequences_come_back_in_every_format() {
    let folder = prepared();
    let bvh = json(folder.path(), "mocap export walks.csv --series old_01 -o old.bvh");
    assert_eq!(bvh["frames"].as_u64(), Some(119));
    assert!(bvh["mean_error_m"].as_f64().is_some_and(|error| error < 0.01), "{bvh}");
    for (file, start) in [("a.glb", &b"glTF"[..]), ("a.png", b"\x89PNG"), ("a.apng", b"\x89PNG")] {
        must(folder.path(), &format!("mocap export walks.train.csv --series proud_01 -o {file} --lock-feet"));
        assert!(fs::read(folder.path().join(file)).expect("written").starts_with(start), "{file}");
    }
    // The exported file is as good a source as any, and lies where the first one did.
    fs::create_dir(folder.path().join("again")).expect("made");
    fs::copy(folder.path().join("old.bvh"), folder.path().join("again/old_01.bvh")).expect("copied");
    must(folder.path(), "mocap prepare again -o again.csv");
    let start = |name: &str| {
        let side: serde_json::Value = serde_json::from_str(&read(folder.path(), name)).expect("JSON");
        ["x", "z"].map(|axis| side["clips"]["old_01"]["start"][axis].as_f64().expect("a number"))
    };
    let (first, again) = (start("walks.mocap.json"), start("again.mocap.json"));
    assert!((0..2).all(|axis| (first[axis] - again[axis]).abs() < 0.1), "{first:?} {again:?}");
}

#[test]
fn without_the_side_file_a_sequence_begins_at_the_origin_and_says_so() {
    let folder = prepared();
    fs::remove_file(folder.path().join("walks.mocap.json")).expect("removed");
    let output = run(folder.path(), "mocap export walks.csv --series old_01 -o old.bvh");
    assert!(output.status.success() && stderr(&output).contains("begins at the origin"));
}

#[test]
fn a_page_shows_every_clip_and_stands_alone() {
    let folder = prepared();
    fs::write(folder.path().join("walks/old/broken.bvh"), "HIERARCHY\nnothing").expect("written");
    let told = json(folder.path(), "mocap check walks -o page.html -q");
    assert_eq!((told["n_clips"].as_u64(), told["n_unusable"].as_u64()), (Some(4), Some(1)));
    let loss = |what: &str| told["worst_loss"][what].as_f64().expect("a number");
    assert!(loss("features_farthest_mm") < 1.0 && loss("rotations_mean_mm") < 10.0, "{}", told["worst_loss"]);
    let page = read(folder.path(), "page.html");
    for part in ["old_01", "proud_02", "Style: proud", "broken.bvh", "<svg"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("src=") && !page.contains("NaN"));
}

#[test]
fn what_cannot_be_used_is_told() {
    let folder = prepared();
    assert!(must_fail(folder.path(), "mocap prepare nowhere -o a.csv", 2).contains("nowhere"));
    assert!(must_fail(folder.path(), "mocap prepare walks -o a.txt", 2).contains("a.txt"));
    assert!(must_fail(folder.path(), "mocap prepare walks -o a.csv --legs 0", 2).contains("--legs"));
    assert!(must_fail(folder.path(), "mocap export walks.csv --series old_01 -o a.fbx", 2).contains(".glb"));
    assert!(
        must_fail(folder.path(), "mocap export walks.csv --series nobody -o a.bvh", 1).contains("nobody")
    );
    assert!(must_fail(folder.path(), "data gait -o a --styles happy", 2).contains("childlike"));
    fs::create_dir(folder.path().join("empty")).expect("made");
    assert!(must_fail(folder.path(), "mocap prepare empty -o a.csv", 1).contains("found none"));
}

/// The shared set, where it lies beside the workspace.
fn shared_set() -> Option<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let ways = ["../shared/data/mocap", "../../shared/data/mocap"];
    ways.iter()
        .map(|way| workspace.join(way))
        .find(|path| path.is_dir())
        .and_then(|path| path.canonicalize().ok())
}

/// What the set's own README tells about its files: row of its table, name in the report, words there, number of files.
/// That bones differ by subject shows between files only.
const README_TRAPS: [(&str, &str, &str, u64); 19] = [
    ("frame rate of cmu", "frame-rate", "120 fps", 44),
    ("frame rate of cmu, its digits", "rounded-frame-time", "0.0083333 s, taken as 120 fps", 44),
    ("frame rate of cmu, no leading zero", "no-leading-zero", "", 44),
    ("frame rate of bandai-namco", "rounded-frame-time", "0.0333333 s, taken as 30 fps", 170),
    ("first frame of cmu", "added-t-pose", "1 frame(s)", 44),
    ("up axis", "up-axis", "up is +Y", 214),
    ("handedness", "handedness", "right-handed", 214),
    ("length unit of cmu", "unit", "1 unit = 0.056444 m", 44),
    ("length unit of bandai-namco", "unit", "1 unit = 0.010000 m", 170),
    ("channels of bandai-namco", "positions-on-joints", "21 joints replace their offsets", 170),
    ("rotation order of cmu", "rotation-order", "Z Y X", 44),
    ("rotation order of bandai-namco", "rotation-order", "Z X Y", 170),
    ("joints of cmu", "joints-without-length", "10 of 31 joints", 44),
    ("joints of bandai-namco, static root", "root-stands-still", "`joint_Root` never moves", 170),
    ("joints of bandai-namco, hips below it", "hips-below-root", "joint 2", 170),
    ("joints of bandai-namco, no fingers", "joints-made-up", "LeftFingers", 170),
    ("joints of bandai-namco, ends", "ends-without-length", "", 170),
    ("line ends of cmu", "line-ends", "CR LF", 44),
    ("header of bandai-namco", "tab-in-header", "", 170),
];

/// Prints how long it takes; under 30 s on two cores when built for release, so twice that is asked for here.
#[test]
fn the_shared_set_is_prepared_in_seconds_with_every_trap_named() {
    let Some(set) = shared_set() else {
        skip(
            "the_shared_set_is_prepared_in_seconds_with_every_trap_named",
            "no ../shared/data/mocap beside the workspace",
        );
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary directory");
    let told = json(folder.path(), &format!("mocap prepare {} -o set.parquet --threads 2", set.display()));
    eprintln!("214 files in {} s", told["secs"]);
    assert_eq!((told["n_seq"].as_u64(), told["n_mirrored"].as_u64()), (Some(382), Some(168)));
    assert_eq!(told["left_out"].as_array().map(Vec::len), Some(0));
    assert!(told["secs"].as_f64().is_some_and(|secs| secs < 60.0), "{}", told["secs"]);
    for (row, trap, detail, n_files) in README_TRAPS {
        let details = &told["findings"]["traps"][trap]["details"];
        let said = details.as_object().into_iter().flatten().filter(|(text, _)| text.contains(detail));
        let found: u64 = said.filter_map(|(_, count)| count.as_u64()).sum();
        assert_eq!(found, n_files, "{row}: {trap} with `{detail}` in {details}");
    }
    // Five subjects of CMU, and the one body of all Bandai Namco clips.
    assert!(told["findings"]["between_files"].to_string().contains("bodies differ: 6 lengths of legs"));
    for split in ["set.train.parquet", "set.test.parquet", "set.report.md"] {
        assert!(folder.path().join(split).is_file(), "{split}");
    }
}

/// Prints how far features and rotations are from the clean clips.
#[test]
fn the_shared_set_loses_less_than_it_may_on_its_way_out() {
    let Some(set) = shared_set() else {
        skip(
            "the_shared_set_loses_less_than_it_may_on_its_way_out",
            "no ../shared/data/mocap beside the workspace",
        );
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary directory");
    let told = json(folder.path(), &format!("mocap check {} -o set.html --threads 2", set.display()));
    eprintln!("{}", told["worst_loss"]);
    let loss = |what: &str| told["worst_loss"][what].as_f64().expect("a number");
    assert!(loss("features_farthest_mm") < 1.0 && loss("rotations_mean_mm") < 10.0);
}
