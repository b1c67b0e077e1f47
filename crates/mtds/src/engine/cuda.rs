//! The engine on an NVIDIA card: tanh networks with generated parameters, with a gated network before them or not, and linear systems run
//! there (`mtds_cuda`); what it has no kernels for runs on the processor.
//!
//! A card that fails in the midst of an operation is not used again: the processor does what is left, and [`Engine::trouble`] says why. Steps
//! of learning that a card takes whole end with an error instead, at the state of the last checkpoint.

mod linear;

use std::sync::{Mutex, MutexGuard, PoisonError};

use mtds_cuda::{AdamNumbers, Data, Gpu, Learning, LearningPlan, Network, Order, Pull, Shape, Source, State};

use super::cpu::{Cpu, weigh};
use super::device::failed;
use super::resident::{Beginning, Resident, ResidentTask, Rows, StepDone, StepOrder, StepRule};
use super::{
    CodeScores, Codes, Engine, FutureSteps, Gradient, Observed, OwnBatch, OwnPull, OwnResult, OwnWeights,
    PointEvaluator, Products, Rollout, ScoredSteps, Starts, StepsAhead, Trial, Weights,
};
use crate::Result;
use crate::base::emission::{Batch, Group, NoiseForm};
use crate::base::{OutputForm, Rnn};
use crate::family::Signal;
use crate::front::{FrontReading, FrontStart, InputSkip};
use crate::generator::{Activation, FeatureMap, Role, Skip};
use crate::learn::adam::AdamState;
use crate::random::Random;
use crate::system::System;
use linear::LinearSystems;
pub(super) use linear::{CardScores, Takes};

/// Networks that are kept compiled and with their memory.
const MOST_KEPT: usize = 4;
/// Fewest multiplications of a sequence's points for which a card is asked: a call takes it about a millisecond, in which a core of the processor makes as many.
const FEWEST_FOR_CARD: usize = 500_000_000;
/// Most codes of a sequence whose weights need each other.
const MOST_WEIGHED: usize = 1024;

/// A card.
#[derive(Debug)]
pub(crate) struct Cuda {
    gpu: Gpu,
    products: Products,
    /// Networks that were used, the last one first.
    networks: Mutex<Vec<Network>>,
    linear: LinearSystems,
    trouble: Mutex<Option<String>>,
}

impl Cuda {
    pub(super) fn new(gpu: Gpu, products: Products, takes: Takes) -> Self {
        let linear = LinearSystems::new(takes);
        Self { gpu, products, networks: Mutex::default(), linear, trouble: Mutex::default() }
    }

