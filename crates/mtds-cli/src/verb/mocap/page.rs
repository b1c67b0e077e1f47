//! The page of `mtds mocap check`: what was found, and every clip as a row of poses, by style.

use super::loss::Loss;
use super::report::{Findings, stride};
use super::take::{Take, Takes};
use anyhow::Result;
use mtds_mocap::export::{Line, MONTAGE_SIZE, Tone, montage};
use mtds_report::chart::Picture;
use mtds_report::markup::{Element, number};
use mtds_report::page::{Block, Cell, Column, Figure, Group, Page, Section, Table};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// The page of a folder.
///
/// # Errors
/// None for clips as they were read.
pub(super) fn page(folder: &Path, takes: &Takes, findings: &Findings, losses: &[Loss]) -> Result<Page> {
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
    let row = |(name, found): (&&'static str, &super::report::Found)| {
        let counts = [found.n_files, found.n_look].map(|count| Cell::Number(count as f64));
        let [files, look] = counts;
        vec![Cell::Text(name.to_string()), files, look, Cell::Sentence(found.example())]
    };
    let table = Table {
        caption: "What had to be noticed, in how many files, and in how many of them a person should look."
            .into(),
        columns: ["found", "files", "look", "for example"].map(Column::names).to_vec(),
        groups: vec![Group { label: String::new(), rows: findings.traps.iter().map(row).collect() }],
    };
    let explanation = "Files differ in how they are written, in units, axes, rates and bodies; each difference is dealt with, and named here.";
    let mut section = Section::new("What was found", explanation).with(Block::Table(table));
    for line in findings.between_files.iter().cloned().chain([worst.said()]) {
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
    Ok(Figure { pictures: vec![drawn(&montage(&clip.track)?, &take.id)], caption })
}

/// Lines as SVG, those of one width and tone together.
fn drawn(lines: &[Line], name: &str) -> Picture {
    let mut groups: Vec<(Tone, f64, String)> = Vec::new();
    for line in lines {
        let [[x1, y1], [x2, y2]] = line.ends.map(|end| end.map(number));
        let piece = format!("M{x1} {y1}L{x2} {y2}");
        match groups.iter_mut().find(|(tone, width, _)| *tone == line.tone && *width == line.width) {
            Some((_, _, path)) => path.push_str(&piece),
            None => groups.push((line.tone, line.width, piece)),
        }
    }
    let path = |(tone, width, path): (Tone, f64, String)| {
        let stroke = Element::new("path").set("d", path).set("fill", "none").set("stroke", colour(tone));
        stroke.set_number("stroke-width", width).set("stroke-linecap", "round")
    };
    let [width, height] = MONTAGE_SIZE.map(number);
    let svg = Element::new("svg")
        .set("viewBox", format!("0 0 {width} {height}"))
        .set("role", "img")
        .set("aria-label", format!("Poses of {name}"))
        .children(groups.into_iter().map(path));
    Picture { svg, keys: Vec::new() }
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
