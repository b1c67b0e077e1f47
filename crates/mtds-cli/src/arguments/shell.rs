//! `mtds completions` and `mtds man` as typed.

use clap::Args;
use clap_complete::Shell;
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

/// What was typed after `mtds completions`.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS)]
pub struct CompletionsArguments {
    /// The shell
    pub shell: Shell,
}

/// What was typed after `mtds man`.
#[derive(Debug, Args)]
#[command(after_help = MAN)]
pub struct ManArguments {
    /// Folder for the pages; made if it is missing
    #[arg(value_name = "DIR")]
    pub out: PathBuf,
}
