//! `mtds completions` and `mtds man`: from the same definitions as the help.

use crate::command::whole;
use crate::output::{print, write_whole};
use anyhow::{Context, Result};
use clap::{Args, Command};
use clap_complete::Shell;
use std::io::Write;
use std::path::PathBuf;

/// Examples in the help of `mtds completions`.
const COMPLETIONS: &str = "Examples:
  mtds completions bash
      what bash needs to complete verbs and options
  mtds completions zsh
      the same for zsh; save it as _mtds in a folder of $fpath
";

/// Examples in the help of `mtds man`.
const MAN: &str = "Examples:
  mtds man pages
      mtds.1, mtds-fit.1 and so on in the folder pages; then: man -l pages/mtds-fit.1
  mtds man .
      the same in the folder you are in
";

/// Which completions.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS)]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}

/// Where manual pages go.
#[derive(Debug, Args)]
#[command(after_help = MAN)]
pub struct Man {
    /// Folder for the pages; made if it is missing
    #[arg(value_name = "DIR")]
    pub out: PathBuf,
}

impl Completions {
    /// Prints completions for a shell.
    ///
    /// # Errors
    /// A `stdout` that takes no more.
    pub fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        let mut text = vec![];
        clap_complete::generate(self.shell, &mut whole(), "mtds", &mut text);
        print(stdout, &String::from_utf8_lossy(&text))
    }
}

impl Man {
    /// Writes a manual page for the program and for every verb.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        let mut written = String::new();
        let mut whole = whole();
        whole.build();
        for command in pages(&whole) {
            let manual = clap_mangen::Man::new(command);
            let mut page = vec![];
            manual.render(&mut page).context("cannot write a manual page")?;
            let path = self.out.join(manual.get_filename());
            write_whole(&path, &page)?;
            written.push_str(&format!("{}\n", path.display()));
        }
        print(stdout, &written)
    }
}

/// The command and all below it; built, so that each knows its whole name.
fn pages(command: &Command) -> Vec<Command> {
    let below = command.get_subcommands().filter(|verb| verb.get_name() != "help");
    std::iter::once(command.clone()).chain(below.flat_map(pages)).collect()
}
