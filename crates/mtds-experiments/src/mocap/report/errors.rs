//! Experiments 1 and 2 on the page: tables, curves over time and shares, styles one by one, tests of pairs.

use mtds_report::chart::{Lines, Range, Series, Spacing, Stroke, Words};
use mtds_report::page::{Better, Block, Cell, Figure, Group, Heading, Section, Table};

use super::names::{DRAWN, DRAWN_BY_SHARE, label, share};
use crate::mocap::Outcome;
use crate::mocap::assemble::{Assembly, Kind, Over};
use crate::mocap::published::{ROWS, SOURCE};

/// Highest error that a figure of curves shows: closed loops run away.
const TOP: f64 = 1.5;

/// Experiment 1.
pub(super) fn efficiency(outcome: &Outcome<'_>) -> Section {
    let protocol = &outcome.experiment.protocol;
    let places: Vec<(usize, String)> = protocol.shares.iter().map(|&at| (at, share(at))).collect();
    let section = Section::new(
        "Experiment 1: how much data",
        "Models learn from a share of the clips of all styles and forecast unseen clips of the same styles: 64 frames are \
         seen, the 64 after them scored.",
    );
    let methods =
        DRAWN_BY_SHARE.iter().filter(|name| outcome.assembly.methods(Kind::Efficiency).contains(name));
    let series = methods.map(|name| {
        let value = |at: usize| {
            outcome.assembly.row(Kind::Efficiency, name, at, None).map_or(f64::NAN, |row| row.rmse)
        };
        let points = protocol.shares.iter().map(|&at| (100.0 / at as f64, value(at))).collect();
        Series { label: label(name).into(), points, stroke: Stroke::Dotted }
    });
    let lines = Lines {
        words: Words::new("Error by share of the data", "share learned from, %", "RMSE, deviations"),
        series: series.collect(),
        x_spacing: Spacing::Log,
        y_range: None,
    };
    let caption = format!(
        "Root mean square error in deviations of an output over all that there is to learn from, over {} starts in each \
         style.",
        protocol.starts_of_style
    );
    section
        .with(Block::Figure(Figure { pictures: vec![lines.draw()], caption }))
        .with(Block::Table(table(outcome, Kind::Efficiency, &places)))
        .with(Block::Table(styles(outcome, Kind::Efficiency, &places)))
        .with(Block::Table(tests(&outcome.assembly, Kind::Efficiency, &places)))
        .with(Block::Table(published(Kind::Efficiency, ["3 %", "7 %", "13 %", "27 %", "53 %", "97 %"])))
}

/// Experiment 2.
pub(super) fn novel(outcome: &Outcome<'_>) -> Section {
    let protocol = &outcome.experiment.protocol;
    let places: Vec<(usize, String)> = protocol.told.iter().map(|&at| (at, at.to_string())).collect();
    let left: Vec<&str> = protocol.folds.iter().map(|&fold| protocol.styles[fold].as_str()).collect();
    let section = Section::new(
        "Experiment 2: a style like none before",
        "Models learn from all styles but one, see 64 frames of a clip in that style, and forecast the frames after them.",
    );
    let caption = format!(
        "Root mean square error by frame ahead, in deviations of an output over what was learned from; mean over the styles \
         left out ({}), {} starts in each. Left: up to {TOP}; right: all, on a logarithmic scale.",
        left.join(", "),
        protocol.starts
    );
    section
        .with(Block::Figure(Figure { pictures: curves(&outcome.assembly), caption }))
        .with(Block::Table(table(outcome, Kind::Novel, &places)))
        .with(Block::Table(styles(outcome, Kind::Novel, &places)))
        .with(Block::Table(tests(&outcome.assembly, Kind::Novel, &places)))
        .with(Block::Table(published(Kind::Novel, ["5", "10", "20", "50", "100", "200"])))
}

/// Error over time, as it is and as its logarithm.
fn curves(assembly: &Assembly) -> Vec<mtds_report::chart::Picture> {
    let drawn = || DRAWN.iter().filter_map(|name| assembly.curves.iter().find(|(method, _)| method == name));
    let draw = |heading: &str, y: &str, range: Option<Range>, of: &dyn Fn(f64) -> f64| {
        let series = drawn().map(|(method, curve)| {
            let value = |rmse: &Option<f64>| rmse.map_or(f64::NAN, of);
            let points = curve.iter().enumerate().map(|(h, rmse)| ((h + 1) as f64, value(rmse)));
            Series { label: label(method).into(), points: points.collect(), stroke: Stroke::Plain }
        });
        let words = Words::new(heading, "frame ahead", y);
        Lines { words, series: series.collect(), x_spacing: Spacing::Linear, y_range: range }.draw()
    };
    let below = |value: f64| if value <= TOP { value } else { f64::NAN };
    vec![
        draw("Error over time", "RMSE, deviations", Some(Range { low: 0.0, high: TOP }), &below),
        draw("Its logarithm", "log10 RMSE", None, &f64::log10),
    ]
}

