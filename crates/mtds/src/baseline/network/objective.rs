//! The objective of a forecaster: batches of segments with seeds of drawn lengths.
//!
//! Parameters: those of the layers, then log s of every output under [`Criterion::Gaussian`].

use rand::RngExt;
use rand::seq::index;

use super::batch::{Batch, Seeded};
use super::loss::Loss;
use super::material::Piece;
use super::pass::{Network, Tape};
use super::settings::{Criterion, GruSettings, WarmUp};
use super::stack::StackWeights;
use crate::baseline::likelihood::LEAST_NOISE;
use crate::kernel::Real;
use crate::learn::{Objective, ParameterGroup, StepReport};
use crate::random::Random;
use crate::{Error, Result};

/// A network and what it learns from.
#[derive(Debug)]
pub(super) struct ForecastObjective {
    pub(super) learner: Learner<f32>,
    warm_up: WarmUp,
    batch: usize,
    l2: f32,
    train: Vec<Piece>,
    held_out: Vec<Piece>,
}

/// A network, its criterion, and memory for passes.
#[derive(Clone, Debug)]
pub(super) struct Learner<R> {
    pub(super) network: Network,
    criterion: Criterion,
    weights: StackWeights<R>,
    tape: Tape<R>,
}

impl<R: Real> Learner<R> {
    pub(super) fn new(network: Network, criterion: Criterion) -> Self {
        Self { network, criterion, weights: StackWeights::default(), tape: Tape::default() }
    }

    pub(super) fn n_parameters(&self) -> usize {
        self.network.stack.n_parameters() + self.n_noise()
    }

    fn n_noise(&self) -> usize {
        if self.criterion == Criterion::Gaussian { self.network.widths.d_obs } else { 0 }
    }

    /// Packs parameters for the losses and gradients that follow.
    fn arrange(&mut self, parameters: &[R]) -> Result<()> {
        if parameters.len() != self.n_parameters() {
            return Err(Error::shape("parameters of a network", self.n_parameters(), parameters.len()));
        }
        self.network.stack.arrange(&parameters[..self.network.stack.n_parameters()], &mut self.weights)
    }

    /// The loss of a batch, with the gradients of its mean at the predictions.
    pub(super) fn loss(&mut self, parameters: &[R], batch: &Batch<R>) -> Result<Loss> {
        self.arrange(parameters)?;
        let predictions = self.network.run(&self.weights, batch, &mut self.tape)?;
        let noise = parameters[self.network.stack.n_parameters()..].iter().map(|x| x.to_f64());
        let loss = Loss::of(self.criterion, &predictions, &batch.targets, &noise.collect::<Vec<_>>());
        Ok(loss.averaged())
    }

    /// Adds the gradient of the mean loss of a batch to `gradient`; returns the loss.
    pub(super) fn gradient(
        &mut self,
        parameters: &[R],
        batch: &Batch<R>,
        gradient: &mut [R],
    ) -> Result<Loss> {
        let mut loss = self.loss(parameters, batch)?;
        let (of_layers, of_noise) = gradient.split_at_mut(self.network.stack.n_parameters());
        for (to, from) in of_noise.iter_mut().zip(&loss.d_log_std) {
            *to += R::from_f64(*from);
        }
        let pulled = std::mem::take(&mut loss.d_predictions);
        self.network.pull_back(&self.weights, batch, pulled, &mut self.tape, of_layers)?;
        Ok(loss)
    }

    pub(super) fn batch(&self, segments: &[Seeded<'_>]) -> Batch<R> {
        Batch::new(self.network.widths, self.network.known(), segments)
    }
}

impl ForecastObjective {
    /// # Errors
    /// Nothing to score among the training or the held-out pieces.
    pub(super) fn new(
        network: Network,
        settings: &GruSettings,
        train: Vec<Piece>,
        held_out: Option<Vec<Piece>>,
    ) -> Result<Self> {
        let (warm_up, d_obs) = (settings.warm_up, network.widths.d_obs);
        let held_out = held_out.map(|pieces| usable(pieces, warm_up, d_obs, "held-out")).transpose()?;
        Ok(Self {
            learner: Learner::new(network, settings.criterion),
            warm_up,
            batch: settings.batch,
            l2: settings.l2 as f32,
            train: usable(train, warm_up, d_obs, "training")?,
            held_out: held_out.unwrap_or_default(),
        })
    }

