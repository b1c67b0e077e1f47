//! A model as Python has it: what a fit leaves behind, and the questions that are put to it.

use crate::array::{Array, array, of_signal, signal};
use crate::device;
use crate::error::{Result, data_error, setting_error};
use crate::family::Family;
use crate::forecast::{self, Forecast};
use crate::posterior::{self, Posterior};
use crate::scores;
use crate::table::Table;
use crate::tracker::Tracker;
use crate::work::{self, Manner, Progress, Watch};
use mtds::parts::MAX_DRAWS;
use mtds::random::{Stream, stream};
use mtds::{CodePath, Device, Method, Signal};
use mtds_data::fit_file::{FIT_FILE, FitFile};
use mtds_data::model::{load_model, save_model};
use mtds_data::prolonged;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// A multi-task dynamical system that was learned.
#[pyclass(frozen, module = "pymtds._core")]
pub(crate) struct Model(mtds::Model, Device);

impl Model {
    /// A model on a device that is asked for by name.
    ///
    /// # Errors
    /// A device that is none, or cannot be used.
    pub(crate) fn placed(model: mtds::Model, device: &str) -> Result<Self> {
        let device = device::open_for(device, &model)?;
        Ok(Self(model.on(&device), device))
    }

    pub(crate) fn model(&self) -> &mtds::Model {
        &self.0
    }
}

/// A method of inference by its name.
pub(crate) fn method(name: &str, model: &mtds::Model) -> PyResult<Method> {
    match name {
        "adais" => Ok(Method::AdaptiveImportance),
        "nuts" => Ok(Method::Nuts),
        "map" => Ok(Method::MapLaplace),
        "amortised" if model.network.is_some() => Ok(Method::Amortised),
        "amortised" => {
            let why = "`amortised` needs an inference network, and this model was learned without one; take another method, \
                       or fit with learn=\"elbo\" and amortised=32";
            Err(setting_error("method", why))
        }
        other => Err(setting_error(
            "method",
            format_args!("found `{other}`; expected adais, nuts, map or amortised"),
        )),
    }
}

