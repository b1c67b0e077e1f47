//! The pooled linear system: the same forecast for every sequence, whatever was seen of it.

use mtds::baseline::{PooledLds, Spread};
use mtds::{Family, Forecast, Result};

use super::{check_outputs, impulse};
use crate::dho::score::{Follower, Predictor};

/// A pooled system and how its forecasts spread.
#[derive(Clone, Debug)]
pub struct Pooled {
    lds: PooledLds,
    spread: Spread,
}

struct PooledFollower<'a> {
    pooled: &'a Pooled,
    n_seen: usize,
}

impl Pooled {
    /// Forecasts by `lds` with this spread around them.
    #[must_use]
    pub fn new(lds: PooledLds, spread: Spread) -> Self {
        Self { lds, spread }
    }

    fn forecast(&self, n_seen: usize, n_time: usize) -> Result<Forecast> {
        self.lds.forecast(Some(&impulse(0, n_seen + n_time)), n_seen, n_time, self.spread)
    }
}

impl Predictor for Pooled {
    fn follow(&self, _sequence: usize) -> Result<Box<dyn Follower + '_>> {
        Ok(Box::new(PooledFollower { pooled: self, n_seen: 0 }))
    }

    /// Steps are independent, so the evidence is the product of their densities.
    fn log_evidences(&self, whole: &Family) -> Result<Option<Vec<f64>>> {
        let forecast = self.forecast(0, whole.max_time())?;
        let density = |(t, y): (usize, &[f64])| match y.iter().all(|value| value.is_nan()) {
            true => Ok(0.0),
            false => forecast.log_density(t, y),
        };
        let one = |sequence: &mtds::Sequence| sequence.outputs().rows().enumerate().map(density).sum();
        Ok(Some(whole.sequences().iter().map(one).collect::<Result<_>>()?))
    }
}

impl Follower for PooledFollower<'_> {
    fn observe(&mut self, outputs: &[f64]) -> Result<()> {
        check_outputs(self.n_seen, outputs)?;
        self.n_seen += outputs.len();
        Ok(())
    }

    fn forecast(&mut self, n_time: usize) -> Result<Forecast> {
        self.pooled.forecast(self.n_seen, n_time)
    }
}
