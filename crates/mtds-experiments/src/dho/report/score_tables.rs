//! Tables of scores: the paper's numbers beside ours and the oracle's, calibration, and what is left to gain.

use crate::dho::{OracleGap, Row};

use super::DhoReport;
use super::names::{full_name, shown_sizes, subject_name};
use crate::dho::published::{self, SOURCE, Subject};
use mtds_report::page::{Better, Cell, Column, Group, Table};

/// RMSE and NLL: published, made here by every recipe, and exact.
pub(super) fn against_the_paper(report: &DhoReport<'_>) -> Table {
    let sizes = shown_sizes(report.protocol);
    let subjects =
        [Subject::Pooled, Subject::Single].into_iter().chain(sizes.into_iter().map(Subject::Mtlds));
    let mut groups: Vec<Group> = subjects.map(|subject| subject_group(report, subject)).collect();
    let oracle = score_cells(report, "exact, computed here", |t| row(report, "oracle", None, t));
    groups.push(Group { label: "Oracle".into(), rows: vec![oracle] });
    Table {
        caption: format!(
            "Error (RMSE) and negative log likelihood (NLL, nats per step) of forecasts after t \
             observations; lower is better, the best of each group in bold. Numbers made here are means \
             over repetitions, ± one standard error; a dash is not computed yet. Published: {SOURCE}, \
             where no errors are given. No model can be better than the oracle, save by chance."
        ),
        columns: score_columns(report, 3, 2),
        groups,
    }
}

fn subject_group(report: &DhoReport<'_>, subject: Subject) -> Group {
    let mut rows = Vec::new();
    if let Some(published) = published::row(subject) {
        rows.push(published_cells(report, &published));
    }
    match subject {
        Subject::Pooled => rows.push(score_cells(report, "here", |t| row(report, "pooled", None, t))),
        Subject::Single => rows.push(score_cells(report, "here", |t| row(report, "single", None, t))),
        Subject::Mtlds(n) => rows.extend(report.recipes.iter().map(|recipe| {
            let label = format!("here, {}", recipe.label);
            score_cells(report, &label, |t| row(report, &recipe.model(), Some(n), t))
        })),
    }
    Group { label: subject_name(subject, report.protocol), rows }
}

fn score_columns(report: &DhoReport<'_>, rmse_decimals: usize, nll_decimals: usize) -> Vec<Column> {
    let seen = || report.protocol.seen.iter();
    let rmse = seen().map(|t| Column::score(format!("RMSE, t = {t}"), Better::Lower, rmse_decimals));
    let nll = seen().map(|t| Column::score(format!("NLL, t = {t}"), Better::Lower, nll_decimals));
    std::iter::once(Column::names("Model")).chain(rmse).chain(nll).collect()
}

/// The row of a model after `t` observations; without `n`, whatever it learned from.
fn row<'a>(report: &DhoReport<'a>, model: &str, n: Option<usize>, t: usize) -> Option<&'a Row> {
    let is_it = |row: &&Row| row.model == model && row.t == t && (n.is_none() || row.n == n);
    let assembly = report.assembly;
    assembly.rows.iter().find(is_it)
}

fn score_cells<'a>(report: &DhoReport<'_>, label: &str, row: impl Fn(usize) -> Option<&'a Row>) -> Vec<Cell> {
    let of = |score: fn(&Row) -> (f64, Option<f64>)| {
        report.protocol.seen.iter().map(|t| estimate(row(*t).map(score))).collect::<Vec<_>>()
    };
    let mut cells = vec![Cell::Text(label.into())];
    cells.extend(of(|row| (row.rmse, row.rmse_se)));
    cells.extend(of(|row| (row.nll, row.nll_se)));
    cells
}

fn estimate(value: Option<(f64, Option<f64>)>) -> Cell {
    match value {
        Some((mean, std_error)) => Cell::Estimate(mean, std_error.unwrap_or(f64::NAN)),
        None => Cell::Number(f64::NAN),
    }
}

