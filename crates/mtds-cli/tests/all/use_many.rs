//! `mtds infer` of many sequences: memory stays flat. Run with
//! `cargo test --release -p mtds-cli --test all use_many:: -- --ignored --nocapture`.

use std::path::Path;
use std::time::Instant;

/// Seconds, seconds of processor time, and most memory in MiB of a run.
struct Cost {
    secs: f64,
    processor_secs: f64,
    peak_mib: f64,
}

/// Runs the program and reads its costs from /proc while it runs.
fn cost(folder: &Path, line: &str) -> Cost {
    let started = Instant::now();
    let mut child = crate::program::command(folder, line).spawn().expect("the program starts");
    let (mut peak_mib, mut ticks) = (0.0, 0.0);
    while child.try_wait().expect("it runs").is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = peak.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
        peak_mib = kib.map_or(peak_mib, |kib| kib / 1024.0);
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        // After the name in brackets: user and system time are fields 12 and 13.
        let fields: Vec<_> = stat.rsplit(") ").next().unwrap_or("").split_whitespace().collect();
        let tick = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok());
        ticks = tick(11).zip(tick(12)).map_or(ticks, |(user, system)| user + system);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(child.wait().expect("it ended").success(), "mtds {line}");
    Cost { secs: started.elapsed().as_secs_f64(), processor_secs: ticks / 100.0, peak_mib }
}

/// Linux only: costs come from /proc. The file with 10 000 sequences takes some MiB itself, so memory may grow by that
/// and the table, not by what posteriors hold (about 100 KiB each: 1 GiB).
#[test]
#[ignore = "minutes; prints costs"]
fn ten_thousand_sequences_take_little_memory_and_all_cores() {
    let folder = crate::learned::oscillator_model();
    for (name, n) in [("few.csv", 200), ("many.csv", 10_000)] {
        crate::program::must(
            folder.path(),
            &format!("data oscillators -o {name} --sequences {n} --steps 40 --seed 9"),
        );
    }
    let run = |name: &str| {
        let line = format!("infer model {name} -q -o out.csv --draws draws.csv --n-draws 100");
        let found = cost(folder.path(), &line);
        let Cost { secs, processor_secs, peak_mib } = &found;
        println!("{name}: {secs:.1} s, {:.2} cores, peak {peak_mib:.0} MiB", processor_secs / secs);
        found
    };
    let (few, many) = (run("few.csv"), run("many.csv"));
    assert!(many.peak_mib < few.peak_mib + 100.0, "{} MiB, then {} MiB", few.peak_mib, many.peak_mib);
}
