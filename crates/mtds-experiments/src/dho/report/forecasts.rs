//! Single sequences: what a model thinks may come next, and how sure it is.

use super::{DhoReport, PredictivePanel, SamplePanel};
use mtds_report::chart::{Band, Centre, Draws, Fan, Picture, Range, TruthStroke, Words};
use mtds_report::page::{Block, Figure, Section};

/// The section on single forecasts.
pub(super) fn section(report: &DhoReport<'_>) -> Section {
    let section = Section::new(
        "A new sequence, step by step",
        "A sequence that no model learned from is shown to it up to some step. It infers which member of the \
         family this can be, and goes on from there.",
    );
    let section = match report.samples.is_empty() {
        true => section.with(Block::Text("Draws after the first steps: not computed yet.".into())),
        false => section.with(Block::Figure(sample_figure(report))),
    };
    match report.predictives.is_empty() {
        true => section.with(Block::Text("Forecasts with intervals: not computed yet.".into())),
        false => section.with(Block::Figure(predictive_figure(report))),
    }
}

fn sample_figure(report: &DhoReport<'_>) -> Figure {
    Figure {
        pictures: report.samples.iter().map(sample_picture).collect(),
        caption: "Each thin line is one way in which the model thinks the sequence may go on, after the \
                  shaded steps. Where the lines agree, the model is sure; where they spread, the shaded \
                  steps do not yet tell. The dotted line is what happened: it should look like one of the \
                  draws."
            .into(),
    }
}

fn sample_picture(panel: &SamplePanel) -> Picture {
    let heading = format!("{}, {} after {} steps", panel.model, panel.member, panel.seen);
    Draws {
        words: Words::new(&heading, "step t", "").describe(format!("{heading}: draws of what may follow")),
        truth: panel.outputs.clone(),
        seen: panel.seen,
        draws: panel.draws.clone(),
        y_range: None,
    }
    .draw()
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

/// Pictures of one sequence have one vertical range, so that widths can be compared.
fn predictive_pictures(report: &DhoReport<'_>) -> Vec<Picture> {
    let fans: Vec<(&str, Fan)> = report.predictives.iter().map(|p| (p.member.as_str(), fan(p))).collect();
    let shared = |member: &str| {
        let same = fans.iter().filter(|(other, _)| *other == member);
        Range::of(same.filter_map(|(_, fan)| fan.needed_range()).flat_map(|r| [r.low, r.high]))
    };
    fans.iter().map(|(member, fan)| Fan { y_range: shared(member), ..fan.clone() }.draw()).collect()
}

fn fan(panel: &PredictivePanel) -> Fan {
    let heading = format!("{}, {} after {} steps", panel.model, panel.member, panel.seen);
    let step = |i: usize| (i + 1) as f64;
    let points: Vec<_> = panel.outputs.iter().enumerate().map(|(i, y)| (step(i), *y)).collect();
    let (observed, truth) = points.split_at(panel.seen.min(points.len()));
    Fan {
        words: Words::new(&heading, "step t", "").describe(format!("{heading}: mean and 95 % interval")),
        observed: observed.to_vec(),
        truth: truth.to_vec(),
        times: (0..panel.mean.len()).map(|i| step(panel.seen + i)).collect(),
        bands: vec![Band { level: 0.95, lower: panel.lower.clone(), upper: panel.upper.clone() }],
        centre: panel.mean.clone(),
        centre_is: Centre::Mean,
        truth_stroke: TruthStroke::Dotted,
        y_range: None,
    }
}