#[pymethods]
impl Model {
    /// Reads a model directory.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, device: &str) -> PyResult<Self> {
        work::quick(py, || Self::placed(load_model(&path)?, device))
    }

    /// The same model on another device.
    fn on(&self, py: Python<'_>, device: &str) -> PyResult<Self> {
        work::quick(py, || Self::placed(self.0.clone(), device))
    }

    /// The device: `cpu`, or number and name of a card.
    #[getter]
    fn device(&self) -> &str {
        self.1.name()
    }

    /// What went wrong with the device so far, if anything did: the processor did the rest.
    #[getter]
    fn trouble(&self) -> Option<String> {
        self.1.trouble()
    }

    /// Writes a model directory, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        work::quick(py, || Ok(save_model(&path, &self.0)?))
    }

    /// A model from the bytes of its directory.
    #[staticmethod]
    fn from_files(py: Python<'_>, files: Vec<(String, Vec<u8>)>, device: &str) -> PyResult<Self> {
        work::quick(py, || {
            let own: Vec<_> = files.into_iter().filter(|(name, _)| name != FIT_FILE).collect();
            Self::placed(mtds::Model::from_files(&own)?, device)
        })
    }

    /// The files of its directory, by name.
    fn to_files<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyBytes>)>> {
        let files = work::quick(py, || {
            let mut files = self.0.to_files()?;
            if let Some(settings) = FitFile::of(&self.0) {
                files.push((FIT_FILE.to_owned(), settings.to_text()?.into_bytes()));
            }
            Ok(files)
        })?;
        Ok(files.into_iter().map(|(name, bytes)| (name, PyBytes::new(py, &bytes))).collect())
    }

    /// Forecasts of every sequence of a family; quantiles at `levels`.
    #[pyo3(signature = (family, horizon, seen, levels, *, draws=0, method="adais", seed=1, threads=None, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
    fn forecast(
        &self,
        py: Python<'_>,
        family: Py<Family>,
        horizon: Option<usize>,
        seen: Option<usize>,
        levels: Vec<f64>,
        draws: usize,
        method: &str,
        seed: u64,
        threads: Option<usize>,
        progress: Option<Progress<'_>>,
    ) -> PyResult<Forecast> {
        let asked =
            forecast::Asked { horizon, seen, levels, draws, method: self::method(method, &self.0)?, seed };
        let read = &family.get().read;
        let manner = Manner { threads, progress: progress.as_ref() };
        let parts = manner.run(py, |watch| forecast::all(&self.0, read, &asked, watch))?;
        Ok(Forecast::new(family, asked.levels, parts))
    }

    /// Posteriors of the codes of every sequence of a family.
    #[pyo3(signature = (family, seen, *, draws=1000, method="adais", seed=1, threads=None, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
    fn infer(
        &self,
        py: Python<'_>,
        family: Py<Family>,
        seen: Option<usize>,
        draws: usize,
        method: &str,
        seed: u64,
        threads: Option<usize>,
        progress: Option<Progress<'_>>,
    ) -> PyResult<Posterior> {
        let asked = posterior::Asked { seen, draws, method: self::method(method, &self.0)?, seed };
        let read = &family.get().read;
        let manner = Manner { threads, progress: progress.as_ref() };
        let parts = manner.run(py, |watch| posterior::all(&self.0, read, &asked, watch))?;
        Ok(Posterior::new(family, self.0.system.d_code(), parts))
    }

    /// Scores of its forecasts, and of baselines, as a table.
    #[pyo3(signature = (family, seen, *, horizon=None, against=vec![], train=None, seed=1, threads=None, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
    fn evaluate(
        &self,
        py: Python<'_>,
        family: &Bound<'_, Family>,
        seen: Vec<usize>,
        horizon: Option<usize>,
        against: Vec<String>,
        train: Option<&Bound<'_, Family>>,
        seed: u64,
        threads: Option<usize>,
        progress: Option<Progress<'_>>,
    ) -> PyResult<Table> {
        let against = scores::baselines(&against, train.is_some())?;
        let asked = scores::Asked { seen, horizon, against, seed };
        let families = (&family.get().read.family, train.map(|train| &train.get().read.family));
        let manner = Manner { threads, progress: progress.as_ref() };
        manner.run(py, |watch| scores::table(&self.0, families, &asked, watch))
    }

    /// A tracker before its first observation, number `i` of many.
    fn track(&self, py: Python<'_>, i: u64) -> PyResult<Tracker> {
        work::quick(py, || Ok(Tracker::new(self.0.track(i)?, self.0.columns.has_attributes_only())))
    }

    /// Codes drawn from what is believed of new members, n × d_code.
    fn sample_codes<'py>(&self, py: Python<'py>, n: usize, seed: u64) -> PyResult<Array<'py>> {
        let k = self.0.system.d_code();
        let codes = work::quick(py, || {
            let points = self.0.system.prior().mixture(k)?.sample(n, &mut stream(seed, Stream::PriorCodes));
            Ok((0..n).flat_map(|i| points.point(i)).collect::<Vec<_>>())
        })?;
        array(py, &[n, k], &codes)
    }

    /// Sequences of codes, n × d_code; n × n_time × d_obs.
    #[pyo3(signature = (codes, n_time, inputs=None, noise_seed=None))]
    fn generate<'py>(
        &self,
        py: Python<'py>,
        codes: Array<'py>,
        n_time: usize,
        inputs: Option<Array<'py>>,
        noise_seed: Option<u64>,
    ) -> PyResult<Array<'py>> {
        let (codes, inputs) =
            (signal(&codes, "codes")?, inputs.map(|inputs| signal(&inputs, "inputs")).transpose()?);
        let inputs = inputs.map(|inputs| prolonged(&inputs, &self.0, n_time));
        let system = &self.0.system;
        let made = work::quick(py, || {
            let one = |(i, code): (usize, &[f64])| match noise_seed {
                None => self.0.generate(code, inputs.as_ref(), n_time),
                Some(seed) => {
                    let mut random = stream(seed, Stream::Noise(i as u64));
                    system.generate_noisy(code, inputs.as_ref(), n_time, &mut random)
                }
            };
            let made = codes.rows().enumerate().map(one).collect::<mtds::Result<Vec<_>>>()?;
            Ok(made.iter().flat_map(Signal::values).copied().collect::<Vec<_>>())
        })?;
        array(py, &[codes.n_time(), n_time, system.base().d_obs()], &made)
    }

    /// The sequence of a system that changes along a path of codes.
    #[pyo3(signature = (codes, n_time, inputs=None))]
    fn morph<'py>(
        &self,
        py: Python<'py>,
        codes: Array<'py>,
        n_time: usize,
        inputs: Option<Array<'py>>,
    ) -> PyResult<Array<'py>> {
        let (codes, inputs) =
            (signal(&codes, "codes")?, inputs.map(|inputs| signal(&inputs, "inputs")).transpose()?);
        let inputs = inputs.map(|inputs| prolonged(&inputs, &self.0, n_time));
        let made = work::quick(py, || {
            let path = CodePath::new(codes.rows().map(<[f64]>::to_vec).collect())?;
            Ok(self.0.morph(&path, inputs.as_ref(), n_time)?)
        })?;
        of_signal(py, &made)
    }

    /// The inputs of one sequence of a family, answered with the code of another or of a member.
    #[pyo3(signature = (family, content, style, *, seed=1, threads=None))]
    fn transfer<'py>(
        &self,
        py: Python<'py>,
        family: &Bound<'py, Family>,
        content: &str,
        style: &str,
        seed: u64,
        threads: Option<usize>,
    ) -> PyResult<Array<'py>> {
        let family = &family.get().read.family;
        let made = Manner { threads, progress: None }
            .run(py, |watch| self.transferred(family, (content, style), seed, watch))?;
        of_signal(py, &made)
    }

    /// Names of the outputs.
    #[getter]
    fn output_names(&self) -> Vec<String> {
        self.0.columns.outputs.clone()
    }

    /// Names of the inputs.
    #[getter]
    fn input_names(&self) -> Vec<String> {
        self.0.columns.inputs.clone()
    }

    /// Input columns that do not change within a sequence, with the levels of categories.
    #[getter]
    fn attributes(&self) -> Vec<(String, Vec<String>)> {
        let attributes = self.0.columns.attributes.iter();
        attributes.map(|attribute| (attribute.column.clone(), attribute.levels.clone())).collect()
    }

    /// Whether the inputs are attributes, all of them.
    #[getter]
    fn has_attributes_only(&self) -> bool {
        self.0.columns.has_attributes_only()
    }

    /// Length of a code.
    #[getter]
    fn d_code(&self) -> usize {
        self.0.system.d_code()
    }

    /// Name of the base model.
    #[getter]
    fn base(&self) -> &'static str {
        self.0.system.base().kind()
    }

    /// Systems that forecast together.
    #[getter]
    fn n_systems(&self) -> usize {
        1 + self.0.companions.len()
    }

    /// Length of a step, as files write it.
    #[getter]
    fn time_step(&self) -> Option<String> {
        self.0.time_step.clone()
    }

    /// Seed of all randomness in learning.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.provenance.seed
    }

    /// Ids and labels of the members.
    #[getter]
    fn members(&self) -> Vec<(String, Option<String>)> {
        self.0.members.iter().map(|member| (member.id.clone(), member.label.clone())).collect()
    }

    /// Posterior means, or standard deviations, of the codes of the members, n × d_code.
    fn member_codes<'py>(&self, py: Python<'py>, std_dev: bool) -> PyResult<Array<'py>> {
        let of = |member: &mtds::Member| {
            if std_dev { member.code_std_dev.clone() } else { member.code_mean.clone() }
        };
        let codes: Vec<f64> = self.0.members.iter().flat_map(of).collect();
        array(py, &[self.0.members.len(), self.0.system.d_code()], &codes)
    }

    /// How it was learned, as a JSON document; nothing for a model that was put together by hand.
    #[getter]
    fn record(&self) -> Option<String> {
        self.0.fit.as_ref().and_then(|fit| serde_json::to_string(fit).ok())
    }

    /// What its card reports: measure, condition, mean, standard error, number of sequences.
    #[getter]
    fn scores(&self) -> Vec<(String, String, f64, Option<f64>, usize)> {
        let scores = self.0.scores.iter();
        scores
            .map(|score| {
                (score.measure.clone(), score.condition.clone(), score.mean, score.std_error, score.n_seq)
            })
            .collect()
    }
}

