//! What the numbers can carry: tests of significance, models better than the oracle, what is missing.

use std::collections::BTreeMap;

use crate::dho::compare::{Score, Unit};
use crate::dho::{CellKind, Comparison, Finding, Recipe};

use super::DhoReport;
use super::names::{full_name, label, model_name, shown_sizes};
use crate::dho::published::{self, Subject};
use mtds_report::chart::scale::short_number;
use mtds_report::page::{Better, Block, Cell, Group, Heading, Table};

/// Level of the tests, the paper's.
const LEVEL: f64 = 0.05;
/// Fewest repetitions with which the U-test can reach it: of n against n, no p-value is below 2 / (2n choose n).
const FEWEST_REPETITIONS: usize = 4;

/// Welch's and the Mann–Whitney test for every MTLDS against both baselines.
pub(super) fn significance(report: &DhoReport<'_>) -> Block {
    if report.assembly.comparisons.is_empty() {
        return Block::Text("Tests of significance: none yet, they need an MTLDS and a baseline.".into());
    }
    let against = [(CellKind::Pooled, Subject::Pooled), (CellKind::Single, Subject::Single)];
    let groups = against.iter().flat_map(|(baseline, subject)| {
        report.recipes.iter().map(move |recipe| significance_group(report, *recipe, baseline, *subject))
    });
    Block::Table(Table {
        caption: format!(
            "Is an MTLDS better than a baseline, or was it luck? Difference in RMSE (below 0: the MTLDS is \
             better) and two-sided p-values of Welch's t-test and the Mann–Whitney U-test: over \
             repetitions, which are independent, and over single sequences (seq.), of which there are \
             more. The verdict is better or worse where both tests over repetitions have p < {LEVEL}, which \
             takes at least {FEWEST_REPETITIONS} of them; beside it, what the paper found."
        ),
        columns: significance_columns(),
        groups: groups.filter(|group| !group.rows.is_empty()).collect(),
    })
}

fn significance_columns() -> Vec<Heading> {
    let number = |heading: &str| Heading::score(heading, Better::Neither, 3);
    let mut columns = vec![Heading::names(""), Heading::names("t"), number("difference")];
    columns
        .extend(["Welch", "U-test", "Welch, seq.", "U-test, seq.", "verdict", "paper"].map(Heading::names));
    columns
}

fn significance_group(
    report: &DhoReport<'_>,
    recipe: Recipe,
    baseline: &CellKind,
    subject: Subject,
) -> Group {
    let shown: Vec<CellKind> = shown_sizes(report.protocol).into_iter().map(|n| recipe.mtlds(n)).collect();
    let is_shown =
        |c: &&Comparison| c.against == *baseline && c.unit == Unit::Repetition && shown.contains(&c.method);
    let rows = report.assembly.comparisons.iter().filter(is_shown);
    Group {
        label: format!("{}, against {}", label(recipe), model_name(baseline)),
        rows: rows.map(|comparison| significance_cells(report, comparison, subject)).collect(),
    }
}

fn significance_cells(report: &DhoReport<'_>, comparison: &Comparison, subject: Subject) -> Vec<Cell> {
    let is_twin = |c: &&Comparison| {
        c.unit == Unit::Sequence
            && (&c.method, &c.against, c.seen) == (&comparison.method, &comparison.against, comparison.seen)
    };
    let by_sequence = report.assembly.comparisons.iter().find(is_twin);
    let welch = |c: Option<&Comparison>| p_value(c.and_then(|c| c.welch).map(|test| test.p_value));
    let mann_whitney =
        |c: Option<&Comparison>| p_value(c.and_then(|c| c.mann_whitney).map(|test| test.p_value));
    let n = comparison.method.n(report.protocol);
    let papers = n.and_then(|n| published::is_better(n, comparison.seen, subject));
    let papers = papers.map_or("–", |is_better| if is_better { "better" } else { "cannot tell" });
    vec![
        Cell::Text(model_name(&comparison.method)),
        Cell::Words(comparison.seen.to_string()),
        Cell::Number(comparison.difference),
        welch(Some(comparison)),
        mann_whitney(Some(comparison)),
        welch(by_sequence),
        mann_whitney(by_sequence),
        Cell::Words(verdict(comparison, report.protocol.repetitions).into()),
        Cell::Words(papers.into()),
    ]
}

fn p_value(p: Option<f64>) -> Cell {
    match p {
        Some(p) if p < 0.0001 => Cell::Words("< 0.0001".into()),
        Some(p) => Cell::Rounded(p, 4),
        None => Cell::Number(f64::NAN),
    }
}

