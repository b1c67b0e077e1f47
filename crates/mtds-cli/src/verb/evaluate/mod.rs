//! `mtds evaluate`: forecasts from several origins of every sequence, scored beside baselines.
//!
//! ```text
//! sequence ── seen ──→ forecast of the rest, by the model and by each baseline ──→ scores per sequence ──→ mean ± s.e.
//!          ── a few steps at a time ──→ surprise ──→ anomaly score
//! ```

mod anomaly;
mod baselines;
mod document;
pub(super) mod rolling;

use crate::output::print;
use crate::plan::{EvaluatePlan, Format, SourceConfig, SourcePlan, Verbosity};
use crate::progress::Progress;
use crate::verb::posterior::online_of;
use anomaly::AnomalyRow;
use anyhow::{Context, Result, bail};
use baselines::Baselines;
use mtds::Family;
use mtds::infer::Online;
use mtds::store::Model;
use mtds_data::model::load_model;
use mtds_data::write_table;
use rolling::{Rolling, ScoreRow};
use std::io::Write;

/// What was found.
struct Evaluation {
    rows: Vec<ScoreRow>,
    /// Empty unless asked for.
    anomalies: Vec<AnomalyRow>,
    n_seq: usize,
    /// Whether the sequences are those that the model was learned from.
    is_training: bool,
}

/// Carries the plan out: scores, writes what was asked for, prints the table to `stdout`.
///
/// # Errors
/// A model or data that cannot be used, or do not fit each other; a file that cannot be written.
pub fn run(plan: &EvaluatePlan, stdout: &mut dyn Write) -> Result<()> {
    let bundle = load_model(&plan.model)?;
    let family = read(plan, &plan.source, &bundle)?;
    let train = plan.train.as_ref().map(|source| read(plan, source, &bundle)).transpose()?;
    let is_training = family.fingerprint() == bundle.provenance.fingerprint;
    if is_training {
        say(plan, "note: the model was learned from these sequences; scores say little about new ones");
    }
    let job = Job { plan, family: &family, train: train.as_ref(), online: online_of(&bundle), is_training };
    let found = job.run(&bundle)?;
    if let Some(path) = &plan.out {
        write_table(path, &document::scores(&found.rows))?;
    }
    if let Some(path) = &plan.anomaly {
        write_table(path, &document::anomalies(&found.anomalies))?;
    }
    let text = match plan.common.format {
        Format::Text => document::text(plan, &found),
        Format::Json => format!("{}\n", serde_json::to_string_pretty(&document::json(plan, &found))?),
    };
    print(stdout, &text)
}

/// A line on stderr, unless asked to be quiet.
fn say(plan: &EvaluatePlan, line: &str) {
    if plan.common.verbosity != Verbosity::Quiet {
        eprintln!("{line}");
    }
}

/// Reads sequences by the columns of the fit, where no others were named, and checks that the model can take them.
fn read(plan: &EvaluatePlan, source: &SourcePlan, bundle: &Model) -> Result<Family> {
    let provenance = &bundle.provenance;
    let stored = provenance.settings.get("data").cloned().unwrap_or_default();
    let fitted: SourceConfig = serde_json::from_value(stored).unwrap_or_default();
    let read = source.clone().with_config(&fitted)?.read()?;
    read.notes.iter().for_each(|note| say(plan, &format!("note: {note}")));
    let family = read.family;
    let path = source.path.display();
    for (kind, expected, found) in [
        ("outputs", &provenance.output_names, family.output_names()),
        ("inputs", &provenance.input_names, family.input_names()),
    ] {
        if expected.len() != found.len() {
            bail!(
                "{path}: the model has the {kind} {}, found {}; name the columns with --{kind}",
                listed(expected),
                listed(found)
            );
        }
    }
    Ok(family)
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// What is left to do once the data are there.
struct Job<'a> {
    plan: &'a EvaluatePlan,
    family: &'a Family,
    train: Option<&'a Family>,
    online: Online,
    is_training: bool,
}

impl Job<'_> {
    fn run(self, bundle: &Model) -> Result<Evaluation> {
        let Self { plan, family, train, online, is_training } = self;
        let rolling = Rolling::new(family, &plan.seen, plan.horizon);
        if rolling.is_empty() {
            bail!("no sequence is longer than {} steps; give fewer with --seen", plan.seen[0]);
        }
        let mut progress = Progress::new(plan.common.display());
        let seed = plan.common.seed;
        let ours = |i: usize| rolling::follow(&bundle.system, &online, &rolling, i, seed);
        let mut rows = rolling.score("this model", &ours, &mut progress)?;
        let baselines =
            Baselines::prepare(plan, &bundle.system, train, &mut progress).context("the baselines")?;
        for &name in &plan.against {
            let theirs = |i: usize| baselines.forecasts(name, &rolling, i);
            rows.extend(rolling.score(name.title(), &theirs, &mut progress)?);
        }
        let anomalies = match plan.anomaly {
            Some(_) => anomaly::scores(&bundle.system, &online, family, seed, &mut progress)?,
            None => vec![],
        };
        // By origin, the model before what it is compared with.
        rows.sort_by_key(|row| row.seen);
        Ok(Evaluation { rows, anomalies, n_seq: family.n_seq(), is_training })
    }
}
