//! Violins: scores of all test sequences, by the number of observations seen.

use crate::dho::{CellKind, Recipe};
use mtds::evaluate::SequenceScore;

use super::DhoReport;
use super::names::{
    ORACLE_COLOUR, POOLED_COLOUR, SINGLE_COLOUR, label, model_name, recipe_colour, shade, shown_sizes,
};
use crate::dho::published::{NLL_REFERENCE_STD, NOISE_STD, gaussian_entropy};
use mtds_report::chart::{Picture, Reference, Spacing, ViolinGroup, Violins, Words};
use mtds_report::page::{Block, Figure};

/// What a violin chart shows.
struct Chart {
    heading: &'static str,
    label: &'static str,
    spacing: Spacing,
    references: Vec<Reference>,
    score: fn(&SequenceScore) -> f64,
}

/// One figure per recipe that has cells; the baselines alone where none has.
pub(super) fn figures(report: &DhoReport<'_>) -> Vec<Block> {
    let has_cells = |recipe: Recipe| {
        let sizes = shown_sizes(report.protocol);
        report.cells.iter().any(|cell| sizes.iter().any(|n| recipe.mtlds(*n) == cell.cell.kind))
    };
    let recipes: Vec<_> =
        report.recipes.iter().copied().enumerate().filter(|(_, recipe)| has_cells(*recipe)).collect();
    if recipes.is_empty() {
        return vec![Block::Figure(figure(report, None))];
    }
    recipes.into_iter().map(|recipe| Block::Figure(figure(report, Some(recipe)))).collect()
}

fn figure(report: &DhoReport<'_>, recipe: Option<(usize, Recipe)>) -> Figure {
    let which = recipe.map_or(String::new(), |(_, recipe)| format!(" MTLDS: {}.", label(recipe)));
    Figure {
        pictures: charts().iter().map(|chart| picture(report, recipe, chart)).collect(),
        caption: format!(
            "Scores of the forecasts of all test sequences after t observations.{which} A violin is wide \
             where many sequences have that score; bars mark the best, the median and the worst; lower is \
             better. RMSE is on a logarithmic axis. The dashed line is what is left when all but the noise \
             is known: no model stays below it on average, though single sequences can, by luck. The \
             dotted line is the paper's reference for NLL, with twice the noise."
        ),
    }
}

fn charts() -> [Chart; 2] {
    let reference = |value: f64, label: &str| Reference { value, label: label.into() };
    [
        Chart {
            heading: "Error of the mean forecast",
            label: "RMSE",
            spacing: Spacing::Log,
            references: vec![reference(NOISE_STD, "the noise itself, s = 0.05")],
            score: |score| score.rmse,
        },
        Chart {
            heading: "Whole forecast",
            label: "NLL, nats per step",
            spacing: Spacing::Linear,
            references: vec![
                reference(gaussian_entropy(NOISE_STD), "the noise itself, s = 0.05"),
                reference(
                    gaussian_entropy(NLL_REFERENCE_STD),
                    "Gaussian entropy for s = 0.1, as in the paper",
                ),
            ],
            score: |score| score.nll,
        },
    ]
}

fn picture(report: &DhoReport<'_>, recipe: Option<(usize, Recipe)>, chart: &Chart) -> Picture {
    let group = |colour: String, kind: CellKind| ViolinGroup {
        label: model_name(&kind),
        colour,
        samples: samples(report, chart.score, &kind),
    };
    let mut groups =
        vec![group(POOLED_COLOUR.into(), CellKind::Pooled), group(SINGLE_COLOUR.into(), CellKind::Single)];
    let sizes = shown_sizes(report.protocol);
    if let Some((index, recipe)) = recipe {
        groups.extend(
            sizes
                .iter()
                .enumerate()
                .map(|(i, n)| group(shade(recipe_colour(index), i, sizes.len()), recipe.mtlds(*n))),
        );
    }
    groups.push(group(ORACLE_COLOUR.into(), CellKind::Oracle));
    Violins {
        words: Words::new(chart.heading, "observations seen, t", chart.label)
            .describe(format!("{} of every model by the number of observations seen", chart.label)),
        clusters: report.protocol.seen.iter().map(|t| t.to_string()).collect(),
        groups,
        references: chart.references.clone(),
        y_spacing: chart.spacing,
    }
    .draw()
}

/// The scores of all sequences of all cells of a kind, one sample per time.
fn samples(report: &DhoReport<'_>, score: fn(&SequenceScore) -> f64, kind: &CellKind) -> Vec<Vec<f64>> {
    let cells = || report.cells.iter().filter(|cell| cell.cell.kind == *kind);
    let at = |k: usize| cells().flat_map(|cell| &cell.scores[k]).map(score).collect();
    (0..report.protocol.seen.len()).map(at).collect()
}
