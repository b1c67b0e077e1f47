//! `mtds transfer`: the inputs of one sequence, answered with the code of another.

use super::delivery::{Content, Delivery};
use super::drive::{self, Driven};
use super::{known, observed};
use crate::plan::{TransferPlan, UsageError};
use anyhow::{Context, Result};
use mtds::infer::Method;
use mtds::predict::MAX_DRAWS;
use mtds::random::{Stream, stream};
use mtds::{Family, Model};
use mtds_data::model::load_model;
use mtds_data::{ReadFamily, TimeAxis};
use serde_json::json;
use std::io::Write;

/// Carries the plan out: transfers, writes the file, prints the result to `stdout`.
///
/// # Errors
/// A model without inputs; a model or data that cannot be read; ids that neither knows; a file that cannot be written.
pub fn run(plan: &TransferPlan, stdout: &mut dyn Write) -> Result<()> {
    let bundle = load_model(&plan.model)?;
    if bundle.columns.inputs.is_empty() {
        let problem = "the model has no inputs, so that a sequence is all style";
        return Err(UsageError::new("--content", problem, "mtds generate MODEL --like ID").into());
    }
    let read = observed::read(&plan.source, &bundle, plan.common.verbosity)?;
    let (family, time, code) = Job { plan, read: &read }.run(&bundle)?;
    let sequence = family.sequence(0);
    let line = format!("`{}`, {} steps", sequence.id(), sequence.n_time());
    let facts = [
        ("model", json!(plan.model)),
        ("content", json!(plan.content)),
        ("style", json!(plan.style)),
        ("code", json!(code)),
    ];
    let delivery = Delivery { verb: "transfer", out: plan.out.as_deref(), common: &plan.common };
    delivery.deliver(Content::family(family, time), &facts, &line, stdout)
}

/// What is left to do once the data are there.
struct Job<'a> {
    plan: &'a TransferPlan,
    read: &'a ReadFamily,
}

impl Job<'_> {
    fn run(self, bundle: &Model) -> Result<(Family, TimeAxis, Vec<f64>)> {
        let (plan, family) = (self.plan, &self.read.family);
        let i = known::find("--content", &plan.content, &ids(family), &plan.source.path)?;
        let inputs = observed::inputs_of(family, bundle, i).context("the family has inputs")?;
        let code = self.style(bundle)?;
        let outputs = bundle.system.generate(&code, Some(inputs), inputs.n_time())?;
        let driven = Driven::of_family(self.read, i, inputs);
        let id = format!("{} as {}", plan.content, plan.style);
        let (made, time) = drive::family(vec![(id, outputs, driven)], bundle)?;
        Ok((made, time, code))
    }
}

impl Job<'_> {
    /// The code that the model knows, or else the posterior mean given the outputs in the data.
    fn style(&self, bundle: &Model) -> Result<Vec<f64>> {
        let (plan, family) = (self.plan, &self.read.family);
        if let Some(member) = bundle.members.iter().find(|member| member.id == plan.style) {
            return Ok(member.code_mean.clone());
        }
        let i = known::find("--style", &plan.style, &ids(family), &plan.source.path)?;
        let given = (family.sequence(i).outputs(), observed::inputs_of(family, bundle, i));
        let random = stream(plan.common.seed, Stream::Infer(i as u64));
        let found = bundle.infer(given, Method::AdaptiveImportance, MAX_DRAWS, random)?;
        Ok(found.posterior.mean()[..bundle.system.d_code()].to_vec())
    }
}

fn ids(family: &Family) -> Vec<&str> {
    family.sequences().iter().map(|sequence| sequence.id()).collect()
}
