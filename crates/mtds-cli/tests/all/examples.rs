//! The examples in the help of every verb: there are two, they parse, and they run.

use crate::program::{must, run, stderr};
use clap::Command;
use mtds_cli::command::{CommandLine, command as definition};
use std::fs;
use std::path::Path;

/// Verbs whose examples take minutes or hours: they are parsed, not run.
const LONG: [&str; 2] = ["mtds quickstart", "mtds reproduce"];

/// A learned model, for verbs that need one: short, but of the usual kind.
const MODEL: &str =
    "fit family.csv -o model --hidden 16 --start-steps 200 --refine-steps 200 --particles 512 -q";

/// A model of walks: as short.
const WALKERS: &str = "fit walks.csv -o walkers --refine-steps 100 --front 16 --state 8 --code 3 --remainder never --validation 0 -q";

/// Every verb without verbs below it, with its whole name.
fn verbs(command: &Command) -> Vec<Command> {
    let below: Vec<_> = command.get_subcommands().filter(|verb| verb.get_name() != "help").collect();
    match below.is_empty() {
        true => vec![command.clone()],
        false => below.into_iter().flat_map(verbs).collect(),
    }
}

/// The lines of the examples: those that begin with two spaces and the program's name.
fn examples(verb: &Command) -> Vec<String> {
    let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
    help.lines().filter_map(|line| line.strip_prefix("  mtds ")).map(str::to_owned).collect()
}

fn all() -> Vec<(String, Vec<String>)> {
    let mut whole = definition();
    whole.build();
    let named = |verb: &Command| (verb.get_bin_name().unwrap_or_default().to_owned(), examples(verb));
    verbs(&whole).iter().map(named).collect()
}

#[test]
fn every_verb_has_two_examples_of_itself_that_parse() {
    use clap::Parser;
    for (verb, examples) in all() {
        assert_eq!(examples.len(), 2, "{verb}");
        for example in examples {
            let line = format!("mtds {example}");
            assert!(line.starts_with(&verb), "`{line}` is no example of `{verb}`");
            CommandLine::try_parse_from(line.split_whitespace())
                .unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }
}

#[test]
fn the_examples_run() {
    let prepared = tempfile::tempdir().expect("a temporary directory");
    must(prepared.path(), "data oscillators -o family.csv --sequences 32");
    must(prepared.path(), MODEL);
    must(prepared.path(), "data gait -o walks --walks 2 --frames 120");
    must(prepared.path(), "mocap prepare walks -o walks.csv -q");
    must(prepared.path(), WALKERS);
    for (verb, examples) in all() {
        if LONG.iter().any(|long| verb.starts_with(long)) {
            continue;
        }
        // The second example of a verb may go on from the first.
        let folder = tempfile::tempdir().expect("a temporary directory");
        copy(prepared.path(), folder.path());
        for example in examples {
            let output = run(folder.path(), &example);
            assert!(output.status.success(), "mtds {example}\n{}", stderr(&output));
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("a folder").map(|entry| entry.expect("listed")) {
        let target = to.join(entry.file_name());
        match entry.file_type().expect("known").is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).expect("copied")),
        }
    }
}
