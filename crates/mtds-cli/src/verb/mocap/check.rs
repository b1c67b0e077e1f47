//! `mtds mocap check`: reads all BVH files below a folder and leaves a page with findings and pictures.

use super::take::{check_folder, read_all, rules, say_failures};
use crate::options::Common;
use crate::output::write_whole;
use crate::usage::UsageError;
use anyhow::Result;
use clap::Args;
use mtds_mocap::clip::{ClipSettings, Findings};
use mtds_mocap::export::Loss;
use mtds_report::motion::{findings_table, lost, page};
use rayon::prelude::*;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds mocap check walks -o walks.html
      what is in the files below `walks`, what was odd, and what the motions look like
  mtds mocap check walks/old -o old.html --json
      one style alone, findings as JSON too
";

/// What is looked at.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Check {
    /// Folder with BVH files
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Page to write
    #[arg(short, long, value_name = "PAGE")]
    pub out: PathBuf,

    /// Rules of your own for skeletons that are not known, as JSON
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

impl Check {
    /// Checks a folder.
    ///
    /// # Errors
    /// A folder without usable files, a page that cannot be written.
    pub fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        if self.out.is_dir() {
            let problem = format!("expected a file, but `{}` is a directory", self.out.display());
            return Err(UsageError::new("--out", problem, "check.html").into());
        }
        check_folder(&self.folder)?;
        let settings = ClipSettings { rules: rules(self.rules.as_ref())?, ..ClipSettings::default() };
        let takes = read_all(&self.folder, None, &settings)?;
        let findings = Findings::of(&takes);
        say_failures(&takes, &self.common);
        let losses = takes.takes.par_iter().map(|take| Ok(Loss::of(&take.clip)?));
        let losses = losses.collect::<Result<Vec<_>>>()?;
        let worst = Loss::worst(&losses);
        let page = page(&self.folder.display().to_string(), &takes, &findings, &losses)?;
        write_whole(&self.out, page.render().as_bytes())?;
        let text = || format!("{}\n{}\n{}\n", findings_table(&findings), lost(&worst), self.out.display());
        let document = || {
            json!({
                "verb": "mocap check",
                "version": env!("CARGO_PKG_VERSION"),
                "page": self.out,
                "n_clips": takes.takes.len(),
                "n_unusable": takes.failures.len(),
                "worst_loss": worst,
                "findings": findings,
            })
        };
        self.common.print(stdout, text, document)
    }
}