    fn networks(&self) -> MutexGuard<'_, Vec<Network>> {
        self.networks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, why: &mtds_cuda::Error) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.to_string());
    }

    /// The shape of a system whose kernels there are, on a card that has not failed.
    fn shape_of(&self, system: &System) -> Option<Shape> {
        if self.trouble().is_some() {
            return None;
        }
        shape_of(system, self.products, 0)
    }

    /// Runs on the card; `None` where the processor has to do it.
    fn run(
        &self,
        (shape, parameters): (Shape, &[f32]),
        rows: &Rows,
        points: &Codes,
        pull: Option<Pull<'_>>,
    ) -> Option<mtds_cuda::Found> {
        let mut networks = self.networks();
        let known = networks.iter().position(|network| *network.shape() == shape);
        let network = match known {
            Some(place) => Ok(networks.remove(place)),
            None => Network::new(&self.gpu, shape),
        };
        let found = network.and_then(|mut network| {
            let data = Data { inputs: rows.inputs.clone(), outputs: rows.outputs.clone() };
            let (codes, shifts) = split_points(points, network.shape().d_code);
            let found = network.own(parameters, (&data, &rows.n_rows), (&codes, &shifts), pull);
            networks.insert(0, network);
            networks.truncate(MOST_KEPT);
            found
        });
        self.done(found.map(Some))
    }

    /// What the card did; `None` where the processor has to do it.
    fn done<T>(&self, found: std::result::Result<Option<T>, mtds_cuda::Error>) -> Option<T> {
        match found {
            Ok(found) => found,
            // What the card does not take is no trouble with the card.
            Err(mtds_cuda::Error::Unsupported { .. }) => None,
            Err(why) => {
                self.note(&why);
                None
            }
        }
    }

    /// Runs a linear system on a card that has not failed; `None` where the processor has to do it.
    fn run_linear(
        &self,
        work: impl FnOnce(&LinearSystems) -> std::result::Result<Option<mtds_cuda::Found>, mtds_cuda::Error>,
    ) -> Option<mtds_cuda::Found> {
        if self.trouble().is_some() { None } else { self.done(work(&self.linear)) }
    }

    /// [`Engine::own`], or `false` where the processor has to do it.
    fn own_on_card(
        &self,
        trial: Trial<'_>,
        codes: &Codes,
        (batch, pull): (&OwnBatch, OwnPull<'_>),
        result: &mut OwnResult,
    ) -> bool {
        let k = codes.len() / batch.n_seq().max(1);
        let is_whole = (0..batch.n_seq()).all(|i| batch.windows(i).len() == 1);
        let needs_each_other = matches!(pull.weights(), Some(OwnWeights::Importance(rule)) if rule.is_shared(k) || k > MOST_WEIGHED);
        if codes.is_empty() || !is_whole || needs_each_other {
            return false;
        }
        let rows = Rows::of((0..batch.n_seq()).map(|i| &batch.windows(i)[0]));
        let mut weights: Vec<f64> = vec![];
        let mut weigh_pairs = |pairs: std::ops::Range<usize>, likelihoods: &[f64]| {
            let first = weights.len();
            weights.resize(first + pairs.len(), 1.0);
            let own = &mut weights[first..];
            match pull.weights() {
                None => {}
                Some(OwnWeights::Equal(weight)) => own.fill(weight),
                Some(OwnWeights::Fixed(all)) => own.copy_from_slice(&all[pairs]),
                Some(rule) => {
                    for ((i, own), likelihoods) in
                        (pairs.start / k..).zip(own.chunks_mut(k)).zip(likelihoods.chunks(k))
                    {
                        weigh(rule, (i, None), likelihoods, own);
                    }
                }
            }
            weights[first..].iter().map(|&w| w as f32).collect()
        };
        let wants = (!matches!(pull, OwnPull::Nothing))
            .then_some(Pull { weigh: &mut weigh_pairs, parameters: pull.weights().is_some() });
        let found = match self.shape_of(trial.system) {
            Some(shape) => self.run((shape, trial.parameters), &rows, codes, wants),
            None => self.run_linear(|linear| linear.own(&self.gpu, (trial, codes), &rows, wants)),
        };
        let Some(found) = found else { return false };
        result.log_likelihoods = found.log_likelihoods;
        result.parameters = found.parameters;
        result.codes = if pull.pulls_codes() { found.codes } else { vec![] };
        result.weights = if pull.weights().is_some() { weights } else { vec![] };
        true
    }

    /// Likelihoods of one sequence under many points, and gradients, added; `false` where the processor has to do it.
    fn points_on_card(
        &self,
        of: Observed<'_, f32>,
        points: &Codes,
        out: &mut [f64],
        gradient: Option<&mut [f64]>,
    ) -> bool {
        if points.is_empty() {
            return false;
        }
        let rows = Rows::of(std::iter::once(of.group));
        let mut ones = |pairs: std::ops::Range<usize>, _: &[f64]| vec![1.0; pairs.len()];
        let pull = gradient.is_some().then_some(Pull { weigh: &mut ones, parameters: false });
        let found = match self.shape_of(of.trial.system) {
            Some(shape) => {
                // A front has been run already: what it made are the inputs here, and its parameters stand behind all others.
                let shape = Shape { front: None, ..shape };
                if points.len() * of.group.n_time * shape.theta.len() < FEWEST_FOR_CARD {
                    return false;
                }
                let parameters = &of.trial.parameters[..shape.n_parameters()];
                self.run((shape, parameters), &rows, points, pull)
            }
            None => self.run_linear(|linear| linear.own(&self.gpu, (of.trial, points), &rows, pull)),
        };
        let Some(found) = found else { return false };
        out.iter_mut().zip(&found.log_likelihoods).for_each(|(sum, l)| *sum += l);
        if let Some(gradient) = gradient {
            let (k, dim) = (of.trial.system.d_code(), points.d_code());
            for (i, row) in gradient.chunks_exact_mut(dim).enumerate() {
                let own = found.codes[i * k..(i + 1) * k].iter().chain(found.shifts.get(i));
                row.iter_mut().zip(own).for_each(|(sum, &d)| *sum += f64::from(d));
            }
        }
        true
    }
}

impl Rows {
    /// Those of groups of one sequence each.
    pub(crate) fn of<'a>(groups: impl Iterator<Item = &'a Group<f32>>) -> Self {
        let mut rows = Self::default();
        for group in groups {
            rows.first.push(rows.first.last().zip(rows.n_rows.last()).map_or(0, |(first, n)| first + n));
            rows.n_rows.push(group.n_time);
            rows.inputs.extend(&group.inputs);
            let seen = &group.patterns[group.pattern_of[0]];
            rows.outputs
                .extend(group.by_member.iter().zip(seen).map(|(&y, &seen)| if seen { y } else { f32::NAN }));
        }
        rows
    }
}

