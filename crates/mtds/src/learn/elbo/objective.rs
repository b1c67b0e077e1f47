//! One step of variational learning: which codes, which terms, bound and gradient, and what follows it.

use rand::RngExt;
use rayon::prelude::*;

use super::bound::{self, Coded, Drawn, Evaluation, Terms};
use super::draws::{Spacing, standard_normals};
use super::epoch::Epoch;
use super::{
    Beliefs, Estimator, FIXED, GroupRule, HardEnding, HardPhase, HeldOut, VariationalObjective,
    WeightedGradient,
};
use crate::engine::resident::{Beginning, Resident, StepOrder};
use crate::generator::Skip;
use crate::learn::rules::holds_weights;
use crate::learn::{Objective, ParameterGroup, StepReport};
use crate::random::Random;
use crate::{Error, Result};

/// Spread of means below which a dimension has nothing to rescale.
const LEAST_SPREAD: f64 = 1e-6;

impl VariationalObjective {
    /// The codes of this step and their sequences.
    fn choose(&mut self, random: &mut Random) -> (Vec<usize>, Option<Coded>) {
        let n = self.n_codes();
        let places = match self.settings.batch.filter(|&batch| batch < n) {
            None if self.moved.is_none() => return ((0..n).collect(), None),
            None => (0..n).collect(),
            Some(batch) => {
                let (places, rest) = self.epoch.take(n, batch, random);
                self.next_epoch = Some(rest); // counts once the step does
                places
            }
        };
        let (mut sequences, mut code_of) = (vec![], vec![]);
        for (local, &j) in places.iter().enumerate() {
            sequences.extend(&self.members[j]);
            code_of.resize(sequences.len(), local);
        }
        let batch = match &self.moved {
            None => self.data.batch.select(&sequences),
            Some(moved) => moved.batch(&self.model, &sequences, self.settings.window, random),
        };
        (places, Some(Coded { batch, code_of }))
    }

    pub(super) fn terms(&self, step: u64) -> Terms {
        let temperature = self.settings.temperature.value_at(step);
        if self.settings.is_hard(step) {
            return Terms { estimator: Estimator::Elbo, temperature, divergence_weight: 0.0 };
        }
        let divergence_weight = self.settings.divergence_weight.value_at(step);
        Terms { estimator: self.settings.estimator, temperature, divergence_weight }
    }

    /// Bounds and gradients for the codes at `places`, with draws made of `seed`.
    fn evaluate(
        &mut self,
        parameters: &[f32],
        (places, data): (&[usize], Option<&Coded>),
        terms: Terms,
        seed: u64,
    ) -> Result<Evaluation> {
        let (model, beliefs) = parameters.split_at(self.model.n_parameters());
        let q = self.beliefs.gaussians(beliefs, places)?;
        let n_draws = self.settings.draws;
        let spacing = spacing(terms.estimator);
        let noise = standard_normals(&mut self.sobol, (q.len(), n_draws, q.d_code), spacing, seed);
        let drawn = Drawn { beliefs: &q, noise: &noise };
        let data = data.unwrap_or(&self.data);
        let mut found = bound::evaluate((&self.model, model), drawn, data, terms, &mut self.found);
        if let (Some(chain), Beliefs::Free(free)) = (&self.chain, &self.beliefs) {
            chain.correct((*free, beliefs), (places, &q), terms.divergence_weight, &mut found);
        }
        Ok(found)
    }

    /// Writes −(1/n) of a gradient, n the codes of the step.
    fn write_gradient(
        &mut self,
        mut found: Evaluation,
        places: &[usize],
        step: u64,
        gradient: &mut [f32],
    ) -> Result<()> {
        let scale = -1.0 / places.len() as f64;
        let (d_model, d_beliefs) = gradient.split_at_mut(self.model.n_parameters());
        // Millions of numbers for a large network: shared out, each on its own.
        let pairs = d_model.par_iter_mut().with_min_len(1 << 16).zip(&self.found.parameters);
        pairs.for_each(|(g, d)| *g = (scale * f64::from(*d)) as f32);
        let pulled = &mut found.beliefs;
        pulled.mean.iter_mut().chain(&mut pulled.log_std_dev).for_each(|d| *d *= scale);
        if self.settings.is_hard(step) {
            pulled.log_std_dev.fill(0.0);
        }
        self.beliefs.pull(places, pulled, d_beliefs)
    }

    /// Places of the weights that a code meets first, with the dimension that each belongs to.
    fn first_weights(&self) -> Vec<(usize, usize)> {
        let network = &self.model.spec().network;
        let n_layers = network.hidden.len() + 1;
        let tensors = network.tensors();
        let skip = tensors.get(2 * n_layers).filter(|_| network.skip == Skip::Affine);
        let ranges = tensors.first().into_iter().chain(skip).map(|tensor| tensor.range());
        ranges
            .flat_map(|range| range.clone().map(move |at| (at, (at - range.start) % network.d_code)))
            .collect()
    }
}

pub(super) fn spacing(estimator: Estimator) -> Spacing {
    match estimator {
        Estimator::ImportanceWeighted(WeightedGradient::DoublyReparameterised) => Spacing::Independent,
        Estimator::Elbo | Estimator::ImportanceWeighted(WeightedGradient::Plain) => Spacing::Even,
    }
}