fn published_cells(report: &DhoReport<'_>, row: &published::PublishedRow) -> Vec<Cell> {
    let at = |values: [f64; 3], t: &usize| {
        let column = published::TIMES.iter().position(|time| time == t);
        column.map_or(Cell::Number(f64::NAN), |i| Cell::Rounded(values[i], published::DECIMALS))
    };
    let seen = || report.protocol.seen.iter();
    let rmse = seen().map(|t| at(row.rmse, t));
    let nll = seen().map(|t| at(row.nll, t));
    std::iter::once(Cell::Text("published".into())).chain(rmse).chain(nll).collect()
}

/// Whether intervals hold, and CRPS.
pub(super) fn calibration(report: &DhoReport<'_>) -> Table {
    let sizes = shown_sizes(report.protocol);
    let is_shown = |row: &&Row| row.n.is_none_or(|n| !row.model.starts_with("mtlds-") || sizes.contains(&n));
    let group = |label: String, t: usize, is_in: &dyn Fn(&&Row) -> bool| Group {
        label,
        rows: report
            .assembly
            .rows
            .iter()
            .filter(|row| row.t == t && is_shown(row) && is_in(row))
            .map(|row| calibration_cells(report, row))
            .collect(),
    };
    // The oracle is what others are compared with: apart from the comparison between them.
    let groups = report.protocol.seen.iter().flat_map(|t| {
        let label = format!("after {t} observations");
        [
            group(label, *t, &|row| row.model != "oracle"),
            group(String::new(), *t, &|row| row.model == "oracle"),
        ]
    });
    Table {
        caption: "Whether the intervals hold: per cent of true values inside the central 50, 80 and \
                  95\u{a0}% intervals, nearest is best (too few inside: too sure of itself; too many: too \
                  cautious). CRPS scores the whole forecast in the units of the data, lower is better. The \
                  paper has none of these. The best learned model in bold."
            .into(),
        columns: vec![
            Column::names("Model"),
            Column::score("in 50\u{a0}%", Better::Near(50.0), 1),
            Column::score("in 80\u{a0}%", Better::Near(80.0), 1),
            Column::score("in 95\u{a0}%", Better::Near(95.0), 1),
            Column::score("CRPS", Better::Lower, 4),
        ],
        groups: groups.filter(|group| !group.rows.is_empty()).collect(),
    }
}

fn calibration_cells(report: &DhoReport<'_>, row: &Row) -> Vec<Cell> {
    vec![
        Cell::Text(full_name(report, &row.model, row.n)),
        Cell::Number(100.0 * row.cover50),
        Cell::Number(100.0 * row.cover80),
        Cell::Number(100.0 * row.cover95),
        Cell::Number(row.crps),
    ]
}

/// How much worse than the oracle every model is, for every training size.
pub(super) fn left_to_gain(report: &DhoReport<'_>) -> Table {
    let mut models: Vec<(&str, Option<usize>)> = Vec::new();
    for gap in &report.assembly.oracle_gaps {
        if !models.contains(&(&gap.model, gap.n)) {
            models.push((&gap.model, gap.n));
        }
    }
    let of = |model: &str, n: Option<usize>, score: fn(&OracleGap) -> (f64, Option<f64>)| {
        let gaps = &report.assembly.oracle_gaps;
        let at = move |t: &usize| {
            gaps.iter().find(|gap| gap.model == model && gap.n == n && gap.t == *t).map(score)
        };
        report.protocol.seen.iter().map(at).map(estimate).collect::<Vec<_>>()
    };
    let row = |(model, n): (&str, Option<usize>)| {
        let mut cells = vec![Cell::Text(full_name(report, model, n))];
        cells.extend(of(model, n, |gap| (gap.rmse.mean, gap.rmse.std_error)));
        cells.extend(of(model, n, |gap| (gap.nll.mean, gap.nll.std_error)));
        cells
    };
    Table {
        caption: "What is left to gain: score less that of the oracle on the same sequences, for every \
                  training size. 0 would be perfect; the best of each column in bold."
            .into(),
        columns: score_columns(report, 3, 2),
        groups: vec![Group { label: String::new(), rows: models.into_iter().map(row).collect() }],
    }
}
