//! Variational learning: a Gaussian belief about the code of every sequence or segment, learned with the model.
//!
//! ```text
//! loss = −(1/N) Σ_j L_j + penalties        L_j: evidence or importance-weighted bound of code j (`bound`)
//!
//! steps 1 … H      hard phase: β = 0, σ_j fixed and small
//! after step H     μ_j ← μ_j / s,  σ_j ← σ_j / s,  W ← W diag(s)      s: deviation of the means over codes, W: first weights
//! steps H + 1 …    L_j with temperature τ and weight β of the divergence, by step
//! ```
//! Parameters: those of the model, then those of the beliefs (`beliefs`). A code belongs to a sequence, to a segment,
//! or to all segments of a sequence, every step of which then counts once.
//!
//! Reference: Bird & Williams (2020), "Learning" and "Further Learning Details".

mod beliefs;
mod bound;
mod draws;
mod fit;
mod gaussians;
mod search;
mod settings;
mod usage;

use rand::RngExt;
use rand::seq::index;

pub use fit::{VariationalFit, VariationalFitted};
pub use gaussians::Gaussians;
pub use search::CodeSearch;
pub use settings::{Estimator, GroupRule, HardEnding, HardPhase, Variational, WeightedGradient};
pub use usage::{CodeUsage, LEAST, UsageStatus};

use super::amortised::{InferenceNetwork, NetworkBeliefs};
use super::rules::NoiseSteps;
use super::{Adapted, AdaptedObjective, Objective, ParameterGroup, Proposal, StepReport};
use crate::base::BaseModel;
use crate::family::{Family, Segments};
use crate::generator::Skip;
use crate::model::{Model, OwnBatch, OwnCodes};
use crate::random::{Random, ShiftedSobol};
use crate::{Error, Result};
use beliefs::{Beliefs, FreeBeliefs};
use bound::{Coded, Drawn, Evaluation, Terms};
use draws::{Spacing, standard_normals};

/// Seed of the draws of held-out bounds, the same in every call.
const FIXED: u64 = 0x6d74_6473;
/// Spread of means below which a dimension has nothing to rescale.
const LEAST_SPREAD: f64 = 1e-6;

/// Which segments share a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentCodes {
    /// None: each has its own, and steps that several have count in each of them.
    Own,
    /// Those of one sequence; steps that several of them have count once.
    OfSequence,
}

/// The objective: a model's architecture, the sequences, and beliefs about their codes.
#[derive(Debug)]
pub struct VariationalObjective<B> {
    model: Model<B>,
    data: Coded,
    /// The sequences of each code.
    members: Vec<Vec<usize>>,
    beliefs: Beliefs,
    held_out: Option<HeldOut<B>>,
    settings: Variational,
    sobol: ShiftedSobol,
    noise: NoiseSteps,
}

/// Sequences that are watched: beliefs about them are adapted anew, or read off the network.
#[derive(Debug)]
enum HeldOut<B> {
    Adapted(Box<AdaptedObjective<B>>),
    Network(Box<(Coded, NetworkBeliefs)>),
}

impl<B: BaseModel> VariationalObjective<B> {
    /// Prepares learning of `model` with a code for each sequence of `family`, watching those of `held_out`.
    ///
    /// Families are in data units; the model's scaling is applied here. Labels are not looked at. The trainer starts
    /// from [`VariationalObjective::first_parameters`].
    ///
    /// # Errors
    /// Widths that do not fit the model, rates for unknown blocks, settings out of range, a model without a code.
    pub fn new(
        model: Model<B>,
        family: &Family,
        held_out: Option<&Family>,
        settings: Variational,
    ) -> Result<Self> {
        let code_of = (0..family.n_seq()).collect();
        Self::with_codes(model, family, held_out, settings, code_of)
    }

    /// The same for segments, each with a code of its own or all of a sequence with one.
    ///
    /// # Errors
    /// As [`VariationalObjective::new`].
    pub fn of_segments(
        model: Model<B>,
        segments: &Segments,
        sharing: SegmentCodes,
        held_out: Option<&Family>,
        settings: Variational,
    ) -> Result<Self> {
        if sharing == SegmentCodes::Own {
            return Self::new(model, &segments.family, held_out, settings);
        }
        let mut sequences: Vec<usize> = segments.origins.iter().map(|origin| origin.sequence).collect();
        sequences.dedup(); // segments stand in the order of their sequences
        let code = |sequence: usize| sequences.binary_search(&sequence).unwrap_or(0);
        let code_of = segments.origins.iter().map(|origin| code(origin.sequence)).collect();
        Self::with_codes(model, &segments.counted_once()?, held_out, settings, code_of)
    }

