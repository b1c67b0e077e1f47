//! The report page of the oscillator experiment.

use super::Experiment;
use crate::report::{Better, Block, Cell, Column, Group, Page, Section, Table};

/// Lays the result out as a page.
pub(super) fn page(experiment: &Experiment<'_>) -> Page {
    let section = Section::new(
        "Forecasts of new members",
        "A model sees the beginning of a sequence and says how it goes on; the oracle knows how the data were made.",
    );
    Page {
        title: "Damped oscillators".into(),
        subtitle: "The oscillator experiment of Bird & Williams (2020), with the exact answer beside it."
            .into(),
        sections: vec![section.with(Block::Table(table(experiment)))],
        colophon: format!("Made by mtds {} reproduce dho.", env!("CARGO_PKG_VERSION")),
        ..Page::default()
    }
}

fn table(experiment: &Experiment<'_>) -> Table {
    let column = |heading: &str, better, decimals| Column { heading: heading.into(), better, decimals };
    let group = |&t: &usize| {
        let rows = experiment.assembly.rows.iter().filter(|row| row.t == t);
        let cells = |row: &mtds_experiments::dho::Row| {
            let n = row.n.map_or_else(String::new, |n| format!(", N = {n}"));
            let error = |value: Option<f64>| value.unwrap_or(f64::NAN);
            vec![
                Cell::Text(format!("{}{n}", row.model)),
                Cell::Estimate(row.rmse, error(row.rmse_se)),
                Cell::Estimate(row.nll, error(row.nll_se)),
            ]
        };
        Group { label: format!("after {t} observations"), rows: rows.map(cells).collect() }
    };
    Table {
        caption: "Means over repetitions, with standard errors.".into(),
        columns: vec![
            column("model", Better::Neither, 0),
            column("RMSE", Better::Lower, 3),
            column("NLL", Better::Lower, 2),
        ],
        groups: experiment.plan.protocol.seen.iter().map(group).collect(),
    }
}
