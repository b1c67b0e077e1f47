//! Posteriors of the codes of the sequences of a family: summaries, diagnostics, draws.

use crate::array::{Array, array};
use crate::error::Result;
use crate::family::Family;
use crate::forecast::told;
use crate::model::{check_columns, inputs_of, seen};
use crate::table::{self, Table};
use crate::work::{self, Watch};
use mtds::parts::Misfit;
use mtds::random::{Random, Stream, stream};
use mtds::{Inferred, Method, Model, Points};
use mtds_data::{Column, Outside, ReadFamily};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;

/// What is asked for.
pub(crate) struct Asked {
    /// Steps that count as seen; `None`: all.
    pub(crate) seen: Option<usize>,
    /// Draws of each code.
    pub(crate) draws: usize,
    /// How posteriors are found.
    pub(crate) method: Method,
    /// Seed of all randomness.
    pub(crate) seed: u64,
}

/// What is known of the code of one sequence.
pub(crate) struct Part {
    seen: usize,
    mean: Vec<f64>,
    std_dev: Vec<f64>,
    log_evidence: Option<f64>,
    ess: f64,
    pareto_k: Option<f64>,
    status: String,
    /// Errors in units of those of members.
    misfit: Misfit,
    n_chains: usize,
    /// Draws of equal weight, n × d_code, chain by chain.
    draws: Vec<f64>,
    /// Logarithm of the weight that each of them had before it was drawn.
    log_weights: Vec<f64>,
}

/// Posteriors of all sequences.
///
/// # Errors
/// Sequences that the model cannot take; a stop.
pub(crate) fn all(model: &Model, read: &ReadFamily, asked: &Asked, watch: &Watch) -> Result<Vec<Part>> {
    let (family, done) = (&read.family, AtomicUsize::new(0));
    check_columns(model, family)?;
    let one = |i: usize| -> Result<Part> {
        watch.count("inferring", &done, family.n_seq())?;
        let outputs = seen(family, i, asked.seen)?;
        let given = (&outputs, inputs_of(family, model, i));
        let number = i as u64;
        let random = stream(asked.seed, Stream::Infer(number));
        let found = model.infer_observed(given, asked.method, asked.draws, random, &|| watch.go_on())?;
        let mut random = stream(asked.seed, Stream::InferredDraws(number));
        let misfit = model.misfit(given, &found.posterior)?;
        let own = part(&found, outputs.n_time(), (model.system.d_code(), asked.draws), &mut random);
        Ok(Part { misfit, ..own })
    };
    (0..family.n_seq()).into_par_iter().with_max_len(1).map(one).collect()
}

fn part(found: &Inferred, seen: usize, (k, n): (usize, usize), random: &mut Random) -> Part {
    let posterior = &found.posterior;
    let points = posterior.thinned(n, random);
    let log_weight = log_weights(posterior.draws(), posterior.weights());
    let equal = -(posterior.draws().len() as f64).ln();
    let diagnostics = posterior.diagnostics();
    let status = serde_json::to_value(diagnostics.status).ok();
    Part {
        seen,
        mean: posterior.mean()[..k].to_vec(),
        std_dev: posterior.std_dev()[..k].to_vec(),
        log_evidence: found.log_evidence,
        ess: diagnostics.ess,
        pareto_k: diagnostics.pareto_k,
        status: status.and_then(|value| Some(value.as_str()?.to_owned())).unwrap_or_default(),
        misfit: Misfit::default(),
        n_chains: posterior.n_chains(),
        draws: (0..points.len()).flat_map(|i| points.point(i)[..k].to_vec()).collect(),
        log_weights: (0..points.len())
            .map(|i| log_weight.get(&bits(&points.point(i))).copied().unwrap_or(equal))
            .collect(),
    }
}

/// The weights that draws had, by the draws.
fn log_weights(draws: &Points, weights: &[f64]) -> HashMap<Vec<u64>, f64> {
    weights.iter().enumerate().map(|(i, weight)| (bits(&draws.point(i)), weight.ln())).collect()
}

