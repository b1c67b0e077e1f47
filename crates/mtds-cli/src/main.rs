//! The `mtds` program: reads what was typed and lets the verb do it; exits with 0 when all went well, 1 when the work
//! failed, 2 when the arguments were wrong.

use anyhow::Result;
use mtds_cli::advice;
use mtds_cli::command::{CommandLine, Verb};
use mtds_cli::interrupt::Interrupt;
use mtds_cli::usage::UsageError;
use mtds_cli::verb::{mocap, reproduce};
use mtds_data::shown;
use std::io::{BufReader, stderr, stdin, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(CommandLine::read().verb) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", said(&error));
            if let Some(option) = advice::option_for(&error) {
                eprintln!("  try: {option}");
            }
            ExitCode::from(if error.is::<UsageError>() { 2 } else { 1 })
        }
    }
}

/// The error with its causes; what a message already says is not said again.
fn said(error: &anyhow::Error) -> String {
    error.chain().map(|cause| shown(&cause.to_string())).fold(String::new(), |text, cause| {
        match text.as_str() {
            "" => cause,
            text if text.contains(&cause) => text.to_owned(),
            text => format!("{text}: {cause}"),
        }
    })
}

fn run(verb: Verb) -> Result<()> {
    let interrupt = Interrupt::listen;
    match verb {
        Verb::Quickstart(asked) => {
            in_pool(asked.common.threads(), || asked.run(&interrupt()?, &mut stdout()))
        }
        Verb::Fit(asked) => in_pool(asked.common.threads(), || asked.run(&interrupt()?, &mut stdout())),
        Verb::Infer(asked) => in_pool(asked.common.threads(), || asked.run(&interrupt()?, &mut stdout())),
        Verb::Forecast(asked) => in_pool(asked.common.threads(), || asked.run(&interrupt()?, &mut stdout())),
        Verb::Generate(asked) => in_pool(asked.common.threads(), || asked.run(&mut stdout())),
        Verb::Morph(asked) => in_pool(asked.common.threads(), || asked.run(&mut stdout())),
        Verb::Transfer(asked) => in_pool(asked.common.threads(), || asked.run(&mut stdout())),
        Verb::Watch(asked) => in_pool(asked.common.threads(), || {
            asked.run(&interrupt()?, BufReader::new(stdin()), &mut stdout())
        }),
        Verb::Evaluate(asked) => in_pool(asked.common.threads(), || asked.run(&mut stdout())),
        Verb::Inspect(asked) => asked.run(&mut stdout()),
        Verb::Report(asked) => in_pool(asked.common.threads(), || asked.run(&mut stdout())),
        Verb::Data(asked) => asked.run(&mut stdout()),
        Verb::Mocap(mocap::Arguments::Prepare(asked)) => {
            in_pool(asked.common.threads(), || asked.run(&mut stdout()))
        }
        Verb::Mocap(mocap::Arguments::Check(asked)) => {
            in_pool(asked.common.threads(), || asked.run(&mut stdout()))
        }
        Verb::Mocap(mocap::Arguments::Export(asked)) => asked.run(&mut stdout()),
        Verb::Mocap(mocap::Arguments::Restyle(asked)) => {
            in_pool(asked.common.threads(), || asked.run(&mut stdout()))
        }
        // Cells have thread pools of their own.
        Verb::Reproduce(reproduce::Arguments::Dho(asked)) => asked.run(&mut stdout(), &mut stderr()),
        Verb::Reproduce(reproduce::Arguments::Mocap(asked)) => asked.run(&mut stdout(), &mut stderr()),
        Verb::Reproduce(reproduce::Arguments::Pd(asked)) => {
            in_pool(asked.common.threads(), || asked.run(&mut stdout()))
        }
        Verb::Devices(asked) => asked.run(&mut stdout()),
        Verb::Completions(asked) => asked.run(&mut stdout()),
        Verb::Man(asked) => asked.run(&mut stdout()),
    }
}

/// Inside the pool, so that a training step does not begin with waking all of its threads.
fn in_pool(threads: usize, work: impl FnOnce() -> Result<()> + Send) -> Result<()> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build()?.install(work)
}
