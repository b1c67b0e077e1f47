//! A family at a glance: how many sequences, how long, what each column holds, what is odd.

use super::Arguments;
use anyhow::Result;
use mtds::parts::Facts;
use mtds::{Family, Signal};
use mtds_report::text::{Align, TextTable, percent};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// Labels that are listed one by one.
const MOST_LABELS: usize = 12;

/// What a column holds.
struct Holds {
    name: String,
    role: &'static str,
    n: usize,
    missing: f64,
    mean: f64,
    std_dev: f64,
    least: f64,
    most: f64,
}

pub(super) fn inspect(asked: &Arguments, stdout: &mut dyn Write) -> Result<()> {
    let read = asked.source.read(&asked.source.columns())?;
    let (path, family) = (&asked.source.data, &read.family);
    let notes: Vec<String> = read.notes.iter().map(ToString::to_string).collect();
    let columns = columns(family);
    asked.common.print(
        stdout,
        || text(path, family, &columns, &notes),
        || document(path, family, &columns, &notes),
    )
}

fn columns(family: &Family) -> Vec<Holds> {
    let outputs: Vec<&Signal> = family.sequences().iter().map(|s| s.outputs()).collect();
    let inputs: Vec<&Signal> = (0..family.n_seq()).filter_map(|i| family.inputs_of(i)).collect();
    let of = |role: &'static str, names: &[String], signals: &[&Signal]| -> Vec<Holds> {
        names.iter().enumerate().map(|(c, name)| holds(name, role, signals, c)).collect()
    };
    let mut columns = of("output", family.output_names(), &outputs);
    columns.extend(of("input", family.input_names(), &inputs));
    columns
}

fn holds(name: &str, role: &'static str, signals: &[&Signal], c: usize) -> Holds {
    let all = || signals.iter().flat_map(move |signal| signal.rows().map(move |row| row[c]));
    let observed = || all().filter(|y| !y.is_nan());
    let (n, total) = (observed().count(), all().count());
    let mean = observed().sum::<f64>() / n as f64;
    let variance = observed().map(|y| (y - mean).powi(2)).sum::<f64>() / n as f64;
    Holds {
        name: name.to_owned(),
        role,
        n,
        missing: (total - n) as f64 / total as f64,
        mean,
        std_dev: variance.sqrt(),
        least: observed().fold(f64::NAN, f64::min),
        most: observed().fold(f64::NAN, f64::max),
    }
}

fn labels(family: &Family) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    family.labels().flatten().for_each(|label| *counts.entry(label).or_insert(0) += 1);
    counts
}

fn document(path: &Path, family: &Family, columns: &[Holds], notes: &[String]) -> Value {
    let column = |c: &Holds| {
        json!({"name": c.name, "role": c.role, "n": c.n, "missing": c.missing, "mean": c.mean,
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

fn text(path: &Path, family: &Family, columns: &[Holds], notes: &[String]) -> String {
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
        let mut row = vec![c.name.clone(), c.role.to_owned(), c.n.to_string(), percent(c.missing)];
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
    use mtds::Sequence;

    #[test]
    fn columns_say_what_they_hold() {
        let signal = Signal::new(3, 2, vec![1.0, 5.0, f64::NAN, 5.0, 3.0, 5.0]).expect("a signal");
        let family =
            Family::new(vec![Sequence::new("a", signal).expect("fine").with_label("slow")]).expect("fine");
        let found = columns(&family);
        assert_eq!((found[0].n, found[0].mean, found[0].std_dev), (2, 2.0, 1.0));
        assert_eq!((found[0].least, found[0].most, found[1].std_dev), (1.0, 3.0, 0.0));
        assert!((found[0].missing - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(labels(&family).get("slow"), Some(&1));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0.0, 0.25, 123.456, 1.5e-6, f64::NAN].map(short),
            ["0.000", "0.250", "123.5", "1.500e-6", "–"]
        );
    }
}
