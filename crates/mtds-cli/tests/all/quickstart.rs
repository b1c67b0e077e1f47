//! `mtds quickstart` is `data oscillators`, `fit` and `report`: the same files, to the bit, as the three commands leave.

use crate::program::must;
use std::fs;

#[test]
fn quickstart_is_three_commands() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let text = must(folder.path(), "quickstart --sequences 8 --seed 3 --effort 0.05 -o quick -q");
    assert!(text.contains("quick/model") && text.contains("quick/report.html"), "{text}");
    must(folder.path(), "data oscillators --sequences 8 --seed 3 -o oscillators.csv -q");
    must(folder.path(), "fit oscillators.csv --seed 3 --effort 0.05 -o model -q");
    for (quick, plain) in [
        ("quick/oscillators.csv", "oscillators.csv"),
        ("quick/model/config.json", "model/config.json"),
        ("quick/model/model.safetensors", "model/model.safetensors"),
        ("quick/model/fit.toml", "model/fit.toml"),
    ] {
        let read = |name: &str| fs::read(folder.path().join(name)).expect(name);
        assert!(read(quick) == read(plain), "{quick} differs");
    }
}