    /// Parameters to begin with.
    pub(super) fn first(&self, random: &mut Random) -> Vec<f32> {
        let mut parameters = self.learner.network.stack.first(random);
        parameters.resize(self.learner.n_parameters(), 0.0);
        parameters
    }

    /// What spread is measured on, with seeds of one length: held-out pieces, or training ones where there are none, that have
    /// something to predict after it.
    pub(super) fn judged(&self, seed: usize) -> Vec<Seeded<'_>> {
        let pieces = if self.held_out.is_empty() { &self.train } else { &self.held_out };
        let d_obs = self.learner.network.widths.d_obs;
        pieces.iter().filter(|piece| shows_after(piece, seed, d_obs)).map(|piece| (piece, seed)).collect()
    }
}

/// Whether an output is observed after the first `seed` steps.
fn shows_after(piece: &Piece, seed: usize, d_obs: usize) -> bool {
    piece.outputs.iter().skip(seed * d_obs).any(|y| !y.is_nan())
}

/// Pieces with an output to predict after the shortest seed.
fn usable(pieces: Vec<Piece>, warm_up: WarmUp, d_obs: usize, which: &str) -> Result<Vec<Piece>> {
    let longest = pieces.iter().map(|piece| piece.n_time).max().unwrap_or(0);
    let shows = |piece: &Piece| shows_after(piece, warm_up.shortest, d_obs);
    let kept: Vec<Piece> = pieces.into_iter().filter(shows).collect();
    if kept.is_empty() {
        let why = format!(
            "the shortest seed, {} steps, leaves no observed output to predict in any {which} segment (the longest has \
             {longest} steps); lower it, or use longer segments",
            warm_up.shortest
        );
        return Err(Error::setting("warm_up", why));
    }
    Ok(kept)
}

/// Seeds of the allowed lengths, spread evenly: the same at every call.
fn spread_seeds(pieces: &[Piece], warm_up: WarmUp) -> Vec<Seeded<'_>> {
    let seeded = |(i, piece): (usize, &'_ Piece)| {
        let (low, high) = warm_up.bounds(piece.n_time);
        low + i * (high - low + 1) / pieces.len()
    };
    pieces.iter().enumerate().map(|(i, piece)| (piece, seeded((i, piece)))).collect()
}

impl Objective for ForecastObjective {
    fn groups(&self) -> Vec<ParameterGroup> {
        let group = |(name, range)| ParameterGroup { name, range, rate: 1.0, l2: self.l2 };
        let mut groups: Vec<_> = self.learner.network.stack.parts().into_iter().map(group).collect();
        let noise = self.learner.network.stack.n_parameters()..self.learner.n_parameters();
        groups.push(ParameterGroup { name: "noise".into(), range: noise, rate: 1.0, l2: 0.0 });
        groups
    }

    fn gradient(
        &mut self,
        parameters: &[f32],
        gradient: &mut [f32],
        _step: u64,
        random: &mut Random,
    ) -> Result<StepReport> {
        let chosen = index::sample(random, self.train.len(), self.batch.min(self.train.len()));
        let mut seeded = |i: usize| {
            let (low, high) = self.warm_up.bounds(self.train[i].n_time);
            (&self.train[i], random.random_range(low..=high))
        };
        let segments: Vec<Seeded<'_>> = chosen.into_iter().map(&mut seeded).collect();
        let batch = self.learner.batch(&segments);
        let loss = self.learner.gradient(parameters, &batch, gradient)?.mean();
        Ok(StepReport { loss, bound: -loss, ess: None })
    }

    fn validate(&mut self, parameters: &[f32]) -> Result<Option<f64>> {
        if self.held_out.is_empty() {
            return Ok(None);
        }
        let (mut sum, mut n) = (0.0, 0);
        for segments in spread_seeds(&self.held_out, self.warm_up).chunks(self.batch) {
            let batch = self.learner.batch(segments);
            let loss = self.learner.loss(parameters, &batch)?;
            sum += loss.sum;
            n += loss.n;
        }
        Ok(Some(-sum / n.max(1) as f64))
    }

    fn state(&self) -> serde_json::Value {
        serde_json::Value::Null
    }

    fn restore(&mut self, _state: &serde_json::Value) -> Result<()> {
        Ok(())
    }

    fn finish_step(&mut self, parameters: &mut [f32], _step: u64) {
        let noise = &mut parameters[self.learner.network.stack.n_parameters()..];
        noise.iter_mut().for_each(|x| *x = x.max(LEAST_NOISE.ln() as f32));
    }
}
