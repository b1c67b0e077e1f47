//! A fit as Python has it: begun, run until it is done or interrupted, gone on with.

use crate::device;
use crate::error::{Result, SettingError, setting_error};
use crate::family::Family;
use crate::model::Model;
use crate::work::{self, Heard, Manner, Progress, Watch};
use mtds::parts::Topic;
use mtds::{Device, Fit, FitProgress, FitStage, Wishes};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Map, Value};
use std::sync::{Mutex, TryLockError};

/// A fit in progress.
#[pyclass(frozen, module = "pymtds._core")]
pub(crate) struct Fitting {
    fitting: Mutex<mtds::Fitting>,
    /// Where it is learned, and the name by which that was asked for.
    device: (Device, String),
}

#[pymethods]
impl Fitting {
    /// Before its first step, or where a checkpoint of the same data was made; `settings` is a JSON object.
    #[new]
    #[pyo3(signature = (family, settings, select_code, seed, device, checkpoint=None))]
    fn new(
        py: Python<'_>,
        family: &Bound<'_, Family>,
        settings: &str,
        select_code: Vec<usize>,
        seed: u64,
        device: String,
        checkpoint: Option<Vec<u8>>,
    ) -> PyResult<Self> {
        let wishes = wishes(settings)?;
        let family = family.get();
        let fit = Fit { wishes, select_code, seed, ..family.read.fit(family.asked.clone()) };
        let fit = Fit { time_step: fit.time_step.filter(|_| family.has_times), ..fit };
        work::quick(py, || {
            let opened = device::open(&device)?;
            let fit = Fit { device: opened.clone(), ..fit };
            let begun = match &checkpoint {
                None => fit.begin(&family.read.family)?,
                Some(bytes) => fit.resume(&family.read.family, bytes)?,
            };
            Ok(Self { fitting: Mutex::new(begun), device: (opened, device) })
        })
    }

    /// Goes on until the model is there.
    #[pyo3(signature = (threads=None, progress=None))]
    fn run(&self, py: Python<'_>, threads: Option<usize>, progress: Option<Progress<'_>>) -> PyResult<Model> {
        let mut fitting = self.alone()?;
        let fitting = &mut *fitting;
        let work = |watch: &Watch| -> Result<Option<mtds::Model>> {
            Ok(fitting.run(&mut |heard| watch.hear(told(heard)))?)
        };
        let model = Manner { threads, progress: progress.as_ref() }.run(py, work)?;
        let model = model.ok_or_else(|| PyKeyboardInterrupt::new_err(()))?;
        Model::placed(model, &self.device.1).map_err(PyErr::from)
    }

    /// The model as it stands; nothing before learning has got past its start.
    fn so_far(&self, py: Python<'_>) -> PyResult<Option<Model>> {
        let fitting = self.alone()?;
        let fitting = &*fitting;
        work::quick(py, || fitting.so_far()?.map(|model| Model::placed(model, &self.device.1)).transpose())
    }

    /// All that is needed to go on from here, in another process.
    fn checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let fitting = self.alone()?;
        let fitting = &*fitting;
        let bytes = work::quick(py, || Ok(fitting.checkpoint()?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What went wrong with the device, if anything did: the processor did the rest.
    #[getter]
    fn trouble(&self) -> Option<String> {
        self.device.0.trouble()
    }

    /// Seed of all randomness.
    #[getter]
    fn seed(&self) -> PyResult<u64> {
        Ok(self.alone()?.seed())
    }

    /// Every setting with its value and the reason for it.
    #[getter]
    fn reasons(&self) -> PyResult<Vec<(String, String, String)>> {
        let fitting = self.alone()?;
        let shown = |choice: &mtds::parts::Choice| {
            (choice.key.to_string(), choice.value.to_string(), choice.why.to_string())
        };
        Ok(fitting.reasons().iter().map(shown).collect())
    }
}

impl Fitting {
    fn alone(&self) -> PyResult<std::sync::MutexGuard<'_, mtds::Fitting>> {
        match self.fitting.try_lock() {
            Ok(fitting) => Ok(fitting),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(PyRuntimeError::new_err("this fit is running in another thread; wait until it is done"))
            }
        }
    }
}

fn told(heard: &FitProgress) -> Heard {
    let stage = match heard.stage {
        FitStage::Starting => "starting",
        FitStage::Learning => "learning",
        FitStage::Expecting => "expecting",
        FitStage::Calibrating => "calibrating",
        FitStage::Comparing => "comparing",
        FitStage::Inferring => "inferring",
        FitStage::Judging => "judging",
    };
    let bound = heard.step.map(|step| step.best_validation.unwrap_or(step.bound));
    Heard { stage, done: heard.done, all: heard.all, part: heard.part, bound }
}

/// Settings from a JSON object.
///
/// # Errors
/// A key that does not exist, or a value of another kind, by the name of the key.
fn wishes(settings: &str) -> PyResult<Wishes> {
    let all: Map<String, Value> =
        serde_json::from_str(settings).map_err(|why| setting_error("settings", why))?;
    for (name, value) in &all {
        if Wishes::KEYS.iter().all(|key| key.name != name) {
            let known: Vec<&str> = Wishes::KEYS.iter().map(|key| key.name).collect();
            return Err(SettingError::new_err(format!(
                "no setting `{name}`; there are: {}",
                known.join(", ")
            )));
        }
        let only: Map<String, Value> = [(name.clone(), value.clone())].into_iter().collect();
        serde_json::from_value::<Wishes>(Value::Object(only)).map_err(|why| setting_error(name, why))?;
    }
    serde_json::from_value(Value::Object(all)).map_err(|why| setting_error("settings", why))
}

/// The settings of a fit: name, type, topic, meaning.
#[pyfunction]
pub(crate) fn settings() -> Vec<(&'static str, &'static str, &'static str, String)> {
    let topic = |topic: Topic| match topic {
        Topic::Usual => "usual",
        Topic::Model => "model",
        Topic::Layered => "layered",
        Topic::Learning => "learning",
        Topic::Variational => "variational",
        Topic::NewMembers => "new members",
    };
    let one = |key: &mtds::parts::Key| (key.name, key.kind, topic(key.topic), key.about.trim().to_owned());
    Wishes::KEYS.iter().map(one).collect()
}
