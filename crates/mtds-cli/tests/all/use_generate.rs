//! `mtds generate`, `mtds morph` and `mtds transfer`: the sequences of the library, as families that can be read.

use crate::learned::{close, csv, growth_model, number, oscillator_model, pushed_model};
use crate::program::{json, must, must_fail};
use mtds::{CodePath, Model};
use mtds_data::model::load_model;
use mtds_data::{ReadFamily, ReadOptions};
use std::path::Path;

fn bundle(folder: &Path) -> Model {
    load_model(&folder.join("model")).expect("a model")
}

fn read(folder: &Path, name: &str) -> ReadFamily {
    mtds_data::read_family(&folder.join(name), &ReadOptions::default()).expect("a family")
}

#[test]
fn a_code_gives_the_sequence_of_the_library() {
    let folder = growth_model();
    let rows = csv(&must(folder.path(), "generate model --code 0.3,-1.2 --code -1,0 --steps 25"));
    let model = bundle(folder.path()).system;
    for (i, code) in [[0.3, -1.2], [-1.0, 0.0]].iter().enumerate() {
        let expected = model.generate(code, None, 25).expect("a sequence");
        for t in 0..25 {
            let row = &rows[i * 25 + t];
            assert_eq!((&row["series"], &row["t"]), (&format!("code-{}", i + 1), &(t + 1).to_string()));
            close(number(row, "y"), expected.get(t, 0), 1e-12);
        }
    }
    assert_eq!(rows.len(), 50);
}

#[test]
fn a_member_is_made_again_under_its_own_inputs_or_others() {
    let folder = pushed_model();
    must(folder.path(), "generate model --like m3 --like m7 --inputs pushed.csv -o made.csv");
    let (made, given) = (read(folder.path(), "made.csv"), read(folder.path(), "pushed.csv"));
    let bundle = bundle(folder.path());
    assert_eq!(made.family.output_names(), ["y_a", "y_b", "y_c"]);
    for (i, id) in ["m3", "m7"].into_iter().enumerate() {
        let sequence = made.family.sequence(i);
        let inputs = given.family.get(id).expect("a sequence").inputs().expect("inputs");
        assert_eq!((sequence.id(), sequence.inputs()), (id, Some(inputs)));
        let member = bundle.members.iter().find(|member| member.id == id).expect("a member");
        let expected = bundle.system.generate(&member.code_mean, Some(inputs), 50).expect("a sequence");
        assert_eq!(sequence.outputs(), &expected);
    }
    assert_eq!(made.time.format(0, 0), "0", "times as in the file of inputs");
    let other =
        csv(&must(folder.path(), "generate model --like m3 --inputs pushed.csv --inputs-of m7 --steps 20"));
    close(
        number(&other[19], "u"),
        given.family.get("m7").expect("m7").inputs().expect("inputs").get(19, 0),
        0.0,
    );
}

/// The noise of 8000 values has the learned standard deviation: a false alarm at 5 standard errors, one in a million.
#[test]
fn noise_is_that_of_the_model() {
    let folder = growth_model();
    let of = |options: &str| -> Vec<f64> {
        let line = format!("generate model --code 0.1,0.2 --steps 8000 {options}");
        csv(&must(folder.path(), &line)).iter().map(|row| number(row, "y")).collect()
    };
    let (clean, noisy) = (of(""), of("--noise"));
    let square: f64 = clean.iter().zip(&noisy).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / 8000.0;
    let model = bundle(folder.path()).system;
    let points = mtds::Points::from_points(2, &[vec![0.1, 0.2]]).expect("a point");
    let certain = mtds::Posterior::from_equal_draws(points, None, mtds::Diagnostics::new(mtds::Method::Nuts))
        .expect("a posterior");
    let unseen = mtds::Signal::new(0, 1, vec![]).expect("no steps");
    let forecast =
        model.forecast(&certain, &unseen, None, 1, &mut mtds::random::stream(1, 0)).expect("a forecast");
    let variance = forecast.variance()[0];
    assert!((square / variance - 1.0).abs() < 5.0 * (2.0 / 8000f64).sqrt(), "{square}, expected {variance}");
    assert_eq!(noisy, of("--noise"), "the same seed");
    assert_ne!(noisy, of("--noise --seed 2"));
}

#[test]
fn samples_are_new_members_that_every_verb_reads() {
    let folder = oscillator_model();
    let document = json(folder.path(), "generate model --sample 3 --inputs family.csv --steps 30 -o new.csv");
    let codes = document["codes"].as_object().expect("codes");
    assert_eq!(codes.keys().collect::<Vec<_>>(), ["sample-1", "sample-2", "sample-3"]);
    assert!(codes.values().all(|code| code.as_array().is_some_and(|code| code.len() == 2)));
    assert_eq!(csv(&must(folder.path(), "infer model new.csv -q --method map")).len(), 3);
    must(folder.path(), "generate model --sample 2 --inputs family.csv -o new.npz");
    assert_eq!(read(folder.path(), "new.npz").family.n_seq(), 2);
}

#[test]
fn a_morph_passes_the_codes_of_its_members() {
    let folder = oscillator_model();
    let line = "morph model --from osc-000 --via osc-004 --to-code 0.5,-0.5 --inputs family.csv --steps 33";
    let rows = csv(&must(folder.path(), line));
    let (bundle, given) = (bundle(folder.path()), read(folder.path(), "family.csv"));
    let code = |id: &str| bundle.members.iter().find(|m| m.id == id).expect("a member").code_mean.clone();
    let path = CodePath::new(vec![code("osc-000"), code("osc-004"), vec![0.5, -0.5]]).expect("a path");
    let expected = bundle.system.morph(&path, given.family.inputs_of(0), 33).expect("a sequence");
    assert_eq!(rows.len(), 33);
    for (t, row) in rows.iter().enumerate() {
        assert_eq!(row["series"], "osc-000 to osc-004 to code");
        close(number(row, "y"), expected.get(t, 0), 1e-12);
    }
}

