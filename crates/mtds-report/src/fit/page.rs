//! The page of a fit, told in order: how learning went, where members lie, forecasts, scores, whether intervals hold, a
//! morph, residuals, what to do next.

use super::{Curve, FitReport, Panel};
use crate::chart::{Bars, Coverage, Fan, Lines, Morph, Picture, Range, Series, Spacing, Stroke, Words};
use crate::code_map::ALONG_THE_PATH;
use crate::page::{Better, Block, Cell, Figure, Group, Heading, Page, Section, Table};
use crate::usage;
use mtds::evaluate::{ScoreRow, Seen};
use mtds::{CodeUsage, Explained};

/// Lays the report out as a page.
pub fn page(report: &FitReport) -> Page {
    let sections = [
        learning(report),
        codes(report),
        forecasts(report),
        scores(report),
        intervals(report),
        morph(report),
        residuals(report),
        Some(settings(report)),
    ];
    Page {
        title: format!("Report of {}", report.model),
        subtitle: format!(
            "A family of sequences, learned at once: a short code customises one dynamical system to each member. \
             Forecasts are judged on {}.",
            report.judged
        ),
        facts: facts(report),
        sections: sections.into_iter().flatten().collect(),
        colophon: format!("Made by mtds {} report.", env!("CARGO_PKG_VERSION")),
    }
}

fn facts(report: &FitReport) -> Vec<(String, String)> {
    let mut facts = vec![];
    if let Some(line) = report.scores.first() {
        let best =
            report.scores.iter().filter(|other| other.seen == line.seen && other.method != line.method);
        let best = best.map(|other| other.rmse).reduce(f64::min);
        let against = best.map_or(String::new(), |rmse| format!("; best baseline: {}", short(rmse)));
        let meaning = format!("forecast error (RMSE) after {}{against}", line.seen);
        facts.push((short(line.rmse), meaning));
        let inside = format!("{:.0}\u{a0}%", 100.0 * line.cover80);
        facts.push((inside, "of the true values lie inside the 80\u{a0}% intervals".into()));
    }
    if !report.members.is_empty() {
        facts.push((report.members.len().to_string(), "sequences have a code in this model".into()));
    }
    facts
}

/// Three digits.
fn short(value: f64) -> String {
    let decimals = (2.0 - value.abs().max(1e-9).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.decimals$}")
}

fn learning(report: &FitReport) -> Option<Section> {
    let pictures: Vec<Picture> = report.curves.iter().map(bound_picture).collect();
    if pictures.is_empty() {
        return None;
    }
    let figure = Figure {
        pictures,
        caption: "Learning raises a bound on the log likelihood. As long as held-out sequences follow the training \
                  sequences nothing is learned by heart; where they part, learning stopped at the best held-out value. \
                  Stages count their steps from 1 and may have bounds of different kinds."
            .into(),
    };
    let explanation =
        "The parameters of the family were changed step by step so that its sequences became likely.";
    Some(Section::new("How learning went", explanation).with(Block::Figure(figure)))
}

fn bound_picture(curve: &Curve) -> Picture {
    let mut series = vec![Series {
        label: "training sequences".into(),
        stroke: Stroke::Plain,
        points: curve.training.clone(),
    }];
    if !curve.held_out.is_empty() {
        let points = curve.held_out.clone();
        series.push(Series { label: "held-out sequences".into(), stroke: Stroke::Dotted, points });
    }
    Lines {
        words: Words::new(&curve.stage, "step", "bound per value, nats")
            .describe(format!("Bound on the log likelihood over the steps of the stage {}", curve.stage)),
        y_range: settled_range(curve),
        series,
        x_spacing: Spacing::Linear,
    }
    .draw()
}

/// First steps that more than double the range are left to run out of the picture.
fn settled_range(curve: &Curve) -> Option<Range> {
    let values = |skip: usize| {
        let training = curve.training.iter().skip(skip).map(|p| p.1);
        Range::of(training.chain(curve.held_out.iter().skip(usize::from(skip > 0)).map(|p| p.1)))
    };
    let (all, late) = (values(0)?, values(curve.training.len() / 20)?);
    Some(if all.span() > 2.0 * late.span() { late } else { all }.padded(0.05))
}

