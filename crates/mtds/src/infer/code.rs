//! The posterior of a code: prior times likelihood of one sequence under a model.
//!
//! ```text
//! u = z              log p(u, Y) = log p(z) + log p(Y | h_φ(z))
//! u = (z, δ)         log p(u, Y) = log p(z) + log N(δ | m, σ²) + log p(Y | h_φ(z), s e^δ)
//! ```
//! The second form infers the noise together with the code: every standard deviation of the emission is
//! multiplied by e^δ. Where the model has a temperature τ, log p(Y | …) counts τ times, as it did in learning.

use serde::{Deserialize, Serialize};

use super::carried::CarriedState;
use super::target::one_by_one;
use super::{
    Evaluator, GaussianMixture, LogTarget, MapLaplace, Points, Posterior, SmoothTarget, map_laplace,
};
use crate::base::emission::Group;
use crate::engine::{Observed, Precision, Trial};
use crate::family::Signal;
use crate::kernel::Real;
use crate::random::Random;
use crate::system::System;
use crate::{Error, Result};

/// What inference believes about the noise of a new member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoiseBelief {
    /// It is the learned one.
    #[default]
    Learned,
    /// log s = learned log s + δ, δ ~ N(mean, std_dev²), inferred together with the code.
    Uncertain {
        /// Mean m of δ.
        mean: f64,
        /// Standard deviation σ of δ.
        std_dev: f64,
    },
}

impl NoiseBelief {
    /// The prior over u.
    ///
    /// # Errors
    /// A standard deviation that is not positive.
    pub fn extend(self, prior: &GaussianMixture) -> Result<GaussianMixture> {
        match self {
            Self::Learned => Ok(prior.clone()),
            Self::Uncertain { mean, std_dev } if std_dev > 0.0 => {
                prior.with_independent(mean, std_dev * std_dev)
            }
            Self::Uncertain { std_dev, .. } => {
                Err(Error::setting("noise", format!("found standard deviation {std_dev}; expected above 0")))
            }
        }
    }
}

/// log p(u, Y) of one sequence, computed in `R`; densities are added up in f64.
#[derive(Debug)]
pub struct CodeTarget<'a, R> {
    pub(super) model: &'a System,
    pub(super) parameters: &'a [R],
    pub(super) prior: &'a GaussianMixture,
    pub(super) group: Group<R>,
    pub(super) start: Option<&'a CarriedState>,
}

impl<'a, R: Real> CodeTarget<'a, R> {
    /// The target for the sequence in `group` (model units); `prior` is over u.
    ///
    /// With `start`, the rollout begins at the state carried for each code instead of the model's own.
    #[must_use]
    pub fn new(
        model: &'a System,
        parameters: &'a [R],
        prior: &'a GaussianMixture,
        group: Group<R>,
        start: Option<&'a CarriedState>,
    ) -> Self {
        Self { model, parameters, prior, group, start }
    }

    /// The sequence and the system that it is scored under.
    fn observed(&self) -> Observed<'_, R> {
        let trial = Trial { system: self.model, parameters: self.parameters };
        Observed { trial, group: &self.group }
    }

    fn refuse_start(&self) {
        assert!(self.start.is_none(), "gradients are for sequences from their beginning");
    }
}

impl<R: Precision> LogTarget for CodeTarget<'_, R> {
    fn dim(&self) -> usize {
        self.prior.dim()
    }

    fn log_density(&self, points: &Points, out: &mut [f64]) {
        self.prior.log_density(points, out);
        if points.is_empty() {
            return;
        }
        let starts = self.start.map_or(vec![], |start| start.states(points));
        match self.model.spec().temperature {
            None => R::densities(self.observed(), &points.to_codes(), &starts, out),
            Some(tau) => {
                let mut likelihoods = vec![0.0; out.len()];
                R::densities(self.observed(), &points.to_codes(), &starts, &mut likelihoods);
                out.iter_mut().zip(likelihoods).for_each(|(log_p, likelihood)| *log_p += tau * likelihood);
            }
        }
    }
}

