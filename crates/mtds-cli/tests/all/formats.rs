//! `docs/formats.md` says what is in every JSON document, in tables of results and in NPZ files, and how the program exits: held to what it does.

use crate::learned::{oscillator_model, pushed_model, walkers_model};
use crate::program::{json, must, run};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const PAGE: &str = include_str!("../../../../docs/formats.md");

/// The row of a table of the page below a heading whose first cell is this: the words in backticks of its second.
#[track_caller]
fn documented(heading: &str, row: &str) -> BTreeSet<String> {
    let section = PAGE.split_once(heading).unwrap_or_else(|| panic!("no {heading}")).1;
    let section = section.split("\n## ").next().unwrap_or_default();
    let cells = |line: &str| {
        line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()
    };
    let found = section.lines().filter(|line| line.starts_with('|')).map(cells);
    let named = found.filter(|cells| cells[0].split(", ").any(|name| name == row));
    let words = |cell: &String| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let all: BTreeSet<String> = named.flat_map(|cells| words(&cells[1])).collect();
    assert!(!all.is_empty(), "the page says nothing of {row}");
    all
}

/// Whether a document has the keys that the page names, and no others.
#[track_caller]
fn holds(document: &Value, row: &str, others: &[&str]) {
    let mut expected = documented("## JSON documents", row);
    expected.extend(["schema", "verb", "version"].iter().chain(others).map(|&key| key.to_owned()));
    let found: BTreeSet<String> = document.as_object().expect("an object").keys().cloned().collect();
    assert_eq!(found, expected, "{row}");
    assert_eq!(document["schema"], 1);
    let verb = document["verb"].as_str().expect("text");
    assert!(row.starts_with(&format!("`{verb}`")), "{verb} under {row}");
}

/// Whether a table has the columns that the page names; `z1` stands for the others.
#[track_caller]
fn has_columns(path: &Path, row: &str) {
    let text = fs::read_to_string(path).expect("written");
    let found: BTreeSet<String> =
        text.lines().next().expect("a header").split(',').map(str::to_owned).collect();
    let expected = documented("## Tables of results", row);
    let missing: Vec<_> = expected.difference(&found).collect();
    assert!(missing.is_empty() || missing == ["_se"], "{row}: {missing:?} of {found:?}");
}

#[test]
fn documents_have_a_schema_version_and_the_keys_that_the_page_names() {
    let folder = pushed_model();
    let at = folder.path();
    let of = |line: &str| json(at, &format!("{line} -q"));
    holds(&of("data oscillators -o o.csv --sequences 3 --steps 9"), "`data oscillators`", &[]);
    holds(&of("data convert pushed.csv -o p.npz"), "`data convert`", &[]);
    holds(&of("data gait -o walks --frames 20 --walks 1"), "`data gait`", &[]);
    holds(&of("inspect pushed.csv"), "`inspect` of a family", &[]);
    holds(&of("inspect model"), "`inspect` of a model", &[]);
    let short =
        "--hidden 4 --start-steps 4 --refine-steps 4 --particles 16 --refine-particles 4 --state 2 --code 2";
    holds(&of(&format!("fit pushed.csv -o other {short}")), "`fit`", &["seed"]);
    holds(&of("infer model pushed.csv --seen 5"), "`infer`", &["seed", "rows"]);
    holds(&of("infer model pushed.csv --seen 5 -o i.csv --draws d.csv"), "`infer`", &["seed", "file"]);
    holds(&of("forecast model pushed.csv --seen 5 -o f.csv"), "`forecast`", &["seed", "file"]);
    holds(
        &of("generate model --sample 2 --inputs pushed.csv --inputs-of m0"),
        "`generate`",
        &["seed", "rows"],
    );
    let path = "morph model --from-code 0,0 --to-code 1,1 --inputs pushed.csv --inputs-of m0";
    holds(&of(path), "`morph`", &["seed", "rows"]);
    holds(&of("transfer model pushed.csv --content m0 --style m1"), "`transfer`", &["seed", "rows"]);
    holds(&of("evaluate model pushed.csv --seen 5 -o e.csv --anomaly a.csv"), "`evaluate`", &[]);
    holds(&of("report model pushed.csv -o r.html"), "`report`", &["seed"]);
    for (file, row) in [
        ("i.csv", "`infer`"),
        ("d.csv", "`infer --draws`"),
        ("f.csv", "`forecast`"),
        ("e.csv", "`evaluate`"),
        ("a.csv", "`evaluate --anomaly`"),
    ] {
        has_columns(&at.join(file), row);
    }
    must(at, "inspect model -o codes.csv -q");
    has_columns(&at.join("codes.csv"), "`inspect` of a model");
}

#[test]
fn the_document_of_a_restyled_clip_has_the_keys_that_the_page_names() {
    let folder = walkers_model();
    let line = "mocap restyle walks/old/old_01.bvh --model walkers --style proud -o proud.bvh -q";
    holds(&json(folder.path(), line), "`mocap restyle`", &["seed"]);
}

#[test]
fn archives_have_the_arrays_that_the_page_names() {
    let folder = pushed_model();
    must(folder.path(), "data convert pushed.csv -o p.npz -q");
    let bytes = fs::read(folder.path().join("p.npz")).expect("written");
    for name in ["Y.npy", "U.npy", "series.npy", "outputs.npy", "inputs.npy"] {
        assert!(bytes.windows(name.len()).any(|window| window == name.as_bytes()), "{name}");
        assert!(PAGE.contains(&format!("`{}`", name.trim_end_matches(".npy"))), "{name}");
    }
}

#[test]
fn exit_codes_are_those_of_the_page() {
    let folder = oscillator_model();
    let code = |line: &str| run(folder.path(), line).status.code();
    assert_eq!(code("inspect model"), Some(0));
    assert_eq!(code("inspect absent.csv"), Some(1));
    assert_eq!(code("inspect model --no-such-option"), Some(2));
    assert_eq!(code("forecast model family.csv --seen 0"), Some(2));
    for row in ["| 0 |", "| 1 |", "| 2 |", "| 130 |"] {
        assert!(PAGE.contains(row), "{row}");
    }
}
