//! Kills, full disks, folders that cannot be written, files that cannot be read, readers that leave: nothing is lost, and the
//! program says what is wrong.

use crate::learned::growth_model;
use crate::noise::Noise;
use crate::program::{command, must, must_fail, run, stderr};
use crate::skip::skip;
use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

/// Verbs that leave a file, and its name.
const LEAVING: [(&str, &str); 9] = [
    ("forecast model growth.csv --seen 10 --horizon 20 -o out.csv -q", "out.csv"),
    ("infer model growth.csv -o out.parquet -q", "out.parquet"),
    ("evaluate model growth.csv --seen 2,4,6,8,10,12,14,16,18,20,22,24 -o out.csv -q", "out.csv"),
    ("generate model --sample 300 --steps 200 -o out.csv -q", "out.csv"),
    ("morph model --from-code 0,0 --to-code 1,1 --steps 3000 -o out.jsonl -q", "out.jsonl"),
    ("inspect model -o out.html -q", "out.html"),
    ("report model growth.csv -o out.html -q", "out.html"),
    ("data convert growth.csv -o out.npz -q", "out.npz"),
    ("data oscillators -o out.csv.gz --sequences 500 -q", "out.csv.gz"),
];

/// The file is the old one or the new one, never a part, however early or late the program dies.
#[test]
fn killed_at_any_moment_a_file_is_old_or_new() {
    let folder = growth_model();
    let mut noise = Noise(5);
    let mut kills = 0;
    for (line, file) in LEAVING {
        let path = folder.path().join(file);
        let started = Instant::now();
        must(folder.path(), line);
        let took = started.elapsed();
        let whole = fs::read(&path).expect("left");
        for _ in 0..6 {
            fs::write(&path, "old").expect("written");
            let mut child = command(folder.path(), line)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("starts");
            std::thread::sleep(took.mul_f64(1.1 * noise.uniform()));
            kills += u32::from(child.try_wait().expect("asked").is_none());
            let _ = child.kill();
            child.wait().expect("ended");
            let left = fs::read(&path).expect("still there");
            assert!(left == b"old" || left == whole, "mtds {line}: {} bytes of {}", left.len(), whole.len());
        }
        fs::remove_file(&path).expect("removed");
    }
    assert!(kills > 9, "only {kills} kills came before the end");
}

/// Runs in a shell in which no file may grow beyond 512 bytes: what a full disk does to a writer.
#[cfg(unix)]
fn run_without_room(folder: &Path, line: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_mtds");
    let script = format!("trap '' XFSZ; ulimit -f 1; exec '{program}' {line}");
    std::process::Command::new("sh").args(["-c", &script]).current_dir(folder).output().expect("a shell")
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_said_and_costs_nothing() {
    let folder = growth_model();
    for (line, file) in LEAVING {
        let path = folder.path().join(file);
        fs::write(&path, "old").expect("written");
        let output = run_without_room(folder.path(), line);
        assert_eq!(output.status.code(), Some(1), "mtds {line}\n{}", stderr(&output));
        let said = stderr(&output);
        assert!(said.starts_with("error: ") && said.contains(file), "mtds {line}\n{said}");
        assert_eq!(said.matches("File too large").count(), 1, "said once: {said}");
        assert_eq!(fs::read(&path).expect("there"), b"old", "mtds {line}");
        let names: Vec<_> =
            fs::read_dir(folder.path()).expect("there").map(|e| e.expect("listed").file_name()).collect();
        assert_eq!(names.len(), 3, "nothing is left lying about: {names:?}");
        fs::remove_file(&path).expect("removed");
    }
    let fit = "fit growth.csv -o other --hidden 8 --start-steps 20 --refine-steps 20 --particles 64 -q";
    let output = run_without_room(folder.path(), fit);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(!folder.path().join("other").exists());
}

/// The device that is always full stands for a terminal or a pipe that takes no more.
#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_printed_is_an_error() {
    let folder = growth_model();
    for line in [
        "forecast model growth.csv --seen 10 --horizon 5 -q",
        "inspect model",
        "inspect growth.csv",
        "evaluate model growth.csv --seen 10 -q",
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("there is such a device");
        let output =
            command(folder.path(), line).stdout(full).stderr(Stdio::piped()).output().expect("starts");
        assert_eq!(output.status.code(), Some(1), "mtds {line}");
        assert!(stderr(&output).contains("cannot print the result"), "{}", stderr(&output));
    }
}

/// A reader that has seen enough, as `head` has, is no failure.
#[cfg(unix)]
#[test]
fn a_reader_that_leaves_is_no_failure() {
    let folder = growth_model();
    let program = env!("CARGO_BIN_EXE_mtds");
    for line in [
        "forecast model growth.csv --seen 10 --horizon 20 -q",
        "generate model --sample 200 --steps 400 -q",
        "--help",
        "man -h",
    ] {
        let script = format!("{{ '{program}' {line}; echo $? >&2; }} | head -c 1 >/dev/null");
        let output = std::process::Command::new("sh")
            .args(["-c", &script])
            .current_dir(folder.path())
            .output()
            .expect("a shell");
        let said = stderr(&output);
        assert!(said.trim() == "0" || said.trim() == "141", "mtds {line}: {said}");
    }
}

