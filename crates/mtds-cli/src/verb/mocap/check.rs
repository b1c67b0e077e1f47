//! `mtds mocap check`: reads all BVH files below a folder and leaves a page with findings and pictures.

use super::poses::poses;
use super::report::{Findings, Found, stride};
use super::take::{Take, Takes, check_folder, read_all, rules};
use crate::options::Common;
use crate::output::write_whole;
use crate::usage::UsageError;
use anyhow::Result;
use clap::Args;
use mtds_mocap::clip::ClipSettings;
use mtds_mocap::export::Loss;
use mtds_report::page::{Block, Cell, Figure, Group, Heading, Page, Section, Table};
use rayon::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds mocap check walks -o walks.html
      what is in the files below `walks`, what was odd, and what the motions look like
  mtds mocap check walks/old -o old.html --json
      one style alone, findings as JSON too
";

/// What is looked at.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Check {
    /// Folder with BVH files
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Page to write
    #[arg(short, long, value_name = "PAGE")]
    pub out: PathBuf,

    /// Rules of your own for skeletons that are not known, as JSON
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

impl Check {
    /// Checks a folder.
    ///
    /// # Errors
    /// A folder without usable files, a page that cannot be written.
    pub fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        if self.out.is_dir() {
            let problem = format!("expected a file, but `{}` is a directory", self.out.display());
            return Err(UsageError::new("--out", problem, "check.html").into());
        }
        check_folder(&self.folder)?;
        let settings = ClipSettings { rules: rules(self.rules.as_ref())?, ..ClipSettings::default() };
        let takes = read_all(&self.folder, None, &settings)?;
        let findings = Findings::of(&takes);
        takes.say_failures(&self.common);
        let losses = takes.takes.par_iter().map(|take| Ok(Loss::of(&take.clip)?));
        let losses = losses.collect::<Result<Vec<_>>>()?;
        let worst = Loss::worst(&losses);
        let page = page(&self.folder, &takes, &findings, &losses)?;
        write_whole(&self.out, page.render().as_bytes())?;
        let text = || format!("{}\n{}\n{}\n", findings.table(), lost(&worst), self.out.display());
        let document = || {
            json!({
                "verb": "mocap check",
                "version": env!("CARGO_PKG_VERSION"),
                "page": self.out,
                "n_clips": takes.takes.len(),
                "n_unusable": takes.failures.len(),
                "worst_loss": worst,
                "findings": findings,
            })
        };
        self.common.print(stdout, text, document)
    }
}

/// What the worst clip loses, in words.
fn lost(worst: &Loss) -> String {
    format!(
        "in the worst clip features lead back to the world within {:.1e} mm, rotations within {:.2} mm on average",
        worst.features_farthest_mm, worst.rotations_mean_mm
    )
}

/// The page of a folder: what was found, and every clip as a row of poses, by style.
fn page(folder: &Path, takes: &Takes, findings: &Findings, losses: &[Loss]) -> Result<Page> {
    let secs: f64 =
        takes.takes.iter().map(|take| take.clip.track.n_frames() as f64 / take.clip.track.fps).sum();
    let look = findings.traps.values().map(|found| found.n_look).max().unwrap_or(0);
    let mut sections = vec![found(takes, findings, &Loss::worst(losses))];
    let figures = takes.takes.par_iter().zip(losses).map(|(take, loss)| figure(take, loss));
    let figures: Vec<Figure> = figures.collect::<Result<_>>()?;
    let mut styles: BTreeMap<&str, Vec<Figure>> = BTreeMap::new();
    for (take, figure) in takes.takes.iter().zip(figures) {
        styles.entry(&take.style).or_default().push(figure);
    }
    for (style, figures) in styles {
        let what = "Eight moments of every clip that together show a whole stride, each seen from the left of the body; left side blue, right side orange.";
        let section = Section::new(format!("Style: {style}"), what);
        sections
            .push(figures.into_iter().fold(section, |section, figure| section.with(Block::Figure(figure))));
    }
    Ok(Page {
        title: "Motion capture check".into(),
        subtitle: format!("All BVH files below {}.", folder.display()),
        facts: vec![
            (takes.takes.len().to_string(), "clips".into()),
            (format!("{:.1}", secs / 60.0), "minutes".into()),
            (takes.failures.len().to_string(), "files that cannot be used".into()),
            (look.to_string(), "clips to look at".into()),
        ],
        sections,
        colophon: format!("Made by mtds {} with `mtds mocap check`.", env!("CARGO_PKG_VERSION")),
    })
}

/// Traps over all files, and files that cannot be used.
fn found(takes: &Takes, findings: &Findings, worst: &Loss) -> Section {
    let row = |(name, found): (&&'static str, &Found)| {
        let counts = [found.n_files, found.n_look].map(|count| Cell::Number(count as f64));
        let [files, look] = counts;
        vec![Cell::Text(name.to_string()), files, look, Cell::Sentence(found.example())]
    };
    let table = Table {
        caption: "What had to be noticed, in how many files, and in how many of them a person should look."
            .into(),
        columns: ["found", "files", "look", "for example"].map(Heading::names).to_vec(),
        groups: vec![Group { label: String::new(), rows: findings.traps.iter().map(row).collect() }],
    };
    let explanation = "Files differ in how they are written, in units, axes, rates and bodies; each difference is dealt with, and named here.";
    let mut section = Section::new("What was found", explanation).with(Block::Table(table));
    for line in findings.between_files.iter().cloned().chain([lost(worst)]) {
        section = section.with(Block::Text(sentence(&line)));
    }
    for failure in &takes.failures {
        section = section.with(Block::Text(format!("Cannot be used: {}", failure.why)));
    }
    section
}

/// A line of a report as a sentence.
fn sentence(line: &str) -> String {
    let mut letters = line.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(['.']).collect()
}

/// A clip as a picture, with its numbers below.
fn figure(take: &Take, loss: &Loss) -> Result<Figure> {
    let clip = &take.clip;
    let look: Vec<&str> = clip.traps.iter().filter(|trap| trap.look).map(|trap| trap.name).collect();
    let look = if look.is_empty() { String::new() } else { format!(" Look at: {}.", look.join(", ")) };
    let caption = format!(
        "{}: {:.1} s, legs {:.2} m, stride {}, feet slide at {:.1} cm/s, rotations within {:.1} mm of positions.{look}",
        take.id,
        clip.track.n_frames() as f64 / clip.track.fps,
        clip.map.leg_m,
        stride(take),
        100.0 * clip.sliding.mean_speed,
        loss.rotations_mean_mm,
    );
    let picture = poses(&format!("Poses of {}", take.id), &clip.track)?;
    Ok(Figure { pictures: vec![picture], caption })
}