fn codes(report: &FitReport) -> Option<Section> {
    let map = report.map.as_ref()?;
    let figure = map.figure(&report.members);
    let explanation = "A code of a few numbers says how a member differs from the others.";
    let mut section = Section::new("Where the members lie", explanation).with(Block::Figure(figure));
    if !report.explained.is_empty() {
        section = section.with(Block::Table(explained_table(report)));
    }
    if let Some(usage) = &report.usage {
        section = section.with(Block::Table(usage_table(usage)));
    }
    Some(section)
}

fn usage_table(usage: &CodeUsage) -> Table {
    let columns = vec![
        Heading::names("Dimension"),
        Heading::score("KL, nats", Better::Neither, 3),
        Heading::score("variance of means", Better::Neither, 3),
    ];
    let row = |(d, (kl, variance)): (usize, (f64, f64))| {
        vec![Cell::Text(format!("z{}", d + 1)), Cell::Number(kl), Cell::Number(variance)]
    };
    let said = usage::sentence(usage);
    Table {
        caption: format!(
            "Use of the code: {said}. KL is how far learned beliefs about a dimension lie from the prior, averaged over \
             sequences; 0 means that nothing was learned about it."
        ),
        columns,
        groups: vec![Group {
            label: String::new(),
            rows: usage::rows(usage).into_iter().enumerate().map(row).collect(),
        }],
    }
}

fn explained_table(report: &FitReport) -> Table {
    let d_code = report.explained.first().map_or(0, |row| row.alone.len());
    let mut columns = vec![Heading::names("Output"), Heading::score("with the code", Better::Neither, 0)];
    columns.push(Heading::score("without", Better::Neither, 0));
    columns.extend((1..=d_code).map(|d| Heading::score(format!("z{d} alone"), Better::Neither, 0)));
    let row = |row: &Explained| {
        let mut cells = vec![Cell::Text(row.output.clone())];
        let shares = [row.with_code, row.without_code].into_iter().chain(row.alone.iter().copied());
        cells.extend(shares.map(|share| Cell::Number(100.0 * share)));
        cells
    };
    Table {
        caption: "Per cent of the variance of each output that noise-free rollouts explain: with the code of each member, \
                  with one code for all, and with one dimension of the code at a time. Below zero: worse than the mean."
            .into(),
        columns,
        groups: vec![Group { label: String::new(), rows: report.explained.iter().map(row).collect() }],
    }
}

fn forecasts(report: &FitReport) -> Option<Section> {
    if report.panels.is_empty() {
        return None;
    }
    let figure = Figure {
        pictures: forecast_pictures(&report.panels),
        caption: "Dots are what the model was shown; it was told nothing else about the sequence. Bands hold 50, 80 and 95 per cent of its forecast; the line that was \
                  not shown should wander through them."
            .into(),
    };
    let explanation =
        "Sequences are shown to the model up to a point; it infers the code and forecasts the rest.";
    Some(Section::new("Forecasts", explanation).with(Block::Figure(figure)))
}

/// Panels of one sequence have one vertical range, so that widths can be compared.
fn forecast_pictures(panels: &[Panel]) -> Vec<Picture> {
    let fans: Vec<Fan> = panels.iter().map(fan).collect();
    let range_of = |title: &str| {
        let same = panels.iter().zip(&fans).filter(|(panel, _)| panel.title == title);
        Range::of(same.filter_map(|(_, fan)| fan.needed_range()).flat_map(|range| [range.low, range.high]))
    };
    let drawn = panels.iter().zip(&fans).map(|(panel, fan)| {
        let y_range = range_of(&panel.title).filter(|_| fan.needed_range().is_some());
        Fan { y_range, ..fan.clone() }.draw()
    });
    drawn.collect()
}

fn fan(panel: &Panel) -> Fan {
    let heading = format!("{}, {} steps seen", panel.title, panel.seen);
    Fan {
        words: Words::new(&heading, "step", "")
            .describe(format!("Forecast of {heading}, with what happened")),
        observed: panel.observed.clone(),
        truth: panel.truth.clone(),
        times: panel.times.clone(),
        bands: panel.bands.clone(),
        centre: panel.median.clone(),
        ..Fan::default()
    }
}

