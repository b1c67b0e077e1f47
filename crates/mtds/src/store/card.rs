//! `README.md`: the model card, for people and for the pages of model hubs.

use super::{CARD_FILE, broken};
use crate::Result;
use crate::generator::{Activation, FeatureMap, Network, Prior, Role, Skip};
use crate::model::{CardScore, Model};
use crate::system::System;

const FRONT_MATTER: &str = "---
library_name: mtds
pipeline_tag: time-series-forecasting
tags:
- dynamical-systems
- multi-task-learning
- time-series
---
";

const LICENCE: &str = "## Licence

None is stated here: that is for the owner of the model and of its data to choose. Add a `license:` line to \
the top of this file, and say it here.
";

/// The card of a bundle.
pub(super) fn write(bundle: &Model) -> Result<Vec<u8>> {
    let d_code = bundle.system.d_code();
    let title = format!("# Multi-task dynamical system: {}\n", plain(bundle.system.base().kind()));
    let about = format!(
        "A family of related sequences, learned at once: a code of length {d_code} customises one \
         dynamical system to each member of the family (Bird and Williams, Customizing Sequence Generation \
         with Multi-Task Dynamical Systems, 2020). The code of a new member is inferred from what has been \
         seen of it; codes can also be chosen, drawn and moved.\n"
    );
    let sections = [
        FRONT_MATTER.to_owned(),
        title,
        about,
        sizes(bundle),
        learning(bundle)?,
        scores(&bundle.scores),
        use_in_rust(&bundle.system),
        LICENCE.to_owned(),
    ];
    Ok(sections.join("\n").into_bytes())
}

fn sizes(bundle: &Model) -> String {
    let (model, names) = (&bundle.system, &bundle.columns);
    let base = model.base();
    let blocks = |wanted: fn(&Role) -> bool| {
        let blocks = model.layout().blocks().iter().filter(|b| wanted(&b.role) && b.spec.len > 0);
        listed(blocks.map(|b| b.spec.name))
    };
    let base_model = match model.spec().front {
        Some(front) => format!("{} behind a {front}", base.kind()),
        None => base.kind().to_owned(),
    };
    let rows = [
        ("base model", plain(&base_model)),
        ("state", base.d_state().to_string()),
        ("outputs", columns(&names.outputs)),
        ("inputs", columns(&names.inputs)),
        ("code", model.d_code().to_string()),
        ("generator", generator(&model.spec().network)),
        ("adapted to each member", blocks(|role| *role == Role::Adapted)),
        ("shared by the family", blocks(|role| *role == Role::Shared)),
        ("fixed", blocks(|role| matches!(role, Role::Fixed(_)))),
        ("learned numbers", model.n_parameters().to_string()),
        ("prior over codes", prior(model.prior())),
    ];
    let rows: String = rows.iter().map(|(name, value)| format!("| {name} | {value} |\n")).collect();
    format!("## What it is\n\n| | |\n|---|---|\n{rows}")
}

/// How many, and their names.
fn columns(names: &[String]) -> String {
    match names.len() {
        0 => "none".to_owned(),
        n => format!("{n}: {}", listed(names.iter().map(String::as_str))),
    }
}

fn prior(prior: &Prior) -> String {
    match prior {
        Prior::StandardNormal => "standard normal".to_owned(),
        Prior::Normal { std_dev } => format!("normal, standard deviation {std_dev}"),
        Prior::AggregatePosterior(mixture) => {
            format!("aggregate posterior of the training codes, mixture of {}", mixture.len())
        }
    }
}

/// E.g. `2 → 16 tanh → 40`.
fn generator(network: &Network) -> String {
    let mut text = network.d_code.to_string();
    if network.features == FeatureMap::Trigonometric {
        text += &format!(" → {} trigonometric features", network.features.len(network.d_code));
    }
    for hidden in &network.hidden {
        let activation = match hidden.activation {
            Activation::Identity => "linear",
            Activation::Tanh => "tanh",
            Activation::Sigmoid => "sigmoid",
            Activation::Relu => "relu",
            Activation::Softplus => "softplus",
        };
        text += &format!(" → {} {activation}", hidden.width);
    }
    text += &format!(" → {}", network.d_out);
    if network.skip == Skip::Affine {
        text += ", with an affine path beside";
    }
    text
}

fn learning(bundle: &Model) -> Result<String> {
    let provenance = &bundle.provenance;
    let settings = match &bundle.fit {
        Some(fit) => serde_json::to_string_pretty(&fit.settings),
        None => serde_json::to_string_pretty(&provenance.notes),
    };
    let settings =
        settings.map_err(|error| broken(CARD_FILE, format!("settings cannot be written: {error}")))?;
    // Indented, not fenced: no text inside can end the block.
    let settings: String = settings.lines().map(|line| format!("    {line}\n")).collect();
    let members = match bundle.members.len() {
        0 => "Codes of training members kept: none.".to_owned(),
        n => format!("Codes of training members kept: {n}."),
    };
    let members = match &bundle.blend.remembered {
        None => members,
        Some(remembered) => format!(
            "{members} Forecasts remember what {} members did: their outputs are part of this model, without their ids.",
            remembered.members.n_seq()
        ),
    };
    Ok(format!(
        "## How it was learned\n\nProgram version {}, seed {}, data with the fingerprint {}. {members} \
         Settings:\n\n{settings}",
        plain(&provenance.program_version),
        provenance.seed,
        plain(&provenance.fingerprint),
    ))
}

fn scores(scores: &[CardScore]) -> String {
    if scores.is_empty() {
        return "## Scores\n\nNone were measured.\n".to_owned();
    }
    let row = |score: &CardScore| {
        let error = score.std_error.map_or("not known".to_owned(), four_digits);
        let (measure, condition) = (plain(&score.measure), plain(&score.condition));
        format!("| {measure} | {condition} | {} | {error} | {} |\n", four_digits(score.mean), score.n_seq)
    };
    let head = "| measure | condition | mean | standard error | sequences |\n|---|---|---:|---:|---:|\n";
    format!("## Scores\n\n{head}{}", scores.iter().map(row).collect::<String>())
}

fn use_in_rust(model: &System) -> String {
    let inputs = if model.d_input() == 0 { "None" } else { "Some(&inputs)" };
    let d_code = model.d_code();
    format!(
        "## How to use it\n\nIn Rust, with `MODEL` the path of this directory:\n\n```rust\n\
         let model = mtds_data::model::load_model(\"MODEL\".as_ref())?;\n\
         let sequence = model.generate(&vec![0.0; {d_code}], {inputs}, 100)?; // the code at the centre\n\
         ```\n"
    )
}

/// Text that stays within its line and its cell: no line breaks, nothing that Markdown or HTML would read.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            c if c.is_control() => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '&' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(plain).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Four significant digits, in powers of ten only where zeros would fill the cell.
fn four_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..7.0).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let decimals = (3.0 - magnitude).max(0.0) as usize;
    format!("{value:.decimals$}")
}
