//! A model: base model, layout, generator, prior and scaling, with the learned parameters.
//!
//! The coarse operations that learning and inference ask for work on whole sets of codes:
//! [`System::log_likelihoods`] (log likelihood of every sequence under every code), [`System::gradient`] (of a weighted
//! sum of them), [`System::own_gradient`] (the same where every sequence has codes of its own), [`System::simulate`]
//! (predicted outputs). The engine that the system holds does them (`engine`).

mod clock;
mod driven;
mod initialise;
mod operations;
mod spec;

pub use crate::engine::{
    CodeScores, Codes, Importance, OwnBatch, OwnPull, OwnResult, OwnWeights, Rollout, Weights,
};
pub use clock::Clock;
pub(crate) use driven::FrontState;
pub use spec::Architecture;

use std::sync::Arc;

use crate::base::Base;
use crate::engine::cpu::Cpu;
use crate::engine::{Device, Engine};
use crate::family::Scaling;
use crate::generator::{Layout, Prior, Role, Tensor};
use crate::kernel::Real;
use crate::predict::Remainder;
use crate::{Error, Result};

/// A multi-task dynamical system: never changed, and cheap to clone, since clones share what it is made of.
#[derive(Clone, Debug)]
pub struct System {
    spec: Arc<Architecture>,
    layout: Arc<Layout>,
    scaling: Arc<Scaling>,
    prior: Arc<Prior>,
    parameters: Arc<[f32]>,
    engine: Arc<dyn Engine>,
}

impl System {
    /// A model from its architecture, the scaling of its data and its parameters.
    ///
    /// # Errors
    /// An impossible architecture, a parameter vector of the wrong length, a parameter that is not finite.
    pub fn new(spec: Architecture, scaling: Scaling, parameters: Vec<f32>) -> Result<Self> {
        let layout = spec.layout()?;
        let sizes = (scaling.d_obs(), scaling.d_input());
        let wanted = (spec.base.d_obs(), spec.d_input());
        if sizes != wanted {
            return Err(Error::shape(
                "scaling",
                format!("{} outputs and {} inputs", wanted.0, wanted.1),
                format!("{} outputs and {} inputs", sizes.0, sizes.1),
            ));
        }
        let system = Self {
            spec: Arc::new(spec),
            layout: Arc::new(layout),
            scaling: Arc::new(scaling),
            prior: Arc::new(Prior::StandardNormal),
            parameters: Arc::new([]),
            engine: Arc::new(Cpu),
        };
        system.with_parameters(parameters)
    }

    /// The same model with other parameters.
    ///
    /// # Errors
    /// The wrong number of them, or one that is not finite.
    pub fn with_parameters(mut self, parameters: Vec<f32>) -> Result<Self> {
        let expected = self.n_parameters();
        if parameters.len() != expected {
            return Err(Error::shape("parameters", expected, parameters.len()));
        }
        for tensor in self.tensors() {
            if let Some(bad) = parameters[tensor.range()].iter().find(|x| !x.is_finite()) {
                let what = format!("parameter tensor `{}`", tensor.name);
                return Err(Error::NotFinite { what, value: f64::from(*bad), hint: "" });
            }
        }
        self.parameters = parameters.into();
        Ok(self)
    }

    /// The same model with another prior over codes, for inference.
    ///
    /// # Errors
    /// As [`Prior::check`]: a prior over codes of another length, or one that is no density.
    pub fn with_prior(mut self, prior: Prior) -> Result<Self> {
        prior.check(self.d_code())?;
        self.prior = Arc::new(prior);
        Ok(self)
    }

    /// The same model with another way in which what codes leave over goes on in forecasts.
    ///
    /// # Errors
    /// Numbers out of range, a phase that the inputs do not have, a base model whose state is random.
    pub fn with_remainder(mut self, remainder: Option<Remainder>) -> Result<Self> {
        let spec = Architecture { remainder, ..(*self.spec).clone() };
        spec.layout()?;
        self.spec = Arc::new(spec);
        Ok(self)
    }

    /// What inference believes about a code before any observation.
    #[must_use]
    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// The architecture.
    #[must_use]
    pub fn spec(&self) -> &Architecture {
        &self.spec
    }

    /// The same model, computed with where `device` says.
    #[must_use]
    pub fn on(mut self, device: &Device) -> Self {
        self.engine = Arc::clone(&device.engine);
        self
    }

    /// What computes with it.
    pub(crate) fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// The base model.
    #[must_use]
    pub fn base(&self) -> &Base {
        &self.spec.base
    }