fn scores(report: &FitReport) -> Option<Section> {
    if report.scores.is_empty() {
        return None;
    }
    let columns = vec![
        Heading::names("Method"),
        Heading::score("RMSE", Better::Lower, 3),
        Heading::score("NLL", Better::Lower, 2),
        Heading::score("CRPS", Better::Lower, 3),
        Heading::score("in 50 %", Better::Near(50.0), 0),
        Heading::score("in 80 %", Better::Near(80.0), 0),
        Heading::score("in 95 %", Better::Near(95.0), 0),
    ];
    let mut seen: Vec<Seen> = report.scores.iter().map(|row| row.seen).collect();
    seen.dedup();
    let group = |seen: Seen| {
        let lines: Vec<&ScoreRow> = report.scores.iter().filter(|row| row.seen == seen).collect();
        let n_seq = lines.first().map_or(0, |row| row.n_seq);
        Group {
            label: format!("after {seen}, {n_seq} sequences"),
            rows: lines.into_iter().map(score_cells).collect(),
        }
    };
    let table = Table {
        caption: "Scores of the forecasts, ± one standard error over sequences; the best of each group in bold. NLL and \
                  CRPS judge the whole forecast; the last three columns are the per cent of true values inside its intervals."
            .into(),
        columns,
        groups: seen.into_iter().map(group).collect(),
    };
    let explanation = "A forecast is worth its effort only if it beats what anyone could do in a minute; each method saw the \
                       same observations and was asked for the same future.";
    let section = Section::new("Scores", explanation).with(Block::Table(table));
    // A figure over steps needs two numbers of them.
    if !report.scores.iter().any(|row| steps(row).is_some() && row.seen != report.scores[0].seen) {
        return Some(section);
    }
    let figure = Figure {
        pictures: vec![
            score_picture(report, "Error", "RMSE", |row| row.rmse),
            score_picture(report, "Whole forecast", "CRPS", |row| row.crps),
        ],
        caption: "The same by the number of steps seen; lower is better.".into(),
    };
    Some(section.with(Block::Figure(figure)))
}

fn score_picture(report: &FitReport, heading: &str, label: &str, score: fn(&ScoreRow) -> f64) -> Picture {
    let mut methods: Vec<&str> = Vec::new();
    for line in &report.scores {
        if !methods.contains(&line.method.as_str()) {
            methods.push(&line.method);
        }
    }
    let series = methods.into_iter().map(|method| Series {
        label: method.into(),
        stroke: Stroke::Dotted,
        points: report
            .scores
            .iter()
            .filter(|row| row.method == method)
            .filter_map(|row| Some((steps(row)?, score(row))))
            .collect(),
    });
    let series: Vec<_> = series.collect();
    let top = Range::of(series.iter().flat_map(|s| s.points.iter().map(|p| p.1)));
    Lines {
        words: Words::new(heading, "steps seen", label)
            .describe(format!("{label} of each method by the number of steps seen")),
        y_range: top.map(|r| Range { low: r.low.min(0.0), high: r.high + 0.06 * r.span() }),
        series,
        x_spacing: Spacing::Linear,
    }
    .draw()
}

/// How many steps were seen, where it is the same number for all sequences.
fn steps(row: &ScoreRow) -> Option<f64> {
    match row.seen {
        Seen::Steps(steps) => Some(steps as f64),
        Seen::Share(_) => None,
    }
}

fn score_cells(row: &ScoreRow) -> Vec<Cell> {
    let estimate = |mean: f64, std_error: Option<f64>| Cell::Estimate(mean, std_error.unwrap_or(f64::NAN));
    vec![
        Cell::Text(row.method.clone()),
        estimate(row.rmse, row.rmse_se),
        estimate(row.nll, row.nll_se),
        estimate(row.crps, row.crps_se),
        Cell::Number(100.0 * row.cover50),
        Cell::Number(100.0 * row.cover80),
        Cell::Number(100.0 * row.cover95),
    ]
}

