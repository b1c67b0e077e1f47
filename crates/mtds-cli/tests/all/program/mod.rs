//! Runs the program as a person would, in a folder of its own.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The program, to be run in `folder`; its words are split at spaces.
pub fn command(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mtds"));
    command.current_dir(folder).args(line.split_whitespace()).stdin(Stdio::null());
    command
}

/// What the program says and how it exits.
pub fn run(folder: &Path, line: &str) -> Output {
    command(folder, line).output().expect("the program starts")
}

/// Stdout of a run that must go well.
#[track_caller]
pub fn must(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    assert!(output.status.success(), "mtds {line}\n{}", stderr(&output));
    String::from_utf8(output.stdout).expect("text")
}

/// Stderr of a run that must fail with this code.
#[track_caller]
pub fn must_fail(folder: &Path, line: &str, code: i32) -> String {
    let output = run(folder, line);
    assert_eq!(output.status.code(), Some(code), "mtds {line}\n{}", stderr(&output));
    assert!(output.stdout.is_empty(), "nothing but the result goes to stdout");
    stderr(&output)
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The one JSON document that a run prints.
#[track_caller]
pub fn json(folder: &Path, line: &str) -> serde_json::Value {
    serde_json::from_str(&must(folder, &format!("{line} --json"))).expect("one JSON document")
}

/// What the program says to `input`.
pub fn told(folder: &Path, line: &str, input: &[u8]) -> Output {
    let mut child = command(folder, line)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let (mut stdin, input) = (child.stdin.take().expect("piped"), input.to_vec());
    // A thread of its own: the program answers while it is fed, and may end before all is read.
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the program ends");
    feeder.join().expect("fed");
    output
}
