//! Models learned in a moment, for tests of verbs that use one; and results as rows.

use super::{families, program};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;

/// Options that make a fit short.
const SHORT: &str = "--hidden 8 --start-steps 60 --refine-steps 60 --particles 64 --refine-particles 16 --state 2 --code 2 -q";

/// What lies in a folder, by its way from there.
type Files = Vec<(PathBuf, Vec<u8>)>;

/// A new folder with what `make` makes, which is made once for all tests.
fn folder(made: &OnceLock<Files>, make: impl Fn(&Path)) -> TempDir {
    let files = made.get_or_init(|| {
        let first = tempfile::tempdir().expect("a temporary directory");
        make(first.path());
        let mut files = Files::new();
        gather(first.path(), Path::new(""), &mut files);
        files
    });
    let copy = tempfile::tempdir().expect("a temporary directory");
    for (path, bytes) in files {
        let path = copy.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, bytes).expect("written");
    }
    copy
}

/// Adds the files of a folder below `root`, and of those in it.
fn gather(root: &Path, below: &Path, files: &mut Files) {
    for entry in fs::read_dir(root.join(below)).expect("a folder") {
        let path = below.join(entry.expect("an entry").file_name());
        if root.join(&path).is_dir() {
            gather(root, &path, files);
        } else {
            files.push((path.clone(), fs::read(root.join(path)).expect("read")));
        }
    }
}

/// A folder with `growth.csv`, 16 plants without inputs, and a model of it.
pub fn growth_model() -> TempDir {
    static MADE: OnceLock<Files> = OnceLock::new();
    folder(&MADE, |folder| {
        fs::write(folder.join("growth.csv"), families::growth(16, 3)).expect("written");
        program::must(folder, &format!("fit growth.csv -o model {SHORT}"));
    })
}

/// A folder with `family.csv`, 12 oscillators of 40 steps with their common impulse, and a model of it.
pub fn oscillator_model() -> TempDir {
    static MADE: OnceLock<Files> = OnceLock::new();
    folder(&MADE, |folder| {
        program::must(folder, "data oscillators -o family.csv --sequences 12 --steps 40");
        program::must(folder, &format!("fit family.csv -o model {SHORT}"));
    })
}

/// A folder with `pushed.csv`, 10 sequences with inputs of their own and three outputs, and a model of it.
pub fn pushed_model() -> TempDir {
    static MADE: OnceLock<Files> = OnceLock::new();
    folder(&MADE, |folder| {
        fs::write(folder.join("pushed.csv"), families::pushed(10, 5)).expect("written");
        program::must(folder, &format!("fit pushed.csv -o model {SHORT}"));
    })
}

/// A folder with `walks`, two walks of every style, their family `walks.csv`, and the model `walkers` of it.
pub fn walkers_model() -> TempDir {
    static MADE: OnceLock<Files> = OnceLock::new();
    folder(&MADE, |folder| {
        program::must(folder, "data gait -o walks --walks 2 --frames 120 -q");
        program::must(folder, "mocap prepare walks -o walks.csv -q");
        let short = "--refine-steps 200 --front 24 --state 12 --code 3 --remainder never --validation 0 -q";
        program::must(folder, &format!("fit walks.csv -o walkers {short}"));
    })
}

pub type Row = HashMap<String, String>;

/// The rows of a CSV text without quotes.
pub fn csv(text: &str) -> Vec<Row> {
    let mut lines = text.lines();
    let names: Vec<_> = lines.next().expect("a header").split(',').map(str::to_owned).collect();
    let row = |line: &str| -> Row {
        let cells: Vec<_> = line.split(',').map(str::to_owned).collect();
        assert_eq!(cells.len(), names.len(), "{line}");
        names.iter().cloned().zip(cells).collect()
    };
    lines.map(row).collect()
}

/// The number in a column.
#[track_caller]
pub fn number(row: &Row, name: &str) -> f64 {
    row.get(name).unwrap_or_else(|| panic!("no `{name}` in {row:?}")).parse().expect("a number")
}

/// Asserts that two numbers are equal up to `tolerance`, relative where they are large.
#[track_caller]
pub fn close(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance * expected.abs().max(1.0),
        "found {found}, expected {expected}"
    );
}
