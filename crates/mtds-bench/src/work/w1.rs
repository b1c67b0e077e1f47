//! W1: one training step of the paper's mocap model with its Adam update; and its frames one by one.

use std::time::Instant;

use mtds::kernel::Panels;
use mtds::kernel::product::add_product;
use mtds::learn::{AdamState, AdamStep, ParameterGroup};

use super::Work;
use super::mocap::{Mocap, blocks};
use crate::check::{Check, StepCheck};
use crate::error::{Error, Result};
use crate::inputs::LEARNING_RATE;
use crate::w1_inputs::W1Size;

/// The step at the paper's sizes.
pub const NAME: &str = "w1";
/// All sizes but the paper's, together.
pub const ALL_SIZES: &str = "w1-sizes";

const fn hidden(hidden: usize) -> W1Size {
    W1Size { hidden, ..W1Size::PAPER }
}

const fn batch(batch: usize) -> W1Size {
    W1Size { batch, ..W1Size::PAPER }
}

/// Other numbers of units (h) and of sequences (b).
pub const SIZES: &[(&str, W1Size)] = &[
    ("w1-h64", hidden(64)),
    ("w1-h256", hidden(256)),
    ("w1-h512", hidden(512)),
    ("w1-h2048", hidden(2048)),
    ("w1-b1", batch(1)),
    ("w1-b4", batch(4)),
    ("w1-b64", batch(64)),
    ("w1-b256", batch(256)),
];

/// The training step at one size, with its optimiser's state; built when it is first used.
pub struct W1 {
    name: String,
    size: W1Size,
    state: Option<State>,
}

struct State {
    model: Mocap,
    start: Vec<f32>,
    gradient: Vec<f32>,
    groups: Vec<ParameterGroup>,
    adam: AdamState,
    next: AdamState,
}

impl W1 {
    /// The step at a size, under the name of its row.
    pub fn new(name: &str, size: W1Size) -> Self {
        Self { name: name.to_string(), size, state: None }
    }

    fn state(&mut self) -> Result<&mut State> {
        let own = |source| Error::Own { work: self.name.clone(), source };
        let state = match self.state.take() {
            Some(state) => state,
            None => State::new(self.size).map_err(own)?,
        };
        Ok(self.state.insert(state))
    }
}

impl State {
    fn new(size: W1Size) -> mtds::Result<Self> {
        let (model, start) = Mocap::new(size)?;
        let everything = ParameterGroup { name: "all".into(), range: 0..start.len(), rate: 1.0, l2: 0.0 };
        Ok(Self {
            model,
            gradient: vec![0.0; start.len()],
            groups: vec![everything],
            adam: AdamState::new(start.clone()),
            next: AdamState::new(start.clone()),
            start,
        })
    }
}

impl Work for W1 {
    fn name(&self) -> &str {
        &self.name
    }

    fn threads(&self) -> usize {
        rayon::current_num_threads()
    }

    fn round(&mut self) -> Result<f64> {
        let name = self.name.clone();
        let s = self.state()?;
        let clock = Instant::now();
        let loss = s.model.step(&s.adam.parameters, &mut s.gradient);
        loss.map_err(|source| Error::Own { work: name, source })?;
        let step = AdamStep { learning_rate: LEARNING_RATE, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };
        s.adam.step_into(&mut s.next, &s.gradient, &s.groups, &step);
        std::mem::swap(&mut s.adam, &mut s.next);
        Ok(clock.elapsed().as_secs_f64() * 1e3)
    }

    fn check(&mut self) -> Result<Option<Check>> {
        let (name, size) = (self.name.clone(), self.size);
        let s = self.state()?;
        let loss = s.model.step(&s.start, &mut s.gradient);
        let loss = loss.map_err(|source| Error::Own { work: name, source })?;
        let mut rest = &s.gradient[..];
        let norms = blocks(size).map(|(name, len)| {
            let (own, after) = rest.split_at(len);
            rest = after;
            (name.to_string(), own.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt())
        });
        Ok(Some(Check::Step(StepCheck { loss, gradient_norms: norms.into_iter().collect() })))
    }

