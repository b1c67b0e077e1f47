//! `mtds generate`: new sequences of chosen codes, as a family that every verb reads.

use super::delivery::{Content, Delivery};
use super::known::{self, Code, code};
use super::made_up::{self, InputOptions};
use crate::options::Common;
use crate::usage::{UsageError, count, family_file};
use anyhow::Result;
use clap::Args;
use mtds::Model;
use mtds::random::{Stream, stream};
use mtds_data::model::load_model;
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
    /// Directory of the model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// A code, e.g. 0.3,-1.2; again for more sequences
    #[arg(long, value_name = "CODE", allow_hyphen_values = true, conflicts_with_all = ["like", "sample"])]
    #[arg(value_parser = code("--code"))]
    pub code: Vec<Code>,

    /// Id of a member that the model was learned from; again for more sequences
    #[arg(long, value_name = "ID", conflicts_with = "sample")]
    pub like: Vec<String>,

    /// Draw this many codes from the prior
    #[arg(long, value_name = "N", value_parser = count("10"))]
    pub sample: Option<usize>,

    /// Add the noise of observations
    #[arg(long)]
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

impl Arguments {
    /// Generates, writes the file, prints the result to `stdout`.
    ///
    /// # Errors
    /// A model or inputs that cannot be read; members that it does not know and codes that do not fit; a file that cannot
    /// be written.
    pub fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        if self.code.is_empty() && self.like.is_empty() && self.sample.is_none() {
            let problem = "expected to be told which sequences, found nothing";
            let hint = "--sample 10, --like ID, or --code with as many numbers as `mtds inspect MODEL` says a code has";
            return Err(UsageError::new("--code", problem, hint).into());
        }
        let model = load_model(&self.model)?;
        let inputs = self.inputs.read(&model, &self.common)?;
        let (mut made, mut codes) = (vec![], Map::new());
        for (i, (id, code, like)) in self.wanted(&model)?.into_iter().enumerate() {
            let own = inputs.of_sequence(like)?;
            let (signal, n_time) = (own.signal.as_ref(), own.n_time);
            let outputs = match self.noise {
                false => model.system.generate(&code, signal, n_time)?,
                true => {
                    let mut random = stream(self.common.seed(), Stream::Noise(i as u64));
                    model.system.generate_noisy(&code, signal, n_time, &mut random)?
                }
            };
            codes.insert(id.clone(), json!(code));
            made.push((id, outputs, own));
        }
        let (family, time) = made_up::family(made, &model)?;
        let line = format!("{} generated sequences", family.n_seq());
        let facts =
            [("model", json!(self.model)), ("n_seq", json!(family.n_seq())), ("codes", Value::Object(codes))];
        let delivery = Delivery { verb: "generate", out: self.out.as_deref(), common: &self.common };
        delivery.deliver(Content::family(family, time), &facts, &line, stdout)
    }

    /// The codes that are meant.
    fn wanted(&self, model: &Model) -> Result<Vec<Wanted<'_>>> {
        let k = model.system.d_code();
        if !self.like.is_empty() {
            let member = |id| known::member("--like", id, &model.members, &self.model);
            let each = self.like.iter();
            return each
                .map(|id| Ok((id.clone(), member(id)?.code_mean.clone(), Some(id.as_str()))))
                .collect();
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
