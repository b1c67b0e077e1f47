//! Scores of forecasts as a table for the terminal.

use crate::text::{Align, TextTable, estimate};
use mtds::evaluate::{ScoreRow, Seen};

/// For the terminal: a row per origin and method.
pub fn table(rows: &[ScoreRow]) -> String {
    table_beside(rows, &[])
}

/// The same with more columns: a heading and a cell for every row.
pub fn table_beside(rows: &[ScoreRow], beside: &[(&str, Vec<String>)]) -> String {
    render(rows, true, beside)
}

/// The same where all rows have one origin, which is said elsewhere.
pub fn without_origin(rows: &[ScoreRow]) -> String {
    render(rows, false, &[])
}

fn render(rows: &[ScoreRow], with_origin: bool, beside: &[(&str, Vec<String>)]) -> String {
    let origin = [("seen", Align::Right), ("n", Align::Right)];
    let scores = ["RMSE", "NLL", "CRPS", "in 50%", "in 80%", "in 95%"].map(|name| (name, Align::Right));
    let mut head = vec![("method", Align::Left)];
    head.extend(origin.into_iter().filter(|_| with_origin));
    head.extend(scores);
    head.extend(beside.iter().map(|(heading, _)| (*heading, Align::Right)));
    let mut table = TextTable::new(&head);
    for (i, row) in rows.iter().enumerate() {
        let mut cells = vec![row.method.clone()];
        if with_origin {
            cells.extend([seen(row.seen), row.n_seq.to_string()]);
        }
        cells.extend(row.measures().map(|(name, mean, std_error)| {
            let (factor, decimals) = if name.starts_with("cover") { (100.0, 0) } else { (1.0, 3) };
            estimate(factor * mean, factor * std_error.unwrap_or(f64::NAN), decimals)
        }));
        cells.extend(beside.iter().filter_map(|(_, column)| column.get(i).cloned()));
        table.push(cells);
    }
    table.render()
}

/// How much was seen, as a cell.
fn seen(seen: Seen) -> String {
    match seen {
        Seen::Steps(steps) => steps.to_string(),
        Seen::Share(share) => format!("{:.0}%", 100.0 * share),
    }
}
