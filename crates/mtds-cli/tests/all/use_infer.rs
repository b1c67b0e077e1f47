//! `mtds infer` and `mtds forecast`: the numbers of the library, in the right rows and at the right times.

use crate::learned::{close, csv, growth_model, number, oscillator_model};
use crate::program::{json, must, must_fail, run, stderr};
use mtds::parts::MapLaplace;
use mtds::random::{Stream, stream};
use mtds::{Online, Signal};
use mtds_data::ReadOptions;
use mtds_data::model::load_model;
use std::fs;

#[test]
fn posteriors_are_those_of_the_library() {
    let folder = growth_model();
    let rows = csv(&must(folder.path(), "infer model growth.csv --seen 12 -q --seed 3"));
    let bundle = load_model(&folder.path().join("model")).expect("a model");
    let online = bundle.online.clone();
    let read =
        mtds_data::read_family(&folder.path().join("growth.csv"), &ReadOptions::default()).expect("a family");
    assert_eq!(rows.len(), read.family.n_seq());
    for (i, row) in rows.iter().enumerate() {
        let sequence = read.family.sequence(i);
        assert_eq!((row["series"].as_str(), row["seen"].as_str()), (sequence.id(), "12"));
        let outputs = sequence.outputs().slice(0..12);
        let settings = Online { every: 10, ..online.clone() };
        let tracker = bundle
            .system
            .track(&outputs, None, settings, stream(3, Stream::Infer(i as u64)))
            .expect("tracked");
        let posterior = tracker.posterior().expect("a posterior");
        for d in 0..bundle.system.d_code() {
            close(number(row, &format!("z{}_mean", d + 1)), posterior.mean()[d], 1e-12);
            close(number(row, &format!("z{}_sd", d + 1)), posterior.std_dev()[d], 1e-12);
        }
        // Evidence is that of the data as they are, not as the model scales them.
        let observed = outputs.values().iter().filter(|y| !y.is_nan()).count() as f64;
        let expected =
            tracker.log_evidence().expect("evidence") - observed * bundle.system.scaling().log_det();
        close(number(row, "log_evidence"), expected, 1e-9);
        close(number(row, "ess"), posterior.diagnostics().ess, 1e-9);
        assert!(["converged", "low_effective_sample_size"].contains(&row["status"].as_str()), "{row:?}");
    }
}

/// Methods that share nothing but the target agree on the mean: within a tenth of a prior standard deviation and three
/// posterior ones' tenth, far above the noise of 1000 draws.
#[test]
fn the_methods_agree() {
    let folder = growth_model();
    let few = folder.path().join("few.csv");
    let text = fs::read_to_string(folder.path().join("growth.csv")).expect("written");
    // A plant whose posterior has one mode under this short fit: MAP, and chains that begin at its modes, may miss others.
    let lines = text.lines().filter(|line| !line.starts_with("plant") || line.starts_with("plant 2,"));
    fs::write(&few, lines.collect::<Vec<_>>().join("\n")).expect("written");
    let by = |method: &str| csv(&must(folder.path(), &format!("infer model few.csv -q --method {method}")));
    let (adais, map, nuts) = (by("adais"), by("map"), by("nuts"));
    for other in [&map[0], &nuts[0]] {
        let sd = number(&adais[0], "z1_sd");
        let apart = (number(&adais[0], "z1_mean") - number(other, "z1_mean")).abs();
        assert!(apart < 0.05 + 0.3 * sd, "{:?}\n{other:?}", adais[0]);
        assert!((number(other, "z1_sd") / sd - 1.0).abs() < 0.5, "{:?}\n{other:?}", adais[0]);
    }
    close(number(&map[0], "log_evidence"), number(&adais[0], "log_evidence"), 0.5);
    assert!(nuts[0]["log_evidence"].is_empty() && nuts[0]["pareto_k"].is_empty(), "{:?}", nuts[0]);
}

#[test]
fn draws_are_numbered_by_chain_and_draw_and_have_the_posterior_moments() {
    let folder = growth_model();
    let said =
        must(folder.path(), "infer model growth.csv -q -o s.csv --draws d.csv --n-draws 200 --method map");
    assert!(said.starts_with("s.csv: 16 sequences: "), "{said}");
    let summary = csv(&fs::read_to_string(folder.path().join("s.csv")).expect("written"));
    let draws = csv(&fs::read_to_string(folder.path().join("d.csv")).expect("written"));
    assert_eq!(draws.len(), 16 * 200);
    for (i, row) in summary.iter().enumerate() {
        let mine = &draws[i * 200..(i + 1) * 200];
        assert!(mine.iter().enumerate().all(|(n, draw)| draw["series"] == row["series"]
            && draw["chain"] == "0"
            && draw["draw"] == n.to_string()));
        let mean = mine.iter().map(|draw| number(draw, "z1")).sum::<f64>() / 200.0;
        // Systematic resampling of 200: far closer than five standard errors of independent draws.
        close(mean, number(row, "z1_mean"), 5.0 * number(row, "z1_sd") / 200f64.sqrt());
    }
    let text = "infer model growth.csv -q --draws n.jsonl.gz --n-draws 40 --method nuts --seen 10 --json";
    must(folder.path(), text);
    assert!(folder.path().join("n.jsonl.gz").exists());
}