    /// The same with beliefs that a network makes of each sequence of `family`.
    ///
    /// # Errors
    /// As [`VariationalObjective::new`], and a network of other widths.
    pub fn amortised(
        model: Model<B>,
        (family, held_out): (&Family, Option<&Family>),
        settings: Variational,
        network: InferenceNetwork,
    ) -> Result<Self> {
        let read = |family: &Family| NetworkBeliefs::new(network, &model.scaling().apply(family)?);
        let beliefs = Beliefs::Network(Box::new(read(family)?));
        let watched = held_out
            .map(|family| -> Result<_> {
                let batch = OwnBatch::new(&model.scaling().apply(family)?);
                let code_of = (0..family.n_seq()).collect();
                Ok(HeldOut::Network(Box::new((Coded { batch, code_of }, read(family)?))))
            })
            .transpose()?;
        network.check_code(model.d_code())?;
        let code_of = (0..family.n_seq()).collect();
        Self::assemble(model, family, settings, code_of, (beliefs, watched))
    }

    fn with_codes(
        model: Model<B>,
        family: &Family,
        held_out: Option<&Family>,
        settings: Variational,
        code_of: Vec<usize>,
    ) -> Result<Self> {
        let n_codes = code_of.iter().max().map_or(0, |last| last + 1);
        let beliefs = Beliefs::Free(FreeBeliefs { n_codes, d_code: model.d_code() });
        let watched = held_out.map(|family| watch(&model, family, &settings)).transpose()?;
        Self::assemble(model, family, settings, code_of, (beliefs, watched))
    }

    fn assemble(
        model: Model<B>,
        family: &Family,
        settings: Variational,
        code_of: Vec<usize>,
        (beliefs, held_out): (Beliefs, Option<HeldOut<B>>),
    ) -> Result<Self> {
        settings.check(&model)?;
        let sobol = ShiftedSobol::new(model.d_code())?;
        let noise = NoiseSteps::new(&model, &settings.noise, family);
        let window = settings.window.unwrap_or(usize::MAX);
        let batch = OwnBatch::windowed(&model.scaling().apply(family)?, window);
        let mut members = vec![vec![]; beliefs.n_codes()];
        code_of.iter().enumerate().for_each(|(i, &j)| members[j].push(i));
        let data = Coded { batch, code_of };
        Ok(Self { model, data, members, beliefs, held_out, settings, sobol, noise })
    }

    /// The architecture that is being learned.
    #[must_use]
    pub fn model(&self) -> &Model<B> {
        &self.model
    }

    /// Number of codes N.
    #[must_use]
    pub fn n_codes(&self) -> usize {
        self.beliefs.n_codes()
    }

    /// Parameters to start from: the model's present ones, then those of the first beliefs.
    #[must_use]
    pub fn first_parameters(&self, random: &mut Random) -> Vec<f32> {
        let beliefs = self.beliefs.first(&self.settings, random);
        self.model.parameters().iter().copied().chain(beliefs).collect()
    }

    /// Parameters to start from where something is known of each code: q_j has the mean and deviations of proposal j.
    ///
    /// # Errors
    /// Another number or length of proposals, or beliefs that a network makes.
    pub fn parameters_at(&self, proposals: &[Proposal]) -> Result<Vec<f32>> {
        let Beliefs::Free(free) = &self.beliefs else {
            return Err(Error::setting("proposals", "a network makes its own beliefs; start it at random"));
        };
        Ok(self.model.parameters().iter().copied().chain(free.at(proposals)?).collect())
    }

    /// The model with the model's part of the trainer's parameters.
    ///
    /// # Errors
    /// A vector of another length.
    pub fn model_at(&self, parameters: &[f32]) -> Result<Model<B>> {
        let (model, _) = self.split(parameters)?;
        self.model.clone().with_parameters(model.to_vec())
    }

