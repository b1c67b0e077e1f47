//! Forecasts of the sequences of a family: means, deviations, quantiles, and draws where they are asked for.

use crate::array::{Array, array};
use crate::error::{Result, data_error, setting_error};
use crate::family::Family;
use crate::model::{check_columns, inputs_of, inputs_until, seen};
use crate::table::{self, Table};
use crate::work::{self, Watch};
use mtds::random::{Stream, stream};
use mtds::{Method, Model};
use mtds_data::{Outside, ReadFamily};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::AtomicUsize;

/// What is asked for.
pub(crate) struct Asked {
    /// Steps; `None`: as far as the data go beyond what is seen.
    pub(crate) horizon: Option<usize>,
    /// Steps that count as seen; `None`: all.
    pub(crate) seen: Option<usize>,
    /// Levels of the quantiles.
    pub(crate) levels: Vec<f64>,
    /// Futures drawn of each sequence.
    pub(crate) draws: usize,
    /// How posteriors are found.
    pub(crate) method: Method,
    /// Seed of all randomness.
    pub(crate) seed: u64,
}

/// The forecast of one sequence; values n_time × d_obs.
pub(crate) struct Part {
    /// Which sequence.
    i: usize,
    /// Its steps.
    steps: Range<usize>,
    mean: Vec<f64>,
    std_dev: Vec<f64>,
    /// By level.
    quantiles: Vec<Vec<f64>>,
    /// n × n_time × d_obs.
    draws: Vec<f64>,
    /// Whether it is far outside of what the family does.
    outside: Option<Outside>,
}

/// Forecasts of all sequences that go on.
///
/// # Errors
/// Inputs of the future that are not there; nothing to forecast; a stop.
pub(crate) fn all(model: &Model, read: &ReadFamily, asked: &Asked, watch: &Watch) -> Result<Vec<Part>> {
    let family = &read.family;
    check_columns(model, family)?;
    let steps = (0..family.n_seq()).map(|i| steps(model, read, asked, i)).collect::<Result<Vec<_>>>()?;
    let ahead: Vec<usize> = (0..family.n_seq()).filter(|&i| !steps[i].is_empty()).collect();
    if ahead.is_empty() {
        let why = "expected a number of steps, found none, and all of the data is seen; give a horizon, or fewer steps as seen";
        return Err(setting_error("horizon", why).into());
    }
    let done = AtomicUsize::new(0);
    let one = |&i: &usize| -> Result<Part> {
        watch.count("forecasting", &done, ahead.len())?;
        part(model, read, asked, (i, steps[i].clone()), watch)
    };
    ahead.par_iter().with_max_len(1).map(one).collect()
}

fn part(
    model: &Model,
    read: &ReadFamily,
    asked: &Asked,
    (i, steps): (usize, Range<usize>),
    watch: &Watch,
) -> Result<Part> {
    let number = i as u64;
    let outputs = seen(&read.family, i, asked.seen)?;
    let inputs = inputs_until(&read.family, model, i, steps.end);
    let given = (&outputs, inputs.as_ref());
    let random = [stream(asked.seed, Stream::Infer(number)), stream(asked.seed, Stream::Forecast(number))];
    let (forecast, inferred) =
        model.forecast_observed(given, steps.len(), asked.method, random, &|| watch.go_on())?;
    let misfit = model.misfit(given, &inferred.posterior)?;
    let draws = match asked.draws {
        0 => vec![],
        n => forecast.draws(n, &mut stream(asked.seed, Stream::ForecastDraws(number))),
    };
    Ok(Part {
        i,
        steps,
        mean: forecast.mean(),
        std_dev: forecast.variance().into_iter().map(f64::sqrt).collect(),
        quantiles: forecast.quantiles(&asked.levels)?,
        draws,
        outside: Outside::of(read.family.sequence(i).id(), misfit),
    })
}

/// The steps of one sequence that are forecast.
fn steps(model: &Model, read: &ReadFamily, asked: &Asked, i: usize) -> Result<Range<usize>> {
    let sequence = read.family.sequence(i);
    let seen = asked.seen.unwrap_or(usize::MAX).min(sequence.n_time());
    let inputs = inputs_of(&read.family, model, i);
    let ahead = inputs.map_or(sequence.n_time(), mtds::Signal::n_time) - seen;
    // What does not change within a sequence is known as far as anybody asks.
    let inputs = inputs.filter(|_| !model.columns.has_attributes_only());
    let horizon = asked.horizon.unwrap_or(ahead);
    if inputs.is_some() && horizon > ahead {
        let (names, id) = (model.columns.inputs.join(", "), sequence.id());
        return Err(data_error(format!(
            "sequence `{id}`: expected {names} for {horizon} step(s) after {seen} seen, found {ahead}; add rows at the end with \
             inputs and no outputs, or ask for fewer steps"
        ))
        .into());
    }
    Ok(seen..seen + horizon)
}

