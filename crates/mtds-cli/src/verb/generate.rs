//! `mtds generate`: new sequences of chosen codes, as a family that every verb reads.

use super::delivery::{Content, Delivery};
use super::known::{Code, code};
use super::made_up::{self, InputOptions, Inputs, SequenceInputs};
use super::model::model_at;
use super::motion::{Beginnings, code_of, motion_model};
use crate::options::Common;
use crate::usage::{UsageError, count, family_file};
use anyhow::{Context, Result};
use clap::Args;
use mtds::random::{Stream, stream};
use mtds::{CodePath, Model, Signal};
use mtds_mocap::control::MotionModel;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds generate model --sample 10 --inputs family.csv --inputs-of osc-000 -o new.csv
      ten new members, with codes from the prior, under the inputs of osc-000
  mtds generate model --like osc-003 --inputs family.csv --steps 40 --noise
      what osc-003 might have been, noise included, on stdout
";

/// Which codes, under which inputs.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Directory of the model; `starter` is the one of walks that comes with the program
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// A code, e.g. 0.3,-1.2; again for more sequences
    #[arg(long, value_name = "CODE", allow_hyphen_values = true, conflicts_with_all = ["like", "style", "sample"])]
    #[arg(value_parser = code("--code"))]
    pub code: Vec<Code>,

    /// Id of a member that the model was learned from, a segment of one (old_03@128: around its row 128, counted from 0), or a BVH file for models of motions; again for more sequences
    #[arg(long, value_name = "ID", conflicts_with_all = ["sample", "style"])]
    pub like: Vec<String>,

    /// For models of motions: a style, or a mixture, e.g. 0.7*old+0.3*proud; again for more sequences
    #[arg(long, value_name = "STYLE", conflicts_with = "sample", allow_hyphen_values = true)]
    pub style: Vec<String>,

    /// Draw this many codes from the prior
    #[arg(long, value_name = "N", value_parser = count("10"))]
    pub sample: Option<usize>,

    /// Add the noise of observations
    #[arg(long, conflicts_with = "path")]
    pub noise: bool,

    /// Inputs and length.
    #[command(flatten)]
    pub inputs: InputOptions,

    /// File for the sequences: CSV, Parquet, JSON lines or NPZ, by its ending [default: CSV on stdout]
    #[arg(short, long, value_name = "FILE", value_parser = family_file())]
    pub out: Option<PathBuf>,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

/// A sequence to make: its id, its code, and the member that it is like.
type Wanted<'a> = (String, Vec<f64>, Option<&'a str>);
/// A sequence that was made: its id, its outputs, and the inputs that it answers to.
type Made<'a> = (String, Signal, SequenceInputs<'a>);

impl Arguments {
    /// Generates, writes the file, prints the result to `stdout`.
    ///
    /// # Errors
    /// A model or inputs that cannot be read; members that it does not know and codes that do not fit; a file that cannot
    /// be written.
    pub fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        if self.code.is_empty() && self.like.is_empty() && self.style.is_empty() && self.sample.is_none() {
            let problem = "expected to be told which sequences, found nothing";
            let hint = "--sample 10, --like ID, or --code with as many numbers as `mtds inspect MODEL` says a code has";
            return Err(UsageError::new("--code", problem, hint).into());
        }
        let model = model_at(&self.model, &self.common)?;
        let wanted = self.wanted(&model)?;
        let codes: Map<String, Value> =
            wanted.iter().map(|(id, code, _)| (id.clone(), json!(code))).collect();
        let mut beginnings = Beginnings::default();
        let inputs;
        let made = match self.inputs.way.path {
            Some(_) => self.on_its_way(&model, wanted, &mut beginnings)?,
            None => {
                inputs = self.inputs.read(&model, &self.common)?;
                self.answering(&model, &inputs, wanted, &mut beginnings)?
            }
        };
        let (family, time) = made_up::family(made, &model)?;
        let line = format!("{} generated sequences", family.n_seq());
        let facts =
            [("model", json!(self.model)), ("n_seq", json!(family.n_seq())), ("codes", Value::Object(codes))];
        let delivery = Delivery { verb: "generate", out: self.out.as_deref(), common: &self.common };
        delivery.deliver(Content::family(family, time), &facts, &line, stdout)?;
        beginnings.write(self.out.as_deref())
    }

    /// Sequences that answer to inputs in a file, or to none.
    fn answering<'i>(
        &self,
        model: &Model,
        inputs: &'i Inputs<'_>,
        wanted: Vec<Wanted<'_>>,
        beginnings: &mut Beginnings,
    ) -> Result<Vec<Made<'i>>> {
        let is_motion = MotionModel::of(model).is_ok();
        let mut made = vec![];
        for (i, (id, code, like)) in wanted.into_iter().enumerate() {
            let own = inputs.of_sequence(like)?;
            let (signal, n_time) = (own.signal.as_ref(), own.n_time);
            let outputs = match self.noise {
                false => model.system.generate(&code, signal, n_time)?,
                true => {
                    let mut random = stream(self.common.seed(), Stream::Noise(i as u64));
                    model.system.generate_noisy(&code, signal, n_time, &mut random)?
                }
            };
            if let (true, Some(of)) = (is_motion, own.of) {
                beginnings.push_of(&id, self.inputs.inputs.as_ref(), of)?;
            }
            made.push((id, outputs, own));
        }
        Ok(made)
    }

    /// Motions along a way.
    fn on_its_way(
        &self,
        model: &Model,
        wanted: Vec<Wanted<'_>>,
        beginnings: &mut Beginnings,
    ) -> Result<Vec<Made<'static>>> {
        let motion = motion_model(model, &self.model)?;
        let route = self.inputs.way.route(&motion, &self.common)?.context("a path was given")?;
        let mut made = vec![];
        for (id, code, _) in wanted {
            let outputs = motion.walk(&CodePath::new(vec![code])?, &route)?;
            beginnings.push(&id, &outputs, &self.model)?;
            made.push((id, outputs.values, SequenceInputs::of_route(motion.inputs_of(&route)?)));
        }
        Ok(made)
    }

    /// The codes that are meant.
    fn wanted(&self, model: &Model) -> Result<Vec<Wanted<'_>>> {
        let k = model.system.d_code();
        let named = self.like.iter().map(|name| ("--like", name));
        let named = named.chain(self.style.iter().map(|name| ("--style", name)));
        let named = named.map(|(option, name)| {
            let code = code_of((option, name), (model, &self.model), &self.common)?;
            Ok((name.clone(), code, Some(name.as_str())))
        });
        let named: Vec<Wanted<'_>> = named.collect::<Result<_>>()?;
        if !named.is_empty() {
            return Ok(named);
        }
        let (what, codes) = match self.sample {
            Some(n) => {
                let mut random = stream(self.common.seed(), Stream::PriorCodes);
                let points = model.system.prior().mixture(k)?.sample(n, &mut random);
                ("sample", (0..n).map(|i| points.point(i)).collect())
            }
            None => {
                let codes = self.code.iter().map(|code| code.of_length("--code", k));
                ("code", codes.collect::<Result<Vec<_>, _>>()?)
            }
        };
        let numbered = |(i, code)| (format!("{what}-{}", i + 1), code, None);
        Ok(codes.into_iter().enumerate().map(numbered).collect())
    }
}
