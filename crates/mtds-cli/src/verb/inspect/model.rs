//! A model at a glance: what it is, what it explains, where its members lie.

use super::{Arguments, is_page};
use crate::verb::model::{is_starter, model_at};
use anyhow::{Context, Result};
use mtds::custom::Role;
use mtds::parts::SegmentCode;
use mtds::{Explained, Member, Model};
use mtds_data::directory::write_file_atomic;
use mtds_data::{Column, Table, write_table};
use mtds_mocap::starter;
use mtds_report::code_map::CodeMap;
use mtds_report::text::{Align, TextTable, percent};
use mtds_report::{new_members, structures, usage};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

pub(super) fn inspect(asked: &Arguments, path: &Path, stdout: &mut dyn Write) -> Result<()> {
    let model = model_at(path, &asked.common)?;
    let map = match model.members.is_empty() {
        true => None,
        false => Some(CodeMap::of(&model.members)?),
    };
    if let Some(file) = &asked.out {
        let none = || format!("{}: the model keeps no members, so there are no codes", path.display());
        let map = map.as_ref().with_context(none)?;
        match is_page(file) {
            true => {
                let settings = facts(path, &model).into_iter().map(|(name, value)| (name.to_owned(), value));
                let page = map.page(&path.display().to_string(), &model.members, settings.collect());
                write_file_atomic(file, page.render().as_bytes())?;
            }
            false => write_table(file, &codes(&model.members, map))?,
        }
    }
    let (map, out) = (map.as_ref(), asked.out.as_deref());
    asked.common.print(stdout, || text(path, &model, map, out), || document(path, &model, map, out))
}

/// The codes as a table: series, label, code with its uncertainty, place on the map.
fn codes(members: &[Member], map: &CodeMap) -> Table {
    let numbers = |of: &dyn Fn(usize, &Member) -> f64| {
        Column::Number(members.iter().enumerate().map(|(i, member)| of(i, member)).collect())
    };
    let mut table = Table::new()
        .with("series", Column::Text(members.iter().map(|m| m.id.clone()).collect()))
        .with("label", Column::Text(members.iter().map(|m| m.label.clone().unwrap_or_default()).collect()));
    for d in 0..map.axes.directions.len() {
        table = table
            .with(format!("z{}", d + 1), numbers(&|_, m| m.code_mean[d]))
            .with(format!("z{}_sd", d + 1), numbers(&|_, m| m.code_std_dev[d]));
    }
    table.with("map_x", numbers(&|i, _| map.places[i].0)).with("map_y", numbers(&|i, _| map.places[i].1))
}

/// What the model is, by name and value.
fn facts(path: &Path, model: &Model) -> Vec<(&'static str, String)> {
    let (system, provenance) = (&model.system, &model.provenance);
    let base = system.base();
    let blocks = |wanted: fn(&Role) -> bool| {
        let named = system.layout().blocks().iter().filter(|b| wanted(&b.role) && b.spec.len > 0);
        listed(&named.map(|b| b.spec.name.to_owned()).collect::<Vec<_>>())
    };
    let front = system.spec().front.map(|front| ("before it", front.to_string()));
    let base_model = ("base model", format!("{}, state of {}", base.kind(), base.d_state()));
    let rest = vec![
        ("outputs", listed(&model.columns.outputs)),
        ("inputs", listed(&model.columns.inputs)),
        ("time step", model.time_step.clone().unwrap_or_else(|| "not known".into())),
        ("code", system.d_code().to_string()),
        ("adapted to each member", blocks(|role| *role == Role::Adapted)),
        ("shared by the family", blocks(|role| *role == Role::Shared)),
        ("learned numbers", system.n_parameters().to_string()),
        ("members", model.members.len().to_string()),
        ("segments", segments(model)),
        ("labels", labels(&model.members)),
        ("learned by", format!("mtds {}, seed {}", provenance.program_version, provenance.seed)),
        ("data", format!("fingerprint {}", provenance.fingerprint)),
    ];
    let thanks = is_starter(path).then(|| ("thanks", starter::ACKNOWLEDGEMENT.to_owned()));
    std::iter::once(base_model)
        .chain(front)
        .chain(rest)
        .chain(thanks)
        .chain(model.fit.iter().flat_map(structures::together))
        .chain(model.fit.iter().flat_map(structures::sentences))
        .chain(model.fit.iter().flat_map(new_members::sentences))
        .collect()
}