#[test]
fn a_transfer_has_the_inputs_of_one_and_the_code_of_another() {
    let folder = pushed_model();
    must(folder.path(), "transfer model pushed.csv --content m1 --style m2 -o moved.csv -q");
    let (moved, given) = (read(folder.path(), "moved.csv"), read(folder.path(), "pushed.csv"));
    let bundle = bundle(folder.path());
    let inputs = given.family.get("m1").expect("m1").inputs().expect("inputs");
    let style = bundle.members.iter().find(|member| member.id == "m2").expect("a member");
    let expected = bundle.system.generate(&style.code_mean, Some(inputs), 50).expect("a sequence");
    let sequence = moved.family.sequence(0);
    assert_eq!((sequence.id(), sequence.outputs(), sequence.inputs()), ("m1 as m2", &expected, Some(inputs)));

    // A style that the model does not know is inferred from its outputs: the member under another name.
    let text = std::fs::read_to_string(folder.path().join("pushed.csv")).expect("written");
    std::fs::write(folder.path().join("renamed.csv"), text.replace("m2,", "stranger,")).expect("written");
    let line = "transfer model renamed.csv --content m1 --style stranger -q";
    let code = json(folder.path(), line)["code"].clone();
    for (d, mean) in style.code_mean.iter().enumerate() {
        let apart = (code[d].as_f64().expect("a number") - mean).abs();
        assert!(apart < 0.05 + 0.5 * style.code_std_dev[d], "{code}, learned {:?}", style.code_mean);
    }
}

#[test]
fn unknown_members_and_wrong_codes_are_wrong_usage_with_advice() {
    let (growth, pushed) = (growth_model(), pushed_model());
    for (folder, line, parts) in [
        (&growth, "generate model", vec!["--code", "--like", "--sample"]),
        (&growth, "generate model --code 1,2", vec!["--steps 80"]),
        (&growth, "generate model --code 1,2,3 --steps 5", vec!["expected 2", "--code 0,0"]),
        (&growth, "generate model --code 1,two --steps 5", vec!["`1,two`"]),
        (&growth, "generate model --code 1,2 --like a --steps 5", vec!["cannot be used with"]),
        (&growth, "generate model --sample 0 --steps 5", vec!["--sample"]),
        (&growth, "generate model --sample 1 --steps 0", vec!["--steps"]),
        (&growth, "generate model --like plant --steps 5", vec!["none is called `plant`", "plant 0"]),
        (&growth, "generate model --sample 1 --inputs growth.csv", vec!["no inputs"]),
        (&growth, "transfer model growth.csv --content a --style b", vec!["no inputs", "generate"]),
        (&growth, "morph model --from-code 0,0 --steps 5", vec!["--to"]),
        (&growth, "morph model --from-code 0 --to-code 0,0 --steps 5", vec!["--from-code", "expected 2"]),
        (&pushed, "generate model --sample 1 --steps 5", vec!["--inputs", "u"]),
        (&pushed, "generate model --sample 1 --inputs pushed.csv", vec!["--inputs-of m0", "differ"]),
        (&pushed, "generate model --like M3x --inputs pushed.csv", vec!["try: m3"]),
        (
            &pushed,
            "generate model --like m3 --inputs pushed.csv --inputs-of mm3",
            vec!["--inputs-of", "try: m3"],
        ),
        (&pushed, "generate model --like m3 --inputs pushed.csv --steps 51", vec!["found 50", "--steps 50"]),
        (&pushed, "morph model --from m0 --to m11 --inputs pushed.csv", vec!["--to", "try: m1"]),
        (&pushed, "transfer model pushed.csv --content m0 --style m33", vec!["--style", "try: m3"]),
        (&pushed, "transfer model pushed.csv --content x0 --style m3", vec!["--content", "try: m0"]),
        (&pushed, "generate model --like m3 --inputs pushed.csv -o out.xlsx", vec!["--out", ".csv"]),
    ] {
        let said = must_fail(folder.path(), &format!("{line} -q"), 2);
        for part in parts {
            assert!(said.contains(part), "{line}: {part}: {said}");
        }
    }
}

#[test]
fn bad_inputs_are_named() {
    let folder = pushed_model();
    std::fs::write(folder.path().join("holes.csv"), "series,t,u\na,0,1\na,1,\na,2,1\n").expect("written");
    let said = must_fail(folder.path(), "generate model --sample 1 --inputs holes.csv", 1);
    for part in ["holes.csv", "row 3", "`u`", "found nothing", "cannot be missing"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let said = must_fail(folder.path(), "generate model --sample 1 --inputs none.csv", 1);
    assert!(said.contains("none.csv"), "{said}");
    // Inputs alone are enough.
    std::fs::write(folder.path().join("plain.csv"), "series,t,u\na,5,1\na,6,0\na,7,1\n").expect("written");
    let rows = csv(&must(folder.path(), "generate model --sample 1 --inputs plain.csv"));
    assert_eq!(rows.iter().map(|row| row["t"].as_str()).collect::<Vec<_>>(), ["5", "6", "7"]);
    // But not at other steps than the model's.
    std::fs::write(folder.path().join("half.csv"), "series,t,u\na,0.5,1\na,1.0,0\na,1.5,1\n")
        .expect("written");
    let said = must_fail(folder.path(), "generate model --sample 1 --inputs half.csv", 1);
    assert!(said.contains("steps of 1") && said.contains("--resample 1"), "{said}");
}