/// Ids of sequences that are far outside of what the family does, and what to say of them.
pub(crate) fn told(found: impl Iterator<Item = Outside>) -> (Vec<String>, Option<String>) {
    let found: Vec<Outside> = found.collect();
    let note = Outside::note(&found);
    (found.into_iter().map(|one| one.id).collect(), note)
}

/// Forecasts of the sequences of a family.
#[pyclass(frozen, module = "pymtds._core")]
pub(crate) struct Forecast {
    family: Py<Family>,
    levels: Vec<f64>,
    parts: Vec<Part>,
}

impl Forecast {
    pub(crate) fn new(family: Py<Family>, levels: Vec<f64>, parts: Vec<Part>) -> Self {
        Self { family, levels, parts }
    }

    fn d_obs(&self) -> usize {
        self.family.get().read.family.d_obs()
    }

    fn arrays<'py>(&self, py: Python<'py>, of: impl Fn(&Part) -> &[f64]) -> PyResult<Vec<Array<'py>>> {
        let one = |part: &Part| array(py, &[part.steps.len(), self.d_obs()], of(part));
        work::caught(|| self.parts.iter().map(one).collect())
    }
}

#[pymethods]
impl Forecast {
    /// A row per sequence, step and output; quantiles under these names.
    fn table(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Table> {
        work::quick(py, || {
            let Family { read, types, .. } = self.family.get();
            let (family, d) = (&read.family, self.d_obs());
            let each = self.parts.iter().flat_map(|part| {
                part.steps.clone().flat_map(move |step| (0..d).map(move |c| (part.i, step, c)))
            });
            let each: Vec<(usize, usize, usize)> = each.collect();
            let rows: Vec<(usize, usize)> = each.iter().map(|&(i, step, _)| (i, step)).collect();
            let ids: Vec<&str> = each.iter().map(|&(i, ..)| family.sequence(i).id()).collect();
            let outputs: Vec<&str> = each.iter().map(|&(.., c)| family.output_names()[c].as_str()).collect();
            let all = |of: &dyn Fn(&Part) -> &[f64]| {
                table::numbers(self.parts.iter().flat_map(of).copied().collect::<Vec<f64>>())
            };
            let mut columns = vec![
                (read.columns.series.clone(), table::ids(&ids, types[0].as_ref())),
                (read.columns.time.clone(), table::times(&read.time, &rows, types[1].as_ref())),
                ("output".to_owned(), table::texts(&outputs)),
                ("mean".to_owned(), all(&|part| &part.mean)),
                ("sd".to_owned(), all(&|part| &part.std_dev)),
            ];
            for (k, name) in names.into_iter().enumerate().take(self.levels.len()) {
                columns.push((name, all(&|part| &part.quantiles[k])));
            }
            Table::new(columns)
        })
    }

    /// Ids of the sequences that are forecast.
    #[getter]
    fn ids(&self) -> Vec<String> {
        let family = &self.family.get().read.family;
        self.parts.iter().map(|part| family.sequence(part.i).id().to_owned()).collect()
    }

    /// Ids of the sequences that are far outside of what the family does, and what to say of them.
    fn far_outside(&self) -> (Vec<String>, Option<String>) {
        told(self.parts.iter().filter_map(|part| part.outside.clone()))
    }

    /// Means of each sequence, steps × outputs.
    fn means<'py>(&self, py: Python<'py>) -> PyResult<Vec<Array<'py>>> {
        self.arrays(py, |part| &part.mean)
    }

    /// Standard deviations of each sequence, steps × outputs.
    fn std_devs<'py>(&self, py: Python<'py>) -> PyResult<Vec<Array<'py>>> {
        self.arrays(py, |part| &part.std_dev)
    }

    /// Quantiles of level number `k` of each sequence, steps × outputs.
    fn quantiles<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Vec<Array<'py>>> {
        self.arrays(py, |part| &part.quantiles[k])
    }

    /// Futures of each sequence, draws × steps × outputs.
    fn draws<'py>(&self, py: Python<'py>) -> PyResult<Vec<Array<'py>>> {
        let d = self.d_obs();
        let one = |part: &Part| {
            let length = part.steps.len() * d;
            array(py, &[part.draws.len() / length, part.steps.len(), d], &part.draws)
        };
        work::caught(|| self.parts.iter().map(one).collect())
    }
}
