//! `mtds quickstart`: `data oscillators`, `fit` and `report`, one after the other, with nothing of its own.

use super::data;
use crate::command::{CommandLine, Verb};
use crate::interrupt::Interrupt;
use crate::options::Common;
use crate::usage::{check_directory, within};
use anyhow::{Context, Result, bail};
use clap::{Args, Parser};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds quickstart
      a table of scores, a page with pictures and a model, in mtds-quickstart
  mtds quickstart --sequences 32 --seed 2 -o few
      fewer training sequences, another family of oscillators
";

/// Fewer sequences leave nothing to hold out; more are not a quick start.
const SEQUENCES: RangeInclusive<usize> = 8..=100_000;
/// The same in words.
const EXPECTED: &str = "8 to 100000 training sequences";

/// How large, and where.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Directory for the report page, the scores and the model
    #[arg(short, long, value_name = "DIR", default_value = "mtds-quickstart")]
    pub out: PathBuf,

    /// Number of training sequences
    #[arg(long, value_name = "N", default_value_t = 128)]
    #[arg(value_parser = within(SEQUENCES, EXPECTED, "leave it out for the default of 128"))]
    pub sequences: usize,

    /// Factor on the steps of learning: below 1 for a quicker start, and a worse model
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    #[arg(value_parser = within(0.001..=1000.0, "a factor from 0.001 to 1000", "0.2"))]
    pub effort: f64,

    /// What all these verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

impl Arguments {
    /// Three commands, each said before it runs; their results go to `stdout`.
    ///
    /// # Errors
    /// Those of the three verbs.
    pub fn run(&self, interrupt: &Interrupt, stdout: &mut dyn Write) -> Result<()> {
        check_directory("--out", &self.out)?;
        std::fs::create_dir_all(&self.out).with_context(|| format!("cannot make {}", self.out.display()))?;
        let commands = self.commands();
        let mut results = vec![];
        for command in &commands {
            self.common.say(format_args!("\n$ {}", shown(command)));
            results.push(carry_out(command, interrupt)?);
        }
        let [data, fit, report] = &results[..] else { bail!("three commands have three results") };
        if !self.common.json {
            let next = format!(
                "\nnext: mtds generate {} --sample 3 --steps 80 --inputs {}\n",
                self.out.join("model").display(),
                self.out.join("oscillators.csv").display()
            );
            return crate::output::print(stdout, &(fit.clone() + report + &next));
        }
        let of = |text: &String| serde_json::from_str::<Value>(text).context("a verb prints JSON");
        let (data, fit, report) = (of(data)?, of(fit)?, of(report)?);
        let document = json!({
            "verb": "quickstart",
            "version": env!("CARGO_PKG_VERSION"),
            "seed": self.common.seed(),
            "commands": commands.iter().map(|command| shown(command)).collect::<Vec<_>>(),
            "rows": report["rows"],
            "data": data,
            "fit": fit,
            "report": report,
        });
        self.common.print(stdout, String::new, || document)
    }

    /// The three commands as somebody would type them.
    fn commands(&self) -> [Vec<OsString>; 3] {
        let (family, model) = (self.out.join("oscillators.csv"), self.out.join("model"));
        let page = self.out.join("report.html");
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let mut commands = [
            [words(&["mtds", "data", "oscillators", "--sequences"]), vec![self.sequences.to_string().into()]]
                .concat(),
            [words(&["mtds", "fit"]), vec![family.clone().into()], words(&["--force"]), self.effort_words()]
                .concat(),
            [words(&["mtds", "report"]), vec![model.clone().into(), family.clone().into()]].concat(),
        ];
        for (command, out) in commands.iter_mut().zip([family, model, page]) {
            command.extend([OsString::from("-o"), out.into()]);
            command.extend(["--seed".into(), self.common.seed().to_string().into()]);
            command.extend(["--threads".into(), self.common.threads().to_string().into()]);
            command.extend(self.common.json.then(|| "--json".into()));
            command.extend(self.common.quiet.then(|| "-q".into()));
            command.extend(self.common.verbose.then(|| "-v".into()));
        }
        commands
    }

    /// The effort, unless it is the usual one.
    fn effort_words(&self) -> Vec<OsString> {
        match self.effort == 1.0 {
            true => vec![],
            false => vec!["--effort".into(), self.effort.to_string().into()],
        }
    }
}

fn shown(command: &[OsString]) -> String {
    command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// What the verb prints.
fn carry_out(command: &[OsString], interrupt: &Interrupt) -> Result<String> {
    let mut printed = vec![];
    match CommandLine::try_parse_from(command).context("a command of the quickstart")?.verb {
        Verb::Data(data::Arguments::Oscillators(asked)) => asked.run(&mut printed)?,
        Verb::Fit(asked) => asked.run(interrupt, &mut printed)?,
        Verb::Report(asked) => asked.run(&mut printed)?,
        other => bail!("{other:?} is no part of the quickstart"),
    }
    String::from_utf8(printed).context("verbs print text")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::typed;

    fn asked(words: &[&str]) -> Result<Arguments, String> {
        match typed(&[&["quickstart"], words].concat())? {
            Verb::Quickstart(asked) => Ok(asked),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn defaults_are_filled_in() {
        let found = asked(&[]).expect("no arguments are fine");
        assert_eq!((found.out.to_str(), found.sequences), (Some("mtds-quickstart"), 128));
    }

    #[test]
    fn too_few_sequences_are_refused() {
        let error = asked(&["--sequences", "1"]).expect_err("nothing to hold out");
        assert!(error.contains("expected 8 to 100000"), "{error}");
        assert_eq!((*SEQUENCES.start(), *SEQUENCES.end()), (8, 100_000), "as in words");
    }
}