impl Model {
    fn transferred(
        &self,
        family: &mtds::Family,
        (content, style): (&str, &str),
        seed: u64,
        watch: &Watch,
    ) -> Result<Signal> {
        let model = &self.0;
        let Some(inputs) = family.inputs_of(family.index_of(content)?).filter(|_| model.system.d_input() > 0)
        else {
            let why = "the model has no inputs, so that a sequence is all style; generate with the code of the style instead";
            return Err(setting_error("content", why).into());
        };
        let code = match model.member(style) {
            Ok(member) => member.code_mean.clone(),
            Err(_) => {
                let i = family.index_of(style)?;
                let seen = (family.sequence(i).outputs(), family.inputs_of(i));
                let random = stream(seed, Stream::Infer(i as u64));
                let method = Method::AdaptiveImportance;
                let found = model.infer_observed(seen, method, MAX_DRAWS, random, &|| watch.go_on())?;
                found.posterior.mean()[..model.system.d_code()].to_vec()
            }
        };
        Ok(model.generate(&code, Some(inputs), inputs.n_time())?)
    }
}

/// The inputs of sequence `i` that the model takes: without names the reader takes what looks like inputs, which a model without
/// inputs does not want.
pub(crate) fn inputs_of<'f>(family: &'f mtds::Family, model: &mtds::Model, i: usize) -> Option<&'f Signal> {
    family.inputs_of(i).filter(|_| model.system.d_input() > 0)
}

