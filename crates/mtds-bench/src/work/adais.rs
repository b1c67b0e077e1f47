//! AdaIS: one posterior update of Algorithm 2 at step t, code and log s together.

use std::time::Instant;

use mtds::parts::Tracker;
use mtds::parts::{
    Activation, AdaptiveImportance, CodeTarget, FeatureMap, FirstMixture, GaussianMixture, Group, Lds,
    NoiseBelief, adaptive_importance,
};
use mtds::random::{Random, stream};
use mtds::{Architecture, Online, Posterior, Scaling, Signal, System};

use super::{Work, WorkSettings, impulse};
use crate::check::{Check, PosteriorCheck};
use crate::error::{Error, Result};

/// Steps between updates, τ.
const EVERY: usize = 5;
/// Length of the code.
const D_CODE: usize = 4;
/// log s ~ N(−2, 0.1²).
const NOISE: NoiseBelief = NoiseBelief::Uncertain { mean: 0.0, std_dev: 0.1 };
/// Name of the work that only we do.
pub const TRACKED: &str = "tracked";

/// Updates of the posteriors of all sequences at one step, each from its mixture τ steps before.
pub struct Adais {
    name: &'static str,
    model: System,
    prior: GaussianMixture,
    settings: AdaptiveImportance,
    at: usize,
    prepared: Vec<Prepared>,
    random: Random,
    next: usize,
}

/// A sequence and its mixture at the update before.
struct Prepared {
    outputs: Signal,
    previous: Option<GaussianMixture>,
}

impl Adais {
    /// Follows every sequence up to the update before `settings.at`.
    ///
    /// # Errors
    /// If the library refuses the inputs.
    pub fn new(name: &'static str, stop_ess_fraction: f64, settings: &WorkSettings) -> Result<Self> {
        let own = |source| Error::Own { work: name.into(), source };
        let model = model(settings).map_err(own)?;
        let prior = GaussianMixture::standard_normal(D_CODE).and_then(|p| NOISE.extend(&p)).map_err(own)?;
        let mut adais = Self {
            name,
            model,
            prior,
            settings: AdaptiveImportance { stop_ess_fraction, ..AdaptiveImportance::default() },
            at: settings.at,
            prepared: vec![],
            random: stream(settings.seed, 0),
            next: 0,
        };
        for y in &settings.problem.sequences {
            let outputs = Signal::column(y.iter().map(|&y| f64::from(y)).collect());
            let mut previous = None;
            for t in (EVERY..adais.at).step_by(EVERY) {
                let posterior = adais.update(&outputs, previous.as_ref(), t).map_err(own)?;
                previous = posterior.mixture().cloned();
            }
            adais.prepared.push(Prepared { outputs, previous });
        }
        Ok(adais)
    }

    fn update(
        &mut self,
        outputs: &Signal,
        previous: Option<&GaussianMixture>,
        t: usize,
    ) -> mtds::Result<Posterior> {
        let group = Group::single(&outputs.slice(0..t), Some(&impulse(t)), 1)?;
        let target = CodeTarget::new(&self.model, self.model.parameters(), &self.prior, group, None);
        let start = previous.map_or(FirstMixture::Prior(&self.prior), FirstMixture::Previous);
        let random = &mut self.random;
        adaptive_importance(&self.settings, &target, start, random)
    }

    fn update_prepared(&mut self, i: usize) -> Result<Posterior> {
        let Prepared { outputs, previous } = &self.prepared[i];
        let (outputs, previous) = (outputs.clone(), previous.clone());
        let work = self.name;
        self.update(&outputs, previous.as_ref(), self.at)
            .map_err(|source| Error::Own { work: work.into(), source })
    }
}

impl Work for Adais {
    fn name(&self) -> &str {
        self.name
    }

    fn threads(&self) -> usize {
        rayon::current_num_threads()
    }

    fn round(&mut self) -> Result<f64> {
        let i = self.next;
        self.next = (i + 1) % self.prepared.len();
        let clock = Instant::now();
        self.update_prepared(i)?;
        Ok(clock.elapsed().as_secs_f64() * 1e3)
    }

    fn check(&mut self) -> Result<Option<Check>> {
        let mut check = PosteriorCheck { mean: vec![], std_dev: vec![], ess: vec![], passes: vec![] };
        for i in 0..self.prepared.len() {
            let posterior = self.update_prepared(i)?;
            check.mean.push(posterior.mean()[..D_CODE].to_vec());
            check.std_dev.push(posterior.std_dev()[..D_CODE].to_vec());
            check.ess.push(posterior.diagnostics().ess);
            check.passes.push(posterior.diagnostics().passes as f64);
        }
        Ok(Some(Check::Posterior(check)))
    }
}

/// One update of a tracked sequence as a user gets it: default settings, the search for modes included.
pub struct Tracked {
    model: System,
    sequences: Vec<Signal>,
    at: usize,
    seed: u64,
    next: usize,
}

impl Tracked {
    /// The same generator and sequences as [`Adais`].
    ///
    /// # Errors
    /// If the library refuses the inputs.
    pub fn new(settings: &WorkSettings) -> Result<Self> {
        let outputs = |y: &Vec<f32>| Signal::column(y.iter().map(|&y| f64::from(y)).collect());
        Ok(Self {
            model: model(settings).map_err(|source| Error::Own { work: TRACKED.into(), source })?,
            sequences: settings.problem.sequences.iter().map(outputs).collect(),
            at: settings.at,
            seed: settings.seed,
            next: 0,
        })
    }

    /// Follows the next sequence, untimed, and times the observation that completes step `at`.
    fn update(&mut self) -> mtds::Result<f64> {
        let i = self.next % self.sequences.len();
        let settings = Online { noise: NOISE, ..Online::default() };
        let mut tracker = Tracker::new(&self.model, settings, stream(self.seed, self.next as u64))?;
        self.next += 1;
        let (y, u) = (&self.sequences[i], impulse(self.at));
        for t in 0..self.at - 1 {
            tracker.observe(y.row(t), u.row(t))?;
        }
        let clock = Instant::now();
        tracker.observe(y.row(self.at - 1), u.row(self.at - 1))?;
        tracker.update()?;
        Ok(clock.elapsed().as_secs_f64() * 1e3)
    }
}

impl Work for Tracked {
    fn name(&self) -> &str {
        TRACKED
    }

    fn threads(&self) -> usize {
        rayon::current_num_threads()
    }

    fn round(&mut self) -> Result<f64> {
        self.update().map_err(|source| Error::Own { work: TRACKED.into(), source })
    }

    fn check(&mut self) -> Result<Option<Check>> {
        Ok(None) // no peer does this work
    }
}

fn model(settings: &WorkSettings) -> mtds::Result<System> {
    let problem = &settings.problem;
    let parameters = [&problem.w1.concat()[..], &problem.c1, &problem.w2.concat(), &problem.c2].concat();
    System::new(spec(), Scaling::identity(1, 1), parameters)
}

/// A, B and C from the code; log s = −2 + δ.
fn spec() -> Architecture {
    Architecture::new(Lds::new(4, 1, 1), D_CODE)
        .features(FeatureMap::Trigonometric)
        .hidden(&[300], Activation::Sigmoid)
        .fix("state_bias", 0.0)
        .fix("offset", 0.0)
        .fix("noise", -2.0)
}
