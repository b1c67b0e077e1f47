//! A family at a glance: how many sequences, how long, what each column holds, what is odd.

use super::Arguments;
use anyhow::Result;
use mtds::Family;
use mtds::parts::{ColumnRole, ColumnSummary, Facts};
use mtds_report::text::{Align, TextTable, percent};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// Labels that are listed one by one.
const MOST_LABELS: usize = 12;

pub(super) fn inspect(asked: &Arguments, stdout: &mut dyn Write) -> Result<()> {
    let read = asked.source.read(&asked.source.columns(), None)?;
    let (path, family) = (&asked.source.data, &read.family);
    let notes: Vec<String> = read.notes.iter().map(ToString::to_string).collect();
    let columns = family.column_summaries();
    asked.common.print(
        stdout,
        || text(path, family, &columns, &notes),
        || document(path, family, &columns, &notes),
    )
}

/// The role of a column in a word.
fn role(column: &ColumnSummary) -> &'static str {
    match column.role {
        ColumnRole::Output => "output",
        ColumnRole::Input => "input",
    }
}

fn labels(family: &Family) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    family.labels().flatten().for_each(|label| *counts.entry(label).or_insert(0) += 1);
    counts
}

fn document(path: &Path, family: &Family, columns: &[ColumnSummary], notes: &[String]) -> Value {
    let column = |c: &ColumnSummary| {
        json!({"name": c.name, "role": role(c), "n": c.n, "missing": c.missing, "mean": c.mean,
               "std_dev": c.std_dev, "min": c.least, "max": c.most})
    };
    json!({
        "verb": "inspect",
        "version": env!("CARGO_PKG_VERSION"),
        "family": path,
        "fingerprint": family.fingerprint(),
        "facts": Facts::of(family),
        "columns": columns.iter().map(column).collect::<Vec<_>>(),
        "labels": labels(family),
        "notes": notes,
    })
}

fn text(path: &Path, family: &Family, columns: &[ColumnSummary], notes: &[String]) -> String {
    let facts = Facts::of(family);
    let shortest = family.sequences().iter().map(|s| s.n_time()).min().unwrap_or(0);
    let mut out = format!(
        "{}: {} sequences of {shortest} to {} steps, {} in the middle; fingerprint {}\n",
        path.display(),
        facts.n_seq,
        facts.max_time,
        facts.median_time,
        family.fingerprint()
    );
    let labels = labels(family);
    if !labels.is_empty() {
        let listed: Vec<String> =
            labels.iter().take(MOST_LABELS).map(|(label, n)| format!("{label} ({n})")).collect();
        let more = if labels.len() > MOST_LABELS { ", …" } else { "" };
        out.push_str(&format!("{} labels: {}{more}\n", labels.len(), listed.join(", ")));
    }
    let right = ["values", "missing", "mean", "s.d.", "min", "max"].map(|name| (name, Align::Right));
    let mut head = vec![("column", Align::Left), ("is", Align::Left)];
    head.extend(right);
    let mut table = TextTable::new(&head);
    for c in columns {
        let mut row = vec![c.name.clone(), role(c).to_owned(), c.n.to_string(), percent(c.missing)];
        row.extend([c.mean, c.std_dev, c.least, c.most].map(short));
        table.push(row);
    }
    out.push_str(&table.render());
    notes.iter().for_each(|note| out.push_str(&format!("note: {note}\n")));
    out
}

/// Four digits, whatever the size.
fn short(value: f64) -> String {
    match value.abs() {
        _ if !value.is_finite() => "–".to_owned(),
        size if size != 0.0 && !(1e-3..1e5).contains(&size) => format!("{value:.3e}"),
        size if size >= 100.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mtds::{Sequence, Signal};

    #[test]
    fn labels_are_counted() {
        let labelled =
            |id: &str| Sequence::new(id, Signal::column(vec![1.0, 2.0])).expect("fine").with_label("slow");
        let family = Family::new(vec![labelled("a"), labelled("b")]).expect("fine");
        assert_eq!(labels(&family), BTreeMap::from([("slow", 2)]));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0.0, 0.25, 123.456, 1.5e-6, f64::NAN].map(short),
            ["0.000", "0.250", "123.5", "1.500e-6", "–"]
        );
    }
}
