//! The page `docs/motion.md`: its commands run in order, one after the other, as somebody would type them.

mod program;

use clap::Parser;
use mtds_cli::arguments::Arguments;
use program::must;
use std::fs;

const PAGE: &str = include_str!("../../../docs/motion.md");

/// Blocks between fences: what follows the opening fence, and the text.
fn blocks() -> Vec<(&'static str, String)> {
    let mut blocks: Vec<(&str, String)> = Vec::new();
    let mut is_open = false;
    for line in PAGE.lines() {
        match line.strip_prefix("```") {
            Some(info) => {
                is_open = !is_open;
                if is_open {
                    blocks.push((info, String::new()));
                }
            }
            None if is_open => {
                let (_, text) = blocks.last_mut().expect("a fence opened it");
                *text += &format!("{line}\n");
            }
            None => {}
        }
    }
    assert!(!is_open, "every fence is closed");
    blocks
}

/// Commands of a block, comments left out.
fn commands(text: &str) -> Vec<&str> {
    text.lines()
        .map(|line| line.split(" # ").next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.strip_prefix("mtds ").unwrap_or_else(|| panic!("`{line}` is no command of mtds")))
        .collect()
}

/// `sh` is run, `sh long` takes too long and is parsed, `json NAME` is a file that commands need.
#[test]
fn the_commands_of_the_page_run() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut n_run = 0;
    for (info, text) in blocks() {
        match info.split_once(' ').unwrap_or((info, "")) {
            ("sh", "") => {
                for command in commands(&text) {
                    must(folder.path(), command);
                    n_run += 1;
                }
            }
            ("sh", "long") => {
                for command in commands(&text) {
                    let words = format!("mtds {command}");
                    Arguments::try_parse_from(words.split_whitespace())
                        .unwrap_or_else(|error| panic!("{words}: {error}"));
                }
            }
            ("json", name) if !name.is_empty() => fs::write(folder.path().join(name), text).expect("written"),
            _ => {}
        }
    }
    assert!(n_run >= 6, "{n_run} commands");
    for file in ["walks.html", "walks.train.csv", "old.bvh", "old.glb", "old.png", "old.apng", "again.csv"] {
        assert!(folder.path().join(file).is_file(), "{file}");
    }
}
