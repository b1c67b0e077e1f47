//! The engine on this machine's processor: codes in the lanes of packs, work in chunks over the threads.

mod density;
mod front;
mod head;
mod innovations;
mod own;
mod packs;
mod points;
mod products;
#[cfg(test)]
mod products_tests;
mod shared;
mod states;
mod table;

pub(crate) use front::FrontPass;
pub(super) use own::weigh;
pub(crate) use table::Table;

use super::{
    CodeScores, Codes, Engine, FutureSteps, Gradient, Observed, OwnBatch, OwnPull, OwnResult, PointEvaluator,
    Rollout, ScoredSteps, Starts, StepsAhead, Trial, Weights,
};
use crate::Result;
use crate::base::emission::Batch;
use crate::family::Signal;
use crate::front::FrontReading;
use crate::kernel::Real;
use crate::random::Random;
use crate::system::System;
use head::{Head, HeadForm};
use points::Questions;

/// The processor, with the threads of the pool that it is called in.
#[derive(Debug)]
pub(crate) struct Cpu;

/// What a pass over sequences with codes of their own uses again: tens of megabytes for a large network, and fresh memory costs a part
/// of the step.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnMemory {
    front: FrontPass,
    heads: Vec<Head<f32>>,
}

/// Times a state is wider than the codes of a sequence are many, from which a network runs by products.
///
/// Lanes take as long for one code as for sixteen, products in proportion to codes. Milliseconds there and back, 16 sequences of 64 steps, tanh
/// network, 8 inputs and outputs, one thread, test profile, the least of many on a busy machine (`which_way_is_quicker`):
///
/// ```text
/// n                          4      8     16     24
/// lanes, K = 1 … 16       0.60   0.93   1.93   3.30
/// products, each code     0.36   0.38   0.42   0.65      as quick at K = 1.7, 2.5, 4.6, 5.1
/// ```
/// Wider states and gated networks have not been measured: they follow the line.
const WIDER: usize = 5;

/// Whether a network runs by products, for so many codes per sequence.
fn prefers_products(network: &HeadForm, per_sequence: usize) -> bool {
    network.d_state() >= WIDER * per_sequence.clamp(1, 16)
}

/// The network that points are asked of, where products suit so many of them.
fn by_products<R: Real>(of: Observed<'_, R>, points: &Codes) -> Option<HeadForm> {
    HeadForm::of(of.trial.system).filter(|network| prefers_products(network, points.len()))
}

fn densities<R: Real>(of: Observed<'_, R>, points: &Codes, starts: Starts<'_>, out: &mut [f64]) {
    match by_products(of, points) {
        Some(network) => points::evaluate(Questions { network: &network, of, points, starts }, out, None),
        None => density::densities(of, points, starts, out),
    }
}

fn slopes<R: Real>(of: Observed<'_, R>, points: &Codes, out: &mut [f64], gradient: &mut [f64]) {
    match by_products(of, points) {
        Some(network) => {
            points::evaluate(Questions { network: &network, of, points, starts: &[] }, out, Some(gradient));
        }
        None => density::slopes(of, points, out, gradient),
    }
}

impl Engine for Cpu {
    fn score(&self, trial: Trial<'_>, codes: &Codes, batch: &Batch<f32>, scores: &mut CodeScores) {
        shared::score(trial, codes, batch, scores);
    }

    fn gradient(
        &self,
        trial: Trial<'_>,
        codes: &Codes,
        batch: &Batch<f32>,
        weights: Weights<'_>,
    ) -> Gradient {
        shared::gradient(trial, codes, batch, weights)
    }

    fn own(
        &self,
        trial: Trial<'_>,
        codes: &Codes,
        (batch, pull): (&OwnBatch, OwnPull<'_>),
        result: &mut OwnResult,
    ) {
        let per_sequence = codes.len() / batch.n_seq().max(1);
        match HeadForm::of(trial.system).filter(|network| prefers_products(network, per_sequence)) {
            Some(network) => products::own(&network, trial, codes, (batch, pull), result),
            None => own::own(trial, codes, (batch, pull), result),
        }
    }

    fn densities_single(&self, of: Observed<'_, f32>, points: &Codes, starts: Starts<'_>, out: &mut [f64]) {
        densities(of, points, starts, out);
    }

    fn densities_double(&self, of: Observed<'_, f64>, points: &Codes, starts: Starts<'_>, out: &mut [f64]) {
        densities(of, points, starts, out);
    }

    fn slopes_single(&self, of: Observed<'_, f32>, points: &Codes, out: &mut [f64], gradient: &mut [f64]) {
        slopes(of, points, out, gradient);
    }

    fn slopes_double(&self, of: Observed<'_, f64>, points: &Codes, out: &mut [f64], gradient: &mut [f64]) {
        slopes(of, points, out, gradient);
    }

    fn point_by_point<'a>(&self, of: Observed<'a, f64>) -> PointEvaluator<'a> {
        density::point_by_point(of)
    }

    fn beliefs(&self, of: Observed<'_, f32>, points: &Codes, starts: Starts<'_>) -> Vec<f64> {
        states::beliefs(of, points, starts)
    }

    fn ahead(
        &self,
        system: &System,
        points: &Codes,
        from: FutureSteps<'_>,
        random: &mut Random,
    ) -> StepsAhead {
        states::ahead(system, points, from, random)
    }

    fn simulate(&self, system: &System, codes: &Codes, from: FutureSteps<'_>) -> Rollout {
        states::simulate(system, codes, from)
    }

    fn morph(&self, system: &System, path: &Codes, inputs: Option<&Signal>) -> Vec<f64> {
        states::morph(system, path, inputs)
    }

    fn innovations(&self, system: &System, code: &[f64], steps: ScoredSteps<'_>) -> Result<Vec<f64>> {
        innovations::innovations(system, code, steps)
    }

    fn features(
        &self,
        system: &System,
        reading: FrontReading<'_>,
        state: Option<&[f32]>,
    ) -> (Vec<f32>, Vec<f32>) {
        let front = system.spec().front.as_ref().expect("a front, which the caller has looked up");
        front.run_on(&system.parameters()[system.front_range()], reading, state)
    }
}
