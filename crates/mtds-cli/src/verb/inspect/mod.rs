//! `mtds inspect`: what a model is and where its members lie; what a family is and what is odd about its file.

mod family;
mod model;

use super::model::is_starter;
use crate::options::{Common, Source};
use crate::usage::{Refusal, UsageError, file, table_format};
use anyhow::Result;
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Examples in the help.
const EXAMPLES: &str = "Of a model it says what it is, what it was learned from, how much of each output the code explains, and
where the members lie: with -o as a table of codes, or as a map where FILE ends in .html. Of a family it says how many sequences
there are, how long, what is missing, and what is odd about the file.

Examples:
  mtds inspect model -o map.html
      what the model is, and the map of its codes as a page
  mtds inspect family.csv
      what is in the file
";

const SUBJECT: &str = "The directory of a model, or `starter` for the one of walks that comes with the program; or a family: CSV, Parquet, JSON lines or NPZ, also gzipped, `-` for stdin, with --format";

/// What is looked at, and where codes go.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("data", |data| data.help(SUBJECT)))]
pub struct Arguments {
    /// The family, or the directory of a model.
    #[command(flatten)]
    pub source: Source,

    /// File for the codes of a model: a table by its ending, or a map if that is .html
    #[arg(short, long, value_name = "FILE", value_parser = file(codes_file))]
    pub out: Option<PathBuf>,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

fn codes_file(path: &Path) -> Result<(), Refusal> {
    match is_page(path) {
        true => Ok(()),
        false => table_format(path, "a table cannot be written as NPZ", "codes.csv, or map.html"),
    }
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html"))
}

impl Arguments {
    /// Looks, writes what was asked for, prints what was found to `stdout`.
    ///
    /// # Errors
    /// A model or a family that cannot be read; a file that cannot be written.
    pub fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        if self.source.data.is_dir() || is_starter(&self.source.data) {
            return model::inspect(self, &self.source.data, stdout);
        }
        self.source.check()?;
        if let Some(out) = &self.out {
            let (family, out) = (self.source.data.display(), out.display());
            let problem = format!("`{family}` is no model, so there are no codes for `{out}`");
            let hint = "leave it out, or name the directory of a model";
            return Err(UsageError::new("--out", problem, hint).into());
        }
        family::inspect(self, stdout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Verb;
    use crate::usage::{refused, typed};

    #[test]
    fn a_family_has_no_codes() {
        let Ok(Verb::Inspect(asked)) = typed(&["inspect", "family.csv", "-o", "codes.csv"]) else {
            panic!("can be typed")
        };
        let error = asked.run(&mut vec![]).expect_err("no codes");
        assert!(error.to_string().starts_with("--out: `family.csv` is no model"), "{error}");
    }

    #[test]
    fn codes_go_to_a_page_or_a_table() {
        for name in ["m.HTML", "m.csv"] {
            typed(&["inspect", ".", "-o", name]).expect(name);
        }
        assert!(is_page(Path::new("m.HTML")) && !is_page(Path::new("m.csv")));
        refused(&["inspect", "."], &[["--out", "m.npz"], ["--out", "m.docx"]]);
    }
}
