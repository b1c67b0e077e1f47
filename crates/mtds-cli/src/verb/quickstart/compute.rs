//! The computation of the quickstart: learn, infer, forecast, morph, leave a model.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Context, Result};
use mtds::family::Family;
use mtds::learn::{Control, Fitted};
use mtds::predict::{
    CENTRAL_LEVELS, Estimate, Forecast, Scores, SequenceScore, family_mean, last_value, score,
};
use mtds::random::{Stream, stream};
use mtds::store::{CardScore, Member, Model, Provenance};
use mtds::system::System;
use mtds_data::model::save_model;
use mtds_data::oscillators::{OscillatorParameters, Oscillators};
use rayon::prelude::*;

use super::{illustrate, recipe};
use crate::plan::QuickstartPlan;
use crate::progress::{Progress, Stage};
use mtds_report::chart::{CoveragePoint, CoverageSeries};
use mtds_report::quickstart::{BoundPoint, QuickstartReport, ScoreRow};

/// Sequences whose bound is watched while learning.
const N_HELD_OUT: usize = 64;
/// Sequences that nothing touches before they are scored.
const N_TEST: usize = 100;
/// Observations after which new members are forecast.
pub(super) const SEEN: [usize; 3] = [10, 20, 40];
/// Levels of the coverage chart; those of the table are among them.
const LEVELS: [f64; 11] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];
/// Directory of the model inside the output directory.
const MODEL: &str = "model";

/// The families of the quickstart, all from one seed.
pub(super) struct Families {
    pub(super) training: Family,
    held_out: Family,
    pub(super) test: Family,
    /// True parameters of the training sequences, for the colours of the map alone.
    pub(super) truth: Vec<OscillatorParameters>,
}

impl Families {
    fn draw(n_seq: usize, seed: u64) -> Result<Self> {
        let all = Oscillators::default().draw(n_seq + N_HELD_OUT + N_TEST, seed)?;
        let part = |from: usize, n: usize| all.family.subset(&(from..from + n).collect::<Vec<_>>());
        Ok(Self {
            training: part(0, n_seq)?,
            held_out: part(n_seq, N_HELD_OUT)?,
            test: part(n_seq + N_HELD_OUT, N_TEST)?,
            truth: all.parameters[..n_seq].to_vec(),
        })
    }
}

/// Carries out the plan and leaves the model directory.
///
/// # Errors
/// A loss that is not finite, a directory that cannot be written.
pub fn compute(plan: &QuickstartPlan, progress: &mut Progress) -> Result<QuickstartReport> {
    let families = Families::draw(plan.n_seq, plan.common.seed)?;
    let mut timings = vec![];
    let fitted = timed(&mut timings, "learning", || learn(plan, &families, progress))?;
    let members =
        timed(&mut timings, "inferring", || infer_members(plan, &families, &fitted.model, progress))?;
    let tested =
        timed(&mut timings, "forecasting", || forecast_test(plan, &families, &fitted.model, progress))?;
    progress.end();
    let scored = timed(&mut timings, "scoring", || score_all(&families, &tested))?;
    let bundle = bundle(plan, &families, &fitted, members, &scored)?;
    std::fs::create_dir_all(&plan.out).with_context(|| format!("cannot make {}", plan.out.display()))?;
    save_model(&plan.out.join(MODEL), &bundle)?;
    let mut report = illustrate::report(&families, &bundle, &tested)?;
    report.bound = bound_points(&fitted, &families);
    report.rows = scored.rows;
    report.coverage = scored.coverage;
    report.settings = settings(plan, &bundle);
    report.timings = timings;
    report.next = vec![("mtds quickstart --seed 2".into(), "the same with other oscillators".into())];
    report.files = vec![(MODEL.into(), "the model: settings, weights, codes of the training members".into())];
    Ok(report)
}

fn timed<T>(timings: &mut Vec<(String, f64)>, stage: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let clock = Instant::now();
    let result = work();
    timings.push((stage.into(), clock.elapsed().as_secs_f64()));
    result
}

fn learn(plan: &QuickstartPlan, families: &Families, progress: &mut Progress) -> Result<Fitted> {
    progress.begin(Stage::Learning, recipe::STEPS);
    let mut watch = |p: &mtds::learn::Progress| {
        progress.advance(p.step, Some(p.bound));
        Control::Continue
    };
    let (training, held_out) = (&families.training, Some(&families.held_out));
    Ok(recipe::fit()?.run(recipe::spec(), training, held_out, plan.common.seed, &mut watch)?)
}

