//! `mtds mocap prepare`: all BVH files below a folder become a family, split files, a side file and a report.

use super::manifest::read_splits;
use super::report::{Findings, report_text};
use super::side::{Side, Start, path_beside, path_of_split};
use super::take::{Take, Takes, read_all, rules};
use crate::output::{print, write_whole};
use crate::plan::{Format, PreparePlan, Verbosity};
use anyhow::Result;
use mtds::Family;
use mtds::random::{Stream, stream};
use mtds_data::{Columns, TimeAxis, write_family};
use mtds_mocap::clip::ClipSettings;
use mtds_mocap::features::{self, FeatureSettings, StyleLeak, style_leak};
use mtds_mocap::signal::FPS;
use mtds_report::text::{Align, TextTable, seconds};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Prepares a folder.
///
/// # Errors
/// A folder without usable files, a manifest that cannot be read, a file that cannot be written.
pub fn prepare(plan: &PreparePlan, stdout: &mut dyn Write) -> Result<()> {
    let started = Instant::now();
    let splits = plan.manifest.as_deref().map(read_splits).transpose()?.unwrap_or_default();
    let features = FeatureSettings { trim_secs: plan.trim_secs, ..FeatureSettings::default() };
    let settings = ClipSettings {
        rules: rules(plan.rules.as_ref())?,
        leg_m: plan.leg_m,
        features,
        ..ClipSettings::default()
    };
    let takes = read_all(&plan.folder, &settings)?;
    if plan.common.verbosity != Verbosity::Quiet {
        takes
            .failures
            .iter()
            .for_each(|failure| eprintln!("left out: {}", mtds_data::shown(&failure.why.to_string())));
    }
    let family = family_of(&takes.takes)?;
    let mut written = vec![plan.out.clone()];
    write_with_side(&plan.out, &family, &takes.takes, &splits)?;
    for split in names_of(&splits) {
        written.extend(write_split(plan, &family, &takes.takes, (&split, &splits))?);
    }
    let findings = Findings::of(&takes);
    let report = path_beside(&plan.out, "report.md");
    write_whole(&report, report_text(&plan.folder, &takes, &findings).as_bytes())?;
    written.extend([path_beside(&plan.out, "mocap.json"), report]);
    let leaks = leaks(&family, plan.common.seed);
    let result =
        Prepared { takes, family, findings, splits, written, leaks, secs: started.elapsed().as_secs_f64() };
    print(stdout, &result.said(plan.common.format)?)
}

/// The takes as one family; columns are named so that every verb finds outputs and inputs.
fn family_of(takes: &[Take]) -> Result<Family> {
    let sequences = takes.iter().map(|take| take.clip.features.to_sequence(&take.id, &take.style));
    let family = features::family(sequences.collect::<Result<_, _>>()?)?;
    let named = |letter: char, names: &[String]| -> Vec<String> {
        names.iter().map(|name| format!("{letter}_{name}")).collect()
    };
    let (outputs, inputs) = (named('y', family.output_names()), named('u', family.input_names()));
    Ok(family.with_output_names(outputs)?.with_input_names(inputs)?)
}

fn write_with_side(
    out: &Path,
    family: &Family,
    takes: &[Take],
    splits: &HashMap<String, String>,
) -> Result<()> {
    write_family(out, family, &Columns::of(family), &TimeAxis::counted(family.n_seq()))?;
    let start = |take: &Take| {
        let start = Start {
            file: take.file.clone(),
            split: splits.get(&take.file).cloned(),
            start: take.clip.features.outputs.start,
            leg_m: take.clip.map.leg_m,
        };
        (take.id.clone(), start)
    };
    let is_in = |take: &&Take| family.index_of(&take.id).is_ok();
    Side::new(FPS, takes.iter().filter(is_in).map(start).collect()).write(out)
}

/// Writes the sequences of one split; none where no file of it is there.
fn write_split(
    plan: &PreparePlan,
    family: &Family,
    takes: &[Take],
    (split, splits): (&str, &HashMap<String, String>),
) -> Result<Option<PathBuf>> {
    let is_in = |take: &Take| splits.get(&take.file).is_some_and(|own| own == split);
    let places: Vec<usize> = (0..takes.len()).filter(|&place| is_in(&takes[place])).collect();
    if places.is_empty() {
        return Ok(None);
    }
    let out = path_of_split(&plan.out, split);
    write_with_side(&out, &family.subset(&places)?, takes, splits)?;
    Ok(Some(out))
}

