//! `mtds watch` as a person runs it: one answer per line, bad lines survived, stopped and restored to the same bits.

#[allow(dead_code)] // uniform numbers only
use crate::noise::Noise;
use crate::program::{command, must, must_fail, stderr, told};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::OnceLock;

/// A small model of oscillators, learned once.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let made = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary directory");
        must(folder.path(), "data oscillators -o family.csv --sequences 24 --steps 40");
        must(
            folder.path(),
            "fit family.csv -o model --hidden 8 --code 2 --start-steps 100 --refine-steps 60 --particles 256 -q",
        );
        folder
    });
    made.path()
}

fn output(line: &str, input: &[u8]) -> Output {
    told(folder(), line, input)
}

#[track_caller]
fn watch(line: &str, input: &[u8]) -> Vec<Value> {
    let output = output(line, input);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("every answer is JSON")).collect()
}

/// A step of a sequence that swings at its own pace.
fn step(series: &str, t: u32, pace: f64) -> String {
    let (y, u) = (0.4 * (pace * f64::from(t)).sin(), f64::from(u8::from(t == 0)));
    format!("{}\n", json!({ "series": series, "t": t, "y": y, "u": [u], "future": [[0.0], [0.0]] }))
}

/// Two sequences, their lines in turn.
fn two(steps: std::ops::Range<u32>) -> String {
    steps.map(|t| step("a", t, 0.5) + &step("b", t, 0.9)).collect()
}

#[test]
fn every_line_is_answered_with_posterior_and_forecast() {
    let answers = watch("watch model --horizon 2 --quantiles 0.1,0.9 -q", two(0..12).as_bytes());
    assert_eq!(answers.len(), 24);
    for (i, answer) in answers.iter().enumerate() {
        assert_eq!(answer["line"], json!(i + 1));
        assert_eq!(answer["series"], json!(["a", "b"][i % 2]));
        assert_eq!((&answer["n"], &answer["t"]), (&json!(i / 2 + 1), &json!(i / 2)));
        assert_eq!(answer["z"]["mean"].as_array().expect("codes").len(), 2);
        assert!(answer["z"]["sd"][0].as_f64().expect("a number") > 0.0);
        assert!(answer["log_evidence"].is_number() && answer["ess"].as_f64().expect("a number") > 1.0);
        assert!(answer["status"].is_string());
        let forecast = &answer["forecast"];
        assert_eq!(
            (forecast["mean"].as_array().expect("rows").len(), &forecast["inputs"]),
            (2, &json!("given"))
        );
        let at = |level: &str| forecast["quantiles"][level][1][0].as_f64().expect("a number");
        assert!(at("0.1") < at("0.9"));
    }
    let sd = |answer: &Value| answer["z"]["sd"][0].as_f64().expect("a number");
    assert!(sd(&answers[22]) < sd(&answers[0]), "more lines, more certainty");
}

#[test]
fn a_sequence_is_answered_the_same_whatever_other_lines_come() {
    let alone: String = (0..8).map(|t| step("b", t, 0.9)).collect();
    let alone = watch("watch model --horizon 2 -q", alone.as_bytes());
    let together = watch("watch model --horizon 2 -q --threads 1", (two(0..8) + "rubbish\n").as_bytes());
    let ours = together.iter().filter(|answer| answer["series"] == json!("b"));
    for (one, other) in alone.iter().zip(ours) {
        let mut other = other.clone();
        other["line"] = one["line"].clone();
        assert_eq!(*one, other);
    }
}

#[test]
fn bad_lines_are_answered_by_number_and_change_nothing() {
    let good: Vec<String> = (0..5).map(|t| step("a", t, 0.5)).collect();
    let plain = watch("watch model --horizon 2 -q", good.concat().as_bytes());
    let long = format!("{{\"y\": \"{}\"}}\n", "x".repeat(2 << 20));
    let bad = [
        "\n",
        "{\n",
        "{\"series\": \"a\", \"y\": [1, 2], \"u\": [0]}\n",
        "{\"series\": \"a\", \"y\": 1}\n",
        "{\"series\": \"a\", \"y\": 1e300, \"u\": [0]}\n",
        "{\"series\": \"new\", \"y\": 1e300, \"u\": [0]}\n",
        "{\"series\": \"new\", \"end\": true}\n",
        "{\"series\": \"a\", \"y\": 0.1, \"u\": [0], \"t\": -1}\n",
        long.as_str(),
    ];
    let mixed: String = good.iter().map(|line| format!("{line}{}", bad.concat())).collect();
    let answers = watch("watch model --horizon 2 -q", mixed.as_bytes());
    assert_eq!(answers.len(), good.len() * (bad.len() + 1));
    for (i, answer) in answers.iter().enumerate() {
        assert_eq!(answer["line"], json!(i + 1));
        if i % (bad.len() + 1) == 0 {
            let mut expected = plain[i / (bad.len() + 1)].clone();
            expected["line"] = json!(i + 1);
            assert_eq!(*answer, expected, "bad lines leave no trace");
        } else {
            assert!(answer["error"].is_string(), "{answer}");
        }
    }
}