#[test]
fn results_do_not_depend_on_threads_or_batches() {
    let folder = growth_model();
    let of = |options: &str| must(folder.path(), &format!("infer model growth.csv -q --seen 8 {options}"));
    assert_eq!(of("--threads 1"), of("--threads 2"));
    assert_ne!(of("--seed 1"), of("--seed 2"));
    let forecast = |options: &str| {
        must(folder.path(), &format!("forecast model growth.csv -q --seen 8 --horizon 2 {options}"))
    };
    assert_eq!(forecast("--threads 1"), forecast("--threads 2"));
}

#[test]
fn forecasts_are_those_of_the_library_at_the_times_of_the_file() {
    let folder = growth_model();
    let dated = |line: &str| -> String {
        let cells: Vec<_> = line.split(',').collect();
        let day: usize = cells[1].parse().expect("a time");
        format!("{},2024-{:02}-{:02},{}", cells[0], 2 + day / 28, 1 + day % 28, cells[2])
    };
    let text = fs::read_to_string(folder.path().join("growth.csv")).expect("written");
    // 28 days of February 2023 follow each other; later rows would meet the ends of months.
    let kept = text
        .lines()
        .skip(1)
        .filter(|line| line.split(',').nth(1).and_then(|t| t.parse::<usize>().ok()).is_some_and(|t| t < 28));
    let days: Vec<_> = kept.map(dated).map(|line| line.replace("2024", "2023")).collect();
    fs::write(folder.path().join("dated.csv"), format!("series,t,y\n{}\n", days.join("\n")))
        .expect("written");
    let line = "forecast model dated.csv -q --seen 20 --horizon 10 --quantiles 0.9,0.1 --method map --seed 5";
    let rows = csv(&must(folder.path(), line));
    assert_eq!(rows.len(), 16 * 10);
    let first: Vec<_> = rows[..10].iter().map(|row| row["t"].as_str()).collect();
    assert_eq!((first[0], first[7], first[8]), ("2023-02-21", "2023-02-28", "2023-03-01"));

    let bundle = load_model(&folder.path().join("model")).expect("a model");
    let online = bundle.online.clone();
    let read =
        mtds_data::read_family(&folder.path().join("dated.csv"), &ReadOptions::default()).expect("a family");
    let outputs: Signal = read.family.sequence(2).outputs().slice(0..20);
    let mut random = stream(5, Stream::Infer(2));
    let posterior = bundle
        .system
        .infer_modes(&outputs, None, online.noise, &MapLaplace::default(), &mut random)
        .expect("a posterior");
    let random = &mut stream(5, Stream::Forecast(2));
    let forecast = bundle.system.forecast(&posterior, &outputs, None, 10, random).expect("a forecast");
    let (mean, low) = (forecast.mean(), forecast.quantile(0.1).expect("a level"));
    for (h, row) in rows[20..30].iter().enumerate() {
        assert_eq!((row["series"].as_str(), row["output"].as_str()), ("plant 2", "y"));
        close(number(row, "mean"), mean[h], 1e-9);
        close(number(row, "q0.1"), low[h], 1e-9);
        assert!(number(row, "q0.1") < number(row, "q0.9") && number(row, "sd") > 0.0, "{row:?}");
    }
}

