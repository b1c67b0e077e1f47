//! `mtds mocap prepare`: all BVH files below a folder become a family, split files, a side file and a report.

use super::manifest::{files_of, read_column, usual_manifest};
use super::side::{Side, SideClip, path_beside, path_of_split};
use super::take::{check_folder, read_all, rules, say_failures};
use crate::options::Common;
use crate::output::write_whole;
use crate::usage::{family_file, within};
use anyhow::{Context, Result};
use clap::Args;
use mtds::Family;
use mtds::random::{Stream, stream};
use mtds_data::{Columns, TimeAxis, write_family};
use mtds_mocap::clip::{ClipSettings, Failure, Findings, Take, Takes};
use mtds_mocap::features::{self, FeatureSettings, Features, StyleLeak, style_leak};
use mtds_mocap::signal::FPS;
use mtds_report::motion::{findings_table, report_text};
use mtds_report::text::{Align, TextTable, seconds};
use serde_json::json;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds mocap prepare walks -o walks.parquet
      all BVH files below the folder `walks` as one family; the folder of a file is its style
  mtds mocap prepare walks -o same-size.csv.gz --legs 0.85 --no-mirror
      bodies scaled to legs of 85 cm, clips alone, as compressed text
";

/// Which files, and what is done to them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Prepare {
    /// Folder with BVH files, in folders named by style
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// File to write; its ending says the format
    #[arg(short, long, value_name = "FAMILY", value_parser = family_file())]
    pub out: PathBuf,

    /// Table with columns `file` and `split`: each split is written to a file of its own too [default: manifest.csv in
    /// the folder, if there is one]
    #[arg(long, value_name = "FILE")]
    pub manifest: Option<PathBuf>,

    /// Files of these datasets alone, by the column `dataset` of that table
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub dataset: Vec<String>,

    /// Scale bodies so that legs have this length
    #[arg(long, value_name = "METRES", value_parser = within(0.1..=10.0, "metres from 0.1 to 10", "0.85"))]
    pub legs: Option<f64>,

    /// Cut this much from both ends of every clip, where people start and stop
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    #[arg(value_parser = within(0.0..=3600.0, "seconds from 0 to 3600", "0.5"))]
    pub trim: f64,

    /// Leave out mirror images, which are added as clips `NAME~mirrored` to what is learned from: all clips, or those of the split
    /// `train`
    #[arg(long)]
    pub no_mirror: bool,

    /// Keep the 12 inputs that say where north is, as the paper has them
    #[arg(long)]
    pub heading: bool,

    /// Rules of your own for skeletons that are not known, as JSON
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

impl Prepare {
    /// Prepares a folder.
    ///
    /// # Errors
    /// A folder without usable files, a manifest that cannot be read, a file that cannot be written.
    pub fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        check_folder(&self.folder)?;
        let started = Instant::now();
        let manifest = self.manifest.clone().or_else(|| usual_manifest(&self.folder));
        let split = |path: &Path| read_column(path, "split");
        let splits = manifest.as_deref().map(split).transpose()?.unwrap_or_default();
        let settings = ClipSettings {
            rules: rules(self.rules.as_ref())?,
            leg_m: self.legs,
            features: FeatureSettings { trim_secs: self.trim, ..FeatureSettings::default() },
            ..ClipSettings::default()
        };
        let chosen = files_of(manifest.as_deref(), &self.dataset)?;
        let takes = read_all(&self.folder, chosen.as_ref(), &settings)?;
        say_failures(&takes, &self.common);
        let is_learned = |take: &Take| splits.get(&take.file).is_none_or(|split| split == "train");
        let mirrored = takes.takes.iter().filter(|take| !self.no_mirror && is_learned(take));
        let mirrored = mirrored.map(|take| Sample::mirrored(take, &settings)).collect::<Result<Vec<_>>>()?;
        let samples: Vec<Sample> = takes.takes.iter().map(Sample::of).chain(mirrored).collect();
        let family = family_of(&samples, self.heading)?;
        let mut written = vec![self.out.clone()];
        write_with_side(&self.out, &family, &samples, &splits)?;
        for split in names_of(&splits) {
            written.extend(write_split(&self.out, &family, &samples, (&split, &splits))?);
        }
        let n_mirrored = samples.len() - takes.takes.len();
        let findings = Findings::of(&takes);
        let report = path_beside(&self.out, "report.md");
        write_whole(&report, report_text(&self.folder.display().to_string(), &takes, &findings).as_bytes())?;
        written.extend([path_beside(&self.out, "mocap.json"), report]);
        // Mirror images would tell a classifier what is held out.
        let originals = family.subset(&(0..takes.takes.len()).collect::<Vec<_>>())?;
        let leaks = leaks(&originals, self.common.seed());
        let secs = started.elapsed().as_secs_f64();
        drop(samples);
        let prepared = Prepared { takes, n_mirrored, family, findings, splits, written, leaks, secs };
        self.common.print(stdout, || prepared.text(), || prepared.document())
    }
}