/// Every way to forecast at every place.
fn table(outcome: &Outcome<'_>, kind: Kind, places: &[(usize, String)]) -> Table {
    let assembly = &outcome.assembly;
    let row = |method: &&str| {
        let at = |(at, _): &(usize, String)| match assembly.row(kind, method, *at, None) {
            Some(row) => Cell::Estimate(row.rmse, row.std_error.unwrap_or(f64::NAN)),
            None => Cell::Number(f64::NAN),
        };
        std::iter::once(Cell::Text(label(method).into())).chain(places.iter().map(at)).collect()
    };
    let errors = match kind {
        Kind::Novel => "± one standard error over styles",
        Kind::Efficiency => "± one standard error over repetitions, where there are several",
    };
    Table {
        caption: format!(
            "Root mean square error, {errors}; lower is better, the best of each column in bold. MTDS forecasts with what the \
             seed tells beside the code; “code alone” without. “+ seed” marks rivals that get the same correction."
        ),
        columns: columns("Model", places, 3),
        groups: vec![Group { label: String::new(), rows: assembly.methods(kind).iter().map(row).collect() }],
    }
}

/// Styles one by one.
fn styles(outcome: &Outcome<'_>, kind: Kind, places: &[(usize, String)]) -> Table {
    let assembly = &outcome.assembly;
    let drawn = if kind == Kind::Novel { DRAWN } else { DRAWN_BY_SHARE };
    let group = |style: &String| {
        let row = |method: &&&str| {
            let found = places.iter().map(|(at, _)| assembly.row(kind, method, *at, Some(style)));
            let cells: Vec<Cell> =
                found.map(|row| Cell::Number(row.map_or(f64::NAN, |row| row.rmse))).collect();
            let is_there = cells.iter().any(|cell| matches!(cell, Cell::Number(value) if value.is_finite()));
            is_there
                .then(|| std::iter::once(Cell::Text(label(method).into())).chain(cells).collect::<Vec<_>>())
        };
        Group { label: style.clone(), rows: drawn.iter().filter_map(|method| row(&method)).collect() }
    };
    let groups = outcome.experiment.protocol.styles.iter().map(group);
    Table {
        caption: "The same, style by style; the best of each style in bold.".into(),
        columns: columns("Style and model", places, 3),
        groups: groups.filter(|group| !group.rows.is_empty()).collect(),
    }
}

/// The model against every other.
fn tests(assembly: &Assembly, kind: Kind, places: &[(usize, String)]) -> Table {
    let group = |(at, heading): &(usize, String)| {
        let of = |over: Over, other: &str| {
            assembly.pairs.iter().find(|pair| {
                (pair.experiment, pair.at, pair.over) == (kind, *at, over) && pair.other == other
            })
        };
        let rows = assembly.methods(kind).into_iter().filter_map(|other| {
            let styles = of(Over::Styles, other)?;
            let starts = of(Over::Starts, other);
            let p = |pair: Option<&crate::mocap::assemble::Pair>| {
                Cell::Number(pair.and_then(|pair| pair.test).map_or(f64::NAN, |test| test.p_value))
            };
            Some(vec![
                Cell::Text(format!("MTDS − {}", label(other))),
                Cell::Number(100.0 * (styles.ratio - 1.0)),
                Cell::Number(styles.test.map_or(f64::NAN, |test| test.difference)),
                Cell::Number(styles.n as f64),
                p(Some(styles)),
                Cell::Number(starts.map_or(f64::NAN, |pair| pair.n as f64)),
                p(starts),
            ])
        });
        Group { label: format!("at {heading}"), rows: rows.collect() }
    };
    let number = |heading: &str, decimals: usize| Heading::score(heading, Better::Neither, decimals);
    Table {
        caption: "Paired t-tests, two-sided, of errors averaged over repetitions. Pairs of styles are few and as independent as \
                  their performers; pairs of starts are many, but those of a style share clips and a learned model, so that \
                  their p is too small. Below 0 the MTDS is better."
            .into(),
        columns: vec![
            Heading::names("Pair"),
            number("difference, %", 0),
            number("difference", 3),
            number("styles", 0),
            number("p, styles", 4),
            number("starts", 0),
            number("p, starts", 4),
        ],
        groups: places.iter().map(group).filter(|group| !group.rows.is_empty()).collect(),
    }
}

/// What the paper found on other recordings.
fn published(kind: Kind, headings: [&str; 6]) -> Table {
    let rows = ROWS.iter().filter(|row| row.experiment == kind).map(|row| {
        let values = row.rmse.iter().map(|value| Cell::Rounded(*value, 2));
        std::iter::once(Cell::Text(row.name.into())).chain(values).collect()
    });
    let places: Vec<(usize, String)> =
        headings.iter().enumerate().map(|(k, heading)| (k, (*heading).to_owned())).collect();
    Table {
        caption: format!(
            "What the paper found, for orientation. {SOURCE}: other data, so the rows cannot be compared with those above."
        ),
        columns: columns("Published", &places, 2),
        groups: vec![Group { label: String::new(), rows: rows.collect() }],
    }
}

fn columns(first: &str, places: &[(usize, String)], decimals: usize) -> Vec<Heading> {
    let scores = places.iter().map(|(_, heading)| Heading::score(heading.clone(), Better::Lower, decimals));
    std::iter::once(Heading::names(first)).chain(scores).collect()
}
