//! How long `mtds watch` takes per observation at k = 4, and that its memory does not grow. Run by
//! `cargo test --release -p mtds-cli --test all watch_latency:: -- --ignored --nocapture`.

use crate::noise::Noise;
use crate::program::{command, must};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Instant;

/// Observations, unless `MTDS_WATCH_OBSERVATIONS` says another number.
const OBSERVATIONS: usize = 100_000;
/// Observations after which memory is what it will be: the history is full, buffers have their sizes.
const SETTLED: usize = 500;
/// Most growth after that, in KiB. A kilobyte kept per observation would be 100 MB.
const MOST_GROWTH: u64 = 8 << 10;

/// Memory of a process in KiB.
fn resident(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[test]
#[ignore = "takes many minutes"]
fn latency_is_printed_and_memory_stays() {
    let asked = std::env::var("MTDS_WATCH_OBSERVATIONS").ok().and_then(|text| text.parse().ok());
    let n: usize = asked.unwrap_or(OBSERVATIONS);
    assert!(n > 2 * SETTLED, "too few to see anything");
    let folder = tempfile::tempdir().expect("a temporary directory");
    must(folder.path(), "data oscillators -o family.csv --sequences 64");
    must(folder.path(), "fit family.csv -o model --code 4 --effort 0.1 -q");
    let mut child = command(folder.path(), "watch model --future zero -q")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("piped");
    let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
    let (mut noise, mut millis, mut settled) = (Noise(7), Vec::with_capacity(n), None);
    for t in 0..n {
        // Decays, and is pushed again: a sequence that never ends.
        let (u, phase) = (f64::from(u8::from(t % 80 == 0)), (t % 80) as f64);
        let y = 0.4 * (-0.03 * phase).exp() * (0.5 * phase).sin() + 0.05 * noise.normal();
        let begin = Instant::now();
        writeln!(stdin, "{{\"y\": {y}, \"u\": {u}}}").expect("taken");
        let mut answer = String::new();
        stdout.read_line(&mut answer).expect("answered");
        millis.push(begin.elapsed().as_secs_f64() * 1e3);
        assert!(answer.contains("\"forecast\""), "{answer}");
        if t == SETTLED {
            settled = resident(child.id());
        }
    }
    let last = resident(child.id());
    drop(stdin);
    assert!(child.wait().expect("ended").success());
    millis.sort_by(f64::total_cmp);
    println!("{n} observations: median {:.2} ms, 99% {:.2} ms", millis[n / 2], millis[n * 99 / 100]);
    if let (Some(settled), Some(last)) = (settled, last) {
        println!("memory after {SETTLED}: {settled} KiB, at the end: {last} KiB");
        assert!(last < settled + MOST_GROWTH, "memory grows");
    }
}
