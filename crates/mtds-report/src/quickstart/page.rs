//! The page of the quickstart, told in order: what was learned, a new member, whether the intervals hold,
//! baselines, a morph, what to do next.

use super::{BoundPoint, MorphPath, QuickstartReport, ScoreRow};
use crate::chart::{
    Coverage, Fan, Lines, Morph, Picture, Point, Range, Scatter, Series, Spacing, Stroke, Words,
};
use crate::page::{Better, Block, Cell, Column, Figure, Group, Page, Section, Table};
use crate::text::seconds;

/// The key that the ridge of a morph and its path on the map share.
const ALONG_THE_PATH: &str = "along the path of the morph";

/// Lays the report out as a page.
pub fn page(report: &QuickstartReport) -> Page {
    Page {
        title: "A family of damped oscillators".into(),
        subtitle: "Many short sequences were learned at once. Each member of the family is one dynamical \
                   system, customised by a short code; a new member is recognised from its first observations."
            .into(),
        facts: facts(report),
        sections: vec![
            learned(report),
            forecasts(report),
            intervals(report),
            baselines(report),
            morph(report),
            next(report),
        ],
        colophon: format!("Made by mtds {} quickstart.", env!("CARGO_PKG_VERSION")),
    }
}

fn facts(report: &QuickstartReport) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let seen = report.seen();
    let middle = seen.get(seen.len() / 2).and_then(|t| report.row(report.model(), *t));
    if let Some(row) = middle.filter(|row| row.rmse.is_finite()) {
        let against = match report.best_baseline(row.t) {
            Some(other) => format!("; best baseline: {:.2}", other.rmse),
            None => String::new(),
        };
        facts.push((
            format!("{:.2}", row.rmse),
            format!("forecast error (RMSE) after {} observations{against}", row.t),
        ));
    }
    if let Some(row) = middle.filter(|row| row.cover80.is_finite()) {
        let meaning = "of the true values lie inside the 80\u{a0}% intervals";
        facts.push((format!("{:.0}\u{a0}%", 100.0 * row.cover80), meaning.into()));
    }
    if !report.map.codes.is_empty() {
        facts.push((report.map.codes.len().to_string(), "sequences were learned together".into()));
    }
    facts.push((seconds(report.total_secs()), "for everything on this page".into()));
    facts
}

fn learned(report: &QuickstartReport) -> Section {
    let figure = Figure {
        pictures: vec![bound_picture(report), map_picture(report, None)],
        caption: "Learning raises a bound on the log likelihood; as long as held-out sequences follow the \
                  training sequences, nothing is learned by heart. On the map every dot is the code of one \
                  training sequence. The colour shows a true property that learning never saw: where it \
                  changes smoothly, the code has found it."
            .into(),
    };
    Section::new(
        "What was learned",
        "From the sequences alone, the program found one shared dynamical system and, for each sequence, a \
         short code that sets its parameters.",
    )
    .with(Block::Figure(figure))
}

fn bound_picture(report: &QuickstartReport) -> Picture {
    let series = |label: &str, stroke, value: fn(&BoundPoint) -> f64| Series {
        label: label.into(),
        stroke,
        points: report.bound.iter().map(|p| (p.step as f64, value(p))).filter(|p| p.1.is_finite()).collect(),
    };
    Lines {
        words: Words::new("Learning", "optimiser step", "bound per sequence, nats").describe(
            "Bound on the log likelihood over the steps of learning, for training and held-out sequences",
        ),
        series: vec![
            series("training sequences", Stroke::Plain, |p| p.training),
            series("held-out sequences", Stroke::Dotted, |p| p.validation),
        ],
        x_spacing: Spacing::Linear,
        y_range: settled_range(report),
    }
    .draw()
}

/// The first steps can lie so far below the rest that everything after looks flat: when they more than
/// double the range, they are left to run out of the picture.
fn settled_range(report: &QuickstartReport) -> Option<Range> {
    let values = |skip| Range::of(report.bound.iter().skip(skip).flat_map(|p| [p.training, p.validation]));
    let (all, late) = (values(0)?, values(report.bound.len() / 20)?);
    Some(if all.span() > 2.0 * late.span() { late } else { all }.padded(0.05))
}