/// Thousands of damaged lines: each is answered, none ends the stream.
#[test]
fn mutated_lines_never_end_the_stream() {
    let mut noise = Noise(5);
    let mut pick = |n: usize| ((noise.uniform() * n as f64) as usize).min(n - 1);
    let original = step("a", 1, 0.5);
    let mut input = Vec::new();
    const LINES: usize = 4000;
    for _ in 0..LINES {
        let mut line = original.trim_end().as_bytes().to_vec();
        for _ in 0..=pick(4) {
            if line.is_empty() {
                break;
            }
            let at = pick(line.len());
            match pick(4) {
                0 => line[at] = pick(256) as u8,
                1 => drop(line.remove(at)),
                2 => line.insert(at, b"{}[]\",:0-e.nu"[pick(13)]),
                _ => line.truncate(at.max(1)),
            }
        }
        line.retain(|&byte| byte != b'\n');
        input.extend(line);
        input.push(b'\n');
    }
    input.extend(step("last", 0, 0.5).as_bytes());
    let answers = watch("watch model --horizon 0 --most-series 3 -q", &input);
    assert_eq!(answers.len(), LINES + 1);
    let errors = answers.iter().filter(|answer| answer["error"].is_string()).count();
    assert!(errors > LINES / 2, "{errors} errors: the test tested little");
    assert_eq!(answers[LINES]["line"], json!(LINES + 1));
}

#[test]
fn stopped_and_restored_the_bits_are_the_same() {
    let whole = watch("watch model --horizon 2 --history 8 --drift 0.05 -q", two(0..30).as_bytes());
    let mut parts =
        watch("watch model --horizon 2 --history 8 --drift 0.05 --snapshot s.json -q", two(0..17).as_bytes());
    let go_on = "watch model --horizon 2 --restore s.json --snapshot s.json -q";
    parts.extend(watch(go_on, two(17..18).as_bytes()));
    parts.extend(watch(go_on, two(18..30).as_bytes()));
    assert_eq!(whole, parts);
    let refused = must_fail(folder(), "watch model --snapshot s.json", 2);
    assert!(refused.contains("--restore"), "{refused}");
    let refused = must_fail(folder(), "watch model --restore s.json --history 20", 2);
    assert!(refused.contains("--history"), "{refused}");
    let refused = must_fail(folder(), "watch model --restore s.json --drift 0.2", 2);
    assert!(refused.contains("--drift") && refused.contains("0.05"), "{refused}");
    let refused = must_fail(folder(), "watch model --restore s.json --seed 9", 2);
    assert!(refused.contains("--seed"), "{refused}");
}

/// Each series cost 125 kB, nearly all of it draws that the next line replaces.
#[test]
fn a_snapshot_is_small() {
    watch("watch model --snapshot small.json -q", two(0..70).as_bytes());
    let size = fs::metadata(folder().join("small.json")).expect("written").len();
    assert!(size < 2 * 16_000, "{size} bytes for two series");
}

#[test]
fn a_snapshot_that_does_not_fit_is_refused() {
    let text = {
        watch("watch model --snapshot good.json -q", two(0..3).as_bytes());
        fs::read_to_string(folder().join("good.json")).expect("written")
    };
    let cut = text[..text.len() / 2].to_owned();
    let other = text.replacen("\"model\":\"", "\"model\":\"0", 1);
    let version = text.replacen("mtds watch 4", "mtds watch 9", 1).replacen("\"lines\"", "\"rows\"", 1);
    let counts = text.replacen("\"n_values\":[3]", "\"n_values\":[3,3]", 1);
    for (bad, part) in
        [(cut, "not a snapshot"), (other, "another model"), (version, "watch 9"), (counts, "outputs")]
    {
        assert_ne!(bad, text);
        fs::write(folder().join("bad.json"), bad).expect("written");
        let said = must_fail(folder(), "watch model --restore bad.json", 1);
        assert!(said.contains(part), "{part}: {said}");
    }
    must_fail(folder(), "watch no-model", 1);
    must_fail(folder(), "watch model --restore no-such.json", 1);
}

#[test]
fn sequences_are_bounded_and_can_end() {
    let input =
        step("a", 0, 0.5) + &step("b", 0, 0.5) + "{\"series\": \"a\", \"end\": true}\n" + &step("b", 1, 0.5);
    let answers = watch("watch model --most-series 1 -q --future zero", input.as_bytes());
    assert!(answers[1]["error"].as_str().expect("refused").contains("--most-series"));
    assert_eq!((&answers[2]["ended"], &answers[2]["n"]), (&json!(true), &json!(1)));
    assert!(answers[3]["z"].is_object(), "there is room again");
}

/// Answers come before the next line, and Ctrl-C while none comes saves a snapshot.
#[cfg(unix)]
#[test]
fn answers_are_flushed_and_ctrl_c_saves() {
    let mut child = command(folder(), "watch model --horizon 2 --snapshot c.json -q")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("piped");
    let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
    let mut text = String::new();
    for t in 0..3 {
        stdin.write_all(step("a", t, 0.5).as_bytes()).expect("taken");
        stdout.read_line(&mut text).expect("answered before more is sent");
    }
    assert_eq!(text.lines().count(), 3);
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("there is a kill").success());
    assert!(child.wait().expect("ended").success());
    let later = watch("watch model --horizon 2 --restore c.json -q", step("a", 3, 0.5).as_bytes());
    assert_eq!((&later[0]["line"], &later[0]["n"]), (&json!(4), &json!(4)));
}
