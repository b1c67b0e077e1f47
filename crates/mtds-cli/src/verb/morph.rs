//! `mtds morph`: one sequence during which the system changes from one code to another.

use super::delivery::{Content, Delivery};
use super::drive::{self, Drive};
use super::known;
use crate::plan::{MorphPlan, Waypoint};
use anyhow::Result;
use mtds::predict::CodePath;
use mtds::{Family, Model};
use mtds_data::TimeAxis;
use mtds_data::model::load_model;
use serde_json::json;
use std::io::Write;

/// Carries the plan out: morphs, writes the file, prints the result to `stdout`.
///
/// # Errors
/// A model or inputs that cannot be read; members that it does not know and codes that do not fit; a file that cannot
/// be written.
pub fn run(plan: &MorphPlan, stdout: &mut dyn Write) -> Result<()> {
    let bundle = load_model(&plan.model)?;
    let drive = Drive::new(&plan.drive, &bundle, plan.common.verbosity)?;
    let (family, time, waypoints) = Job { plan, drive: &drive }.run(&bundle)?;
    let sequence = family.sequence(0);
    let line = format!("`{}`, {} steps", sequence.id(), sequence.n_time());
    let facts = [("model", json!(plan.model)), ("path", json!(waypoints))];
    let delivery = Delivery { verb: "morph", out: plan.out.as_deref(), common: &plan.common };
    delivery.deliver(Content::family(family, time), &facts, &line, stdout)
}

/// What is left to do once the inputs are there.
struct Job<'a> {
    plan: &'a MorphPlan,
    drive: &'a Drive,
}

impl Job<'_> {
    fn run(self, bundle: &Model) -> Result<(Family, TimeAxis, Vec<Vec<f64>>)> {
        let Self { plan, drive } = self;
        let codes = plan.path.iter().map(|waypoint| code(waypoint, plan, bundle));
        let codes = codes.collect::<Result<Vec<_>>>()?;
        let first = plan.path.first().and_then(member);
        let driven = drive.for_sequence(first)?;
        let path = CodePath::new(codes.clone())?;
        let outputs = bundle.system.morph(&path, driven.inputs.as_ref(), driven.n_time)?;
        let (family, time) = drive::family(vec![(name(&plan.path), outputs, driven)], bundle)?;
        Ok((family, time, codes))
    }
}

fn code(waypoint: &Waypoint, plan: &MorphPlan, bundle: &Model) -> Result<Vec<f64>> {
    match waypoint {
        Waypoint::Member(option, id) => {
            Ok(known::member(option, id, &bundle.members, &plan.model)?.code_mean.clone())
        }
        Waypoint::Code(option, code) => {
            known::check_code(option, code, bundle.system.d_code())?;
            Ok(code.clone())
        }
    }
}

fn member(waypoint: &Waypoint) -> Option<&str> {
    match waypoint {
        Waypoint::Member(_, id) => Some(id),
        Waypoint::Code(..) => None,
    }
}

/// The id of the sequence: what it passes.
fn name(path: &[Waypoint]) -> String {
    path.iter().map(|waypoint| member(waypoint).unwrap_or("code")).collect::<Vec<_>>().join(" to ")
}
