//! `mtds morph`: one sequence during which the system changes from one code to another.

use super::delivery::{Content, Delivery};
use super::known::{Code, code};
use super::made_up::{self, InputOptions, SequenceInputs};
use super::model::model_at;
use super::motion::{Beginnings, code_of, motion_model};
use crate::options::Common;
use crate::usage::family_file;
use anyhow::{Context, Result};
use clap::Args;
use mtds::{CodePath, Model};
use mtds_mocap::control::MotionModel;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds morph model --from osc-000 --to osc-001 --inputs family.csv -o morph.csv
      begins as one member and ends as another, under the inputs of the first
  mtds morph model --from osc-000 --via osc-002 --to osc-001 --steps 60 --inputs family.csv
      by way of a third
";

/// The codes to pass, and under which inputs.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Directory of the model; `starter` is the one of walks that comes with the program
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// Id of the member to begin as; for models of motions also a style, a mixture (0.7*old+0.3*proud) or a BVH file
    #[arg(long, value_name = "ID", required_unless_present = "from_code")]
    pub from: Option<String>,

    /// Code to begin with, e.g. 0.3,-1.2
    #[arg(long, value_name = "CODE", allow_hyphen_values = true, conflicts_with = "from")]
    #[arg(value_parser = code("--from-code"))]
    pub from_code: Option<Code>,

    /// What to pass on the way, as --from, evenly spaced in time
    #[arg(long, value_name = "ID")]
    pub via: Vec<String>,

    /// What to end as, as --from
    #[arg(long, value_name = "ID", required_unless_present = "to_code")]
    pub to: Option<String>,

    /// Code to end with
    #[arg(long, value_name = "CODE", allow_hyphen_values = true, conflicts_with = "to")]
    #[arg(value_parser = code("--to-code"))]
    pub to_code: Option<Code>,

    /// Inputs and length.
    #[command(flatten)]
    pub inputs: InputOptions,

    /// File for the sequence: CSV, Parquet, JSON lines or NPZ, by its ending [default: CSV on stdout]
    #[arg(short, long, value_name = "FILE", value_parser = family_file())]
    pub out: Option<PathBuf>,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

/// A code to pass, after the option that named it: that of a member, or as typed.
enum Waypoint<'a> {
    Member(&'static str, &'a str),
    Code(&'static str, &'a Code),
}

impl Arguments {
    /// Morphs, writes the file, prints the result to `stdout`.
    ///
    /// # Errors
    /// A model or inputs that cannot be read; members that it does not know and codes that do not fit; a file that cannot
    /// be written.
    pub fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        let model = model_at(&self.model, &self.common)?;
        let path = self.path();
        let codes = path.iter().map(|waypoint| self.code(waypoint, &model)).collect::<Result<Vec<_>>>()?;
        let (id, mut beginnings) = (name(&path), Beginnings::default());
        let along = CodePath::new(codes.clone())?;
        let inputs;
        let made = match self.inputs.way.path {
            Some(_) => {
                let motion = motion_model(&model, &self.model)?;
                let route = self.inputs.way.route(&motion, &self.common)?.context("a path was given")?;
                let outputs = motion.walk(&along, &route)?;
                beginnings.push(&id, &outputs, &self.model)?;
                (id, outputs.values, SequenceInputs::of_route(motion.inputs_of(&route)?))
            }
            None => {
                inputs = self.inputs.read(&model, &self.common)?;
                let own = inputs.of_sequence(self.from.as_deref())?;
                let outputs = model.system.morph(&along, own.signal.as_ref(), own.n_time)?;
                if let (Ok(_), Some(of)) = (MotionModel::of(&model), own.of) {
                    beginnings.push_of(&id, self.inputs.inputs.as_ref(), of)?;
                }
                (id, outputs, own)
            }
        };
        let (family, time) = made_up::family(vec![made], &model)?;
        let sequence = family.sequence(0);
        let line = format!("`{}`, {} steps", sequence.id(), sequence.n_time());
        let facts = [("model", json!(self.model)), ("path", json!(codes))];
        let delivery = Delivery { verb: "morph", out: self.out.as_deref(), common: &self.common };
        delivery.deliver(Content::family(family, time), &facts, &line, stdout)?;
        beginnings.write(self.out.as_deref())
    }

    /// The codes to pass, the first and the last included; clap sees to it that both are there.
    fn path(&self) -> Vec<Waypoint<'_>> {
        let first = match (&self.from, &self.from_code) {
            (None, Some(code)) => Some(Waypoint::Code("--from-code", code)),
            (id, _) => id.as_deref().map(|id| Waypoint::Member("--from", id)),
        };
        let last = match (&self.to, &self.to_code) {
            (None, Some(code)) => Some(Waypoint::Code("--to-code", code)),
            (id, _) => id.as_deref().map(|id| Waypoint::Member("--to", id)),
        };
        let via = self.via.iter().map(|id| Waypoint::Member("--via", id));
        first.into_iter().chain(via).chain(last).collect()
    }

    fn code(&self, waypoint: &Waypoint<'_>, model: &Model) -> Result<Vec<f64>> {
        match waypoint {
            Waypoint::Member(option, id) => code_of((option, id), (model, &self.model), &self.common),
            Waypoint::Code(option, code) => Ok(code.of_length(option, model.system.d_code())?),
        }
    }
}

/// The id of the sequence: what it passes.
fn name(path: &[Waypoint<'_>]) -> String {
    let one = |waypoint: &Waypoint<'_>| match waypoint {
        Waypoint::Member(_, id) => (*id).to_owned(),
        Waypoint::Code(..) => "code".to_owned(),
    };
    path.iter().map(one).collect::<Vec<_>>().join(" to ")
}
