//! Tables of scores: the paper's numbers beside ours and the oracle's, calibration, and what is left to gain.

use crate::dho::{CellKind, OracleGap};
use mtds::evaluate::{Estimate, ScoreRow};

use super::DhoReport;
use super::names::{full_name, label, shown_sizes, subject_name};
use crate::dho::published::{self, SOURCE, Subject};
use mtds_report::page::{Better, Cell, Group, Heading, Table};

/// RMSE and NLL: published, made here by every recipe, and exact.
pub(super) fn against_the_paper(report: &DhoReport<'_>) -> Table {
    let sizes = shown_sizes(report.protocol);
    let subjects =
        [Subject::Pooled, Subject::Single].into_iter().chain(sizes.into_iter().map(Subject::Mtlds));
    let mut groups: Vec<Group> = subjects.map(|subject| subject_group(report, subject)).collect();
    let oracle = score_cells(report, "exact, computed here", &CellKind::Oracle);
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
        Subject::Pooled => rows.push(score_cells(report, "here", &CellKind::Pooled)),
        Subject::Single => rows.push(score_cells(report, "here", &CellKind::Single)),
        Subject::Mtlds(n) => rows.extend(
            report
                .recipes
                .iter()
                .map(|recipe| score_cells(report, &format!("here, {}", label(*recipe)), &recipe.mtlds(n))),
        ),
    }
    Group { label: subject_name(subject, report.protocol), rows }
}

fn score_columns(report: &DhoReport<'_>, rmse_decimals: usize, nll_decimals: usize) -> Vec<Heading> {
    let seen = || report.protocol.seen.iter();
    let rmse = seen().map(|t| Heading::score(format!("RMSE, t = {t}"), Better::Lower, rmse_decimals));
    let nll = seen().map(|t| Heading::score(format!("NLL, t = {t}"), Better::Lower, nll_decimals));
    std::iter::once(Heading::names("Model")).chain(rmse).chain(nll).collect()
}

fn score_cells(report: &DhoReport<'_>, label: &str, kind: &CellKind) -> Vec<Cell> {
    let of = |score: fn(&ScoreRow) -> (f64, Option<f64>)| {
        let at = |t: &usize| estimate(report.assembly.row(kind, *t).map(score));
        report.protocol.seen.iter().map(at).collect::<Vec<_>>()
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
    let at = |k: usize, t: &usize| match row.at(*t) {
        Some(figures) => Cell::Rounded(figures[k], published::DECIMALS),
        None => Cell::Number(f64::NAN),
    };
    let figures = [0, 1].into_iter().flat_map(|k| report.protocol.seen.iter().map(move |t| at(k, t)));
    std::iter::once(Cell::Text("published".into())).chain(figures).collect()
}

/// Whether intervals hold, and CRPS.
pub(super) fn calibration(report: &DhoReport<'_>) -> Table {
    let sizes = shown_sizes(report.protocol);
    let learned = report.recipes.iter().flat_map(|recipe| sizes.iter().map(|n| recipe.mtlds(*n)));
    let models: Vec<CellKind> = [CellKind::Pooled, CellKind::Single].into_iter().chain(learned).collect();
    let group = |label: String, t: usize, kinds: &[CellKind]| Group {
        label,
        rows: kinds.iter().filter_map(|kind| calibration_cells(report, kind, t)).collect(),
    };
    // The oracle is what others are compared with: apart from the comparison between them.
    let groups = report.protocol.seen.iter().flat_map(|t| {
        let label = format!("after {t} observations");
        [group(label, *t, &models), group(String::new(), *t, &[CellKind::Oracle])]
    });
    Table {
        caption: "Whether the intervals hold: per cent of true values inside the central 50, 80 and \
                  95\u{a0}% intervals, nearest is best (too few inside: too sure of itself; too many: too \
                  cautious). CRPS scores the whole forecast in the units of the data, lower is better. The \
                  paper has none of these. The best learned model in bold."
            .into(),
        columns: vec![
            Heading::names("Model"),
            Heading::score("in 50\u{a0}%", Better::Near(50.0), 1),
            Heading::score("in 80\u{a0}%", Better::Near(80.0), 1),
            Heading::score("in 95\u{a0}%", Better::Near(95.0), 1),
            Heading::score("CRPS", Better::Lower, 4),
        ],
        groups: groups.filter(|group| !group.rows.is_empty()).collect(),
    }
}

fn calibration_cells(report: &DhoReport<'_>, kind: &CellKind, t: usize) -> Option<Vec<Cell>> {
    let row = report.assembly.row(kind, t)?;
    Some(vec![
        Cell::Text(full_name(kind)),
        Cell::Number(100.0 * row.cover50),
        Cell::Number(100.0 * row.cover80),
        Cell::Number(100.0 * row.cover95),
        Cell::Number(row.crps),
    ])
}

/// How much worse than the oracle every model is, for every training size.
pub(super) fn left_to_gain(report: &DhoReport<'_>) -> Table {
    // Gaps of one model stand together, by time.
    let row = |gaps: &[OracleGap]| {
        let of = |score: fn(&OracleGap) -> &Estimate| {
            let at = |t: &usize| gaps.iter().find(|gap| gap.seen == *t).map(score);
            let cell = |t: &usize| estimate(at(t).map(|gap| (gap.mean, gap.std_error)));
            report.protocol.seen.iter().map(cell).collect::<Vec<_>>()
        };
        let mut cells = vec![Cell::Text(full_name(&gaps[0].method))];
        cells.extend(of(|gap| &gap.rmse));
        cells.extend(of(|gap| &gap.nll));
        cells
    };
    let models = report.assembly.oracle_gaps.chunk_by(|a, b| a.method == b.method);
    Table {
        caption: "What is left to gain: score less that of the oracle on the same sequences, for every \
                  training size. 0 would be perfect; the best of each column in bold."
            .into(),
        columns: score_columns(report, 3, 2),
        groups: vec![Group { label: String::new(), rows: models.map(row).collect() }],
    }
}