/// The shape of a system, if there are kernels for it.
fn shape_of(system: &System, products: Products, unscored: usize) -> Option<Shape> {
    let (base, network) = (system.base().downcast_ref::<Rnn>()?, &system.spec().network);
    if base.output != OutputForm::Direct
        || base.noise_form != NoiseForm::Diagonal
        || network.features != FeatureMap::Identity
    {
        return None;
    }
    let front = match system.spec().front {
        None => None,
        Some(front) if front.start == FrontStart::Zero && !front.lag => Some(mtds_cuda::Front {
            d_input: front.d_input,
            units: front.d_hidden,
            bottleneck: front.d_bottleneck,
            skip: front.skip == InputSkip::Inputs,
        }),
        Some(_) => return None,
    };
    Some(Shape {
        front,
        d_code: network.d_code,
        hidden: network.hidden.iter().map(|layer| (layer.width, activation(layer.activation))).collect(),
        skip: network.skip == Skip::Affine,
        d_state: base.d_state,
        d_drive: base.d_input,
        d_obs: base.d_obs,
        theta: sources(system),
        unscored,
        products: match products {
            Products::Exact => mtds_cuda::Products::Exact,
            Products::Tf32 => mtds_cuda::Products::Tf32,
        },
    })
}

fn activation(activation: Activation) -> mtds_cuda::Activation {
    match activation {
        Activation::Identity => mtds_cuda::Activation::Identity,
        Activation::Tanh => mtds_cuda::Activation::Tanh,
        Activation::Sigmoid => mtds_cuda::Activation::Sigmoid,
        Activation::Relu => mtds_cuda::Activation::Relu,
        Activation::Softplus => mtds_cuda::Activation::Softplus,
    }
}

/// What determines each number of θ.
fn sources(system: &System) -> Vec<Source> {
    let of_block = |block: &crate::generator::Block| {
        let source = |i: usize| match block.role {
            Role::Adapted => Source::Adapted(block.slot + i),
            Role::Shared => Source::Shared(block.slot + i),
            Role::Fixed(value) => Source::Fixed(value as f32),
        };
        (0..block.spec.len).map(source).collect::<Vec<_>>()
    };
    system.layout().blocks().iter().flat_map(of_block).collect()
}

/// Codes of length k, and the shifts of log s that stand behind them, if any do.
fn split_points(points: &Codes, k: usize) -> (Vec<f32>, Vec<f32>) {
    let rows = || (0..points.len()).map(|i| points.row(i));
    let single = |x: &f64| *x as f32;
    (
        rows().flat_map(|row| &row[..k]).map(single).collect(),
        rows().flat_map(|row| &row[k..]).map(single).collect(),
    )
}

impl Engine for Cuda {
    fn score(&self, trial: Trial<'_>, codes: &Codes, batch: &Batch<f32>, scores: &mut CodeScores) {
        let is_done = self.trouble().is_none()
            && self.done(self.linear.score(&self.gpu, (trial, codes), batch, scores)).is_some();
        if !is_done {
            Cpu.score(trial, codes, batch, scores);
        }
    }

    fn gradient(
        &self,
        trial: Trial<'_>,
        codes: &Codes,
        batch: &Batch<f32>,
        weights: Weights<'_>,
    ) -> Gradient {
        let found = match self.trouble() {
            None => self.done(self.linear.gradient(&self.gpu, (trial, codes), batch, &weights)),
            Some(_) => None,
        };
        found.unwrap_or_else(|| Cpu.gradient(trial, codes, batch, weights))
    }

