//! The model that comes with the program: every verb knows it by its name, and `mocap restyle` without any.

use crate::program::{command, json, must, must_fail, stderr};
use std::fs;
use std::path::Path;

fn walks(at: &Path) {
    must(at, "data gait -o walks --styles neutral,proud --walks 1 --frames 120 -q");
    must(at, "mocap prepare walks -o walks.csv -q");
}

#[test]
fn it_is_there_at_once() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let at = folder.path();
    walks(at);
    let clip = "mocap restyle walks/neutral/neutral_01.bvh -q";
    let told = json(at, &format!("{clip} --style zombie -o zombie.bvh"));
    assert_eq!(told["model"], "starter");
    must(at, &format!("{clip} --style zombie -o named.bvh --model starter"));
    assert_eq!(fs::read(at.join("zombie.bvh")).expect("made"), fs::read(at.join("named.bvh")).expect("made"));
    must(at, &format!("{clip} --like walks/proud/proud_01.bvh -o proud.bvh"));
    let along = command(at, "generate starter --style 0.5*old+0.5*marching -o along.csv -q --path")
        .arg("walk 3, left 90, walk 2")
        .output()
        .expect("starts");
    assert!(along.status.success(), "{}", stderr(&along));
    must(at, "mocap export along.csv --series 0.5*old+0.5*marching -o along.bvh --lock-feet");
    must(at, "morph starter --from childlike --to strutting --path walks/proud/proud_01.bvh -o morph.csv -q");
    must(at, "transfer starter walks.csv --content proud_01 --style depressed -o moved.csv -q");
    must(at, "infer starter walks.csv --method map -o codes.csv -q");
    assert!(["along.bvh", "morph.csv", "moved.csv", "codes.csv"].iter().all(|file| at.join(file).exists()));
}

/// Codes of segments say how somebody moved at a moment; a clip as a whole is their average.
#[test]
fn a_moment_of_a_clip_is_a_style() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let at = folder.path();
    walks(at);
    let known = json(at, "inspect starter");
    let segments = known["segments"].as_array().expect("a list");
    assert!(segments.len() > 300, "{}", segments.len());
    let first = &segments[0];
    assert_eq!((first["start"].as_u64(), first["steps"].as_u64()), (Some(0), Some(64)));
    let named = format!("{}@3", first["series"].as_str().expect("a name"));
    let restyle = "mocap restyle walks/neutral/neutral_01.bvh -q";
    let told = json(at, &format!("{restyle} --style {named} -o moment.bvh"));
    assert_eq!(told["codes"][0], first["code"]);
    must(at, &format!("generate starter --like {named} --path walks/proud/proud_01.bvh -o moment.csv -q"));
    must(at, &format!("transfer starter walks.csv --content proud_01 --style {named} -o moved.csv -q"));
    let beyond = named.replace("@3", "@99999");
    let said = must_fail(at, &format!("{restyle} --style {beyond} -o x.bvh"), 2);
    assert!(said.contains(&format!("`{beyond}`")), "{said}");
}

#[test]
fn it_says_what_it_is_and_whose_data_it_is_from() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let told = must(folder.path(), "inspect starter -o map.html");
    for said in ["mocap.cs.cmu.edu", "EIA-0196217", "childlike, depressed, lavish"] {
        assert!(told.contains(said), "{told}");
    }
    assert!(folder.path().join("map.html").exists());
    let members = json(folder.path(), "inspect starter")["members"].as_array().map_or(0, Vec::len);
    assert!(members >= 22, "{members}");
}

/// What lies in a folder comes first, and says so: nobody is to get another model than the one that is seen.
#[test]
fn a_directory_of_its_name_comes_first() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let at = folder.path();
    walks(at);
    must(at, "fit walks.csv -o starter --effort 0.002 --front 8 --state 4 --code 2 -q");
    let restyle = "mocap restyle walks/neutral/neutral_01.bvh --style proud -o proud.bvh";
    let output = command(at, &format!("{restyle} --model starter")).output().expect("starts");
    assert!(output.status.success() && stderr(&output).contains("`starter` is taken from here"));
    assert_eq!(json(at, "inspect starter -q")["d_code"], 2);
    // Without a name it is always the one that comes with the program.
    assert_eq!(json(at, &format!("{restyle} -q"))["codes"][0].as_array().map(Vec::len), Some(8));
    fs::remove_dir_all(at.join("starter")).expect("removed");
    fs::create_dir(at.join("starter")).expect("made");
    let said = must_fail(at, &format!("{restyle} --model starter"), 1);
    assert!(said.contains("`starter` is taken from here") && said.contains("config.json"), "{said}");
}
