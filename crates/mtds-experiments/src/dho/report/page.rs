//! The page in order: the family, single forecasts, scores, convergence, checks, how it was made.

use super::convergence::{self, band_name, gap_of};
use super::{DhoReport, checks, data, forecasts, score_tables, scores};
use crate::dho::published::{self, Subject};
use crate::dho::{CellKind, Protocol, Recipe, Scale};
use mtds::evaluate::ScoreRow;
use mtds_report::chart::scale::short_number;
use mtds_report::page::{Block, Page, Section};
use mtds_report::text::seconds;

/// Lays the report out as a page.
pub fn page(report: &DhoReport<'_>) -> Page {
    let n_missing = report.assembly.missing.len();
    let preliminary = match n_missing {
        0 => String::new(),
        1 => " One cell is still missing: numbers are preliminary.".into(),
        n => format!(" {n} cells are still missing: numbers are preliminary."),
    };
    let small = match report.protocol.scale {
        Scale::Quick => " This is a small run for a first look: few repetitions, short learning.",
        Scale::Full => "",
    };
    Page {
        title: "Damped oscillators: the paper's experiment again".into(),
        subtitle: format!(
            "How soon, and how well, does a model adapt to a new member of a family it has learned? Every \
             figure and table of the paper's oscillator sections, made here, beside the published numbers \
             and the best possible answer.{small}{preliminary}"
        ),
        facts: facts(report),
        sections: vec![
            data::section(report),
            forecasts::section(report),
            score_section(report),
            convergence::section(report),
            checks_section(report),
            making(report),
        ],
        colophon: format!("Made by mtds {} reproduce dho.", env!("CARGO_PKG_VERSION")),
    }
}

/// About the last recipe, which is ours, at the largest training size that has rows.
fn facts(report: &DhoReport<'_>) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    if let Some((recipe, n)) = headline(report) {
        let row = |t: usize| report.assembly.row(&recipe.mtlds(n), t).map(|row| (row, t, n));
        let seen = &report.protocol.seen;
        let middle = seen.get(seen.len() / 2).and_then(|t| row(*t));
        let last = seen.last().and_then(|t| row(*t));
        let (error, nll) = (("forecast error (RMSE)", 3), ("negative log likelihood", 2));
        facts.extend(middle.map(|row| score_fact(report, row, error, |row| row.rmse, |[rmse, _]| rmse)));
        facts.extend(last.map(|row| score_fact(report, row, nll, |row| row.nll, |[_, nll]| nll)));
        facts.extend(gap_of(report, recipe, n).map(|gap| {
            let meaning = format!(
                "nats per sequence from the true model, MTLDS\u{2011}{n}: {}",
                band_name(gap.gap.mean)
            );
            (short_number(gap.gap.mean, 2), meaning)
        }));
    }
    let n_cells = report.cells.len();
    let wanted = n_cells + report.assembly.missing.len() - report.assembly.left_out.len().min(n_cells);
    let there = wanted - report.assembly.missing.len().min(wanted);
    facts.push((
        format!("{there}\u{a0}of\u{a0}{wanted}"),
        "cells computed: one model in one repetition each".into(),
    ));
    facts
}

fn headline(report: &DhoReport<'_>) -> Option<(Recipe, usize)> {
    let Protocol { training_sizes, seen, .. } = report.protocol;
    let has_rows = |kind: CellKind| seen.iter().any(|t| report.assembly.row(&kind, *t).is_some());
    let largest =
        |recipe: Recipe| training_sizes.iter().copied().filter(|n| has_rows(recipe.mtlds(*n))).max();
    report.recipes.iter().rev().find_map(|&recipe| Some((recipe, largest(recipe)?)))
}

fn score_fact(
    report: &DhoReport<'_>,
    (row, t, n): (&ScoreRow, usize, usize),
    (meaning, decimals): (&str, usize),
    score: fn(&ScoreRow) -> f64,
    published_score: fn([f64; 2]) -> f64,
) -> (String, String) {
    let oracle = report.assembly.row(&CellKind::Oracle, t);
    let papers = published::row(Subject::Mtlds(n)).and_then(|row| row.at(t)).map(published_score);
    let mut others = Vec::new();
    others.extend(papers.map(|value| format!("paper {}", short_number(value, published::DECIMALS))));
    others.extend(oracle.map(|other| format!("best possible {}", short_number(score(other), decimals))));
    let others = if others.is_empty() { String::new() } else { format!("; {}", others.join(", ")) };
    (short_number(score(row), decimals), format!("{meaning} after {t} steps, MTLDS\u{2011}{n}{others}"))
}

fn score_section(report: &DhoReport<'_>) -> Section {
    let mut section = Section::new(
        "Forecasts of new sequences",
        "Every model is shown the first t steps of the same new sequences and forecasts the rest. Pooled \
         is one system for all sequences; STL learns each new sequence from scratch; the MTLDS has learned \
         from N others what such sequences can be; the oracle knows it.",
    )
    .with(Block::Table(score_tables::against_the_paper(report)));
    for figure in scores::figures(report) {
        section = section.with(figure);
    }
    section
        .with(Block::Table(score_tables::calibration(report)))
        .with(Block::Table(score_tables::left_to_gain(report)))
}

fn checks_section(report: &DhoReport<'_>) -> Section {
    Section::new(
        "What the numbers can carry",
        "Test sequences are few and repetitions fewer: a difference counts only if chance is unlikely to \
         have made it.",
    )
    .with(checks::significance(report))
    .with(checks::findings(report))
}

fn making(report: &DhoReport<'_>) -> Section {
    let mut settings = report.settings.clone();
    settings.extend(report.timings.iter().map(|(stage, secs)| (format!("time: {stage}"), seconds(*secs))));
    let mut section = Section::new(
        "How it was made",
        "The experiment falls into cells, one model in one repetition each, that are kept and can be \
         resumed. All numbers follow from the seed.",
    );
    if !report.commands.is_empty() {
        section = section.with(Block::Commands(report.commands.clone()));
    }
    section = section.with(Block::Settings(settings));
    match checks::missing(report) {
        Some(list) => section.with(Block::Text("Still missing:".into())).with(list),
        None => section,
    }
}
