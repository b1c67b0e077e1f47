//! `mtds quickstart`: `data oscillators`, `fit` and `report`, one after the other, with nothing of its own.

use super::{data, fit, report};
use crate::arguments::{Arguments, DataArguments, Verb};
use crate::interrupt::Interrupt;
use crate::output::print;
use crate::plan::{FitPlan, Format, OscillatorsPlan, QuickstartPlan, ReportPlan, Verbosity};
use anyhow::{Context, Result, bail};
use clap::Parser;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::Write;

/// Carries the plan out: three commands, each said before it runs; their results go to `stdout`.
///
/// # Errors
/// Those of the three verbs.
pub fn run(plan: &QuickstartPlan, interrupt: &Interrupt, stdout: &mut dyn Write) -> Result<()> {
    let commands = commands(plan);
    let mut results = vec![];
    std::fs::create_dir_all(&plan.out).with_context(|| format!("cannot make {}", plan.out.display()))?;
    for command in &commands {
        if plan.common.verbosity != Verbosity::Quiet {
            eprintln!("\n$ {}", shown(command));
        }
        results.push(carry_out(command, interrupt)?);
    }
    let text = match plan.common.format {
        Format::Text => texts(plan, &results)?,
        Format::Json => {
            let [data, fit, report] = &results[..] else { bail!("three commands have three results") };
            let of = |text: &Vec<u8>| serde_json::from_slice::<Value>(text).context("a verb prints JSON");
            let (data, fit, report) = (of(data)?, of(fit)?, of(report)?);
            let document = json!({
                "verb": "quickstart",
                "version": env!("CARGO_PKG_VERSION"),
                "seed": plan.common.seed,
                "commands": commands.iter().map(|command| shown(command)).collect::<Vec<_>>(),
                "rows": report["rows"],
                "data": data,
                "fit": fit,
                "report": report,
            });
            format!("{}\n", serde_json::to_string_pretty(&document)?)
        }
    };
    print(stdout, &text)
}

/// The three commands as somebody would type them.
fn commands(plan: &QuickstartPlan) -> [Vec<OsString>; 3] {
    let (family, model) = (plan.out.join("oscillators.csv"), plan.out.join("model"));
    let page = plan.out.join("report.html");
    let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
    let mut commands = [
        [words(&["mtds", "data", "oscillators", "--sequences"]), vec![plan.n_seq.to_string().into()]]
            .concat(),
        [words(&["mtds", "fit"]), vec![family.clone().into()], words(&["--force"])].concat(),
        [words(&["mtds", "report"]), vec![model.clone().into(), family.clone().into()]].concat(),
    ];
    for (command, out) in commands.iter_mut().zip([family, model, page]) {
        command.extend([OsString::from("-o"), out.into()]);
        command.extend(["--seed".into(), plan.common.seed.to_string().into()]);
        command.extend(["--threads".into(), plan.common.threads.to_string().into()]);
        command.extend((plan.common.format == Format::Json).then(|| "--json".into()));
        command.extend((plan.common.verbosity == Verbosity::Quiet).then(|| "-q".into()));
        command.extend((plan.common.verbosity == Verbosity::Verbose).then(|| "-v".into()));
    }
    commands
}

fn shown(command: &[OsString]) -> String {
    command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// What the verb prints.
fn carry_out(command: &[OsString], interrupt: &Interrupt) -> Result<Vec<u8>> {
    let mut printed = vec![];
    match Arguments::try_parse_from(command).context("a command of the quickstart")?.verb {
        Verb::Data(DataArguments::Oscillators(typed)) => {
            data::oscillators(&OscillatorsPlan::new(&typed)?, &mut printed)?;
        }
        Verb::Fit(typed) => fit::run(&FitPlan::new(&typed)?, interrupt, &mut printed)?,
        Verb::Report(typed) => report::run(&ReportPlan::new(&typed)?, &mut printed)?,
        other => bail!("{other:?} is no part of the quickstart"),
    }
    Ok(printed)
}

fn texts(plan: &QuickstartPlan, results: &[Vec<u8>]) -> Result<String> {
    let mut out = String::new();
    for text in &results[1..] {
        out.push_str(std::str::from_utf8(text).context("verbs print text")?);
    }
    let model = plan.out.join("model");
    out.push_str(&format!(
        "\nnext: mtds generate {} --sample 3 --steps 80 --inputs {}\n",
        model.display(),
        plan.out.join("oscillators.csv").display()
    ));
    Ok(out)
}
