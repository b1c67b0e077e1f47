//! The `mtds` program: parses what was typed, makes a plan, hands it to the verb; exits with 0 when all went
//! well, 1 when the work failed, 2 when the arguments were wrong.

use anyhow::Result;
use mtds_cli::advice;
use mtds_cli::arguments::{Arguments, DataArguments, MocapArguments, ReproduceArguments, Verb};
use mtds_cli::interrupt::Interrupt;
use mtds_cli::plan::{
    CheckPlan, CommonPlan, ConvertPlan, DhoPlan, EvaluatePlan, ExportPlan, FitPlan, ForecastPlan, GaitPlan,
    GeneratePlan, InferPlan, InspectPlan, MorphPlan, OscillatorsPlan, PdPlan, PharmacodynamicsPlan,
    PreparePlan, QuickstartPlan, ReportPlan, TransferPlan, UsageError, WatchPlan,
};
use mtds_cli::verb;
use mtds_data::shown;
use std::io::{BufReader, stderr, stdin, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(Arguments::from_command_line()) {
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

fn run(arguments: Arguments) -> Result<()> {
    match arguments.verb {
        Verb::Quickstart(typed) => {
            let plan = QuickstartPlan::new(&typed)?;
            let interrupt = Interrupt::listen()?;
            in_pool(&plan.common, || verb::quickstart::run(&plan, &interrupt, &mut stdout()))
        }
        Verb::Fit(typed) => {
            let plan = FitPlan::new(&typed)?;
            let interrupt = Interrupt::listen()?;
            in_pool(&plan.common, || verb::fit::run(&plan, &interrupt, &mut stdout()))
        }
        Verb::Infer(typed) => {
            let plan = InferPlan::new(&typed)?;
            let interrupt = Interrupt::listen()?;
            in_pool(&plan.common, || verb::infer::run(&plan, &interrupt, &mut stdout()))
        }
        Verb::Forecast(typed) => {
            let plan = ForecastPlan::new(&typed)?;
            let interrupt = Interrupt::listen()?;
            in_pool(&plan.common, || verb::forecast::run(&plan, &interrupt, &mut stdout()))
        }
        Verb::Generate(typed) => {
            let plan = GeneratePlan::new(&typed)?;
            in_pool(&plan.common, || verb::generate::run(&plan, &mut stdout()))
        }
        Verb::Morph(typed) => {
            let plan = MorphPlan::new(&typed)?;
            in_pool(&plan.common, || verb::morph::run(&plan, &mut stdout()))
        }
        Verb::Transfer(typed) => {
            let plan = TransferPlan::new(&typed)?;
            in_pool(&plan.common, || verb::transfer::run(&plan, &mut stdout()))
        }
        Verb::Watch(typed) => {
            let plan = WatchPlan::new(&typed)?;
            let interrupt = Interrupt::listen()?;
            in_pool(&plan.common, || {
                verb::watch::run(&plan, &interrupt, BufReader::new(stdin()), &mut stdout())
            })
        }
        Verb::Inspect(typed) => verb::inspect::run(&InspectPlan::new(&typed)?, &mut stdout()),
        Verb::Report(typed) => {
            let plan = ReportPlan::new(&typed)?;
            in_pool(&plan.common, || verb::report::run(&plan, &mut stdout()))
        }
        Verb::Evaluate(typed) => {
            let plan = EvaluatePlan::new(&typed)?;
            in_pool(&plan.common, || verb::evaluate::run(&plan, &mut stdout()))
        }
        Verb::Data(DataArguments::Oscillators(typed)) => {
            verb::data::oscillators(&OscillatorsPlan::new(&typed)?, &mut stdout())
        }
        Verb::Data(DataArguments::Pharmacodynamics(typed)) => {
            verb::data::pharmacodynamics(&PharmacodynamicsPlan::new(&typed)?, &mut stdout())
        }
        Verb::Data(DataArguments::Convert(typed)) => {
            verb::data::convert(&ConvertPlan::new(&typed)?, &mut stdout())
        }
        Verb::Data(DataArguments::Gait(typed)) => verb::gait::run(&GaitPlan::new(&typed)?, &mut stdout()),
        Verb::Mocap(MocapArguments::Prepare(typed)) => {
            let plan = PreparePlan::new(&typed)?;
            in_pool(&plan.common, || verb::mocap::prepare(&plan, &mut stdout()))
        }
        Verb::Mocap(MocapArguments::Check(typed)) => {
            let plan = CheckPlan::new(&typed)?;
            in_pool(&plan.common, || verb::mocap::check(&plan, &mut stdout()))
        }
        Verb::Mocap(MocapArguments::Export(typed)) => {
            verb::mocap::export(&ExportPlan::new(&typed)?, &mut stdout())
        }
        // Cells have thread pools of their own.
        Verb::Reproduce(ReproduceArguments::Dho(typed)) => {
            verb::reproduce::run(&DhoPlan::new(&typed)?, &mut stdout(), &mut stderr())
        }
        Verb::Reproduce(ReproduceArguments::Pd(typed)) => {
            let plan = PdPlan::new(&typed)?;
            in_pool(&plan.common, || verb::reproduce::pd::run(&plan, &mut stdout()))
        }
        Verb::Completions(typed) => verb::shell::completions(&typed, &mut stdout()),
        Verb::Man(typed) => verb::shell::man(&typed, &mut stdout()),
    }
}

/// Inside the pool, so that a training step does not begin with waking all of its threads.
fn in_pool(common: &CommonPlan, work: impl FnOnce() -> Result<()> + Send) -> Result<()> {
    rayon::ThreadPoolBuilder::new().num_threads(common.threads.get()).build()?.install(work)
}
