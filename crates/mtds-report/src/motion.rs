//! Motions: a row of poses as a picture, and what was found in the files of a folder, as a page, a table and a text.

use crate::chart::{Picture, StraightStroke, drawing};
use crate::page::{Block, Cell, Figure, Group, Heading, Page, Section, Table};
use crate::text::{Align, TextTable};
use mtds_mocap::clip::{Clip, Findings, Found, Take, Takes};
use mtds_mocap::export::{Loss, MONTAGE_SIZE, Tone, montage};
use mtds_mocap::{JointTrack, Result};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Draws poses from all over a clip; `label` says what is to be seen.
///
/// # Errors
/// None for a valid track.
pub fn poses(label: &str, track: &JointTrack) -> Result<Picture> {
    let lines = montage(track)?;
    let strokes = lines.iter().map(|line| StraightStroke {
        ends: line.ends,
        colour: colour(line.tone),
        width: line.width,
    });
    Ok(drawing(label, MONTAGE_SIZE, strokes))
}

/// Colours that show on light and dark pages.
fn colour(tone: Tone) -> &'static str {
    match tone {
        Tone::Left => "#2f74d0",
        Tone::Right => "#d66026",
        Tone::Middle => "#85858c",
        Tone::Ground => "#a8a8ae",
    }
}

/// What the worst clip loses, in words.
pub fn lost(worst: &Loss) -> String {
    format!(
        "in the worst clip features lead back to the world within {:.1e} mm, rotations within {:.2} mm on average",
        worst.features_farthest_mm, worst.rotations_mean_mm
    )
}

/// The page of `mtds mocap check` on a folder: what was found, and every clip as a row of poses, by style; `losses` are those of the
/// takes.
///
/// # Errors
/// None for valid tracks.
pub fn page(folder: &str, takes: &Takes, findings: &Findings, losses: &[Loss]) -> Result<Page> {
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
        subtitle: format!("All BVH files below {folder}."),
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
        stride(clip),
        100.0 * clip.sliding.mean_speed,
        loss.rotations_mean_mm,
    );
    let picture = poses(&format!("Poses of {}", take.id), &clip.track)?;
    Ok(Figure { pictures: vec![picture], caption })
}

/// One row per trap, and what only shows between files, for the terminal.
pub fn findings_table(findings: &Findings) -> String {
    let columns =
        [("found", Align::Left), ("files", Align::Right), ("look", Align::Right), ("e.g.", Align::Left)];
    let mut table = TextTable::new(&columns);
    for (name, found) in &findings.traps {
        let row = [name.to_string(), found.n_files.to_string(), found.n_look.to_string(), found.example()];
        table.push(row.to_vec());
    }
    let mut text = table.render();
    findings.between_files.iter().for_each(|line| text += &format!("{line}\n"));
    text
}

/// The report of `mtds mocap prepare`, as Markdown: findings, then file by file.
pub fn report_text(folder: &str, takes: &Takes, findings: &Findings) -> String {
    let mut text = format!("# Motion capture in `{folder}`\n\n");
    let (n_clips, n_out) = (takes.takes.len(), takes.failures.len());
    let _ =
        writeln!(text, "{n_clips} files became clips, {n_out} could not be used. A `!` asks for a look.\n");
    let _ = writeln!(text, "```text\n{}```\n\n## Files", findings_table(findings));
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
            stride(clip),
            clip.sliding.mean_speed
        );
        for trap in &clip.traps {
            let mark = if trap.look { "! " } else { "" };
            let _ = writeln!(text, "- {mark}{}: {}", trap.name, trap.detail);
        }
    }
    text
}

fn stride(clip: &Clip) -> String {
    clip.stride_secs().map_or("unknown".into(), |secs| format!("{secs:.2} s"))
}
