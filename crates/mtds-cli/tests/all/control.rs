//! Control of motion by the program: `mocap restyle`, and `generate`, `morph` and `transfer` with models of motions.

use crate::learned::{Row, csv, growth_model, number, walkers_model};
use crate::program::{command, json, must, must_fail, run, stderr};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn side(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&text(folder, name)).expect("JSON")
}

/// Place and heading after all rows of a motion, from where its side file says that it begins.
fn end_of(rows: &[Row], start: &Value) -> [f64; 3] {
    let at = |name: &str| start["start"][name].as_f64().expect("a number");
    let first = [at("x"), at("z"), at("facing_rad")];
    rows.iter().fold(first, |[x, z, facing], row| {
        let [left, forward, turning] =
            ["y_velocity_left", "y_velocity_forward", "y_turning"].map(|name| number(row, name) / 30.0);
        let (sin, cos) = facing.sin_cos();
        [x + cos * left + sin * forward, z + cos * forward - sin * left, facing + turning]
    })
}

/// Everything with one model, as learning it takes longest.
#[test]
fn motions_are_made_by_style_way_and_example() {
    let folder = walkers_model();
    let at = folder.path();
    restyled_clips_keep_their_skeleton(at);
    ways_are_walked_to_their_end(at);
    styles_change_along_the_way(at);
    transferred_motions_begin_where_their_content_does(at);
    what_cannot_be_meant_is_refused(at);
}

fn restyled_clips_keep_their_skeleton(at: &Path) {
    let told = json(
        at,
        "mocap restyle walks/neutral/neutral_01.bvh --model walkers --like walks/proud/proud_02.bvh -o new/proud.bvh --picture -q",
    );
    assert_eq!((told["frames"].as_u64(), told["codes"].as_array().map(Vec::len)), (Some(120), Some(1)));
    assert_eq!(told["files"].as_array().map(Vec::len), Some(3));
    assert!(fs::read(at.join("new/proud.apng")).expect("written").windows(4).any(|four| four == b"acTL"));
    assert!(fs::read(at.join("new/proud.png")).expect("written").starts_with(b"\x89PNG"));
    let hierarchy = |name: &str| text(at, name).split_once("MOTION").expect("a BVH file").0.to_owned();
    assert_eq!(hierarchy("new/proud.bvh"), hierarchy("walks/neutral/neutral_01.bvh"));
    let slide = |key: &str| told[key]["mean_speed"].as_f64().expect("a number");
    assert!(slide("sliding_in_file") < slide("sliding_in_clip") + 0.02);
    must(at, "mocap restyle new/proud.bvh --model walkers --style old --style proud -o new/morph.glb");
    assert!(fs::read(at.join("new/morph.glb")).expect("written").starts_with(b"glTF"));
    let same = "mocap restyle walks/old/old_01.bvh --model walkers --code 0.5,-0.5,1 -o new/coded.bvh";
    assert!(must(at, same).starts_with("new/coded.bvh: 120 frames at 30 per second"));
}