fn names_of(splits: &HashMap<String, String>) -> Vec<String> {
    let names: std::collections::BTreeSet<&String> = splits.values().collect();
    names.into_iter().cloned().collect()
}

/// How well styles are recognised from inputs and from outputs; none where there are too few sequences.
fn leaks(family: &Family, seed: u64) -> Option<[StyleLeak; 2]> {
    let leak = |columns| style_leak(family, columns, &mut stream(seed, Stream::StyleLeak)).ok();
    Some([leak(features::Columns::Inputs)?, leak(features::Columns::Outputs)?])
}

/// All that is told.
struct Prepared {
    takes: Takes,
    family: Family,
    findings: Findings,
    splits: HashMap<String, String>,
    written: Vec<PathBuf>,
    leaks: Option<[StyleLeak; 2]>,
    secs: f64,
}

impl Prepared {
    fn said(&self, format: Format) -> Result<String> {
        match format {
            Format::Text => Ok(self.text()),
            Format::Json => Ok(format!("{}\n", serde_json::to_string_pretty(&self.document())?)),
        }
    }

    /// Clips, frames and frames of each split, by style.
    fn by_style(&self) -> BTreeMap<&str, (usize, usize, BTreeMap<&str, usize>)> {
        let mut styles: BTreeMap<&str, (usize, usize, BTreeMap<&str, usize>)> = BTreeMap::new();
        for take in &self.takes.takes {
            let rows = take.clip.features.inputs.n_time();
            let own = styles.entry(&take.style).or_default();
            (own.0, own.1) = (own.0 + 1, own.1 + rows);
            if let Some(split) = self.splits.get(&take.file) {
                *own.2.entry(split).or_default() += rows;
            }
        }
        styles
    }

    fn text(&self) -> String {
        let splits = names_of(&self.splits);
        let mut columns = vec![("style", Align::Left), ("clips", Align::Right), ("rows", Align::Right)];
        columns.extend(splits.iter().map(|split| (split.as_str(), Align::Right)));
        let mut table = TextTable::new(&columns);
        for (style, (clips, rows, by_split)) in self.by_style() {
            let mut row = vec![style.to_owned(), clips.to_string(), rows.to_string()];
            let count = |split: &String| by_split.get(split.as_str()).copied().unwrap_or(0).to_string();
            row.extend(splits.iter().map(count));
            table.push(row);
        }
        let mut text = table.render();
        if let Some([inputs, outputs]) = &self.leaks {
            text += &format!(
                "\nstyle recognised from inputs alone: {:.2} ± {:.2} (chance {:.2}; from outputs {:.2})\n",
                inputs.score, inputs.standard_error, inputs.chance, outputs.score
            );
        }
        text += &format!("\n{}", self.findings.table());
        let (n_clips, n_out) = (self.takes.takes.len(), self.takes.failures.len());
        text += &format!("\n{n_clips} files prepared, {n_out} left out, in {}\n", seconds(self.secs));
        self.written.iter().for_each(|path| text += &format!("{}\n", path.display()));
        text
    }

    fn document(&self) -> serde_json::Value {
        let clip = |take: &Take| {
            json!({
                "id": take.id, "file": take.file, "style": take.style, "split": self.splits.get(&take.file),
                "rows": take.clip.features.inputs.n_time(), "leg_m": take.clip.map.leg_m,
                "sliding": take.clip.sliding, "signal": take.clip.signal, "traps": take.clip.traps,
            })
        };
        let failed = |failure: &super::take::Failure| json!({"file": failure.file, "why": failure.why});
        json!({
            "verb": "mocap prepare",
            "version": env!("CARGO_PKG_VERSION"),
            "files": self.written,
            "n_seq": self.family.n_seq(),
            "fingerprint": self.family.fingerprint(),
            "secs": self.secs,
            "leak": self.leaks,
            "findings": self.findings,
            "clips": self.takes.takes.iter().map(clip).collect::<Vec<_>>(),
            "left_out": self.takes.failures.iter().map(failed).collect::<Vec<_>>(),
        })
    }
}