/// Posterior of the code of every training sequence, given all of it.
fn infer_members(
    plan: &QuickstartPlan,
    families: &Families,
    model: &System,
    progress: &mut Progress,
) -> Result<Vec<Member>> {
    let family = &families.training;
    progress.begin(Stage::Inferring, family.n_seq() as u64);
    in_batches(family.n_seq(), progress, |i| {
        let settings = mtds::infer::Online { every: 20, ..recipe::online() };
        let random = stream(plan.common.seed, Stream::QuickTraining(i as u64));
        let sequence = family.sequence(i);
        let tracker = model.track(sequence.outputs(), family.inputs_of(i), settings, random)?;
        let posterior = tracker.posterior().context("a tracked sequence has a posterior")?;
        Ok(Member {
            id: sequence.id().to_owned(),
            label: sequence.label().map(str::to_owned),
            code_mean: posterior.mean()[..model.d_code()].to_vec(),
            code_std_dev: posterior.std_dev()[..model.d_code()].to_vec(),
        })
    })
}

/// Forecasts of one test sequence, one for each of [`SEEN`].
pub(super) type Forecasts = Vec<Forecast>;

/// Follows every test sequence and forecasts the rest of it at each of [`SEEN`].
fn forecast_test(
    plan: &QuickstartPlan,
    families: &Families,
    model: &System,
    progress: &mut Progress,
) -> Result<Vec<Forecasts>> {
    let family = &families.test;
    progress.begin(Stage::Forecasting, family.n_seq() as u64);
    in_batches(family.n_seq(), progress, |i| {
        let (outputs, inputs) = (family.sequence(i).outputs(), family.inputs_of(i).context("an impulse")?);
        let random = stream(plan.common.seed, Stream::QuickTest(i as u64));
        let mut tracker = mtds::infer::Tracker::new(model, recipe::online(), random)?;
        let mut forecasts = vec![];
        for t in 0..outputs.n_time() {
            if SEEN.contains(&t) {
                let future = inputs.slice(t..outputs.n_time());
                forecasts.push(tracker.forecast(outputs.n_time() - t, Some(&future))?);
            }
            if t < SEEN[SEEN.len() - 1] {
                tracker.observe(outputs.row(t), inputs.row(t))?;
            }
        }
        Ok(forecasts)
    })
}

/// `work(0) … work(n − 1)`, a few at a time so that progress can be shown between.
fn in_batches<T: Send>(
    n: usize,
    progress: &mut Progress,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    const BATCH: usize = 16;
    let mut all = Vec::with_capacity(n);
    for start in (0..n).step_by(BATCH) {
        let batch = (start..n.min(start + BATCH)).into_par_iter().map(&work).collect::<Result<Vec<T>>>()?;
        all.extend(batch);
        progress.advance(all.len() as u64, None);
    }
    Ok(all)
}

/// The scores as the page and the table show them.
pub(super) struct Scored {
    rows: Vec<ScoreRow>,
    coverage: Vec<CoverageSeries>,
    /// Of the learned model, for its card.
    card: Vec<CardScore>,
}

fn score_all(families: &Families, tested: &[Forecasts]) -> Result<Scored> {
    let mut scored = Scored { rows: vec![], coverage: vec![], card: vec![] };
    let training: Vec<&[f64]> = families.training.sequences().iter().map(|s| s.outputs().values()).collect();
    for (k, t) in SEEN.into_iter().enumerate() {
        let ours = scores(families, t, |i| Ok(tested[i][k].clone()))?;
        scored.coverage.push(coverage_series(&ours, t));
        scored.rows.push(row("multi-task LDS", t, &ours));
        let condition = format!("{t} of {} steps seen", families.test.max_time());
        for (measure, estimate) in [("RMSE", ours.rmse), ("NLL", ours.nll), ("CRPS", ours.crps)] {
            scored.card.push(CardScore::new(measure, condition.as_str(), estimate));
        }
        let horizon = |i: usize| families.test.sequence(i).n_time() - t;
        let mean = scores(families, t, |i| family_mean(&training, 1, t, horizon(i)))?;
        scored.rows.push(row("family mean", t, &mean));
        let last = scores(families, t, |i| {
            let past = families.test.sequence(i).outputs().slice(0..t);
            last_value(&training, past.values(), 1, horizon(i))
        })?;
        scored.rows.push(row("last value", t, &last));
    }
    // The learned model first: the page takes the first row's model as the one that was learned.
    Ok(scored)
}

