//! `mtds fit --learn elbo|iwae` as a person runs it: replayed, killed and resumed to the same bits; use of the code said;
//! the network that is left answers `--method amortised`.

use crate::noise::Noise;
use crate::program::{command, json, must, must_fail, stderr};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Options that make a fit short.
const SHORT: &str = "--hidden 8 --state 2 --code 2 --refine-steps 60 -q";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory");
    fs::write(folder.path().join("pushed.csv"), crate::families::pushed(16, 3)).expect("written");
    folder
}

/// The files of a model, name and bytes, sorted.
fn files(folder: &Path, model: &str) -> Vec<(String, Vec<u8>)> {
    let listed = fs::read_dir(folder.join(model)).expect("a model").map(|entry| entry.expect("listed"));
    let read = |entry: fs::DirEntry| {
        (entry.file_name().into_string().expect("plain"), fs::read(entry.path()).expect("read"))
    };
    let mut files: Vec<_> = listed.map(read).collect();
    files.sort();
    files
}

#[test]
fn bounds_are_learned_replayed_and_their_use_of_the_code_is_said() {
    let folder = folder();
    for learn in ["elbo", "iwae"] {
        let line = format!("fit pushed.csv -o {learn} {SHORT} --learn {learn} --hard-steps 10 --window 5");
        let document = json(folder.path(), &line);
        assert_eq!(document["settings"]["learn"], learn);
        assert_eq!((&document["settings"]["start"], &document["steps"]), (&"none".into(), &[60].into()));
        let usage = &document["usage"];
        assert_eq!(usage["divergence"].as_array().map(Vec::len), Some(2), "{usage}");
        assert!(usage["status"].is_string() && usage["active"].is_u64(), "{usage}");
        must(
            folder.path(),
            &format!("fit pushed.csv -o again-{learn} -q --config {learn}/fit.toml --threads 2"),
        );
        assert_eq!(files(folder.path(), learn), files(folder.path(), &format!("again-{learn}")));
        let said = must(folder.path(), &format!("inspect {learn}"));
        assert!(
            said.contains("use of the code") && said.contains("KL, nats") && said.contains("z2"),
            "{said}"
        );
        assert_eq!(&json(folder.path(), &format!("inspect {learn}"))["usage"], usage);
    }
    must(folder.path(), "report elbo pushed.csv -o page.html -q");
    let page = fs::read_to_string(folder.path().join("page.html")).expect("there");
    assert!(page.contains("Use of the code") && page.contains("variational"), "the page says it");
}

#[test]
fn the_network_that_was_learned_infers_and_forecasts_and_a_model_without_one_says_how_to_get_it() {
    let folder = folder();
    must(folder.path(), &format!("fit pushed.csv -o net {SHORT} --base layered --front 6 --amortised=4"));
    let names: Vec<_> = files(folder.path(), "net").into_iter().map(|(name, _)| name).collect();
    assert!(names.contains(&"inference.safetensors".to_owned()), "{names:?}");
    let by_network = must(folder.path(), "infer net pushed.csv --method amortised -q");
    assert_eq!(by_network.lines().count(), 17, "{by_network}");
    assert!(!by_network.contains("NaN"), "{by_network}");
    must(folder.path(), "forecast net pushed.csv --method amortised --seen 8 -o f.csv -q");
    // Other methods know nothing of the network.
    must(folder.path(), "infer net pushed.csv --seen 8 -o a.csv -q");
    must(folder.path(), &format!("fit pushed.csv -o plain {SHORT} --learn elbo"));
    let said = must_fail(folder.path(), "infer plain pushed.csv --method amortised", 2);
    assert!(said.contains("--method") && said.contains("--amortised"), "{said}");
    let path = folder.path().join("net/inference.safetensors");
    let bytes = fs::read(&path).expect("there");
    fs::write(&path, &bytes[..bytes.len() - 4]).expect("written");
    let said = must_fail(folder.path(), "infer net pushed.csv --method amortised", 1);
    assert!(said.contains("inference.safetensors") && said.contains("cut short"), "{said}");
}