/// Whether this user may do anything, as root may; then permissions forbid nothing.
#[cfg(unix)]
fn may_everything(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let locked = folder.join("locked");
    fs::create_dir(&locked).expect("made");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).expect("set");
    fs::write(locked.join("probe"), "").is_ok()
}

#[cfg(unix)]
#[test]
fn folders_and_files_that_are_closed_to_us_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = growth_model();
    if may_everything(folder.path()) {
        skip("folders_and_files_that_are_closed_to_us_are_named", "this user may write and read everything");
        return;
    }
    let error = must_fail(folder.path(), "generate model --sample 2 --steps 5 -o locked/out.csv", 1);
    assert!(error.contains("locked"), "{error}");
    let error = must_fail(folder.path(), "fit growth.csv -o locked/model --effort 0.01 -q", 1);
    assert!(error.contains("locked"), "{error}");
    fs::set_permissions(folder.path().join("growth.csv"), fs::Permissions::from_mode(0o000)).expect("set");
    let error = must_fail(folder.path(), "infer model growth.csv", 1);
    assert!(error.contains("growth.csv") && error.contains("ermission"), "{error}");
}

#[test]
fn what_is_not_there_or_of_another_kind_is_named() {
    let folder = growth_model();
    for (line, parts) in [
        ("infer model absent.csv", vec!["absent.csv", "check its name"]),
        ("infer absent growth.csv", vec!["absent", "give the path of a model directory"]),
        ("inspect absent.csv", vec!["absent.csv", "check its name"]),
        ("watch model --restore absent.json", vec!["absent.json", "check its name"]),
        ("infer growth.csv growth.csv", vec!["growth.csv"]),
        ("infer model model", vec!["model"]),
        ("report model absent.csv", vec!["absent.csv"]),
        ("generate model --sample 2 --steps 5 -o absent/deep/out.csv", vec!["absent"]),
    ] {
        let output = run(folder.path(), line);
        assert!(matches!(output.status.code(), Some(1 | 2)), "mtds {line}\n{}", stderr(&output));
        let said = stderr(&output);
        assert!(
            said.starts_with("error: ") && parts.iter().all(|part| said.contains(part)),
            "mtds {line}\n{said}"
        );
        assert!(!said.contains("panicked"), "{said}");
    }
}

/// Names in files may hold what a terminal obeys: colours, titles, erasing of the screen.
#[test]
fn escapes_in_names_do_not_reach_the_terminal() {
    let folder = growth_model();
    let text = fs::read_to_string(folder.path().join("growth.csv")).expect("there");
    let labelled = |line: &str| match line.strip_prefix("plant ") {
        Some(rest) => format!("\u{1b}[2J\u{7}plant {rest},\u{1b}]0;mine\u{7}"),
        None => format!("{line},label"),
    };
    let odd: Vec<String> = text.lines().map(labelled).collect();
    fs::write(folder.path().join("odd.csv"), odd.join("\n")).expect("written");
    let mut n_shown = 0;
    for line in [
        "inspect odd.csv",
        "evaluate model odd.csv --seen 10 --anomaly a.csv",
        "forecast model odd.csv",
        "generate model --like plant --steps 5",
        "transfer model odd.csv --content plant --style plant",
    ] {
        let output = run(folder.path(), line);
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output);
        assert!(!said.contains(['\u{1b}', '\u{7}']), "mtds {line}: {said:?}");
        n_shown += usize::from(said.contains("\\u{1b}"));
    }
    assert!(n_shown > 0, "nobody named a name: the test tested nothing");
}

/// Killed while it saves, a watch leaves a snapshot from before or after, and goes on from it.
#[test]
fn a_watch_killed_while_it_saves_goes_on() {
    let folder = growth_model();
    let lines: String = (0..400).map(|t| format!("{{\"y\": [{}]}}\n", 60.0 + f64::from(t % 40))).collect();
    fs::write(folder.path().join("lines.jsonl"), &lines).expect("written");
    let mut noise = Noise(9);
    let mut restored = 0;
    for _ in 0..6 {
        let _ = fs::remove_file(folder.path().join("stand.json"));
        let input = fs::File::open(folder.path().join("lines.jsonl")).expect("there");
        let line = "watch model --horizon 1 --history 5 --snapshot stand.json --snapshot-every 1 -q";
        let mut child =
            command(folder.path(), line).stdin(input).stdout(Stdio::null()).spawn().expect("starts");
        std::thread::sleep(Duration::from_millis(300 + (700.0 * noise.uniform()) as u64));
        let _ = child.kill();
        child.wait().expect("ended");
        if folder.path().join("stand.json").exists() {
            restored += 1;
            let mut again = command(folder.path(), "watch model --restore stand.json --horizon 1 -q");
            let input = fs::File::open(folder.path().join("lines.jsonl")).expect("there");
            let output =
                again.stdin(input).stdout(Stdio::null()).stderr(Stdio::piped()).output().expect("starts");
            assert!(output.status.success(), "{}", stderr(&output));
        }
    }
    assert!(restored > 0, "no snapshot was ever saved: the test tested nothing");
}
