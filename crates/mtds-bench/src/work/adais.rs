//! AdaIS: one posterior update of Algorithm 2 at step t, code and log s together.

use std::time::Instant;

use mtds::base::Lds;
use mtds::base::emission::Group;
use mtds::family::{Scaling, Signal};
use mtds::generator::{Activation, FeatureMap};
use mtds::infer::{
    AdaptiveImportance, CodeTarget, GaussianMixture, NoiseBelief, Posterior, Start, adaptive_importance,
};
use mtds::model::{Model, ModelSpec};
use mtds::random::{Random, stream};

use super::{Work, WorkSettings, impulse};
use crate::check::{Check, PosteriorCheck};
use crate::error::{Error, Result};

/// Steps between updates, τ.
const EVERY: usize = 5;
/// Length of the code.
const D_CODE: usize = 4;

/// Updates of the posteriors of all sequences at one step, each from its mixture τ steps before.
pub struct Adais {
    name: &'static str,
    model: Model<Lds>,
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
        let problem = &settings.problem;
        let parameters = [&problem.w1.concat()[..], &problem.c1, &problem.w2.concat(), &problem.c2].concat();
        let model = Model::new(spec(), Scaling::identity(1, 1), parameters).map_err(own)?;
        let noise = NoiseBelief::Uncertain { mean: 0.0, std_dev: 0.1 };
        let prior = GaussianMixture::standard_normal(D_CODE).and_then(|p| noise.extend(&p)).map_err(own)?;
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
        for y in &problem.sequences {
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
        let start = previous.map_or(Start::Prior(&self.prior), Start::Previous);
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

/// A, B and C from the code; log s = −2 + δ.
fn spec() -> ModelSpec<Lds> {
    ModelSpec::new(Lds::new(4, 1, 1), D_CODE)
        .features(FeatureMap::Trigonometric)
        .hidden(&[300], Activation::Sigmoid)
        .fix("state_bias", 0.0)
        .fix("offset", 0.0)
        .fix("noise", -2.0)
}
