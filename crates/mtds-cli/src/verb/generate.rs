//! `mtds generate`: new sequences of chosen codes, as a family that every verb reads.

use super::delivery::{Content, Delivery};
use super::drive::{self, Drive};
use super::known;
use crate::plan::{CodesPlan, GeneratePlan};
use anyhow::Result;
use mtds::infer::{Diagnostics, Method, Points};
use mtds::random::{Random, Stream, stream};
use mtds::{Family, Model, Posterior, Signal, System};
use mtds_data::TimeAxis;
use mtds_data::model::load_model;
use serde_json::{Map, Value, json};
use std::io::Write;

/// Carries the plan out: generates, writes the file, prints the result to `stdout`.
///
/// # Errors
/// A model or inputs that cannot be read; members that it does not know and codes that do not fit; a file that cannot
/// be written.
pub fn run(plan: &GeneratePlan, stdout: &mut dyn Write) -> Result<()> {
    let bundle = load_model(&plan.model)?;
    let drive = Drive::new(&plan.drive, &bundle, plan.common.verbosity)?;
    let (family, time, codes) = Job { plan, drive: &drive }.run(&bundle)?;
    let line = format!("{} generated sequences", family.n_seq());
    let facts =
        [("model", json!(plan.model)), ("n_seq", json!(family.n_seq())), ("codes", Value::Object(codes))];
    let delivery = Delivery { verb: "generate", out: plan.out.as_deref(), common: &plan.common };
    delivery.deliver(Content::family(family, time), &facts, &line, stdout)
}

/// What is left to do once the inputs are there.
struct Job<'a> {
    plan: &'a GeneratePlan,
    drive: &'a Drive,
}

/// A sequence to make: its id, its code, and the member that it is like.
struct Wanted {
    id: String,
    code: Vec<f64>,
    like: Option<String>,
}

impl Job<'_> {
    fn run(self, bundle: &Model) -> Result<(Family, TimeAxis, Map<String, Value>)> {
        let Self { plan, drive } = self;
        let (mut made, mut codes) = (vec![], Map::new());
        for (i, wanted) in wanted(plan, bundle)?.into_iter().enumerate() {
            let driven = drive.for_sequence(wanted.like.as_deref())?;
            let (inputs, n_time) = (driven.inputs.as_ref(), driven.n_time);
            let outputs = match plan.noise {
                false => bundle.system.generate(&wanted.code, inputs, n_time)?,
                true => {
                    let mut random = stream(plan.common.seed, Stream::Noise(i as u64));
                    noisy(&bundle.system, &wanted.code, (inputs, n_time), &mut random)?
                }
            };
            codes.insert(wanted.id.clone(), json!(wanted.code));
            made.push((wanted.id, outputs, driven));
        }
        let (family, time) = drive::family(made, bundle)?;
        Ok((family, time, codes))
    }
}

/// The codes that are meant.
fn wanted(plan: &GeneratePlan, bundle: &Model) -> Result<Vec<Wanted>> {
    let k = bundle.system.d_code();
    let numbered = |what: &str, codes: Vec<Vec<f64>>| {
        let one = |(i, code)| Wanted { id: format!("{what}-{}", i + 1), code, like: None };
        codes.into_iter().enumerate().map(one).collect()
    };
    match &plan.codes {
        CodesPlan::Given(codes) => {
            codes.iter().try_for_each(|code| known::check_code("--code", code, k))?;
            Ok(numbered("code", codes.clone()))
        }
        CodesPlan::Sample(n) => {
            let mut random = stream(plan.common.seed, Stream::PriorCodes);
            let points = bundle.system.prior().mixture(k)?.sample(*n, &mut random);
            Ok(numbered("sample", (0..*n).map(|i| points.point(i)).collect()))
        }
        CodesPlan::Like(ids) => {
            let one = |id: &String| -> Result<Wanted> {
                let member = known::member("--like", id, &bundle.members, &plan.model)?;
                Ok(Wanted { id: id.clone(), code: member.code_mean.clone(), like: Some(id.clone()) })
            };
            ids.iter().map(one).collect()
        }
    }
}

/// A sequence with the noise of observations: one draw of the forecast that knows the code and has seen nothing.
fn noisy(
    model: &System,
    code: &[f64],
    (inputs, n_time): (Option<&Signal>, usize),
    random: &mut Random,
) -> Result<Signal> {
    let certain = Points::from_points(code.len(), &[code.to_vec()])?;
    let certain = Posterior::from_equal_draws(certain, None, Diagnostics::new(Method::MapLaplace))?;
    let unseen = Signal::new(0, model.base().d_obs(), vec![])?;
    let forecast = model.forecast(&certain, &unseen, inputs, n_time, random)?;
    Ok(Signal::new(n_time, forecast.d_obs(), forecast.draws(1, random))?)
}
