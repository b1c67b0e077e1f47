//! A sequence that is followed as it comes.

use crate::array::{Array, array, signal};
use crate::error::{Result, data_error};
use crate::work;
use mtds::{ModelTracker, Signal};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// A sequence that is followed, one observation at a time.
#[pyclass(frozen, module = "pymtds._core")]
pub(crate) struct Tracker(Mutex<Tracked>);

struct Tracked {
    tracker: ModelTracker,
    /// Whether inputs do not change within the sequence, and need not be said for the future.
    is_held: bool,
    /// Inputs of the last step.
    inputs: Vec<f64>,
}

/// Mean, standard deviation, and quantiles by level of a forecast, steps × outputs each.
type Forecast<'py> = (Array<'py>, Array<'py>, Vec<Array<'py>>);

impl Tracker {
    pub(crate) fn new(tracker: ModelTracker, is_held: bool) -> Self {
        Self(Mutex::new(Tracked { tracker, is_held, inputs: vec![] }))
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&mut Tracked) -> Result<T> + Send,
    ) -> PyResult<T> {
        work::quick(py, || ask(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[pymethods]
impl Tracker {
    /// Takes in steps, n × d_obs with NaN where a value is missing, and their inputs; how often the posterior was updated.
    #[pyo3(signature = (outputs, inputs=None))]
    fn observe<'py>(
        &self,
        py: Python<'py>,
        outputs: Array<'py>,
        inputs: Option<Array<'py>>,
    ) -> PyResult<usize> {
        let (outputs, inputs) =
            (signal(&outputs, "outputs")?, inputs.map(|inputs| signal(&inputs, "inputs")).transpose()?);
        if inputs.as_ref().is_some_and(|inputs| inputs.n_time() != outputs.n_time()) {
            return Err(data_error("expected as many rows of inputs as of outputs".into()));
        }
        self.with(py, |tracked| {
            let mut updates = 0;
            for (t, row) in outputs.rows().enumerate() {
                let inputs = inputs.as_ref().map_or(&[][..], |inputs| inputs.row(t));
                updates += usize::from(tracked.tracker.observe(row, inputs)?);
                tracked.inputs = inputs.to_vec();
            }
            Ok(updates)
        })
    }

    /// Mean and standard deviation of the code; nothing before the first update.
    fn code(&self, py: Python<'_>) -> PyResult<Option<(Vec<f64>, Vec<f64>)>> {
        self.with(py, |Tracked { tracker, .. }| {
            let k = tracker.systems().trackers()[0].model().d_code();
            let posterior = tracker.posterior();
            Ok(posterior.map(|posterior| (posterior.mean()[..k].to_vec(), posterior.std_dev()[..k].to_vec())))
        })
    }

    /// log p of all that was observed, in the units of the data.
    fn log_evidence(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        self.with(py, |Tracked { tracker, .. }| Ok(tracker.log_evidence()))
    }

    /// The steps after the last one that was observed; inputs that do not change go on by themselves.
    #[pyo3(signature = (horizon, levels, inputs=None))]
    fn forecast<'py>(
        &self,
        py: Python<'py>,
        horizon: usize,
        levels: Vec<f64>,
        inputs: Option<Array<'py>>,
    ) -> PyResult<Forecast<'py>> {
        let inputs = inputs.map(|inputs| signal(&inputs, "inputs")).transpose()?;
        let (shape, mean, std_dev, quantiles) = self.with(py, |tracked| {
            let inputs = match inputs {
                None if tracked.is_held && !tracked.inputs.is_empty() => {
                    let values = tracked.inputs.repeat(horizon);
                    Some(Signal::new(horizon, tracked.inputs.len(), values)?)
                }
                given => given,
            };
            let found = tracked.tracker.forecast(horizon, inputs.as_ref())?;
            let std_dev: Vec<f64> = found.variance().into_iter().map(f64::sqrt).collect();
            Ok(([found.n_time(), found.d_obs()], found.mean(), std_dev, found.quantiles(&levels)?))
        })?;
        let quantiles = quantiles.iter().map(|values| array(py, &shape, values));
        Ok((array(py, &shape, &mean)?, array(py, &shape, &std_dev)?, quantiles.collect::<PyResult<_>>()?))
    }

    /// Steps that were observed.
    #[getter]
    fn n_observed(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |Tracked { tracker, .. }| Ok(tracker.n_observed_steps()))
    }
}
