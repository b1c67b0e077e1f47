//! `mtds transfer`: the inputs of one sequence, answered with the code of another.

use super::delivery::{Content, Delivery};
use super::made_up::{self, SequenceInputs};
use super::model::model_at;
use super::motion::{Beginnings, code_of};
use super::{known, observed};
use crate::options::{Common, ModelAndData};
use crate::usage::{UsageError, family_file};
use anyhow::{Context, Result};
use clap::Args;
use mtds::parts::MAX_DRAWS;
use mtds::random::{Stream, stream};
use mtds::{Family, Method, Model};
use mtds_mocap::control::MotionModel;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds transfer model family.csv --content osc-000 --style osc-005 -o transferred.csv
      what drove osc-000, answered as osc-005 would
  mtds transfer model family.csv --content osc-000 --style osc-005 --json
      the same as a JSON document, with the code
";

/// Whose inputs, in whose style.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The model, and a file: the sequence whose inputs are taken is in it, and the style may be.
    #[command(flatten)]
    pub of: ModelAndData,

    /// Id of the sequence in DATA whose inputs are taken
    #[arg(long, value_name = "ID")]
    pub content: String,

    /// Id of the member whose code is taken; if the model does not know it, inferred from its outputs in DATA. For models of motions
    /// also a style that the model knows, a mixture (0.7*old+0.3*proud) or a BVH file
    #[arg(long, value_name = "ID")]
    pub style: String,

    /// File for the sequence: CSV, Parquet, JSON lines or NPZ, by its ending [default: CSV on stdout]
    #[arg(short, long, value_name = "FILE", value_parser = family_file())]
    pub out: Option<PathBuf>,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

impl Arguments {
    /// Transfers, writes the file, prints the result to `stdout`.
    ///
    /// # Errors
    /// A model without inputs; a model or data that cannot be read; ids that neither knows; a file that cannot be written.
    pub fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        self.of.source.check()?;
        let model = model_at(&self.of.model, &self.common)?;
        if model.columns.inputs.is_empty() {
            let problem = "the model has no inputs, so that a sequence is all style";
            return Err(UsageError::new("--content", problem, "mtds generate MODEL --like ID").into());
        }
        let read = observed::read(&self.of.source, &model, &self.common)?;
        let i = self.find("--content", &self.content, &read.family)?;
        let inputs = observed::inputs_of(&read.family, &model, i).context("the family has inputs")?;
        let code = self.code(&model, &read.family)?;
        let outputs = model.system.generate(&code, Some(inputs), inputs.n_time())?;
        let id = format!("{} as {}", self.content, self.style);
        let mut beginnings = Beginnings::default();
        if MotionModel::of(&model).is_ok() {
            beginnings.push_of(&id, Some(&self.of.source.data), &self.content)?;
        }
        let inputs = SequenceInputs::of_family(&read, i, inputs);
        let (family, time) = made_up::family(vec![(id, outputs, inputs)], &model)?;
        let sequence = family.sequence(0);
        let line = format!("`{}`, {} steps", sequence.id(), sequence.n_time());
        let facts = [
            ("model", json!(self.of.model)),
            ("content", json!(self.content)),
            ("style", json!(self.style)),
            ("code", json!(code)),
        ];
        let delivery = Delivery { verb: "transfer", out: self.out.as_deref(), common: &self.common };
        delivery.deliver(Content::family(family, time), &facts, &line, stdout)?;
        beginnings.write(self.out.as_deref())
    }

    fn find(&self, option: &'static str, id: &str, family: &Family) -> Result<usize, UsageError> {
        let ids: Vec<&str> = family.sequences().iter().map(|sequence| sequence.id()).collect();
        known::find(option, id, &ids, &self.of.source.data)
    }

    /// The code of the style that the model knows, or else the posterior mean of it by the outputs in the data.
    fn code(&self, model: &Model, family: &Family) -> Result<Vec<f64>> {
        if let Ok(code) = model.code_called(&self.style) {
            return Ok(code.to_vec());
        }
        let is_in_data = family.sequences().iter().any(|sequence| sequence.id() == self.style);
        if !is_in_data && MotionModel::of(model).is_ok() {
            return code_of(("--style", &self.style), (model, &self.of.source.data), &self.common);
        }
        let i = self.find("--style", &self.style, family)?;
        let seen = (family.sequence(i).outputs(), observed::inputs_of(family, model, i));
        let random = stream(self.common.seed(), Stream::Infer(i as u64));
        let found = model.infer(seen, Method::AdaptiveImportance, MAX_DRAWS, random)?;
        Ok(found.posterior.mean()[..model.system.d_code()].to_vec())
    }
}