fn bits(point: &[f64]) -> Vec<u64> {
    point.iter().map(|value| value.to_bits()).collect()
}

/// Posteriors of the codes of the sequences of a family.
#[pyclass(frozen, module = "pymtds._core")]
pub(crate) struct Posterior {
    family: Py<Family>,
    d_code: usize,
    parts: Vec<Part>,
}

impl Posterior {
    pub(crate) fn new(family: Py<Family>, d_code: usize, parts: Vec<Part>) -> Self {
        Self { family, d_code, parts }
    }
}

#[pymethods]
impl Posterior {
    /// A row per sequence: what is known of its code, and how well.
    fn table(&self, py: Python<'_>) -> PyResult<Table> {
        work::quick(py, || {
            let Family { read, types, .. } = self.family.get();
            let ids: Vec<&str> = read.family.sequences().iter().map(mtds::Sequence::id).collect();
            let number = |of: &dyn Fn(&Part) -> f64| table::numbers(self.parts.iter().map(of).collect());
            let seen = self.parts.iter().map(|part| part.seen as i64).collect();
            let mut columns = vec![
                (read.columns.series.clone(), table::ids(&ids, types[0].as_ref())),
                ("seen".to_owned(), table::of_column(Column::Integer(seen))),
            ];
            for d in 0..self.d_code {
                columns.push((format!("z{}_mean", d + 1), number(&|part| part.mean[d])));
                columns.push((format!("z{}_sd", d + 1), number(&|part| part.std_dev[d])));
            }
            let statuses: Vec<&str> = self.parts.iter().map(|part| part.status.as_str()).collect();
            columns.extend([
                ("log_evidence".to_owned(), number(&|part| part.log_evidence.unwrap_or(f64::NAN))),
                ("ess".to_owned(), number(&|part| part.ess)),
                ("pareto_k".to_owned(), number(&|part| part.pareto_k.unwrap_or(f64::NAN))),
                ("status".to_owned(), table::texts(&statuses)),
                ("misfit".to_owned(), number(&|part| part.misfit.size().unwrap_or(f64::NAN))),
            ]);
            Table::new(columns)
        })
    }

    /// Ids of the sequences.
    #[getter]
    fn ids(&self) -> Vec<String> {
        self.family.get().read.family.sequences().iter().map(|sequence| sequence.id().to_owned()).collect()
    }

    /// Ids of the sequences that are far outside of what the family does, and what to say of them.
    fn far_outside(&self) -> (Vec<String>, Option<String>) {
        let sequences = self.family.get().read.family.sequences();
        let each = self.parts.iter().zip(sequences);
        told(each.filter_map(|(part, sequence)| Outside::of(sequence.id(), part.misfit)))
    }

    /// Means, sequences × d_code.
    fn mean<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let values: Vec<f64> = self.parts.iter().flat_map(|part| part.mean.clone()).collect();
        array(py, &[self.parts.len(), self.d_code], &values)
    }

    /// Standard deviations, sequences × d_code.
    fn std_dev<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let values: Vec<f64> = self.parts.iter().flat_map(|part| part.std_dev.clone()).collect();
        array(py, &[self.parts.len(), self.d_code], &values)
    }

    /// Draws of equal weight of each sequence, chains × draws × d_code.
    fn draws<'py>(&self, py: Python<'py>) -> PyResult<Vec<Array<'py>>> {
        let one = |part: &Part| {
            let per_chain = part.log_weights.len() / part.n_chains;
            array(py, &[part.n_chains, per_chain, self.d_code], &part.draws)
        };
        work::caught(|| self.parts.iter().map(one).collect())
    }

    /// Logarithms of the weights that the draws had, chains × draws.
    fn log_weights<'py>(&self, py: Python<'py>) -> PyResult<Vec<Array<'py>>> {
        let one = |part: &Part| {
            let per_chain = part.log_weights.len() / part.n_chains;
            array(py, &[part.n_chains, per_chain], &part.log_weights)
        };
        work::caught(|| self.parts.iter().map(one).collect())
    }
}
