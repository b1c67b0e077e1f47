//! What docs/families.md and the README say of the families is what `families/results.json` holds.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

const FAMILIES: [(&str, &str); 10] = [
    ("chicks", "growth of chicks"),
    ("infusion", "drug in the blood"),
    ("handwriting", "handwriting"),
    ("theoph", "theophylline"),
    ("indometh", "indometacin"),
    ("soybean", "growth of soybeans"),
    ("milk", "protein in milk"),
    ("bodyweight", "growth of rats"),
    ("sleepstudy", "reaction without sleep"),
    ("swimmers", "swimmers"),
];
const MODEL: &str = "this model";
const RIVALS: [&str; 6] = ["last value", "family mean", "nearest", "ridge", "fpca", "gp"];

fn repository_file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn results() -> Vec<Value> {
    serde_json::from_str(&repository_file("families/results.json")).unwrap()
}

/// Every whole number that rows of a family have under this key.
fn numbers(results: &[Value], family: &str, key: &str) -> Vec<u64> {
    let own = results.iter().filter(|row| row["family"] == family);
    own.filter_map(|row| row[key].as_u64()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Mean and standard error over values of which rows give number, mean and standard error.
fn pooled(rows: &[&Value], key: &str) -> (f64, f64) {
    let number = |row: &Value, key: &str| row[key].as_f64();
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for row in rows {
        let (n_seq, mean) = (number(row, "n_seq").unwrap(), number(row, key).unwrap());
        let error = number(row, &format!("{key}_se")).unwrap_or(0.0);
        n += n_seq;
        sum += n_seq * mean;
        squares += n_seq * ((n_seq - 1.0) * error * error + mean * mean);
    }
    (sum / n, ((squares - sum * sum / n) / (n * (n - 1.0))).sqrt())
}

/// A family after some steps, as the tables have it.
struct Line {
    title: &'static str,
    seen: u64,
    n_seq: u64,
    /// CRPS of the model, then of the rivals.
    crps: Vec<f64>,
    /// The place of the best rival among the rivals.
    best: usize,
    /// CRPS of the model less that of the best rival.
    less: (f64, f64),
}

impl Line {
    fn of(results: &[Value], (name, title): (&str, &'static str), seen: u64) -> Self {
        let rows = |method: &str| -> Vec<&Value> {
            let wanted =
                |row: &&Value| row["family"] == name && row["seen"] == seen && row["method"] == method;
            results.iter().filter(wanted).collect()
        };
        let crps: Vec<f64> =
            [MODEL].iter().chain(&RIVALS).map(|method| pooled(&rows(method), "crps").0).collect();
        let best = (0..RIVALS.len()).min_by(|a, b| crps[a + 1].total_cmp(&crps[b + 1])).unwrap();
        let n_seq = rows(MODEL).iter().map(|row| row["n_seq"].as_u64().unwrap()).sum();
        Self { title, seen, n_seq, less: pooled(&rows(RIVALS[best]), "model_less_crps"), crps, best }
    }

    /// With three figures of the best rival's score.
    fn written(&self, number: f64) -> String {
        let digits = (2 - self.crps[self.best + 1].log10().floor() as i32).max(0) as usize;
        format!("{number:.digits$}").replace('-', "−")
    }

    fn scores(&self) -> String {
        let mut cells: Vec<_> = self.crps.iter().map(|crps| self.written(*crps)).collect();
        let lowest = if self.crps[0] <= self.crps[self.best + 1] { 0 } else { self.best + 1 };
        cells[lowest] = format!("**{}**", cells[lowest]);
        format!("| {} | {} | {} | {} |", self.title, self.seen, self.n_seq, cells.join(" | "))
    }

    fn difference(&self) -> String {
        let (mean, error) = self.less;
        let verdict = match mean.abs() <= error {
            true => "level",
            false if mean < 0.0 => "better",
            false => "worse",
        };
        format!("{} ± {} | {verdict} |", self.written(mean), self.written(error))
    }
}

#[test]
fn eight_families_and_more_have_three_splits() {
    let results = results();
    let whole = FAMILIES.iter().filter(|(name, _)| numbers(&results, name, "split") == [0, 1, 2]);
    assert!(whole.count() >= 8, "run families/run");
}

#[test]
fn page_and_readme_have_the_tables_of_the_results() {
    let (page, readme) = (repository_file("docs/families.md"), repository_file("README.md"));
    let results = results();
    for (name, title) in FAMILIES {
        for (k, seen) in numbers(&results, name, "seen").into_iter().enumerate() {
            let line = Line::of(&results, (name, title), seen);
            let scores = line.scores();
            assert!(page.contains(&scores), "the page lacks\n{scores}");
            let rival = RIVALS[line.best];
            let compared = format!("| {title} | {seen} | {rival} | {}", line.difference());
            assert!(page.contains(&compared), "the page lacks\n{compared}");
            let [ours, theirs] = [line.crps[0], line.crps[line.best + 1]].map(|crps| line.written(crps));
            let short = format!("| {title} | {seen} | {ours} | {theirs} | {rival} | {}", line.difference());
            assert_eq!(readme.contains(&short), k == 1, "in the README only the middle history:\n{short}");
        }
    }
}

#[test]
fn errors_on_simulated_curves_are_means_over_sets() {
    let (page, results) = (repository_file("docs/families.md"), results());
    for method in [MODEL, "Magma", "GPFDA", "one GP"] {
        let own = results.iter().filter(|row| row["family"] == "magma" && row["method"] == method);
        let errors: Vec<f64> = own.map(|row| row["rmse"].as_f64().unwrap().powi(2)).collect();
        if errors.is_empty() {
            continue;
        }
        let n = errors.len() as f64;
        let mean = errors.iter().sum::<f64>() / n;
        let var = errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let line = format!("| {method} | {mean:.1} ± {:.1} |", (var / n).sqrt());
        assert!(page.contains(&line), "the page lacks\n{line}");
    }
}