/// A sequence of the family: a take, or its mirror image.
struct Sample<'a> {
    take: &'a Take,
    id: String,
    features: Cow<'a, Features>,
}

impl<'a> Sample<'a> {
    fn of(take: &'a Take) -> Self {
        Self { take, id: take.id.clone(), features: Cow::Borrowed(&take.clip.features) }
    }

    fn mirrored(take: &'a Take, settings: &ClipSettings) -> Result<Self> {
        let features = take.clip.mirrored(settings).with_context(|| take.file.clone())?;
        Ok(Self { take, id: format!("{}~mirrored", take.id), features: Cow::Owned(features) })
    }
}

/// The samples as one family; columns are named so that every verb finds outputs and inputs.
fn family_of(samples: &[Sample], heading: bool) -> Result<Family> {
    let sequences = samples.iter().map(|sample| sample.features.to_sequence(&sample.id, &sample.take.style));
    let family = features::family(sequences.collect::<Result<_, _>>()?)?;
    let family = if heading { family } else { features::without_heading(&family)? };
    let named = |letter: char, names: &[String]| -> Vec<String> {
        names.iter().map(|name| format!("{letter}_{name}")).collect()
    };
    let (outputs, inputs) = (named('y', family.output_names()), named('u', family.input_names()));
    Ok(family.with_output_names(outputs)?.with_input_names(inputs)?)
}

fn write_with_side(
    out: &Path,
    family: &Family,
    samples: &[Sample],
    splits: &HashMap<String, String>,
) -> Result<()> {
    write_family(out, family, &Columns::of(family), &TimeAxis::counted(family.n_seq()))?;
    let start = |sample: &Sample| {
        let start = SideClip {
            file: sample.take.file.clone(),
            split: splits.get(&sample.take.file).cloned(),
            start: sample.features.outputs.start,
            leg_m: sample.take.clip.map.leg_m,
        };
        (sample.id.clone(), start)
    };
    let is_in = |sample: &&Sample| family.index_of(&sample.id).is_ok();
    Side::new(FPS, samples.iter().filter(is_in).map(start).collect()).write(out)
}

/// Writes the sequences of one split; none where no file of it is there.
fn write_split(
    whole: &Path,
    family: &Family,
    samples: &[Sample],
    (split, splits): (&str, &HashMap<String, String>),
) -> Result<Option<PathBuf>> {
    let is_in = |sample: &Sample| splits.get(&sample.take.file).is_some_and(|own| own == split);
    let places: Vec<usize> = (0..samples.len()).filter(|&place| is_in(&samples[place])).collect();
    if places.is_empty() {
        return Ok(None);
    }
    let out = path_of_split(whole, split);
    write_with_side(&out, &family.subset(&places)?, samples, splits)?;
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
    n_mirrored: usize,
    family: Family,
    findings: Findings,
    splits: HashMap<String, String>,
    written: Vec<PathBuf>,
    leaks: Option<[StyleLeak; 2]>,
    secs: f64,
}

impl Prepared {
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
        text += &format!("\n{}", findings_table(&self.findings));
        let (n_clips, n_out) = (self.takes.takes.len(), self.takes.failures.len());
        text += &format!("\n{n_clips} files prepared, {n_out} left out, in {}", seconds(self.secs));
        text += &match self.n_mirrored {
            0 => "\n".to_owned(),
            n => format!("; {n} mirror images beside them\n"),
        };
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
        let failed = |failure: &Failure| json!({"file": failure.file, "why": failure.why});
        json!({
            "verb": "mocap prepare",
            "version": env!("CARGO_PKG_VERSION"),
            "files": self.written,
            "n_seq": self.family.n_seq(),
            "n_mirrored": self.n_mirrored,
            "fingerprint": self.family.fingerprint(),
            "secs": self.secs,
            "leak": self.leaks,
            "findings": self.findings,
            "clips": self.takes.takes.iter().map(clip).collect::<Vec<_>>(),
            "left_out": self.takes.failures.iter().map(failed).collect::<Vec<_>>(),
        })
    }
}