#[test]
fn killed_and_resumed_the_bits_are_the_same() {
    let folder = folder();
    // Enough is held out that the prior over codes and the process noise are chosen by it.
    let line = "fit pushed.csv --hidden 16 --state 2 --refine-steps 300 --learn iwae --amortised=4 --validation 0.4 --checkpoint-every 0.03 -q";
    let said = must(folder.path(), &format!("{line} -o whole"));
    assert!(said.contains("codes of new members: ") && said.contains("process noise: "), "{said}");
    let (mut noise, mut resumed) = (Noise(5), 0);
    for attempt in 0.. {
        assert!(attempt < 60, "no progress between kills");
        resumed += u32::from(folder.path().join("model.checkpoint").exists());
        let mut child = command(folder.path(), &format!("{line} -o model --resume"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let patience = 30.0 + (250.0 + 300.0 * f64::from(attempt)) * noise.uniform();
        std::thread::sleep(Duration::from_millis(patience as u64));
        let ended = child.try_wait().expect("asked").is_some();
        let _ = child.kill();
        let output = child.wait_with_output().expect("ended");
        if ended {
            assert!(output.status.success(), "{}", stderr(&output));
            break;
        }
    }
    assert!(resumed > 0, "the test tested nothing");
    assert_eq!(files(folder.path(), "model"), files(folder.path(), "whole"));
}

#[test]
fn collapse_is_said_with_what_to_try() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    // Every sequence is the same level with noise: there is nothing for a code to tell.
    let mut noise = Noise(9);
    let mut text = "series,t,y\n".to_owned();
    for (i, t) in (0..40).flat_map(|i| (0..20).map(move |t| (i, t))) {
        text.push_str(&format!("s{i},{t},{}\n", noise.normal()));
    }
    fs::write(folder.path().join("level.csv"), text).expect("written");
    let options = "--learn elbo --code 1 --state 1 --hidden 4 --adapt offset --share noise --fix rest --refine-steps 800 \
                   --l2 400 --kl-warmup 0 --validation 0 --start-noise 0.9 --least-noise 0.5 -q";
    let said = must(folder.path(), &format!("fit level.csv -o model {options}"));
    assert!(
        said.contains("not used") && said.contains("collapse") && said.contains("--hard-steps"),
        "{said}"
    );
    assert_eq!(json(folder.path(), "inspect model")["usage"]["status"], "collapsed");
}

#[test]
fn options_of_bounds_are_wrong_without_one() {
    let folder = folder();
    for (options, part) in [
        ("--learn mco --hard-steps 10", "--hard-steps"),
        ("--learn mco --amortised", "--amortised"),
        ("--learn mco --temperature 0.5", "--temperature"),
        ("--learn elbo --start-steps 10", "--start-steps"),
        ("--learn elbo --temperature 0", "--temperature"),
    ] {
        let said = must_fail(folder.path(), &format!("fit pushed.csv -o model {options}"), 2);
        assert!(said.contains(part), "{options}: {said}");
    }
}

#[test]
fn patients_are_made_with_their_truth_and_learned() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    must(folder.path(), "data pharmacodynamics -o patients.csv --sequences 14 --steps 12");
    let truth = fs::read_to_string(folder.path().join("patients.truth.csv")).expect("beside it");
    assert!(truth.starts_with("series,half_life,sensitivity,effect,baseline\n"), "{truth}");
    assert_eq!(truth.lines().count(), 15);
    let said = must_fail(folder.path(), "data pharmacodynamics -o patients.csv --noise nan", 2);
    assert!(said.contains("--noise: expected a number"), "{said}");
    let options = "--base pd --state 1 --learn elbo --hidden 8 --code 2 --refine-steps 30 -q";
    must(folder.path(), &format!("fit patients.csv -o model {options}"));
}
