//! `mtds fit` interrupted, killed and resumed: the result has the bits of a run in one piece.

use crate::noise::Noise;
use crate::program::{command, must, must_fail, stderr};
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

/// A fit of about a second, checkpoints as often as the disk likes.
const FIT: &str = "fit growth.csv --hidden 16 --start-steps 150 --refine-steps 200 --particles 256 \
                   --refine-particles 16 --checkpoint-every 0.03 -q";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory");
    fs::write(folder.path().join("growth.csv"), crate::families::growth(16, 3)).expect("written");
    folder
}

fn start(folder: &Path, options: &str) -> Child {
    let mut command = command(folder, &format!("{FIT} {options}"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

fn model(folder: &Path, name: &str) -> Vec<Vec<u8>> {
    let files = ["config.json", "model.safetensors", "README.md", "fit.toml", "history.json"];
    files.iter().map(|file| fs::read(folder.join(name).join(file)).expect("there")).collect()
}

/// Waits until a file appears.
fn wait_for(path: &Path) {
    for _ in 0..6000 {
        if path.exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{} did not appear within a minute", path.display());
}

/// A model is whole or absent, and so is a checkpoint.
fn assert_nothing_half_written(folder: &Path, name: &str) {
    if folder.join(name).exists() {
        model(folder, name);
    }
    if let Ok(bytes) = fs::read(folder.join(format!("{name}.checkpoint"))) {
        assert!(bytes.starts_with(b"mtds fit 8\n"), "a checkpoint begins as one");
    }
}

#[test]
fn killed_at_random_times_and_resumed_the_bits_are_the_same() {
    let folder = folder();
    must(folder.path(), &format!("{FIT} -o whole"));
    let mut noise = Noise(11);
    let (mut kills, mut resumed) = (0, 0);
    for run in 0..2 {
        let name = format!("run{run}");
        for attempt in 0.. {
            assert!(attempt < 60, "no progress between kills");
            resumed += u32::from(folder.path().join(format!("{name}.checkpoint")).exists());
            let mut child = start(folder.path(), &format!("-o {name} --resume"));
            // Longer and longer: what follows learning has no checkpoints, and the machine may be busy.
            let patience = 30.0 + (250.0 + 300.0 * f64::from(attempt)) * noise.uniform();
            std::thread::sleep(Duration::from_millis(patience as u64));
            let ended = child.try_wait().expect("asked").is_some();
            let _ = child.kill();
            let output = child.wait_with_output().expect("ended");
            assert_nothing_half_written(folder.path(), &name);
            if ended {
                assert!(output.status.success(), "{}", stderr(&output));
                break;
            }
            kills += 1;
        }
        assert_eq!(model(folder.path(), &name), model(folder.path(), "whole"));
        assert!(!folder.path().join(format!("{name}.checkpoint")).exists());
    }
    assert!(kills > 3 && resumed > 0, "{kills} kills, {resumed} resumed: the test tested nothing");
}

/// Both went on, shared a checkpoint, and both said that all was well.
#[test]
fn two_fits_to_one_place_are_one_too_many() {
    let folder = folder();
    let long = FIT.replace("--start-steps 150", "--start-steps 20000");
    let mut first = command(folder.path(), &format!("{long} -o deep/er/model")).spawn().expect("starts");
    wait_for(&folder.path().join("deep/er/model.checkpoint"));
    for options in ["", "--resume", "--force"] {
        let said = must_fail(folder.path(), &format!("{FIT} -o deep/er/model {options}"), 1);
        assert!(said.contains("another program is writing it") && said.contains("wait"), "{said}");
    }
    must(folder.path(), &format!("{FIT} -o deep/er/other"));
    first.kill().expect("still at work");
    first.wait().expect("ended");
    // What a killed program leaves holds nobody up.
    must(folder.path(), &format!("{FIT} -o deep/er/model --force"));
    let left = fs::read_dir(folder.path().join("deep/er")).expect("there");
    let names = left.map(|entry| entry.expect("listed").file_name());
    let locks = names.filter(|name| name.to_string_lossy().ends_with(".lock"));
    assert_eq!(locks.count(), 0, "who is done takes the lock along");
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_a_checkpoint_that_goes_on_to_the_same_bits() {
    let folder = folder();
    must(folder.path(), &format!("{FIT} -o whole"));
    let child = start(folder.path(), "-o model");
    wait_for(&folder.path().join("model.checkpoint"));
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("there is a kill").success());
    let output = child.wait_with_output().expect("ended");
    let said = stderr(&output);
    if output.status.success() {
        return; // A machine so fast that nothing was left to interrupt.
    }
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("--resume"), "{said}");
    assert!(folder.path().join("model.checkpoint").exists() && !folder.path().join("model").exists());
    let refused = must_fail(folder.path(), &format!("{FIT} -o model"), 2);
    assert!(refused.contains("--resume"), "{refused}");
    let refused = must_fail(folder.path(), &format!("{FIT} -o model --resume --code 2"), 2);
    assert!(refused.contains("--code"), "{refused}");
    // Without its other options: they are in the checkpoint.
    must(folder.path(), "fit growth.csv -o model --resume -q");
    assert_eq!(model(folder.path(), "model"), model(folder.path(), "whole"));
    let again = must(folder.path(), "fit growth.csv -o model --resume -q");
    assert!(again.contains("left in model"), "finished is finished: {again}");
}

#[test]
fn a_checkpoint_of_other_data_or_of_nothing_is_refused() {
    let folder = folder();
    fs::write(folder.path().join("model.checkpoint"), "mtds fit 2\nrubbish").expect("written");
    let said = must_fail(folder.path(), &format!("{FIT} -o model --resume"), 1);
    assert!(said.contains("model.checkpoint") && said.contains("--force"), "{said}");
    let mut child = start(folder.path(), "-o other");
    wait_for(&folder.path().join("other.checkpoint"));
    let _ = child.kill();
    child.wait().expect("ended");
    fs::write(folder.path().join("growth.csv"), crate::families::growth(16, 4)).expect("written");
    let said = must_fail(folder.path(), &format!("{FIT} -o other --resume"), 1);
    assert!(said.contains("not those of the interrupted run"), "{said}");
}