impl<R: Precision> SmoothTarget for CodeTarget<'_, R> {
    /// # Panics
    /// With a carried start, whose dependence on the code has no gradient here.
    fn log_density_and_gradient(&self, points: &Points, out: &mut [f64], gradient: &mut Points) {
        self.refuse_start();
        let dim = points.dim();
        let mut slopes = vec![0.0; points.len() * dim];
        for (i, slope) in slopes.chunks_exact_mut(dim).enumerate() {
            out[i] = self.prior.log_density_with_gradient(&points.point(i), slope);
        }
        match self.model.spec().temperature {
            None => R::slopes(self.observed(), &points.to_codes(), out, &mut slopes),
            Some(tau) => {
                let (mut likelihoods, mut theirs) = (vec![0.0; out.len()], vec![0.0; slopes.len()]);
                R::slopes(self.observed(), &points.to_codes(), &mut likelihoods, &mut theirs);
                out.iter_mut().zip(likelihoods).for_each(|(log_p, likelihood)| *log_p += tau * likelihood);
                slopes.iter_mut().zip(theirs).for_each(|(slope, own)| *slope += tau * own);
            }
        }
        slopes.chunks_exact(dim).enumerate().for_each(|(i, slope)| gradient.set_point(i, slope));
    }

    /// # Panics
    /// As [`SmoothTarget::log_density_and_gradient`].
    fn evaluator(&self) -> Evaluator<'_> {
        self.refuse_start();
        let Some(mut likelihood) = R::point_by_point(self.observed()) else { return one_by_one(self) };
        let mut slope = vec![0.0; self.prior.dim()];
        let tau = self.model.spec().temperature.unwrap_or(1.0);
        Box::new(move |point, gradient| {
            let prior = self.prior.log_density_with_gradient(point, gradient);
            let density = likelihood(point, &mut slope);
            gradient.iter_mut().zip(&slope).for_each(|(g, d)| *g += tau * d);
            prior + tau * density
        })
    }
}

impl System {
    /// Posterior of a whole sequence (data units) by MAP with Laplace, corrected by importance weights.
    ///
    /// # Errors
    /// Settings out of range; outputs or inputs of the wrong size.
    pub fn infer_modes(
        &self,
        outputs: &Signal,
        inputs: Option<&Signal>,
        noise: NoiseBelief,
        settings: &MapLaplace,
        random: &mut Random,
    ) -> Result<Posterior> {
        let prior = noise.extend(&self.prior().mixture(self.d_code())?)?;
        let outputs = self.scaling().outputs_to_model(outputs)?;
        let inputs = inputs.map(|u| self.scaling().inputs_to_model(u)).transpose()?;
        let group = self.group(&outputs, inputs.as_ref())?;
        let parameters = self.parameters_as::<f64>();
        let target = CodeTarget::new(self, &parameters, &prior, group, None);
        map_laplace(settings, &target, &prior, random)
    }
}

impl System {
    /// What is known of the state after the last step of a sequence (model units), for each point: n ×
    /// [`Base::d_belief`](crate::base::Base::d_belief).
    ///
    /// ```text
    /// x_t(z)                          where the state is a function of θ
    /// N(m_t(z, y_{1:t}), P_t(z))      where it is random: m, then F by rows, P = F Fᵀ
    /// ```
    pub(crate) fn state_beliefs(
        &self,
        group: &Group<f32>,
        start: Option<&CarriedState>,
        points: &Points,
    ) -> Vec<f64> {
        if points.is_empty() {
            return vec![];
        }
        let starts = start.map_or(vec![], |start| start.states(points));
        let trial = Trial { system: self, parameters: self.parameters() };
        self.engine().beliefs(Observed { trial, group }, &points.to_codes(), &starts)
    }
}