/// How many segments have codes of their own, and how one is named.
fn segments(model: &Model) -> String {
    match &model.segments[..] {
        [] => "none".into(),
        [first, ..] => {
            let n = model.segments.len();
            format!("{n} with codes of their own, called as {}@{}", first.member, first.start)
        }
    }
}

/// Labels of members, each once: what styles are called.
fn labels(members: &[Member]) -> String {
    let labels: BTreeSet<&str> = members.iter().filter_map(|member| member.label.as_deref()).collect();
    listed(&labels.into_iter().map(str::to_owned).collect::<Vec<_>>())
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

fn document(path: &Path, model: &Model, map: Option<&CodeMap>, out: Option<&Path>) -> serde_json::Value {
    let member = |(i, m): (usize, &Member)| {
        json!({"series": m.id, "label": m.label, "code": m.code_mean, "std_dev": m.code_std_dev,
               "map": map.map(|map| [map.places[i].0, map.places[i].1])})
    };
    let segment = |of: &SegmentCode| json!({"series": of.member, "start": of.start, "steps": of.n_time, "code": of.code_mean, "std_dev": of.code_std_dev});
    json!({
        "verb": "inspect",
        "version": env!("CARGO_PKG_VERSION"),
        "model": path,
        "base": model.system.base().kind(),
        "d_state": model.system.base().d_state(),
        "d_code": model.system.d_code(),
        "outputs": model.columns.outputs,
        "inputs": model.columns.inputs,
        "time_step": model.time_step,
        "fingerprint": model.provenance.fingerprint,
        "explained": model.fit.as_ref().map(|fit| &fit.explained),
        "usage": model.fit.as_ref().and_then(|fit| fit.usage.as_ref()),
        "new_members": model.fit.as_ref().map(|fit| &fit.new_members),
        "axes": map.map(|map| json!({"shares": map.axes.shares, "directions": map.axes.directions})),
        "members": model.members.iter().enumerate().map(member).collect::<Vec<_>>(),
        "segments": model.segments.iter().map(segment).collect::<Vec<_>>(),
        "file": out,
    })
}

fn text(path: &Path, model: &Model, map: Option<&CodeMap>, left: Option<&Path>) -> String {
    let mut out = format!("{}\n", path.display());
    let facts = facts(path, model);
    let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    facts.iter().for_each(|(name, value)| out.push_str(&format!("  {name:<width$}  {value}\n")));
    let explained = model.fit.as_ref().map_or(&[][..], |fit| &fit.explained);
    if !explained.is_empty() {
        out.push_str("\nvariance of each output that rollouts explain\n");
        out.push_str(&explained_table(explained, model.system.d_code()));
        if let Some(words) = usage::warning(explained) {
            out.push_str(&format!("note: {words}\n"));
        }
    }
    if let Some(found) = model.fit.as_ref().and_then(|fit| fit.usage.as_ref()) {
        out.push_str(&format!("\nuse of the code: {}\n{}", usage::sentence(found), usage::table(found)));
    }
    if let Some(map) = map.filter(|map| map.axes.shares.len() > 1) {
        let shares: Vec<String> = map.axes.shares.iter().map(|share| percent(*share)).collect();
        out.push_str(&format!("\nspread of the codes along their principal axes: {}\n", shares.join(", ")));
    }
    if let Some(left) = left {
        let n = model.members.len();
        out.push_str(&format!("\nleft in {}: the codes of {n} members\n", left.display()));
    }
    out
}

fn explained_table(rows: &[Explained], d_code: usize) -> String {
    let alone: Vec<String> = (1..=d_code).map(|d| format!("z{d} alone")).collect();
    let mut head = vec![("output", Align::Left), ("with the code", Align::Right), ("without", Align::Right)];
    head.extend(alone.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = TextTable::new(&head);
    for row in rows {
        let mut cells = vec![row.output.clone(), percent(row.with_code), percent(row.without_code)];
        cells.extend(row.alone.iter().map(|share| percent(*share)));
        table.push(cells);
    }
    table.render()
}