    fn own(&self, trial: Trial<'_>, codes: &Codes, of: (&OwnBatch, OwnPull<'_>), result: &mut OwnResult) {
        if !self.own_on_card(trial, codes, of, result) {
            Cpu.own(trial, codes, of, result);
        }
    }

    fn densities_single(&self, of: Observed<'_, f32>, points: &Codes, starts: Starts<'_>, out: &mut [f64]) {
        if !starts.is_empty() || !self.points_on_card(of, points, out, None) {
            Cpu.densities_single(of, points, starts, out);
        }
    }

    fn densities_double(&self, of: Observed<'_, f64>, points: &Codes, starts: Starts<'_>, out: &mut [f64]) {
        Cpu.densities_double(of, points, starts, out);
    }

    fn slopes_single(&self, of: Observed<'_, f32>, points: &Codes, out: &mut [f64], gradient: &mut [f64]) {
        if !self.points_on_card(of, points, out, Some(gradient)) {
            Cpu.slopes_single(of, points, out, gradient);
        }
    }

    fn slopes_double(&self, of: Observed<'_, f64>, points: &Codes, out: &mut [f64], gradient: &mut [f64]) {
        Cpu.slopes_double(of, points, out, gradient);
    }

    fn point_by_point<'a>(&self, of: Observed<'a, f64>) -> PointEvaluator<'a> {
        Cpu.point_by_point(of)
    }

    fn beliefs(&self, of: Observed<'_, f32>, points: &Codes, starts: Starts<'_>) -> Vec<f64> {
        Cpu.beliefs(of, points, starts)
    }

    fn ahead(
        &self,
        system: &System,
        points: &Codes,
        from: FutureSteps<'_>,
        random: &mut Random,
    ) -> StepsAhead {
        Cpu.ahead(system, points, from, random)
    }

    fn simulate(&self, system: &System, codes: &Codes, from: FutureSteps<'_>) -> Rollout {
        Cpu.simulate(system, codes, from)
    }

    fn morph(&self, system: &System, path: &Codes, inputs: Option<&Signal>) -> Vec<f64> {
        Cpu.morph(system, path, inputs)
    }

    fn innovations(&self, system: &System, code: &[f64], steps: ScoredSteps<'_>) -> Result<Vec<f64>> {
        Cpu.innovations(system, code, steps)
    }

    fn features(
        &self,
        system: &System,
        reading: FrontReading<'_>,
        state: Option<&[f32]>,
    ) -> (Vec<f32>, Vec<f32>) {
        Cpu.features(system, reading, state)
    }

    fn resident(&self, task: &ResidentTask<'_>, from: Beginning<'_>) -> Result<Option<Box<dyn Resident>>> {
        let unscored = if task.has_seeds { task.system.seed_steps() } else { 0 };
        let Some(shape) = shape_of(task.system, self.products, unscored) else { return Ok(None) };
        let (groups, state, average) = from;
        let groups = groups.iter().filter(|group| !group.range.is_empty());
        let plan = LearningPlan {
            n_codes: task.n_codes,
            n_seq: task.batch,
            n_time: task.n_time,
            draws: task.draws,
            groups: groups
                .map(|g| mtds_cuda::ParameterGroup { start: g.range.start, rate: g.rate, l2: g.l2 })
                .collect(),
            matched: task.matched.as_ref().map(|noise| mtds_cuda::MatchedNoise {
                start: noise.places.start,
                counts: noise.counts.iter().map(|&n| n as f32).collect(),
                damping: noise.damping as f32,
            }),
        };
        let data = Data { inputs: task.rows.inputs.clone(), outputs: task.rows.outputs.clone() };
        let learning = Network::new(&self.gpu, shape)
            .and_then(|network| Learning::new(network, &data, plan, &state_of(state, average)));
        match learning {
            Ok(learning) => Ok(Some(Box::new(OnCard(learning)))),
            Err(mtds_cuda::Error::Unsupported { .. }) => Ok(None),
            Err(why) => Err(failed(why)),
        }
    }

    fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn state_of(state: &AdamState, average: Option<&[f32]>) -> State {
    State {
        parameters: state.parameters.clone(),
        first_moment: state.first_moment.clone(),
        second_moment: state.second_moment.clone(),
        average: average.map(<[f32]>::to_vec),
    }
}

/// Learning on a card.
struct OnCard(Learning);

impl Resident for OnCard {
    fn step(&mut self, order: &StepOrder, rule: &StepRule) -> Result<StepDone> {
        let StepRule { adam, products: [beta1, beta2], kept, clip } = *rule;
        let adam = AdamNumbers {
            size: (adam.learning_rate / (1.0 - beta1)) as f32,
            root_scale: (1.0 / (1.0 - beta2)).sqrt() as f32,
            momentum: [adam.beta1 as f32, (1.0 - adam.beta1) as f32],
            decay: [adam.beta2 as f32, (1.0 - adam.beta2) as f32],
            epsilon: adam.epsilon as f32,
            kept: kept as f32,
            clip: clip.unwrap_or(0.0) as f32,
        };
        let found = self.0.step(&Order {
            places: &order.places,
            first_rows: &order.first_rows,
            n_rows: &order.n_rows,
            noise: &order.noise,
            temperature: order.temperature as f32,
            divergence_weight: order.divergence_weight as f32,
            is_hard: order.is_hard,
            noise_floor: order.noise_floor as f32,
            adam,
        });
        let mtds_cuda::StepFound { total, bound, penalty, norm, is_finite } = found.map_err(failed)?;
        Ok(StepDone { total, bound, penalty, norm, is_finite })
    }

    fn bring_home(&self, state: &mut AdamState, average: Option<&mut Vec<f32>>) -> Result<()> {
        let home = self.0.state().map_err(failed)?;
        (state.parameters, state.first_moment, state.second_moment) =
            (home.parameters, home.first_moment, home.second_moment);
        if let (Some(to), Some(from)) = (average, home.average) {
            *to = from;
        }
        Ok(())
    }

    fn go_on_from(&mut self, state: &AdamState, average: Option<&[f32]>) -> Result<()> {
        self.0.set_state(&state_of(state, average)).map_err(failed)
    }

    fn gradient(&self) -> Result<Vec<f32>> {
        self.0.gradient().map_err(failed)
    }
}