/// [`inputs_of`], as far as step `n_time`: what does not change within a sequence goes on as it is.
pub(crate) fn inputs_until(
    family: &mtds::Family,
    model: &mtds::Model,
    i: usize,
    n_time: usize,
) -> Option<Signal> {
    inputs_of(family, model, i).map(|inputs| prolonged(inputs, model, n_time))
}

/// The outputs of sequence `i` that count as seen.
///
/// # Errors
/// No step that is.
pub(crate) fn seen(family: &mtds::Family, i: usize, most: Option<usize>) -> Result<Signal> {
    if most == Some(0) {
        return Err(data_error(
            "seen: expected 1 or more steps, found 0; leave it out to use all steps".into(),
        )
        .into());
    }
    let outputs = family.sequence(i).outputs();
    Ok(outputs.slice(0..most.unwrap_or(usize::MAX).min(outputs.n_time())))
}

/// Whether a family that was not read for this model has its outputs and inputs.
///
/// # Errors
/// Others than the model has, with both named.
pub(crate) fn check_columns(model: &mtds::Model, family: &mtds::Family) -> Result<()> {
    let listed = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    for (kind, expected, found) in [
        ("outputs", &model.columns.outputs, family.output_names()),
        ("inputs", &model.columns.inputs, family.input_names()),
    ] {
        // A model without inputs passes over whatever looks like one.
        if (kind == "outputs" || !expected.is_empty()) && expected != found {
            let (expected, found) = (listed(expected), listed(found));
            return Err(data_error(format!(
                "expected the {kind} {expected}, as the model has, in this order; found {found}"
            ))
            .into());
        }
    }
    Ok(())
}
