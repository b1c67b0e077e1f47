//! Single sequences: what a model thinks may come next, and how sure it is.

use super::DhoReport;
use crate::dho::illustration::{Illustration, Interval, SHOWN, Samples};
use mtds_report::chart::{Band, Centre, Draws, Fan, Picture, Range, TruthStroke, Words};
use mtds_report::page::{Block, Figure, Section};

/// The section on single forecasts.
pub(super) fn section(report: &DhoReport<'_>) -> Section {
    let section = Section::new(
        "A new sequence, step by step",
        "A sequence that no model learned from is shown to it up to some step. It infers which member of the \
         family this can be, and goes on from there.",
    );
    let figure = |what: &str, figure: Figure| match figure.pictures.is_empty() {
        true => Block::Text(format!("{what}: not computed yet.")),
        false => Block::Figure(figure),
    };
    section
        .with(figure("Draws after the first steps", sample_figure(report)))
        .with(figure("Forecasts with intervals", predictive_figure(report)))
}

fn sample_figure(report: &DhoReport<'_>) -> Figure {
    let of = |(model, all): &(String, Vec<Illustration>)| {
        all.iter().filter_map(|one| sample_picture(model, one)).collect()
    };
    Figure {
        pictures: report.illustrated.as_ref().map_or(vec![], of),
        caption: "Each thin line is one way in which the model thinks the sequence may go on, after the \
                  shaded steps. Where the lines agree, the model is sure; where they spread, the shaded \
                  steps do not yet tell. The dotted line is what happened: it should look like one of the \
                  draws."
            .into(),
    }
}

fn heading(model: &str, one: &Illustration, seen: usize) -> String {
    format!("{model}, test sequence {} after {seen} steps", one.sequence + 1)
}

fn sample_picture(model: &str, one: &Illustration) -> Option<Picture> {
    let Samples { seen, draws } = one.samples.clone()?;
    let heading = heading(model, one, seen);
    let words = Words::new(&heading, "step t", "").describe(format!("{heading}: draws of what may follow"));
    Some(Draws { words, truth: one.outputs.clone(), seen, draws, y_range: None }.draw())
}

fn predictive_figure(report: &DhoReport<'_>) -> Figure {
    Figure {
        pictures: predictive_pictures(report),
        caption: "Mean forecast and 95\u{a0}% interval for the same sequences from two models. The oracle \
                  knows the distribution that the data come from and computes the exact answer: on average, no \
                  interval can be narrower and still be right. The closer a model's picture is to the \
                  oracle's, the less there is left to learn."
            .into(),
    }
}

/// Sequence by sequence; its pictures have one vertical range, so that widths can be compared.
fn predictive_pictures(report: &DhoReport<'_>) -> Vec<Picture> {
    let model = report.illustrated.iter().map(|(name, all)| (name.as_str(), all));
    let shown: Vec<(&str, &Vec<Illustration>)> = model.chain([("Oracle", &report.exact)]).collect();
    let of_sequence = |i: usize| {
        let fans: Vec<Fan> = shown.iter().filter_map(|(name, all)| fan(name, all.get(i)?)).collect();
        let needed = fans.iter().filter_map(Fan::needed_range);
        let y_range = Range::of(needed.flat_map(|range| [range.low, range.high]));
        fans.into_iter().map(move |fan| Fan { y_range, ..fan }.draw())
    };
    (0..SHOWN).flat_map(of_sequence).collect()
}

fn fan(model: &str, one: &Illustration) -> Option<Fan> {
    let Interval { seen, mean, lower, upper } = one.interval.clone()?;
    let heading = heading(model, one, seen);
    let step = |i: usize| (i + 1) as f64;
    let points: Vec<_> = one.outputs.iter().enumerate().map(|(i, y)| (step(i), *y)).collect();
    let (observed, truth) = points.split_at(seen.min(points.len()));
    Some(Fan {
        words: Words::new(&heading, "step t", "").describe(format!("{heading}: mean and 95 % interval")),
        observed: observed.to_vec(),
        truth: truth.to_vec(),
        times: (0..mean.len()).map(|i| step(seen + i)).collect(),
        bands: vec![Band { level: 0.95, lower, upper }],
        centre: mean,
        centre_is: Centre::Mean,
        truth_stroke: TruthStroke::Dotted,
        y_range: None,
    })
}