/// What both tests together say.
fn verdict(comparison: &Comparison, repetitions: usize) -> &'static str {
    if repetitions < FEWEST_REPETITIONS {
        return "too few runs";
    }
    let p_values =
        [comparison.welch.map(|test| test.p_value), comparison.mann_whitney.map(|test| test.p_value)];
    let [Some(welch), Some(mann_whitney)] = p_values else { return "not tested" };
    match welch < LEVEL && mann_whitney < LEVEL {
        true if comparison.difference < 0.0 => "better",
        true => "worse",
        false => "cannot tell",
    }
}

/// Models that were better than the oracle, which none can be but by chance.
pub(super) fn findings(report: &DhoReport<'_>) -> Block {
    if report.assembly.oracle_gaps.is_empty() {
        return Block::Text("Nothing to compare with the oracle yet.".into());
    }
    if report.assembly.findings.is_empty() {
        let text =
            "No model was better than the oracle beyond the oracle's own Monte-Carlo error, as it must be.";
        return Block::Text(text.into());
    }
    Block::Table(Table {
        caption: "Models that were better than the oracle beyond three of its Monte-Carlo standard errors. \
                  On few sequences chance can do that to a model that is close: compare the excess with \
                  its standard error over sequences. Far beyond it, something is wrong with one of the \
                  two."
            .into(),
        columns: vec![
            Heading::names("Model"),
            Heading::names("score"),
            Heading::names("t"),
            Heading::score("excess", Better::Neither, 4),
            Heading::score("Monte-Carlo error", Better::Neither, 4),
            Heading::score("excess in standard errors", Better::Neither, 1),
        ],
        groups: vec![Group {
            label: String::new(),
            rows: report.assembly.findings.iter().map(finding_cells).collect(),
        }],
    })
}

fn finding_cells(finding: &Finding) -> Vec<Cell> {
    let score = match finding.score {
        Score::Rmse => "RMSE",
        Score::Nll => "NLL",
        Score::LogEvidence => "negative log evidence",
    };
    vec![
        Cell::Text(full_name(&finding.method)),
        Cell::Words(score.into()),
        Cell::Words(finding.seen.map_or("all".into(), |t| t.to_string())),
        Cell::Estimate(finding.excess, finding.sampling_se.unwrap_or(f64::NAN)),
        Cell::Number(finding.monte_carlo_se),
        Cell::Number(finding.sampling_se.map_or(f64::NAN, |se| finding.excess / se)),
    ]
}

/// Cells without which the tables are not whole, one line per model; nothing where all are there.
pub(super) fn missing(report: &DhoReport<'_>) -> Option<Block> {
    let mut by_kind: BTreeMap<&CellKind, Vec<usize>> = BTreeMap::new();
    for id in &report.assembly.missing {
        by_kind.entry(&id.kind).or_default().push(id.repetition + 1);
    }
    let line = |(kind, repetitions): (&CellKind, Vec<usize>)| {
        let which = if repetitions.len() == report.protocol.repetitions {
            "all repetitions".into()
        } else {
            let list: Vec<String> = repetitions.iter().map(|r| short_number(*r as f64, 0)).collect();
            format!("repetition {}", list.join(", "))
        };
        (full_name(kind), which)
    };
    (!by_kind.is_empty()).then(|| Block::Settings(by_kind.into_iter().map(line).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{MannWhitney, NullDistribution, Welch};

    fn comparison(difference: f64, p: Option<(f64, f64)>) -> Comparison {
        Comparison {
            method: Recipe::Paper.mtlds(4),
            against: CellKind::Pooled,
            seen: 10,
            unit: Unit::Repetition,
            difference,
            welch: p.map(|p| Welch { statistic: 0.0, degrees_of_freedom: 9.0, p_value: p.0 }),
            mann_whitney: p.map(|p| MannWhitney {
                statistic: 0.0,
                p_value: p.1,
                null: NullDistribution::Exact,
            }),
        }
    }

    #[test]
    fn a_verdict_needs_both_tests() {
        assert_eq!(verdict(&comparison(-0.1, Some((0.01, 0.04))), 10), "better");
        assert_eq!(verdict(&comparison(0.1, Some((0.01, 0.04))), 10), "worse");
        assert_eq!(verdict(&comparison(-0.1, Some((0.01, 0.06))), 10), "cannot tell");
        assert_eq!(verdict(&comparison(-0.1, Some((f64::NAN, 0.01))), 10), "cannot tell");
        assert_eq!(verdict(&comparison(-0.1, None), 10), "not tested");
        assert_eq!(verdict(&comparison(-0.1, Some((0.01, 1.0 / 3.0))), 2), "too few runs");
    }
}
