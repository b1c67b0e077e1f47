//! STL: the posterior of a single-task model by NUTS, from one oscillator alone, and its forecast.

use std::time::Instant;

use mtds::parts::{SingleTask, SingleTaskFit};
use mtds::random::{Random, stream};
use mtds::{Forecast, Signal};

use super::{Work, WorkSettings, impulse};
use crate::check::{Check, ForecastCheck};
use crate::error::{Error, Result};

/// Name of the work.
pub const NAME: &str = "stl-nuts";
/// How many of the sequences take turns; a posterior takes seconds.
pub const N_SEQ: usize = 5;

/// Ten climbs to a mode, 1 000 draws of warm-up, 600 draws, and the forecast of the remaining steps.
pub struct Stl {
    task: SingleTask,
    sequences: Vec<Signal>,
    at: usize,
    seed: u64,
    turn: u64,
}

impl Stl {
    /// The paper's single-task model of the first sequences.
    pub fn new(settings: &WorkSettings) -> Self {
        let outputs = |y: &Vec<f32>| Signal::column(y.iter().map(|&y| f64::from(y)).collect());
        Self {
            task: SingleTask::oscillator(),
            sequences: settings.problem.sequences.iter().take(N_SEQ).map(outputs).collect(),
            at: settings.at,
            seed: settings.seed,
            turn: 0,
        }
    }

    fn forecast(&self, i: usize, mut random: Random) -> Result<(Forecast, SingleTaskFit)> {
        let (y, n_time) = (&self.sequences[i], self.sequences[i].n_time());
        let horizon = n_time.saturating_sub(self.at).max(1);
        let inputs = impulse(self.at + horizon);
        self.task
            .forecast(&y.slice(0..self.at), Some(&inputs), horizon, &mut random)
            .map_err(|source| Error::Own { work: NAME.into(), source })
    }
}

impl Work for Stl {
    fn name(&self) -> &str {
        NAME
    }

    fn threads(&self) -> usize {
        1 // one chain
    }

    fn round(&mut self) -> Result<f64> {
        self.turn += 1;
        let i = (self.turn as usize - 1) % self.sequences.len();
        let random = stream(self.seed, self.turn * N_SEQ as u64 + i as u64);
        let clock = Instant::now();
        self.forecast(i, random)?;
        Ok(clock.elapsed().as_secs_f64() * 1e3)
    }

    fn check(&mut self) -> Result<Option<Check>> {
        let mut check = ForecastCheck { predicted: vec![], mode_log_density: vec![] };
        for i in 0..self.sequences.len() {
            let (forecast, fit) = self.forecast(i, stream(self.seed, i as u64))?;
            let draws = forecast.means().chunks_exact(forecast.n_time()).map(<[f64]>::to_vec);
            check.predicted.push(draws.collect());
            check.mode_log_density.push(fit.mode_log_density);
        }
        Ok(Some(Check::Forecast(check)))
    }
}