    /// Which block of θ is adapted, shared, fixed.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Between data units and model units.
    #[must_use]
    pub fn scaling(&self) -> &Scaling {
        &self.scaling
    }

    /// Width of the inputs that a sequence comes with; 0 for none. Behind a front or beside a clock the base model has others.
    #[must_use]
    pub fn d_input(&self) -> usize {
        self.spec.d_input()
    }

    /// Length k of a code.
    #[must_use]
    pub fn d_code(&self) -> usize {
        self.spec.network.d_code
    }

    /// φ, then the shared blocks, then those of the front, in the order of [`System::tensors`].
    #[must_use]
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// Number of learned values.
    #[must_use]
    pub fn n_parameters(&self) -> usize {
        self.front_range().end
    }

    /// Where the parameters of the front lie; empty without one.
    pub(crate) fn front_range(&self) -> std::ops::Range<usize> {
        let start = self.spec.network.n_parameters() + self.layout.d_shared();
        start..start + self.spec.front.map_or(0, |front| front.n_parameters())
    }

    /// The learned tensors: those of the generator, then one per shared block, then those of the front.
    #[must_use]
    pub fn tensors(&self) -> Vec<Tensor> {
        let mut tensors = self.spec.network.tensors();
        let start = self.spec.network.n_parameters();
        for block in self.layout.blocks().iter().filter(|b| b.role == Role::Shared) {
            tensors.push(Tensor {
                name: format!("shared.{}", block.spec.name),
                shape: vec![block.spec.len],
                start: start + block.slot,
            });
        }
        let behind = self.front_range().start;
        let front = self.spec.front.map_or(vec![], |front| front.tensors());
        tensors.extend(front.into_iter().map(|t| Tensor { start: behind + t.start, ..t }));
        tensors
    }

    /// The learned value of a shared block, or the constant of a fixed one.
    #[must_use]
    pub fn block_values(&self, name: &str) -> Option<Vec<f64>> {
        let block = self.layout.block(name)?;
        let start = self.spec.network.n_parameters();
        match block.role {
            Role::Adapted => None,
            Role::Fixed(value) => Some(vec![value; block.spec.len]),
            Role::Shared => {
                let slots = block.slots();
                let values = &self.parameters[start + slots.start..start + slots.end];
                Some(values.iter().map(|&x| f64::from(x)).collect())
            }
        }
    }

    /// θ = h_φ(z), raw: one value per entry of every block, in the order of [`System::layout`].
    ///
    /// # Errors
    /// [`Error::Shape`] for a code of another length.
    pub fn theta(&self, code: &[f64]) -> Result<Vec<f64>> {
        if code.len() != self.d_code() {
            return Err(Error::shape("code", self.d_code(), code.len()));
        }
        let (network, parameters) = (&self.spec.network, self.parameters_as::<f64>());
        let (phi, shared) = parameters.split_at(network.n_parameters());
        let (mut tape, mut adapted) = (network.tape::<f64>(1), vec![0.0; network.d_out]);
        network.forward(phi, code, (&mut tape, 0), &mut adapted);
        let mut theta = vec![0.0; self.layout.d_theta()];
        self.layout.assemble(&adapted, shared, &mut theta);
        Ok(theta)
    }

    /// The same model with every standard deviation of its process noise multiplied by `factor`; `None` where it has none, or none
    /// that all members share.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for a factor that is not above 0 and finite.
    pub fn with_process_noise(mut self, factor: f64) -> Result<Option<Self>> {
        let (start, shared) = (self.spec.network.n_parameters(), Role::Shared);
        let slots = |name| {
            let block = self.layout.block(name).filter(|block| block.role == shared);
            block.map(|block| start + block.slots().start..start + block.slots().end)
        };
        let (Some(logs), mixing) = (slots("process_noise"), slots("process_mixing")) else { return Ok(None) };
        if !(factor > 0.0 && factor.ln().is_finite()) {
            let (what, hint) = ("factor of the process noise".to_owned(), "; expected a number above 0");
            return Err(Error::NotFinite { what, value: factor, hint });
        }
        let mut parameters = self.parameters.to_vec();
        parameters[logs].iter_mut().for_each(|log| *log += factor.ln() as f32);
        parameters[mixing.unwrap_or(0..0)].iter_mut().for_each(|entry| *entry *= factor as f32);
        self.parameters = parameters.into();
        Ok(Some(self))
    }

    /// The parameters in the precision of a computation.
    #[must_use]
    pub(crate) fn parameters_as<R: Real>(&self) -> Vec<R> {
        self.parameters.iter().map(|&x| R::from_f64(f64::from(x))).collect()
    }
}