    /// The part of the trainer's parameters that makes beliefs: those of the network, where there is one.
    ///
    /// # Errors
    /// A vector of another length.
    pub fn beliefs_at<'a>(&self, parameters: &'a [f32]) -> Result<&'a [f32]> {
        Ok(self.split(parameters)?.1)
    }

    /// q_j of every code.
    ///
    /// # Errors
    /// A vector of another length.
    pub fn codes_at(&mut self, parameters: &[f32]) -> Result<Gaussians> {
        let (_, beliefs) = self.split(parameters)?;
        let all: Vec<usize> = (0..self.n_codes()).collect();
        self.beliefs.gaussians(beliefs, &all)
    }

    fn split<'a>(&self, parameters: &'a [f32]) -> Result<(&'a [f32], &'a [f32])> {
        let (model, beliefs) = (self.model.n_parameters(), self.beliefs.n_parameters());
        if parameters.len() != model + beliefs {
            let expected = format!("{model} of the model and {beliefs} of beliefs");
            return Err(Error::shape("parameters", expected, parameters.len()));
        }
        Ok(parameters.split_at(model))
    }

    /// The codes of this step and their sequences.
    fn choose(&self, random: &mut Random) -> (Vec<usize>, Option<Coded>) {
        let n = self.n_codes();
        let Some(batch) = self.settings.batch.filter(|&batch| batch < n) else {
            return ((0..n).collect(), None);
        };
        let mut places = index::sample(random, n, batch).into_vec();
        places.sort_unstable();
        let (mut sequences, mut code_of) = (vec![], vec![]);
        for (local, &j) in places.iter().enumerate() {
            sequences.extend(&self.members[j]);
            code_of.resize(sequences.len(), local);
        }
        let data = Coded { batch: self.data.batch.select(&sequences), code_of };
        (places, Some(data))
    }

    fn terms(&self, step: u64) -> Terms {
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
        let n_draws = OwnCodes::round_up(self.settings.draws);
        let spacing = spacing(terms.estimator);
        let noise = standard_normals(&mut self.sobol, (q.len(), n_draws, q.d_code), spacing, seed);
        let drawn = Drawn { beliefs: &q, noise: &noise };
        Ok(bound::evaluate(&self.model, model, drawn, data.unwrap_or(&self.data), terms))
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
        d_model.iter_mut().zip(&found.parameters).for_each(|(g, d)| *g = (scale * f64::from(*d)) as f32);
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

/// The held-out sequences of free beliefs, whose proposals are adapted at every check.
fn watch<B: BaseModel>(model: &Model<B>, family: &Family, settings: &Variational) -> Result<HeldOut<B>> {
    let adapted = Adapted { particles: settings.held_out_draws.div_ceil(2), ..Adapted::default() };
    let proposals = vec![Proposal::prior(model.d_code()); family.n_seq()];
    let objective =
        AdaptedObjective::from_proposals(model.clone(), family, Some(family), adapted, proposals)?;
    Ok(HeldOut::Adapted(Box::new(objective)))
}

fn spacing(estimator: Estimator) -> Spacing {
    match estimator {
        Estimator::ImportanceWeighted(WeightedGradient::DoublyReparameterised) => Spacing::Independent,
        Estimator::Elbo | Estimator::ImportanceWeighted(WeightedGradient::Plain) => Spacing::Even,
    }
}

impl<B: BaseModel> Objective for VariationalObjective<B> {
    fn groups(&self) -> Vec<ParameterGroup> {
        let n = self.n_codes();
        let mut groups = self.settings.rules().groups(&self.model, n);
        for group in &mut groups {
            let is_shared = group.name.starts_with("shared.");
            let rule = if is_shared { self.settings.shared } else { self.settings.generator };
            group.rate *= rule.rate as f32;
            if is_shared && group.name != "shared.noise" {
                group.l2 = (rule.l2 / n as f64) as f32;
            }
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
        let penalty = self.noise.penalise(parameters, gradient, step, self.n_codes() as f64);
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
                let n_draws = OwnCodes::round_up(self.settings.held_out_draws);
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
        serde_json::Value::Null // beliefs are parameters, phases follow the step, draws come from `random`
    }

    fn restore(&mut self, _: &serde_json::Value) -> Result<()> {
        Ok(())
    }

    fn finish_step(&mut self, parameters: &mut [f32], step: u64) {
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

#[cfg(test)]
mod tests;
