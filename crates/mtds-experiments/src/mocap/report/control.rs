//! Experiment 3 and the map on the page: who is recognised in which style, and where styles lie.

use mtds::Signal;
use mtds_report::chart::scatter::{Point, Scatter};
use mtds_report::chart::{Picture, Words};
use mtds_report::page::{Better, Block, Cell, Figure, Group, Heading, Section, Table};

use super::summary::transferred;
use crate::mocap::Outcome;
use crate::mocap::cell::Found;
use crate::mocap::transfer::Transfer;
use crate::mocap::window::mean;

/// Draws outputs as a row of poses.
pub type Poses<'a> = dyn Fn(&str, &Signal) -> Option<Picture> + 'a;

/// Experiment 3.
pub(super) fn transfer(outcome: &Outcome<'_>) -> Section {
    let section = Section::new(
        "Experiment 3: one path in the style of another",
        "Motions by the inputs of a source and a code of a target; a classifier that learned from recorded clips says which style it \
         sees, after all gaits are brought to one pace.",
    );
    let transfers = &outcome.assembly.transfers;
    let Some(first) = transfers.first() else {
        return section.with(Block::Text("Not computed yet.".into()));
    };
    let lines =
        transfers.iter().enumerate().map(|(k, one)| format!("Repetition {}: {}.", k + 1, transferred(one)));
    let mut section = section.with(Block::Text(lines.collect::<Vec<_>>().join(" ")));
    let told = first.styles.iter().enumerate().map(|(k, style)| {
        let share = mean(transfers.iter().filter_map(|one| one.recognised.get(k).copied().flatten()));
        vec![Cell::Text(style.clone()), Cell::Number(share.unwrap_or(f64::NAN))]
    });
    section = section.with(Block::Table(Table {
        caption: "What the classifier can do: share of recorded segments of unseen clips whose style it tells. Where it fails on \
                  these, its scores of generated motions carry little."
            .into(),
        columns: vec![Heading::names("Style"), Heading::score("recognised", Better::Neither, 2)],
        groups: vec![Group { label: String::new(), rows: told.collect() }],
    }));
    type Of = fn(&Transfer) -> &Vec<Vec<Option<f64>>>;
    let variants: [(&str, Of); 3] = [
        ("Variant (i): the best code of the target over one source of each style", |one| &one.one),
        ("Variant (ii): the best code over several sources of each style, scores averaged", |one| {
            &one.several
        }),
        ("Codes of clips of the target that nothing learned from, none chosen", |one| &one.unseen),
    ];
    for (caption, of) in variants {
        section = section.with(Block::Table(matrix(transfers, caption, of)));
    }
    section
}

/// Scores by target and source.
fn matrix(transfers: &[Transfer], caption: &str, of: fn(&Transfer) -> &Vec<Vec<Option<f64>>>) -> Table {
    let styles = &transfers[0].styles;
    let score = |target: usize, source: usize| {
        let all = transfers.iter().filter_map(|one| of(one).get(target)?.get(source).copied().flatten());
        mean(all).unwrap_or(f64::NAN)
    };
    let row = |target: usize| {
        let cells = (0..styles.len()).map(|source| Cell::Number(score(target, source)));
        std::iter::once(Cell::Text(format!("to {}", styles[target]))).chain(cells).collect()
    };
    let headings = styles.iter().map(|style| Heading::score(style.clone(), Better::Neither, 2));
    Table {
        caption: format!(
            "{caption}: P(target), means over repetitions. Columns: source; on the diagonal there is no transfer."
        ),
        columns: std::iter::once(Heading::names("")).chain(headings).collect(),
        groups: vec![Group { label: String::new(), rows: (0..styles.len()).map(row).collect() }],
    }
}

/// The map, and motions at points of it.
pub(super) fn map(outcome: &Outcome<'_>, poses: &Poses<'_>) -> Section {
    let section = Section::new(
        "A map of styles",
        "The mean code of every segment of two seconds, by a model whose codes are two numbers; it was never told a style.",
    );
    let found = outcome.cells.iter().find_map(|cell| match &cell.found {
        Found::Map(map) => Some(map),
        _ => None,
    });
    let Some(map) = found else { return section.with(Block::Text("Not computed yet.".into())) };
    let styles = &outcome.experiment.protocol.styles;
    let numbered = |style: &String| styles.iter().position(|one| one == style);
    let points = map.points.iter().map(|point| Point {
        at: (point.at[0], point.at[1]),
        name: format!("{}, {}", point.style, point.clip),
        label: String::new(),
        value: f64::NAN,
        group: numbered(&point.style),
    });
    let centres = map.motions.iter().filter(|motion| styles.contains(&motion.what)).map(|motion| Point {
        at: (motion.at[0], motion.at[1]),
        name: motion.what.clone(),
        label: motion.what.clone(),
        value: f64::NAN,
        group: numbered(&motion.what),
    });
    let scatter = Scatter {
        words: Words::new("Codes of segments", "first number of the code", "second number"),
        points: points.chain(centres).collect(),
        groups: styles.clone(),
        ..Scatter::default()
    };
    let caption = format!(
        "Codes of {} segments, coloured by style; names stand at the mean code of a style. The first styles have colours of their own.",
        map.points.len()
    );
    let mut section = section.with(Block::Figure(Figure { pictures: vec![scatter.draw()], caption }));
    for motion in &map.motions {
        let rows = motion.outputs.len() / outcome.experiment.material.d_obs().max(1);
        let signal = Signal::new(rows, outcome.experiment.material.d_obs(), motion.outputs.clone());
        let Some(picture) = signal.ok().and_then(|signal| poses(&motion.what, &signal)) else { continue };
        let caption = format!(
            "{}: generated at ({:.2}, {:.2}) by the inputs of {}.",
            motion.what, motion.at[0], motion.at[1], map.inputs_of
        );
        section = section.with(Block::Figure(Figure { pictures: vec![picture], caption }));
    }
    section
}