    fn note(&mut self, median_ms: f64) -> Option<String> {
        let (done, peak) = (self.size.operations() * 1e-6 / median_ms, product_peak());
        let share = 100.0 * done / peak;
        // The state of one size is hundreds of megabytes, and no other size needs it.
        self.state = None;
        Some(format!("{done:.0} Gflop/s, {share:.0} % of the {peak:.0} that products in the cache reach"))
    }
}

/// Gflop/s of a product that fits in the cache of its core, on all threads at once: the most that any product gets here.
///
/// Small enough that the library does not share it out.
fn product_peak() -> f64 {
    let (m, k, n) = (48, 96, 96);
    let rates = rayon::broadcast(|_| {
        let value = |i: usize, j: usize| ((i * 7 + j * 3) % 11) as f32 * 0.1 - 0.5;
        let (x, w) = (Panels::from_fn(m, k, value), Panels::from_fn(k, n, value));
        let mut out = Panels::zeros(m, n);
        let mut rate = 0.0f64;
        for _ in 0..3000 {
            let clock = Instant::now();
            add_product(x.view(), &w, &mut out);
            rate = rate.max(2e-9 * (m * k * n) as f64 / clock.elapsed().as_secs_f64());
        }
        rate
    });
    rates.iter().sum()
}

/// Frames in a round of `w1-generate`.
const FRAMES: usize = 100;

/// One sequence of the paper's size, frame by frame, on one thread.
pub struct Generate {
    model: Mocap,
    pool: rayon::ThreadPool,
}

impl Generate {
    /// Name of the work.
    pub const NAME: &str = "w1-generate";

    /// With weights arranged.
    ///
    /// # Errors
    /// If the library refuses the sizes, or there is no thread.
    pub fn new() -> Result<Self> {
        let own = |source| Error::Own { work: Self::NAME.into(), source };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|e| Error::Threads(e.to_string()))?;
        let (mut model, parameters) = Mocap::new(W1Size { batch: 1, ..W1Size::PAPER }).map_err(own)?;
        model.arrange(&parameters).map_err(own)?;
        Ok(Self { model, pool })
    }
}

impl Work for Generate {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn threads(&self) -> usize {
        1
    }

    fn round(&mut self) -> Result<f64> {
        let (model, own) = (&mut self.model, |source| Error::Own { work: Self::NAME.into(), source });
        self.pool.install(|| {
            let clock = Instant::now();
            model.generate(FRAMES).map_err(own)?;
            Ok(clock.elapsed().as_secs_f64() * 1e3)
        })
    }

    fn check(&mut self) -> Result<Option<Check>> {
        Ok(None)
    }

    fn note(&mut self, median_ms: f64) -> Option<String> {
        Some(format!("{:.0} frames per second, one by one, one sequence", FRAMES as f64 / median_ms * 1e3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::compare;

    /// Eager PyTorch 2.15: `{"work":"w1","do":"check","hidden":64,"batch":3}` to `bench/peers/torch_worker.py`.
    #[test]
    fn a_small_step_has_the_numbers_of_the_peer() {
        let norms = [
            ("wih", 1.555_064_96e-3),
            ("whh", 5.158_293_92e-4),
            ("bih", 1.377_997_03e-3),
            ("bhh", 6.907_119_76e-4),
            ("H", 2.175_941_09e-3),
            ("Wz", 2.603_232_60e-2),
            ("bz", 2.184_358_29e-2),
            ("z", 2.597_348_89e-4),
        ];
        let gradient_norms = norms.map(|(name, norm)| (name.to_string(), norm)).into_iter().collect();
        let known = Check::Step(StepCheck { loss: 0.337_490_469, gradient_norms });
        let found = W1::new("w1", W1Size { hidden: 64, batch: 3 }).check().unwrap().unwrap();
        let agreement = compare("w1", ("mtds", &found), ("torch", &known));
        assert!(agreement.agrees, "{}", agreement.detail);
    }

    #[test]
    fn frames_one_by_one_equal_the_sequence() {
        let size = W1Size { hidden: 20, batch: 1 };
        let (mut model, parameters) = Mocap::new(size).unwrap();
        let mut gradient = vec![0.0; parameters.len()];
        model.step(&parameters, &mut gradient).unwrap();
        let whole = model.predicted();
        let n_time = crate::w1_inputs::N_TIME;
        assert_eq!(model.generate(n_time).unwrap(), whole[whole.len() - whole.len() / n_time..]);
    }
}
