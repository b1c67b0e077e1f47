//! How close to the true distribution a model comes as it learns from more sequences.
//!
//! ```text
//! difference = log p*(Y) − log p(Y | φ), nats per sequence          0 is the truth itself
//! ```
//!
//! The bands are those of Kass & Raftery (1995), Bayes Factors, JASA 90, whose table has 2 log B.

use crate::dho::{CellKind, EvidenceGap, Recipe};

use super::DhoReport;
use super::names::{label, recipe_colour};
use mtds_report::chart::{BoxGroup, Boxes, Picture, Range, Reference, Words, Zone};
use mtds_report::page::{Better, Block, Cell, Figure, Group, Heading, Section, Table};

/// Upper ends of the bands, in nats, and what they are called.
const BANDS: [(f64, &str); 4] = [
    (1.0, "barely worth mentioning"),
    (3.0, "positive evidence"),
    (5.0, "strong evidence"),
    (f64::INFINITY, "very strong evidence"),
];
/// Upper end of the panel near the truth.
const NEAR: f64 = 8.0;

/// The section on convergence.
pub(super) fn section(report: &DhoReport<'_>) -> Section {
    let section = Section::new(
        "Towards the true model",
        "The more sequences a model has learned from, the closer its idea of the family should come to the \
         distribution that really made them.",
    );
    if learned_gaps(report).next().is_none() {
        return section.with(Block::Text("Evidences against the oracle: not computed yet.".into()));
    }
    let figure = Figure {
        pictures: vec![picture(report, None), picture(report, Some(near_range(report)))],
        caption: "How much less likely whole test sequences are under a model learned from N sequences \
                  than under the truth: 0 is the true model, lower is better. Boxes hold the middle half \
                  of the repetitions, the bar is their median; whiskers go to the most extreme repetition \
                  within 1.5 times the height of the box, circles beyond. On the right the part near the \
                  truth, with the words that Kass & Raftery have for such differences: how strong the \
                  evidence of one whole sequence is, on average, against the model."
            .into(),
    };
    section.with(Block::Figure(figure)).with(Block::Table(table(report)))
}

/// What a difference of so many nats is called.
pub(super) fn band_name(difference: f64) -> &'static str {
    BANDS.iter().find(|(end, _)| difference < *end).map_or("not a number", |(_, name)| name)
}

/// The gap of a recipe at a training size.
pub(super) fn gap_of<'a>(report: &DhoReport<'a>, recipe: Recipe, n: usize) -> Option<&'a EvidenceGap> {
    let (assembly, kind) = (report.assembly, recipe.mtlds(n));
    assembly.evidence_gaps.iter().find(|gap| gap.method == kind)
}

fn learned_gaps<'a>(report: &'a DhoReport<'_>) -> impl Iterator<Item = &'a EvidenceGap> {
    report
        .recipes
        .iter()
        .flat_map(|recipe| report.protocol.training_sizes.iter().filter_map(|n| gap_of(report, *recipe, *n)))
}

/// From a little below the smallest difference, which chance can make negative.
fn near_range(report: &DhoReport<'_>) -> Range {
    let values = learned_gaps(report).flat_map(|gap| gap.by_repetition.iter().copied());
    let lowest = values.filter(|v| v.is_finite()).fold(0.0, f64::min).max(-NEAR);
    Range { low: lowest - 0.5, high: NEAR }
}

/// The full range without one of its own, else with bands.
fn picture(report: &DhoReport<'_>, near: Option<Range>) -> Picture {
    let sizes = &report.protocol.training_sizes;
    let group = |(i, &recipe): (usize, &Recipe)| BoxGroup {
        label: label(recipe).into(),
        colour: recipe_colour(i).into(),
        samples: sizes
            .iter()
            .map(|n| gap_of(report, recipe, *n).map_or(Vec::new(), |gap| gap.by_repetition.clone()))
            .collect(),
    };
    let heading = if near.is_some() { "Near the truth" } else { "Full range" };
    Boxes {
        words: Words::new(heading, "training sequences N", "log p* − log p, nats per sequence")
            .describe(format!("Difference in log evidence to the true model over training sizes: {heading}")),
        clusters: sizes.iter().map(|n| n.to_string()).collect(),
        groups: report.recipes.iter().enumerate().map(group).collect(),
        references: vec![Reference { value: 0.0, label: "the true model".into() }],
        zones: near.map_or(Vec::new(), zones),
        y_range: near,
    }
    .draw()
}

fn zones(shown: Range) -> Vec<Zone> {
    let mut low = shown.low;
    let mut zones = Vec::new();
    for (end, name) in BANDS {
        let high = end.min(shown.high);
        zones.push(Zone { range: Range { low, high }, label: name.into() });
        low = high;
    }
    zones
}

fn table(report: &DhoReport<'_>) -> Table {
    let columns = std::iter::once(Heading::names("Training sequences N"))
        .chain(report.recipes.iter().map(|recipe| Heading::score(label(*recipe), Better::Neither, 2)));
    let row = |n: &usize| {
        let cell = |&recipe: &Recipe| match gap_of(report, recipe, *n) {
            Some(gap) => Cell::Estimate(gap.gap.mean, gap.gap.std_error.unwrap_or(f64::NAN)),
            None => Cell::Number(f64::NAN),
        };
        std::iter::once(Cell::Text(n.to_string())).chain(report.recipes.iter().map(cell)).collect()
    };
    let rows = report.protocol.training_sizes.iter().map(row).collect();
    let pooled = report.assembly.evidence_gaps.iter().find(|gap| gap.method == CellKind::Pooled);
    let aside = pooled
        .map_or(String::new(), |gap| format!(" The pooled model, for comparison: {:.1}.", gap.gap.mean));
    Table {
        caption: format!(
            "Mean of log p* − log p in nats per sequence, ± one standard error over repetitions.{aside}"
        ),
        columns: columns.collect(),
        groups: vec![Group { label: String::new(), rows }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_those_of_kass_and_raftery_halved() {
        assert_eq!(band_name(0.9), "barely worth mentioning");
        assert_eq!(band_name(-2.0), "barely worth mentioning");
        assert_eq!(band_name(4.0), "strong evidence");
        assert_eq!(band_name(1e9), "very strong evidence");
        assert_eq!(band_name(f64::NAN), "not a number");
    }
}
