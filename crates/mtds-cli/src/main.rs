//! The `mtds` program: parses what was typed, makes a plan, hands it to the verb; exits with 0 when all went
//! well, 1 when the work failed, 2 when the arguments were wrong.

use clap::Parser;
use mtds_cli::arguments::{Arguments, ReproduceArguments, Verb};
use mtds_cli::plan::{DhoPlan, QuickstartPlan, UsageError};
use mtds_cli::verb;
use std::process::ExitCode;

fn main() -> ExitCode {
    // clap itself answers --help and --version, and exits with 2 when it cannot parse.
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(if error.is::<UsageError>() { 2 } else { 1 })
        }
    }
}

fn run(arguments: Arguments) -> anyhow::Result<()> {
    match arguments.verb {
        Verb::Quickstart(typed) => {
            let plan = QuickstartPlan::new(&typed)?;
            // Inside the pool, so that a training step does not begin with waking all of its threads.
            let pool = rayon::ThreadPoolBuilder::new().num_threads(plan.common.threads.get()).build()?;
            pool.install(|| verb::quickstart::run(&plan, &mut std::io::stdout(), verb::quickstart::compute))
        }
        // Cells have thread pools of their own.
        Verb::Reproduce(ReproduceArguments::Dho(typed)) => {
            verb::reproduce::run(&DhoPlan::new(&typed)?, &mut std::io::stdout(), &mut std::io::stderr())
        }
    }
}