fn intervals(report: &FitReport) -> Option<Section> {
    if report.coverage.is_empty() {
        return None;
    }
    let chart = Coverage {
        words: Words::new("", "intended share inside, %", "true values inside the interval, %")
            .describe("Share of true values inside the intervals against the share that was intended"),
        series: report.coverage.clone(),
    };
    let figure = Figure {
        pictures: vec![chart.draw()],
        caption: "Points on the dashed line: the intervals hold what they promise. Below it they are too narrow, above it \
                  too wide. Bars are two standard errors each way, over sequences."
            .into(),
    };
    let explanation =
        "An 80\u{a0}% interval should contain the true value 80\u{a0}% of the time, no more and no less.";
    Some(Section::new("Do the intervals hold?", explanation).with(Block::Figure(figure)))
}

fn morph(report: &FitReport) -> Option<Section> {
    let (path, map) = (report.morph.as_ref()?, report.map.as_ref()?);
    let [from, to] = [path.from, path.to].map(|i| report.members[i].id.as_str());
    let ridge = Morph {
        words: Words::new(format!("{}, from {from} to {to}", path.output), "step", "")
            .describe(format!("Sequences generated along the path from {from} to {to}")),
        traces: path.traces.clone(),
        colour: ALONG_THE_PATH.into(),
    };
    let driven =
        path.driven_by.as_ref().map_or(String::new(), |id| format!(" All of them have the inputs of {id}."));
    let figure = Figure {
        pictures: vec![ridge.draw(), map.morph_picture(&report.members, path)],
        caption: format!(
            "One sequence, without noise, for each code on the way between the two members that lie farthest apart, and the \
             same way on the map of the codes; dots and curves of one colour belong together.{driven}"
        ),
    };
    let explanation = "Codes between two members give sequences between them: every step on the way is again a member that \
                       could be, not a blend of two curves.";
    Some(Section::new("A morph between two members", explanation).with(Block::Figure(figure)))
}

fn residuals(report: &FitReport) -> Option<Section> {
    let found = &report.residuals;
    let tenths = Bars {
        words: Words::new(
            "Place within the forecast",
            "tenth of the forecast, from its lowest",
            "share of true values",
        ),
        bars: found.tenths.iter().enumerate().map(|(i, share)| (i as f64 + 1.0, *share)).collect(),
        width: 1.0,
        expected: Some((
            around(0.1, found.tenth_error),
            "within two standard errors of what is right".into(),
        )),
    };
    let lags = Bars {
        words: Words::new("Memory of the residuals", "steps apart", "autocorrelation"),
        bars: found.autocorrelation.iter().enumerate().map(|(i, r)| (i as f64 + 1.0, *r)).collect(),
        width: 1.0,
        expected: Some((
            around(0.0, found.autocorrelation_error),
            "within two standard errors of what is right".into(),
        )),
    };
    let mut pictures = vec![];
    if !found.tenths.is_empty() {
        pictures.push(tenths.draw());
    }
    if !found.autocorrelation.is_empty() {
        pictures.push(lags.draw());
    }
    if pictures.is_empty() {
        return None;
    }
    let figure = Figure {
        pictures,
        caption: "Left: were forecasts right, true values would fall into each tenth of them equally often; a valley in the \
                  middle means too sure, a hill too unsure, a slope too high or too low. Right: what is left of each value \
                  once it is predicted from those before it, with its sequence's own code, should not remember itself; where it does, a \
                  larger state or code may help."
            .into(),
    };
    let explanation = "What a good model leaves over looks like noise.";
    Some(Section::new("What is left over", explanation).with(Block::Figure(figure)))
}

fn around(middle: f64, error: f64) -> Range {
    Range { low: middle - error, high: middle + error }
}

fn settings(report: &FitReport) -> Section {
    let explanation = "What the fit chose or was told; the file fit.toml in the model repeats it.";
    let section = Section::new("Settings", explanation).with(Block::Settings(report.settings.clone()));
    match report.next.is_empty() {
        true => section,
        false => {
            section.with(Block::Text("What to do next:".into())).with(Block::Commands(report.next.clone()))
        }
    }
}
