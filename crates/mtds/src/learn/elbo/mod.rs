//! Variational learning: a Gaussian belief about the code of every sequence or segment, learned with the model.
//!
//! ```text
//! loss = −(1/N) Σ_j L_j + penalties        L_j: evidence or importance-weighted bound of code j (`bound`)
//!
//! steps 1 … H      hard phase: β = 0, σ_j fixed and small
//! after step H     μ_j ← μ_j / s,  σ_j ← σ_j / s,  W ← W diag(s)      s: deviation of the means over codes, W: first weights
//! steps H + 1 …    L_j with temperature τ and weight β of the divergence, by step
//! with `smooth`     codes of one sequence's segments stay alike (`chain`)
//! every step       segments of a minibatch begin up to `jitter` steps sooner or later than they were cut (`moved`)
//! ```
//! Parameters: those of the model, then those of the beliefs (`beliefs`). A code belongs to a sequence, to a segment,
//! or to all segments of a sequence, every step of which then counts once.
//!
//! Reference: Bird & Williams (2020), "Learning" and "Further Learning Details".

mod beliefs;
mod bound;
mod chain;
mod draws;
mod epoch;
mod gaussians;
mod moved;
mod objective;
mod resident;
mod search;
mod settings;
mod usage;

pub use gaussians::Gaussians;
pub use search::CodeSearch;
pub use settings::{Estimator, GroupRule, HardEnding, HardPhase, Variational, WeightedGradient};
pub use usage::{CodeUsage, LEAST, UsageStatus};

use super::amortised::{InferenceNetwork, NetworkBeliefs};
use super::rules::NoiseSteps;
use super::{Adapted, AdaptedObjective, Proposal};
use crate::family::{Family, Origin, Segments};
use crate::infer::GaussianMixture;
use crate::random::{Random, ShiftedSobol};
use crate::system::{OwnBatch, OwnResult, System};
use crate::{Error, Result};
use beliefs::{Beliefs, FreeBeliefs};
use bound::Coded;
use chain::Chain;
use epoch::Epoch;
use moved::MovedSegments;
use resident::StepRows;

/// Seed of the draws of held-out bounds, the same in every call.
const FIXED: u64 = 0x6d74_6473;

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
pub struct VariationalObjective {
    model: System,
    data: Coded,
    /// The sequences of each code.
    members: Vec<Vec<usize>>,
    beliefs: Beliefs,
    held_out: Option<HeldOut>,
    settings: Variational,
    sobol: ShiftedSobol,
    noise: NoiseSteps,
    /// What segments were cut from, where they are moved.
    moved: Option<MovedSegments>,
    /// Which codes stay alike, if any do.
    chain: Option<Chain>,
    /// Which codes the next minibatches have, and what that will be after the step in progress.
    epoch: Epoch,
    next_epoch: Option<Epoch>,
    /// Gradients of the last step; kept for their memory.
    found: OwnResult,
    /// What steps are made of, where an engine takes them whole.
    step_rows: Option<StepRows>,
}

/// Sequences that are watched: beliefs about them are adapted anew, or read off the network.
#[derive(Debug)]
enum HeldOut {
    Adapted(Box<AdaptedObjective>),
    Network(Box<(Coded, NetworkBeliefs)>),
}

impl VariationalObjective {
    /// Prepares learning of `model` with a code for each sequence of `family`, watching those of `held_out`.
    ///
    /// Families are in data units; the model's scaling is applied here. Labels are not looked at. The trainer starts
    /// from [`VariationalObjective::first_parameters`].
    ///
    /// # Errors
    /// Widths that do not fit the model, rates for unknown blocks, settings out of range, a model without a code.
    pub fn new(
        model: System,
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
        model: System,
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
        model: System,
        (family, held_out): (&Family, Option<&Family>),
        settings: Variational,
        network: InferenceNetwork,
    ) -> Result<Self> {
        let read = |family: &Family| NetworkBeliefs::new(network, &model.scaling().apply(family)?);
        let beliefs = Beliefs::Network(Box::new(read(family)?));
        let watched = held_out
            .map(|family| -> Result<_> {
                let batch = OwnBatch::for_model(&model, &model.in_model_units(family)?, None);
                let code_of = (0..family.n_seq()).collect();
                Ok(HeldOut::Network(Box::new((Coded { batch, code_of }, read(family)?))))
            })
            .transpose()?;
        network.check_code(model.d_code())?;
        let code_of = (0..family.n_seq()).collect();
        Self::assemble(model, family, settings, code_of, (beliefs, watched))
    }