impl Objective for VariationalObjective {
    fn groups(&self) -> Vec<ParameterGroup> {
        let n = self.n_codes();
        let mut groups = self.settings.rules().groups(&self.model, n);
        let tensors = self.model.tensors();
        let is_matrix = |name: &str| tensors.iter().any(|t| t.name == name && t.shape.len() == 2);
        for group in &mut groups {
            let tensor = group.name.split('/').next().unwrap_or_default();
            let (rule, are_weights) = match tensor.split_once('.') {
                Some(("shared", block)) => (self.settings.shared, holds_weights(block)),
                Some(("front", _)) => (self.settings.front, is_matrix(tensor)),
                _ => (self.settings.generator, is_matrix(tensor)),
            };
            group.rate *= rule.rate as f32;
            group.l2 = if are_weights { (rule.l2 / n as f64) as f32 } else { 0.0 };
        }
        let beliefs = self.settings.beliefs;
        let beliefs = GroupRule { l2: beliefs.l2 / n as f64, ..beliefs };
        groups.extend(self.beliefs.groups(self.model.n_parameters(), beliefs));
        groups
    }

    fn gradient(
        &mut self,
        parameters: &[f32],
        gradient: &mut [f32],
        step: u64,
        random: &mut Random,
    ) -> Result<StepReport> {
        self.split(parameters)?;
        let (places, chosen) = self.choose(random);
        let n_observed = chosen.as_ref().unwrap_or(&self.data).batch.n_observed;
        let terms = self.terms(step);
        let found = self.evaluate(parameters, (&places, chosen.as_ref()), terms, random.random())?;
        let (total, ess, bound) = (found.total, found.ess, found.bounds.iter().sum::<f64>());
        self.write_gradient(found, &places, step, gradient)?;
        let weight = (self.n_codes() as f64, terms.temperature);
        let penalty = self.noise.penalise(parameters, gradient, step, weight);
        Ok(StepReport {
            loss: penalty - total / places.len() as f64,
            bound: bound / n_observed.max(1) as f64,
            ess,
        })
    }

    fn validate(&mut self, parameters: &[f32]) -> Result<Option<f64>> {
        let (model, beliefs) = self.split(parameters)?;
        match &mut self.held_out {
            None => Ok(None),
            Some(HeldOut::Adapted(adapted)) => adapted.validate(model),
            Some(HeldOut::Network(held_out)) => {
                let (data, network) = &mut **held_out;
                let all: Vec<usize> = (0..data.batch.n_seq()).collect();
                let q = network.gaussians(beliefs, &all)?;
                let n_draws = self.settings.held_out_draws;
                let sizes = (q.len(), n_draws, q.d_code);
                let noise = standard_normals(&mut self.sobol, sizes, Spacing::Even, FIXED);
                let drawn = Drawn { beliefs: &q, noise: &noise };
                let tight = Estimator::ImportanceWeighted(WeightedGradient::Plain);
                let bounds = bound::bounds(&self.model, model, drawn, data, tight);
                Ok(Some(bounds.iter().sum::<f64>() / data.batch.n_observed.max(1) as f64))
            }
        }
    }

    fn state(&self) -> serde_json::Value {
        // Beliefs are parameters, phases follow the step, draws come from `random`: what is left is the course of minibatches.
        self.settings.batch.and_then(|_| serde_json::to_value(&self.epoch).ok()).unwrap_or_default()
    }

    fn restore(&mut self, state: &serde_json::Value) -> Result<()> {
        if self.settings.batch.is_some() {
            let epoch: Epoch = serde_json::from_value(state.clone()).map_err(|why| Error::Store {
                file: "checkpoint".into(),
                why: format!("it has no course of minibatches: {why}"),
            })?;
            epoch.check(self.n_codes())?;
            self.epoch = epoch;
        }
        Ok(())
    }

    fn count_step(&mut self) {
        if let Some(epoch) = self.next_epoch.take() {
            self.epoch = epoch;
        }
    }

    fn is_watched(&self) -> bool {
        self.held_out.is_some()
    }

    fn resident(&mut self, from: Beginning<'_>) -> Result<Option<Box<dyn Resident>>> {
        self.settle(from)
    }

    fn order(&mut self, step: u64, random: &mut Random) -> Result<StepOrder> {
        Ok(self.step_order(step, random))
    }

    fn touches_parameters(&self, step: u64) -> bool {
        self.settings.hard.is_some_and(|hard| hard.steps == step)
            || self.settings.search.is_some_and(|search| search.is_due(step))
    }

    fn finish_step(&mut self, parameters: &mut [f32], step: u64) {
        self.count_step();
        self.noise.finish_step(parameters, step);
        self.search(parameters, step);
    }

    fn change_units(&mut self, parameters: &mut [f32], step: u64) -> Result<Vec<(usize, f32)>> {
        let ends = |hard: HardPhase| hard.steps == step && hard.ending == HardEnding::Rescaled;
        if !self.settings.hard.is_some_and(ends) {
            return Ok(vec![]);
        }
        let spread = self.codes_at(parameters)?.spread();
        let spread: Vec<f64> = spread.into_iter().map(|s| if s > LEAST_SPREAD { s } else { 1.0 }).collect();
        let n_model = self.model.n_parameters();
        let beliefs = self.beliefs.divide(&mut parameters[n_model..], &spread);
        let beliefs = beliefs.into_iter().map(|(at, factor)| (n_model + at, factor));
        Ok(self.first_weights().into_iter().map(|(at, d)| (at, spread[d] as f32)).chain(beliefs).collect())
    }
}