#[test]
fn inputs_of_the_future_come_from_the_rows_after_the_outputs() {
    let folder = oscillator_model();
    let text = fs::read_to_string(folder.path().join("family.csv")).expect("written");
    // The same sequences, their last 10 outputs not yet known.
    let blank = |line: &str| {
        let mut cells: Vec<_> = line.split(',').collect();
        if cells[1].parse::<usize>().is_ok_and(|t| t > 30) {
            cells[2] = "";
        }
        cells.join(",")
    };
    fs::write(folder.path().join("ahead.csv"), text.lines().map(blank).collect::<Vec<_>>().join("\n"))
        .expect("written");
    let ahead = must(folder.path(), "forecast model ahead.csv -q");
    assert_eq!(ahead, must(folder.path(), "forecast model family.csv -q --seen 30 --horizon 10"));
    assert_eq!(csv(&ahead).len(), 12 * 10);
    let said = must_fail(folder.path(), "forecast model ahead.csv -q --horizon 11", 1);
    for part in ["ahead.csv", "osc-000", "found 10", "--horizon 10"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // The hint was `--horizon 1`, which is what was asked for.
    let said = must_fail(folder.path(), "forecast model family.csv -q --horizon 1", 1);
    assert!(said.contains("found 0") && !said.contains("--horizon") && said.contains("--seen"), "{said}");
    let said = must_fail(folder.path(), "forecast model family.csv -q", 2);
    assert!(said.contains("--horizon") && said.contains("no outputs"), "{said}");
    let document = json(folder.path(), "forecast model family.csv -q --seen 38");
    assert_eq!(document["rows"].as_array().map(Vec::len), Some(12 * 2));
    assert_eq!(document["rows"][1]["t"], 40);
}

#[test]
fn wrong_usage_and_bad_data_are_told_apart() {
    let folder = growth_model();
    for (line, code, part) in [
        ("infer model growth.csv --method magic", 2, "magic"),
        ("infer model growth.csv --method amortised", 2, "amortised"),
        ("infer model growth.csv --seen 0", 2, "--seen"),
        ("infer model growth.csv --n-draws 5", 2, "--draws"),
        ("infer model growth.csv --draws d.npz", 2, "NPZ"),
        ("infer model growth.csv -o results", 2, "--out"),
        ("infer model growth.csv -o a.csv --draws a.csv", 2, "--draws"),
        ("infer model", 2, "DATA"),
        ("forecast model growth.csv --quantiles 0.5,1.5 --horizon 2", 2, "--quantiles"),
        ("forecast model growth.csv --quantiles half --horizon 2", 2, "half"),
        ("forecast model growth.csv --horizon 0", 2, "--horizon"),
        ("forecast model growth.csv", 2, "--horizon 40"),
        ("infer nowhere growth.csv", 1, "nowhere"),
        ("infer model none.csv", 1, "none.csv"),
        ("infer model other.csv", 1, "`y`"),
        ("infer model bad.csv", 1, "row 3"),
        ("infer model growth.csv --outputs t,y", 1, "t"),
        ("infer model growth.csv -o no/such/folder.csv", 2, "no/such"),
    ] {
        fs::write(folder.path().join("bad.csv"), "series,t,y\na,0,1\na,1,oops\n").expect("written");
        fs::write(folder.path().join("other.csv"), "series,t,height\na,0,1\na,1,2\n").expect("written");
        let said = must_fail(folder.path(), &format!("{line} -q"), code);
        assert!(said.contains(part), "{line}: {said}");
    }
    assert!(!folder.path().join("d.csv").exists() && !folder.path().join("a.csv").exists());
}

#[test]
fn a_closed_pipe_ends_quietly() {
    use std::process::Stdio;
    let folder = growth_model();
    let line = "forecast model growth.csv --seen 5 --horizon 400 --method map -q";
    let mut child = crate::program::command(folder.path(), line)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", crate::program::stderr(&output));
}

/// Version 0.1.0 did not write down how long the steps of a model are.
#[test]
fn a_model_that_does_not_know_its_steps_says_so() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    must(folder.path(), "data oscillators -o family.csv --sequences 2 --steps 10");
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/../mtds-data/tests/all/model-0.1.0");
    let said =
        "note: the model does not say how long its steps are; those of the data are taken to be the same\n";
    for (options, is_said) in [("", true), ("-v", true), ("-q", false)] {
        let output = run(folder.path(), &format!("infer {old} family.csv {options}"));
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(stderr(&output).contains(said), is_said, "{options}: {}", stderr(&output));
        assert_eq!(csv(&String::from_utf8(output.stdout).expect("text")).len(), 2);
    }
}

/// One sequence by chains that would go on for minutes: it is not waited for.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_chains_in_the_middle_of_a_sequence() {
    let folder = growth_model();
    let line = "infer model growth.csv --method nuts --draws draws.csv --n-draws 10000000 -q";
    let child = crate::program::command(folder.path(), line).stderr(std::process::Stdio::piped()).spawn();
    let child = child.expect("the program starts");
    std::thread::sleep(std::time::Duration::from_secs(1));
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("there is a kill").success());
    let began = std::time::Instant::now();
    let output = child.wait_with_output().expect("ended");
    assert!(began.elapsed().as_secs_f64() < 1.0, "{:?}", began.elapsed());
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("interrupted after 0 of") && said.contains("no file was written"), "{said}");
    assert!(!folder.path().join("draws.csv").exists());
}