    fn with_codes(
        model: System,
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
        model: System,
        family: &Family,
        settings: Variational,
        code_of: Vec<usize>,
        (beliefs, held_out): (Beliefs, Option<HeldOut>),
    ) -> Result<Self> {
        settings.check(&model)?;
        let has_own = matches!(beliefs, Beliefs::Free(free) if free.n_codes == family.n_seq());
        if settings.smooth.is_some() && !has_own {
            let why = "found one, but segments have no codes of their own to keep alike; leave it out";
            return Err(Error::setting("smooth", why));
        }
        let sobol = ShiftedSobol::new(model.d_code())?;
        let noise = NoiseSteps::new(&model, &settings.noise, family);
        let batch = OwnBatch::for_model(&model, &model.in_model_units(family)?, settings.window);
        let mut members = vec![vec![]; beliefs.n_codes()];
        code_of.iter().enumerate().for_each(|(i, &j)| members[j].push(i));
        let data = Coded { batch, code_of };
        let (moved, chain, epoch, next_epoch, found, step_rows) = Default::default();
        #[rustfmt::skip]
        let objective = Self {
            model, data, members, beliefs, held_out, settings, sobol, noise, moved, chain, epoch, next_epoch, found,
            step_rows,
        };
        Ok(objective)
    }

    /// The same with segments that are moved, and codes that stay alike, if the settings say so: `whole` (data units) is what sequence i of the family is the
    /// segment `origins[i]` of.
    ///
    /// # Errors
    /// Another number of origins than of sequences, or one that `whole` does not have.
    pub fn cut_from(mut self, whole: &Family, origins: &[Origin]) -> Result<Self> {
        if origins.len() != self.data.batch.n_seq() {
            return Err(Error::shape("origins of segments", self.data.batch.n_seq(), origins.len()));
        }
        self.chain = self.settings.smooth.map(|steps| Chain::new(origins, steps));
        if self.settings.jitter > 0 {
            let whole = self.model.in_model_units(whole)?;
            self.moved = Some(MovedSegments::new(whole, origins, &self.data.batch, self.settings.jitter)?);
        }
        Ok(self)
    }

    /// The architecture that is being learned.
    #[must_use]
    pub fn model(&self) -> &System {
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
    pub fn model_at(&self, parameters: &[f32]) -> Result<System> {
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

    /// What is known of the codes of the held-out sequences.
    ///
    /// # Errors
    /// A vector of another length.
    pub(crate) fn held_out_codes_at(&mut self, parameters: &[f32]) -> Result<Vec<Option<GaussianMixture>>> {
        let (model, beliefs) = self.split(parameters)?;
        match &mut self.held_out {
            None => Ok(vec![]),
            Some(HeldOut::Adapted(adapted)) => {
                Ok(adapted.held_out_proposals(model).iter().map(Proposal::mixture).collect())
            }
            Some(HeldOut::Network(held_out)) => {
                let (data, network) = &mut **held_out;
                let all: Vec<usize> = (0..data.batch.n_seq()).collect();
                let q = network.gaussians(beliefs, &all)?;
                Ok(all.into_iter().map(|j| q.mixture(j).ok()).collect())
            }
        }
    }

    fn split<'a>(&self, parameters: &'a [f32]) -> Result<(&'a [f32], &'a [f32])> {
        let (model, beliefs) = (self.model.n_parameters(), self.beliefs.n_parameters());
        if parameters.len() != model + beliefs {
            let expected = format!("{model} of the model and {beliefs} of beliefs");
            return Err(Error::shape("parameters", expected, parameters.len()));
        }
        Ok(parameters.split_at(model))
    }
}

/// The held-out sequences of free beliefs, whose proposals are adapted at every check.
fn watch(model: &System, family: &Family, settings: &Variational) -> Result<HeldOut> {
    let draws = settings.held_out_draws;
    let adapted = Adapted { particles: draws.div_ceil(2), first_particles: 32 * draws, ..Adapted::default() };
    let proposals = vec![Proposal::prior(model.d_code()); family.n_seq()];
    let objective =
        AdaptedObjective::from_proposals(model.clone(), family, Some(family), adapted, proposals)?;
    Ok(HeldOut::Adapted(Box::new(objective)))
}

#[cfg(test)]
mod tests;