/// Scores of one method over the test sequences after `t` observations.
fn scores(
    families: &Families,
    t: usize,
    forecast: impl Fn(usize) -> mtds::Result<Forecast> + Sync,
) -> Result<Scores> {
    let one = |i: usize| -> Result<Option<SequenceScore>> {
        let outputs = families.test.sequence(i).outputs();
        let truth = outputs.slice(t..outputs.n_time());
        Ok(score(&forecast(i)?, truth.values(), &LEVELS)?)
    };
    let each = (0..families.test.n_seq()).into_par_iter().map(one).collect::<Result<Vec<_>>>()?;
    Ok(Scores::over(&each.into_iter().flatten().collect::<Vec<_>>())?)
}

fn std_error(estimate: Estimate) -> f64 {
    estimate.std_error.unwrap_or(f64::NAN)
}

fn row(model: &str, t: usize, scores: &Scores) -> ScoreRow {
    let cover = |level: f64| {
        let found = scores.coverage.iter().find(|c| (c.level - level).abs() < 1e-9);
        found.map_or(f64::NAN, |c| c.share.mean)
    };
    let [cover50, cover80, cover95] = CENTRAL_LEVELS.map(cover);
    ScoreRow {
        model: model.into(),
        t,
        rmse: scores.rmse.mean,
        rmse_se: std_error(scores.rmse),
        nll: scores.nll.mean,
        nll_se: std_error(scores.nll),
        crps: scores.crps.mean,
        crps_se: std_error(scores.crps),
        cover50,
        cover80,
        cover95,
    }
}

fn coverage_series(scores: &Scores, t: usize) -> CoverageSeries {
    let point = |c: &mtds::predict::Coverage<Estimate>| CoveragePoint {
        nominal: c.level,
        empirical: c.share.mean,
        std_err: std_error(c.share),
    };
    CoverageSeries {
        label: format!("after {t} observations"),
        points: scores.coverage.iter().map(point).collect(),
    }
}

/// Bounds per sequence: the trainer's are per observation.
fn bound_points(fitted: &Fitted, families: &Families) -> Vec<BoundPoint> {
    let per_sequence = |family: &Family| family.n_observed() as f64 / family.n_seq() as f64;
    let (training, held_out) = (per_sequence(&families.training), per_sequence(&families.held_out));
    let history = &fitted.outcome.history;
    let nothing = |step| BoundPoint { step, training: f64::NAN, validation: f64::NAN };
    let mut points = BTreeMap::new();
    for s in history.steps() {
        points.entry(s.step).or_insert_with(|| nothing(s.step)).training = s.bound * training;
    }
    for v in history.validations() {
        points.entry(v.step).or_insert_with(|| nothing(v.step)).validation = v.bound * held_out;
    }
    points.into_values().collect()
}

fn bundle(
    plan: &QuickstartPlan,
    families: &Families,
    fitted: &Fitted,
    members: Vec<Member>,
    scored: &Scored,
) -> Result<Model> {
    Ok(Model {
        system: fitted.model.clone(),
        provenance: Provenance {
            seed: plan.common.seed,
            settings: serde_json::to_value(recipe::fit()?)?,
            fingerprint: families.training.fingerprint(),
            program_version: env!("CARGO_PKG_VERSION").into(),
            output_names: families.training.output_names().to_vec(),
            input_names: families.training.input_names().to_vec(),
            scores: scored.card.clone(),
        },
        members,
    })
}

fn settings(plan: &QuickstartPlan, bundle: &Model) -> Vec<(String, String)> {
    let model = &bundle.system;
    let noise = model.block_values("noise").map_or(f64::NAN, |log_std| log_std[0].exp());
    let lds = model.base();
    [
        ("base model", format!("linear dynamical system, {} states, impulse input", lds.d_state())),
        ("code", format!("{} dimensions, standard normal prior", model.d_code())),
        ("generator", format!("{} parameters, two hidden layers of 64", model.n_parameters())),
        ("learning", format!("Monte-Carlo objective, {} steps", recipe::STEPS)),
        ("learned noise", format!("s = {noise:.3}, left open by a factor e^±0.3 when inferring")),
        ("training sequences", format!("{} of 80 steps", plan.n_seq)),
        ("held-out sequences", N_HELD_OUT.to_string()),
        ("test sequences", N_TEST.to_string()),
        ("inference", "adaptive importance sampling, every 5 observations".into()),
        ("seed", plan.common.seed.to_string()),
        ("threads", plan.common.threads.to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}