fn ways_are_walked_to_their_end(at: &Path) {
    let line = "generate walkers --style old --style 0.3*old+0.7*proud -o way.csv --speed 1 --path";
    let output = command(at, line).arg("walk 4, left 90, walk 3").output().expect("starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let (rows, side) = (csv(&text(at, "way.csv")), side(at, "way.mocap.json"));
    assert_eq!(rows.len(), 2 * 211);
    for id in ["old", "0.3*old+0.7*proud"] {
        let own: Vec<Row> = rows.iter().filter(|row| row["series"] == id).cloned().collect();
        let [x, z, facing] = end_of(&own, &side["clips"][id]);
        assert!((x - 3.0).hypot(z - 4.0) < 0.2, "{id} ends at {x} {z}");
        assert!((facing - std::f64::consts::FRAC_PI_2).abs() < 0.3, "{id} faces {facing}");
    }
    let exported = must(at, "mocap export way.csv --series old -o way.bvh --lock-feet");
    assert!(exported.contains("211 frames"), "{exported}");
    // Points with times say their own speed; a clip its own steps, too.
    fs::write(at.join("points.csv"), "t,x,z\n0,0,0\n2,0,2\n4,1,3\n").expect("written");
    assert_eq!(csv(&must(at, "generate walkers --code 0,0,0 --path points.csv -q")).len(), 121);
    let of_clip =
        "generate walkers --like walks/old/old_01.bvh --path walks/proud/proud_01.bvh -o clip.csv -q";
    must(at, of_clip);
    assert_eq!(csv(&text(at, "clip.csv")).len(), 120);
    // Without a way they answer to inputs as before, and begin where these do.
    must(at, "generate walkers --style old --inputs walks.csv --inputs-of proud_01 -o asked.csv -q");
    let begins = |name: &str, id: &str| self::side(at, name)["clips"][id]["start"].clone();
    assert_eq!(begins("asked.mocap.json", "old"), begins("walks.mocap.json", "proud_01"));
}

fn styles_change_along_the_way(at: &Path) {
    let line = "morph walkers --from old --via 0.5*old+0.5*proud --to proud_01 -o morph.csv --path";
    let output = command(at, line).arg("walk 5").output().expect("starts");
    assert!(output.status.success() && stderr(&output).contains("steps a second"), "{}", stderr(&output));
    let rows = csv(&text(at, "morph.csv"));
    let id = &rows[0]["series"];
    assert_eq!(id, "old to 0.5*old+0.5*proud to proud_01");
    let lean = |rows: &[Row]| rows.iter().map(|row| number(row, "y_Head_z")).sum::<f64>() / rows.len() as f64;
    // The old stoop and the proud do not.
    let (first, last) = (lean(&rows[..30]), lean(&rows[rows.len() - 30..]));
    assert!(last + 0.05 < first, "{first} {last}");
    assert!(side(at, "morph.mocap.json")["clips"][id].is_object());
}

fn transferred_motions_begin_where_their_content_does(at: &Path) {
    for style in ["proud_01", "0.7*old+0.3*proud", "walks/sexy/sexy_01.bvh"] {
        must(at, &format!("transfer walkers walks.csv --content old_01 --style {style} -o moved.csv -q"));
        let (moved, content) = (side(at, "moved.mocap.json"), side(at, "walks.mocap.json"));
        let start = &moved["clips"][format!("old_01 as {style}")]["start"];
        assert_eq!(start, &content["clips"]["old_01"]["start"]);
        let output = command(at, "mocap export moved.csv -o moved.bvh --series")
            .arg(format!("old_01 as {style}"))
            .output()
            .expect("starts");
        assert!(output.status.success() && !stderr(&output).contains("begins at the origin"));
    }
}

fn what_cannot_be_meant_is_refused(at: &Path) {
    let restyle = "mocap restyle walks/old/old_01.bvh --model walkers -o x.bvh";
    for (line, said) in [
        (format!("{restyle} --style cheerful"), "knows no style `cheerful`\n  try: angry, childlike"),
        (format!("{restyle} --style 0.7*old+0.7*proud"), "weights that add up to 1, found 1.400"),
        (format!("{restyle} --code 1,2"), "expected 3 number(s)"),
        (restyle.to_owned(), "--like"),
        (format!("{restyle} --style old --like walks/old/old_02.bvh"), "cannot be used with"),
        (
            "mocap restyle walks/old/old_01.bvh --model walkers --style old -o x.fbx".into(),
            "expected .bvh or .glb",
        ),
        ("generate walkers --style old --path walk".into(), "character 5: expected metres"),
        (
            "generate walkers --style old --path walks/old/old_01.bvh --speed 2".into(),
            "has a speed of its own",
        ),
        ("generate walkers --style old --speed 2 --inputs walks.csv".into(), "cannot be used with"),
        ("generate walkers --style old --speed 2".into(), "--path"),
        ("morph walkers --from old --to nobody --path points.csv".into(), "knows no style `nobody`"),
    ] {
        let found = must_fail(at, &line, 2);
        assert!(found.contains(said), "mtds {line}\n{found}");
    }
    fs::write(at.join("few.csv"), "x,z\n1,q\n").expect("written");
    let head = text(at, "walks/old/old_01.bvh").replace("Leg", "Tentacle");
    fs::write(at.join("monster.bvh"), head).expect("written");
    must(at, "data gait -o brief --styles old --walks 1 --frames 20 -q");
    for (line, said) in [
        (
            "mocap restyle monster.bvh --model walkers --style old -o x.bvh",
            "monster.bvh: the skeleton fits no rule",
        ),
        (
            "mocap restyle brief/old/old_01.bvh --model walkers --style old -o x.bvh",
            "found 20; take a longer clip",
        ),
        ("mocap restyle absent.bvh --model walkers --style old -o x.bvh", "absent.bvh: cannot read"),
        ("generate walkers --style old --path few.csv", "`q` in line 2"),
    ] {
        let found = must_fail(at, line, 1);
        assert!(found.contains(said), "mtds {line}\n{found}");
    }
    assert!(!at.join("x.bvh").exists());
}

#[test]
fn a_model_of_something_else_makes_no_motions() {
    let folder = growth_model();
    let at = folder.path();
    must(at, "data gait -o walks --styles old --walks 1 --frames 60 -q");
    let restyle = "mocap restyle walks/old/old_01.bvh --model model --style old -o x.bvh";
    let found = must_fail(at, restyle, 1);
    assert!(
        found.contains("`model`") && found.contains("expected the 64 outputs of a body, found 1"),
        "{found}"
    );
    let found =
        stderr(&command(at, "generate model --code 0,0 --path").arg("walk 4").output().expect("starts"));
    assert!(found.contains("no model of motions"), "{found}");
    assert!(run(at, "generate model --code 0,0 --steps 5").status.success());
}
