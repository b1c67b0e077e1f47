//! What learning and inference ask of a system; its engine does it.

use super::System;
use crate::Result;
use crate::base::emission::{Batch, check_inputs};
use crate::engine::{
    CodeScores, Codes, FutureSteps, Gradient, OwnBatch, OwnPull, OwnResult, Rollout, Trial, Weights,
};
use crate::family::Signal;

impl System {
    /// log p(Y_i | z_m) of every sequence under every code, with parameters that learning is trying out.
    ///
    /// # Shapes
    /// `parameters`: [`System::n_parameters`]; `codes`: M × k; result M × N.
    #[must_use]
    pub fn log_likelihoods(&self, parameters: &[f32], codes: &Codes, batch: &Batch<f32>) -> CodeScores {
        let mut scores = CodeScores::default();
        self.log_likelihoods_into(parameters, codes, batch, &mut scores);
        scores
    }

    /// [`System::log_likelihoods`] into scores that are used again: fresh memory costs more than some models.
    pub fn log_likelihoods_into(
        &self,
        parameters: &[f32],
        codes: &Codes,
        batch: &Batch<f32>,
        scores: &mut CodeScores,
    ) {
        self.engine.score(Trial { system: self, parameters }, codes, batch, scores);
    }

    /// Gradient of the weighted log likelihood with respect to the parameters.
    ///
    /// # Shapes
    /// As [`System::log_likelihoods`]; `weights`: M × N.
    #[must_use]
    pub fn gradient(
        &self,
        parameters: &[f32],
        codes: &Codes,
        batch: &Batch<f32>,
        weights: Weights<'_>,
    ) -> Gradient {
        self.engine.gradient(Trial { system: self, parameters }, codes, batch, weights)
    }

    /// Likelihoods of every sequence under its own codes, and the gradient that `pull` asks for.
    ///
    /// # Shapes
    /// `parameters`: [`System::n_parameters`]; `codes`: (N · K) × k, for the N sequences of `batch` one after the other.
    ///
    /// # Panics
    /// If the codes are not as many for each sequence.
    #[must_use]
    pub fn own_gradient(
        &self,
        parameters: &[f32],
        codes: &Codes,
        batch: &OwnBatch,
        pull: OwnPull<'_>,
    ) -> OwnResult {
        let mut result = OwnResult::default();
        self.own_gradient_into(parameters, codes, (batch, pull), &mut result);
        result
    }

    /// [`System::own_gradient`] into a result that is used again, with the memory of its last pass.
    ///
    /// # Panics
    /// As [`System::own_gradient`].
    pub fn own_gradient_into(
        &self,
        parameters: &[f32],
        codes: &Codes,
        (batch, pull): (&OwnBatch, OwnPull<'_>),
        result: &mut OwnResult,
    ) {
        assert!(codes.len().is_multiple_of(batch.n_seq().max(1)), "as many codes for each sequence");
        self.engine.own(Trial { system: self, parameters }, codes, (batch, pull), result);
    }

    /// Rolls out `n_time` steps for each code, from what is known of its state (M × [`Base::d_belief`](crate::base::Base::d_belief))
    /// or from the initial state in θ.
    ///
    /// # Shapes
    /// `codes`: M × k; `inputs` (model units): what drives the base model, at least n_time × its d_input, required if it has any.
    ///
    /// # Errors
    /// Inputs that are too short or of the wrong width.
    pub fn simulate(
        &self,
        codes: &Codes,
        states: Option<&[f64]>,
        inputs: Option<&Signal>,
        n_time: usize,
    ) -> Result<Rollout> {
        check_inputs(inputs, n_time, self.base().d_input())?;
        let from = FutureSteps { starts: states.unwrap_or_default(), inputs, n_time };
        Ok(self.engine.simulate(self, codes, from))
    }
}