/// The map of the codes; with a morph, its path is drawn, its two ends are named, and only it is coloured.
fn map_picture(report: &QuickstartReport, morph: Option<&MorphPath>) -> Picture {
    let label = |name: &String| match morph {
        Some(morph) if *name == morph.from || *name == morph.to => name.clone(),
        _ => String::new(),
    };
    let value = |value: f64| if morph.is_some() { f64::NAN } else { value };
    let points = report
        .map
        .codes
        .iter()
        .map(|c| Point { at: c.at, value: value(c.value), label: label(&c.name), group: None })
        .collect();
    let axis = |dim: usize| format!("code, dimension {dim}");
    Scatter {
        words: Words::new("Map of the codes", axis(report.map.dims.0), axis(report.map.dims.1))
            .describe("Map of the training sequences by two dimensions of their codes"),
        points,
        colour: report.map.colour.clone(),
        groups: vec![],
        path: morph.map_or(Vec::new(), |morph| morph.codes.clone()),
        path_label: ALONG_THE_PATH.into(),
    }
    .draw()
}

fn forecasts(report: &QuickstartReport) -> Section {
    let figure = Figure {
        pictures: forecast_pictures(report),
        caption:
            "Dots are what the model was shown; it was not told anything else about this member. The fan \
                  narrows as observations come in."
                .into(),
    };
    Section::new(
        "A new member, after a few observations",
        "A sequence that was not in training is shown to the model piece by piece; each time it infers the \
         code and forecasts the rest, with intervals that say how sure it is.",
    )
    .with(Block::Figure(figure))
}

/// Panels with fewer observations first; one vertical range, so that widths can be compared.
fn forecast_pictures(report: &QuickstartReport) -> Vec<Picture> {
    let mut panels: Vec<_> = report.panels.iter().collect();
    panels.sort_by_key(|panel| panel.seen);
    let mut fans: Vec<Fan> = panels
        .into_iter()
        .map(|panel| Fan {
            words: Words::new(format!("{} after {} observations", panel.member, panel.seen), "time step", "")
                .describe(format!(
                    "Forecast of {} after {} observations, with what happened",
                    panel.member, panel.seen
                )),
            observed: panel.observed.clone(),
            truth: panel.truth.clone(),
            times: panel.times.clone(),
            bands: panel.bands.clone(),
            centre: panel.median.clone(),
            ..Fan::default()
        })
        .collect();
    let shared = Range::of(fans.iter().filter_map(Fan::needed_range).flat_map(|r| [r.low, r.high]));
    fans.iter_mut().for_each(|fan| fan.y_range = shared.filter(|_| fan.needed_range().is_some()));
    fans.iter().map(Fan::draw).collect()
}

fn intervals(report: &QuickstartReport) -> Section {
    let chart = Coverage {
        words: Words::new("", "intended share inside, %", "true values inside the interval, %")
            .describe("Share of true values inside the intervals against the share that was intended"),
        series: report.coverage.clone(),
    };
    let figure = Figure {
        pictures: vec![chart.draw()],
        caption: "Points on the dashed line: the intervals hold what they promise. Below it they are too \
                  narrow, above it too wide. Bars are two standard errors each way."
            .into(),
    };
    Section::new(
        "Do the intervals hold?",
        "An 80\u{a0}% interval should contain the true value 80\u{a0}% of the time, no more and no less; here that is \
         counted on sequences the model had never seen.",
    )
    .with(Block::Figure(figure))
}

