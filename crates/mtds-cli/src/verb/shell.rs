//! `mtds completions` and `mtds man`: from the same definitions as the help.

use crate::arguments::{CompletionsArguments, ManArguments, command};
use crate::output::{print, write_whole};
use anyhow::{Context, Result};
use clap::Command;
use std::io::Write;

/// Prints completions for a shell.
///
/// # Errors
/// A `stdout` that takes no more.
pub fn completions(typed: &CompletionsArguments, stdout: &mut dyn Write) -> Result<()> {
    let mut text = vec![];
    clap_complete::generate(typed.shell, &mut command(), "mtds", &mut text);
    print(stdout, &String::from_utf8_lossy(&text))
}

/// Writes a manual page for the program and for every verb.
///
/// # Errors
/// A folder that cannot be written.
pub fn man(typed: &ManArguments, stdout: &mut dyn Write) -> Result<()> {
    let mut written = String::new();
    let mut whole = command();
    whole.build();
    for command in pages(&whole) {
        let manual = clap_mangen::Man::new(command);
        let mut page = vec![];
        manual.render(&mut page).context("cannot write a manual page")?;
        let path = typed.out.join(manual.get_filename());
        write_whole(&path, &page)?;
        written.push_str(&format!("{}\n", path.display()));
    }
    print(stdout, &written)
}

/// The command and all below it; built, so that each knows its whole name.
fn pages(command: &Command) -> Vec<Command> {
    let below = command.get_subcommands().filter(|verb| verb.get_name() != "help");
    std::iter::once(command.clone()).chain(below.flat_map(pages)).collect()
}
