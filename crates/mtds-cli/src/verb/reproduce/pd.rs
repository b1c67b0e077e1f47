//! `mtds reproduce pd`: patients under doses of their own, learned by variational bounds, beside one system for all.
//!
//! ```text
//! DIR/pd.json    forecasts, recovery of true parameters, use of the code; settings, seed and version beside them
//! ```

use super::ScaleName;
use crate::options::Common;
use crate::output::{document_text, print, write_whole};
use crate::progress::{Progress, Stage};
use crate::usage::check_directory;
use anyhow::Result;
use clap::Args;
use mtds::Control;
use mtds_experiments::pd::{self, Scale, Settings};
use std::io::Write;
use std::path::PathBuf;

const RESULT: &str = "pd.json";

/// Examples in the help of `mtds reproduce pd`.
const EXAMPLES: &str = "Examples:
  mtds reproduce pd
      the experiment in small, in minutes: forecasts, recovery of true parameters, use of the code
  mtds reproduce pd --scale full -o patients
      the figures that the documentation quotes, by every way to learn
";

/// How much of the experiment, and where.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Pd {
    /// How much of the experiment is run
    #[arg(long, value_enum, default_value_t = ScaleName::Quick)]
    pub scale: ScaleName,

    /// Directory for the result [default: mtds-pd-SCALE]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// What all these verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

impl Pd {
    /// Learns by every way, forecasts, writes the result, prints the tables.
    ///
    /// # Errors
    /// A loss that is not finite; a file that cannot be written; a `stdout` that takes no more.
    pub fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        let scale: Scale = self.scale.into();
        let out = self.scale.directory(self.out.as_deref(), "pd");
        check_directory("--out", &out)?;
        let settings = Settings::new(scale, self.common.seed());
        let mut progress = Progress::new(self.common.display());
        let mut stage = (settings.repetitions, String::new(), 0);
        let found = pd::run(&settings, &mut |repetition, way, step| {
            if stage.0 != repetition || stage.1 != way || step.step < stage.2 {
                progress.begin(Stage::Learning, step.steps);
            }
            stage = (repetition, way.to_owned(), step.step);
            progress.advance(step.step, Some(step.best_validation.unwrap_or(step.bound)));
            Control::Continue
        })?;
        progress.end();
        let document = document_text(found.document(&settings))?;
        let left = out.join(RESULT);
        write_whole(&left, document.as_bytes())?;
        let text = || format!("{}\nleft in {}: the result\n", found.summary(), left.display());
        print(stdout, &if self.common.json { document } else { text() })
    }
}
