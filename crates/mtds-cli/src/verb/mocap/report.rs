//! What was found in the files of a folder: every trap, in how many files, and file by file.

use super::take::{Take, Takes};
use mtds_report::text::{Align, TextTable};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// Legs that differ by more than this are of different bodies, in metres: files give lengths to a hundredth of that.
const SAME_LEG: f64 = 1e-4;

/// Traps over all files, and those that only show when files are compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Findings {
    /// Name of a trap, and where it was found.
    pub traps: BTreeMap<&'static str, Found>,
    /// What only shows between files.
    pub between_files: Vec<String>,
}

/// Where a trap was found.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(super) struct Found {
    /// Number of files.
    pub n_files: usize,
    /// Number of files at which a person should look.
    pub n_look: usize,
    /// What it says, and in how many files it says so.
    pub details: BTreeMap<String, usize>,
}

impl Findings {
    pub fn of(takes: &Takes) -> Self {
        let mut traps: BTreeMap<&'static str, Found> = BTreeMap::new();
        for take in &takes.takes {
            let names: BTreeSet<&'static str> = take.clip.traps.iter().map(|trap| trap.name).collect();
            names.into_iter().for_each(|name| traps.entry(name).or_default().n_files += 1);
            let look: BTreeSet<_> =
                take.clip.traps.iter().filter(|trap| trap.look).map(|trap| trap.name).collect();
            look.into_iter().for_each(|name| traps.entry(name).or_default().n_look += 1);
            for trap in &take.clip.traps {
                *traps.entry(trap.name).or_default().details.entry(trap.detail.clone()).or_default() += 1;
            }
        }
        Self { traps, between_files: between_files(&takes.takes) }
    }

    /// One row per trap.
    pub fn table(&self) -> String {
        let columns =
            [("found", Align::Left), ("files", Align::Right), ("look", Align::Right), ("e.g.", Align::Left)];
        let mut table = TextTable::new(&columns);
        for (name, found) in &self.traps {
            let row =
                [name.to_string(), found.n_files.to_string(), found.n_look.to_string(), found.example()];
            table.push(row.to_vec());
        }
        let mut text = table.render();
        self.between_files.iter().for_each(|line| text += &format!("{line}\n"));
        text
    }
}

impl Found {
    /// What it says most often.
    pub fn example(&self) -> String {
        let most = self.details.iter().max_by_key(|(_, count)| **count);
        let text = most.map(|(detail, _)| detail.as_str()).unwrap_or_default();
        let others = self.details.len().saturating_sub(1);
        if others == 0 { text.into() } else { format!("{text} (and {others} more)") }
    }
}

/// Bodies of different sizes, and styles that come from several rigs.
fn between_files(takes: &[Take]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut legs: Vec<f64> = takes.iter().map(|take| take.clip.map.leg_m).collect();
    legs.sort_by(f64::total_cmp);
    legs.dedup_by(|a, b| (*a - *b).abs() < SAME_LEG);
    if let [first, .., last] = legs[..] {
        lines.push(format!(
            "bodies differ: {} lengths of legs from {first:.3} to {last:.3} m; `mtds mocap prepare --legs METRES` makes \
             them one",
            legs.len()
        ));
    }
    let mut rigs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    takes.iter().for_each(|take| {
        rigs.entry(&take.style).or_default().insert(&take.clip.map.rig.rig);
    });
    for (style, rigs) in rigs.iter().filter(|(_, rigs)| rigs.len() > 1) {
        let rigs = rigs.iter().copied().collect::<Vec<_>>().join(", ");
        lines.push(format!("style `{style}` mixes rigs ({rigs}): one word may mean different things"));
    }
    lines
}

/// The report file: findings, then file by file.
pub(super) fn report_text(folder: &Path, takes: &Takes, findings: &Findings) -> String {
    let mut text = format!("# Motion capture in `{}`\n\n", folder.display());
    let (n_clips, n_out) = (takes.takes.len(), takes.failures.len());
    let _ =
        writeln!(text, "{n_clips} files became clips, {n_out} could not be used. A `!` asks for a look.\n");
    let _ = writeln!(text, "```text\n{}```\n\n## Files", findings.table());
    for failure in &takes.failures {
        let _ = writeln!(text, "\n### {}\n\n- ! unusable: {}", failure.file, failure.why);
    }
    for take in &takes.takes {
        let clip = &take.clip;
        let _ = writeln!(text, "\n### {}\n", take.file);
        let _ = writeln!(
            text,
            "- `{}`, style `{}`: {} frames in, {} out; stride {}; feet slide at {:.3} m/s",
            take.id,
            take.style,
            clip.signal.n_frames_in,
            clip.signal.n_frames_out,
            stride(take),
            clip.sliding.mean_speed
        );
        for trap in &clip.traps {
            let mark = if trap.look { "! " } else { "" };
            let _ = writeln!(text, "- {mark}{}: {}", trap.name, trap.detail);
        }
    }
    text
}

/// Time of a stride, where there is a gait.
pub(super) fn stride(take: &Take) -> String {
    let frames = take.clip.features.phase.stride_frames;
    frames.map_or("unknown".into(), |frames| format!("{:.2} s", frames / take.clip.track.fps))
}