fn baselines(report: &QuickstartReport) -> Section {
    let figure = Figure {
        pictures: vec![
            score_picture(report, "Error", "RMSE", |row| row.rmse),
            score_picture(report, "Whole forecast", "CRPS", |row| row.crps),
        ],
        caption: "Scores of the forecasts by the number of observations seen; lower is better.".into(),
    };
    Section::new(
        "Against simple baselines",
        "A forecast is worth its effort only if it beats what anyone could do in a minute; each method saw \
         the same observations and was asked for the same future.",
    )
    .with(Block::Table(score_table(report)))
    .with(Block::Figure(figure))
}

fn score_picture(
    report: &QuickstartReport,
    heading: &str,
    label: &str,
    score: fn(&ScoreRow) -> f64,
) -> Picture {
    let series = report.models().into_iter().map(|model| Series {
        label: model.into(),
        stroke: Stroke::Dotted,
        points: report.rows.iter().filter(|r| r.model == model).map(|r| (r.t as f64, score(r))).collect(),
    });
    let series: Vec<_> = series.collect();
    let top = Range::of(series.iter().flat_map(|s| s.points.iter().map(|p| p.1)));
    Lines {
        words: Words::new(heading, "observations seen", label)
            .describe(format!("{label} of each method by the number of observations seen")),
        y_range: top.map(|r| Range { low: r.low.min(0.0), high: r.high + 0.06 * r.span() }),
        series,
        x_spacing: Spacing::Linear,
    }
    .draw()
}

fn score_table(report: &QuickstartReport) -> Table {
    let columns = vec![
        Column::names("Method"),
        Column::score("RMSE", Better::Lower, 3),
        Column::score("NLL", Better::Lower, 2),
        Column::score("CRPS", Better::Lower, 3),
        Column::score("in 50 %", Better::Near(50.0), 0),
        Column::score("in 80 %", Better::Near(80.0), 0),
        Column::score("in 95 %", Better::Near(95.0), 0),
    ];
    let group = |t: usize| Group {
        label: format!("after {t} observations"),
        rows: report.rows.iter().filter(|row| row.t == t).map(score_cells).collect(),
    };
    Table {
        caption:
            "Scores on new members, ± one standard error; the best of each group in bold. RMSE: error of \
                  the point forecast. NLL and CRPS: quality of the whole forecast, lower is better. The last \
                  three columns: per cent of true values inside the intervals, nearest is best."
                .into(),
        columns,
        groups: report.seen().into_iter().map(group).collect(),
    }
}

fn score_cells(row: &ScoreRow) -> Vec<Cell> {
    vec![
        Cell::Text(row.model.clone()),
        Cell::Estimate(row.rmse, row.rmse_se),
        Cell::Estimate(row.nll, row.nll_se),
        Cell::Estimate(row.crps, row.crps_se),
        Cell::Number(100.0 * row.cover50),
        Cell::Number(100.0 * row.cover80),
        Cell::Number(100.0 * row.cover95),
    ]
}

fn morph(report: &QuickstartReport) -> Section {
    let path = &report.morph;
    let chart = Morph {
        words: Words::new(format!("From {} to {}", path.from, path.to), "time step", "")
            .describe(format!("Sequences generated along the path from {} to {}", path.from, path.to)),
        traces: path.traces.clone(),
        colour: ALONG_THE_PATH.into(),
    };
    let figure = Figure {
        pictures: vec![chart.draw(), map_picture(report, Some(path))],
        caption: "One sequence for each code on the path, and the same path on the map of the codes; dots \
                  and curves of one colour belong together."
            .into(),
    };
    Section::new(
        "A morph between two members",
        "Codes between two members give sequences between them: every step on the way is again a proper \
         oscillator, not a blend of two curves.",
    )
    .with(Block::Figure(figure))
}

fn next(report: &QuickstartReport) -> Section {
    let mut settings = report.settings.clone();
    settings.extend(report.timings.iter().map(|(stage, secs)| (format!("time: {stage}"), seconds(*secs))));
    let mut section = Section::new(
        "What to do next",
        "The model is stored beside this page, and every number here can be made again with the settings below.",
    );
    if !report.next.is_empty() {
        section = section.with(Block::Commands(report.next.clone()));
    }
    section.with(Block::Settings(settings))
}
