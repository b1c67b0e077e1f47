//! Whole steps of learning on a card: parameters, optimiser and sequences stay there; what a step is made of goes up, what it came to comes
//! down.
//!
//! ```text
//! codes of the minibatch ──→ draws ──→ passes there and back ──→ gradient of the loss, its norm ──→ Adam, average
//! ```
//! Launches of a step are recorded once and replayed. Parameters lie in two places that change roles, so that a step whose numbers are not
//! finite is dropped: the state is that of the step before.

use crate::network::{Batch, Network, Room, Stored};
use crate::queue::{Arg, Buffer, Extent, Plain, Queue, Recorded};
use crate::shape::Data;
use crate::{Error, Result};

/// Numbers that a block of the optimiser takes; `SHARE` of the kernels.
const SHARE: usize = 4096;
/// Words of `Step` of the kernels.
const STEP_WORDS: usize = 13;

/// A stretch of the parameters with a rate and a penalty of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParameterGroup {
    /// Where it begins; it ends where the next does.
    pub start: usize,
    /// Factor on the learning rate.
    pub rate: f32,
    /// λ of ½ λ ‖w‖².
    pub l2: f32,
}

/// Log deviations of the noise that follow the residuals, not their gradient; their group has the rate 0.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchedNoise {
    /// The first of them among the parameters.
    pub start: usize,
    /// Observed values of each output in all sequences.
    pub counts: Vec<f32>,
    /// Part of the way to the residuals that a step goes.
    pub damping: f32,
}

/// What stays the same from step to step.
#[derive(Clone, Debug, PartialEq)]
pub struct LearningPlan {
    /// Codes in all: beliefs about them stand behind the parameters of the network, means, then log deviations.
    pub n_codes: usize,
    /// Sequences of a step.
    pub n_seq: usize,
    /// Steps of the longest sequence.
    pub n_time: usize,
    /// Draws of each code.
    pub draws: usize,
    /// In order, from 0.
    pub groups: Vec<ParameterGroup>,
    /// Noise that does not go by its gradient.
    pub matched: Option<MatchedNoise>,
}

/// Parameters with the optimiser's memory.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The parameters.
    pub parameters: Vec<f32>,
    /// Running mean of the gradient.
    pub first_moment: Vec<f32>,
    /// Running mean of its square.
    pub second_moment: Vec<f32>,
    /// Running average of the parameters, where there is one.
    pub average: Option<Vec<f32>>,
}

/// Adam at one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamNumbers {
    /// Learning rate over 1 − Π β₁.
    pub size: f32,
    /// 1 / √(1 − Π β₂).
    pub root_scale: f32,
    /// β₁, 1 − β₁.
    pub momentum: [f32; 2],
    /// β₂, 1 − β₂.
    pub decay: [f32; 2],
    /// Floor under the root.
    pub epsilon: f32,
    /// Share of the average that is kept.
    pub kept: f32,
    /// Longest gradient; 0 for any.
    pub clip: f32,
}

/// What a step is made of.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// Its codes, a sequence each.
    pub places: &'a [usize],
    /// First rows of the sequences.
    pub first_rows: &'a [usize],
    /// How many rows each has.
    pub n_rows: &'a [usize],
    /// Standard normal draws: by code, draw, dimension.
    pub noise: &'a [f32],
    /// Temperature of the likelihood.
    pub temperature: f32,
    /// Weight of the divergence.
    pub divergence_weight: f32,
    /// Whether deviations are held.
    pub is_hard: bool,
    /// Least log s of noise that is matched.
    pub noise_floor: f32,
    /// The optimiser.
    pub adam: AdamNumbers,
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepFound {
    /// Σ over codes of the bound, with temperature and weight.
    pub total: f64,
    /// The same without them.
    pub bound: f64,
    /// Penalties.
    pub penalty: f64,
    /// Norm of the gradient.
    pub norm: f64,
    /// Whether all of it was finite; if not, the state is that before the step.
    pub is_finite: bool,
}

/// One of the two places of the state.
#[derive(Debug)]
struct Kept {
    parameters: Buffer<f32>,
    first_moment: Buffer<f32>,
    second_moment: Buffer<f32>,
    average: Option<Buffer<f32>>,
}

/// `Groups` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct Groups {
    start: u64,
    rate: u64,
    l2: u64,
    count: i32,
}

/// `Matched` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct Matched {
    counts: u64,
    residuals: u64,
    start: i32,
    count: i32,
    damping: f32,
}

/// `Optimiser` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct Optimiser([u64; 4]);

#[allow(unsafe_code)] // plain numbers in the layout of C
mod plain {
    use super::{Groups, Matched, Optimiser, Plain};
    unsafe impl Plain for Groups {}
    unsafe impl Plain for Matched {}
    unsafe impl Plain for Optimiser {}
}

/// Learning in progress on a card.
#[derive(Debug)]
pub struct Learning {
    network: Network,
    plan: LearningPlan,
    batch: Batch,
    room: Room,
    stored: Stored,
    /// Starts, rates and penalties of the groups.
    groups: (Buffer<i32>, Buffer<f32>, Buffer<f32>),
    /// Observed values of each output, and residuals, where noise is matched.
    matched: Option<[Buffer<f32>; 2]>,
    /// The step, codes, first rows, numbers of rows, noise.
    order: Buffer<u32>,
    kept: [Kept; 2],
    gradient: Buffer<f32>,
    parts: Buffer<f64>,
    report: Buffer<f64>,
    /// Which of the two is the state.
    now: usize,
    recorded: [Option<Recorded>; 2],
}

impl Learning {
    /// Puts sequences and state onto the card.
    ///
    /// # Errors
    /// Full memory, numbers that do not fit each other.
    pub fn new(network: Network, data: &Data, plan: LearningPlan, state: &State) -> Result<Self> {
        let batch = Batch { n_seq: plan.n_seq, n_time: plan.n_time, draws: plan.draws };
        let (k, n_model) = (network.shape.d_code, network.places.end);
        let n = n_model + 2 * plan.n_codes * k;
        if state.parameters.len() != n || n > i32::MAX as usize {
            let what = format!(
                "found {} parameters; the network and {} beliefs have {n}",
                state.parameters.len(),
                plan.n_codes
            );
            return Err(Error::Unsupported { what });
        }
        let room = network.new_room(batch)?;
        if !room.holds_all() {
            let what = format!("{} codes in a step are more than a card takes at once", batch.n_pairs());
            return Err(Error::Unsupported { what });
        }
        let queue = &network.queue;
        let starts: Vec<i32> = plan.groups.iter().map(|group| group.start as i32).collect();
        let numbers = |of: fn(&ParameterGroup) -> f32| plan.groups.iter().map(of).collect::<Vec<f32>>();
        let groups = (
            queue.uploaded(&starts)?,
            queue.uploaded(&numbers(|g| g.rate))?,
            queue.uploaded(&numbers(|g| g.l2))?,
        );
        let place = || -> Result<Kept> {
            let average = state.average.as_ref().map(|_| queue.zeros(n)).transpose()?;
            Ok(Kept {
                parameters: queue.zeros(n)?,
                first_moment: queue.zeros(n)?,
                second_moment: queue.zeros(n)?,
                average,
            })
        };
        let matched = plan.matched.as_ref().map(|noise| -> Result<_> {
            Ok([queue.uploaded(&noise.counts)?, queue.zeros(noise.counts.len())?])
        });
        let mut learning = Self {
            room,
            stored: network.store(data)?,
            groups,
            matched: matched.transpose()?,
            order: queue.zeros(STEP_WORDS + 3 * plan.n_seq + batch.n_pairs() * k)?,
            kept: [place()?, place()?],
            gradient: queue.zeros(n)?,
            parts: queue.zeros(2 * n.div_ceil(SHARE))?,
            report: queue.zeros(5)?,
            now: 0,
            recorded: [None, None],
            batch,
            plan,
            network,
        };
        learning.room.rows_at = learning.order.at(STEP_WORDS + learning.plan.n_seq);
        learning.set_state(state)?;
        Ok(learning)
    }

    /// Takes one step.
    ///
    /// # Errors
    /// A driver that fails.
    pub fn step(&mut self, order: &Order<'_>) -> Result<StepFound> {
        self.upload(order)?;
        let next = 1 - self.now;
        if self.recorded[next].is_none() {
            // What a first launch does once, loading code above all, must not be recorded.
            let mut parts = self.borrow();
            parts.launch()?;
            self.network.queue.download(&self.report, 0..1)?;
            let mut parts = self.borrow();
            let queue = parts.queue;
            let recorded = queue.record(|| parts.launch())?;
            self.recorded[next] = Some(recorded);
        }
        let recorded = self.recorded[next].as_ref().expect("just recorded");
        self.network.queue.replay(recorded)?;
        let report = self.network.queue.download(&self.report, 0..5)?;
        let flags = report[4].to_bits();
        let is_finite = flags & 0xffff_ffff == 1 && flags >> 32 == 0;
        if is_finite {
            self.now = next;
        }
        let [total, bound, squares, penalty] = [report[0], report[1], report[2], report[3]];
        Ok(StepFound { total, bound, penalty, norm: squares.sqrt(), is_finite })
    }

    /// The state after the last good step.
    ///
    /// # Errors
    /// A driver that fails.
    pub fn state(&self) -> Result<State> {
        let (kept, queue) = (&self.kept[self.now], &self.network.queue);
        let all = |buffer: &Buffer<f32>| queue.download(buffer, 0..buffer.len());
        Ok(State {
            parameters: all(&kept.parameters)?,
            first_moment: all(&kept.first_moment)?,
            second_moment: all(&kept.second_moment)?,
            average: kept.average.as_ref().map(all).transpose()?,
        })
    }

    /// Goes on from another state, of the same lengths.
    ///
    /// # Errors
    /// A driver that fails.
    pub fn set_state(&mut self, state: &State) -> Result<()> {
        let (kept, queue) = (&mut self.kept[self.now], &self.network.queue);
        queue.upload(&state.parameters, &mut kept.parameters, 0)?;
        queue.upload(&state.first_moment, &mut kept.first_moment, 0)?;
        queue.upload(&state.second_moment, &mut kept.second_moment, 0)?;
        match (&mut kept.average, &state.average) {
            (Some(to), Some(average)) => queue.upload(average, to, 0),
            _ => Ok(()),
        }
    }

    /// The gradient of the last step, penalties included, before it was clipped.
    ///
    /// # Errors
    /// A driver that fails.
    pub fn gradient(&self) -> Result<Vec<f32>> {
        self.network.queue.download(&self.gradient, 0..self.gradient.len())
    }

    fn upload(&mut self, order: &Order<'_>) -> Result<()> {
        let n_seq = self.plan.n_seq;
        let noise = self.batch.n_pairs() * self.network.shape.d_code;
        let fits = [order.places, order.first_rows, order.n_rows].iter().all(|of| of.len() == n_seq)
            && order.noise.len() == noise;
        if !fits {
            return Err(Error::Unsupported {
                what: format!("a step of other sizes than {n_seq} sequences and {noise} draws"),
            });
        }
        let AdamNumbers { size, root_scale, momentum, decay, epsilon, kept, clip } = order.adam;
        let step = [
            order.temperature,
            order.divergence_weight,
            f32::from_bits(u32::from(order.is_hard)),
            size,
            root_scale,
        ];
        let step = step
            .into_iter()
            .chain([momentum[0], decay[0], momentum[1], decay[1], epsilon, kept, clip, order.noise_floor])
            .map(f32::to_bits);
        let mut words: Vec<u32> = step.collect();
        debug_assert_eq!(words.len(), STEP_WORDS);
        for list in [order.places, order.first_rows, order.n_rows] {
            words.extend(list.iter().map(|&x| x as u32));
        }
        words.extend(order.noise.iter().map(|x| x.to_bits()));
        self.network.queue.upload(&words, &mut self.order, 0)
    }

    fn borrow(&mut self) -> StepParts<'_> {
        let next = 1 - self.now;
        StepParts {
            queue: &self.network.queue,
            network: &self.network,
            plan: &self.plan,
            batch: self.batch,
            stored: &self.stored,
            room: &mut self.room,
            groups: Groups {
                start: self.groups.0.at(0),
                rate: self.groups.1.at(0),
                l2: self.groups.2.at(0),
                count: self.plan.groups.len() as i32,
            },
            matched: self.plan.matched.as_ref().zip(self.matched.as_ref()).map(
                |(noise, [counts, residuals])| Matched {
                    counts: counts.at(0),
                    residuals: residuals.at(0),
                    start: noise.start as i32,
                    count: noise.counts.len() as i32,
                    damping: noise.damping,
                },
            ),
            order: &self.order,
            from: &self.kept[self.now],
            to: &self.kept[next],
            gradient: &mut self.gradient,
            parts: &self.parts,
            report: &self.report,
        }
    }
}

/// What launching a step needs.
struct StepParts<'a> {
    queue: &'a Queue,
    network: &'a Network,
    plan: &'a LearningPlan,
    batch: Batch,
    stored: &'a Stored,
    room: &'a mut Room,
    groups: Groups,
    matched: Option<Matched>,
    order: &'a Buffer<u32>,
    from: &'a Kept,
    to: &'a Kept,
    gradient: &'a mut Buffer<f32>,
    parts: &'a Buffer<f64>,
    report: &'a Buffer<f64>,
}

impl Kept {
    fn addresses(&self) -> Optimiser {
        let average = self.average.as_ref().map_or(0, |average| average.at(0));
        Optimiser([self.parameters.at(0), self.first_moment.at(0), self.second_moment.at(0), average])
    }
}

impl StepParts<'_> {
    fn launch(&mut self) -> Result<()> {
        let (n_codes, n_seq, draws, k) =
            (self.plan.n_codes, self.plan.n_seq, self.plan.draws, self.network.shape.d_code);
        let (n, n_model, batch, pairs) =
            (self.gradient.len(), self.network.places.end, self.batch, 0..self.batch.n_pairs());
        let (step, places, noise) =
            (self.order.at(0), self.order.at(STEP_WORDS), self.order.at(STEP_WORDS + 3 * n_seq));
        let (weights, gradient) = (self.from.parameters.at(0), self.gradient.at(0));
        let (beliefs, d_beliefs) = (self.from.parameters.at(n_model), self.gradient.at(n_model));
        self.queue.clear(self.gradient, 0..n)?;
        self.room.clear_features(self.queue)?;
        let sizes = [n_codes.into(), n_seq.into(), draws.into(), k.into()];
        let (codes, given) = (self.room.codes.at(0), self.room.weights.at(0));
        let args = [beliefs.into(), places.into(), noise.into(), codes.into(), given.into(), step.into()];
        self.queue.launch("draw_codes", Extent::of(pairs.len() * k), &[&args[..], &sizes].concat())?;
        self.network.front_forward(weights, self.stored, self.room, batch)?;
        self.network.pairs_forward(weights, self.stored, self.room, (batch, pairs.clone()))?;
        self.network.pairs_backward((weights, gradient), self.stored, self.room, (batch, pairs))?;
        self.network.front_backward((weights, gradient), self.room, batch)?;
        let d_codes = self.room.d_codes.at(0);
        let args =
            [beliefs.into(), places.into(), noise.into(), d_codes.into(), step.into(), d_beliefs.into()];
        self.queue.launch("pull_beliefs", Extent::of(n_seq * k), &[&args[..], &sizes].concat())?;
        let report = self.report.at(0);
        let args =
            [beliefs.into(), places.into(), self.room.likelihoods.at(0).into(), step.into(), report.into()];
        self.queue.launch("add_up_bound", Extent::blocks([1, 1, 1], 256), &[&args[..], &sizes].concat())?;
        if let Some(noise) = &self.matched {
            let args = [gradient.into(), Arg::Struct(noise), step.into(), n_codes.into(), n_seq.into()];
            self.queue.launch("read_residuals", Extent::of(noise.count as usize), &args)?;
        }
        let (parts, shares) = (self.parts.at(0), n.div_ceil(SHARE));
        let groups = Arg::Struct(&self.groups);
        let args =
            [weights.into(), gradient.into(), groups, parts.into(), n_model.into(), n.into(), n_seq.into()];
        self.queue.launch("finish_gradient", Extent::blocks([shares, 1, 1], 256), &args)?;
        self.queue.launch(
            "add_up_gradient",
            Extent::blocks([1, 1, 1], 1024),
            &[parts.into(), shares.into(), report.into()],
        )?;
        let (from, to) = (self.from.addresses(), self.to.addresses());
        let args = [
            Arg::Struct(&from),
            Arg::Struct(&to),
            gradient.into(),
            groups,
            step.into(),
            report.into(),
            n.into(),
        ];
        self.queue.launch("take_step", Extent::blocks([shares, 1, 1], 256), &args)?;
        let Some(noise) = &self.matched else { return Ok(()) };
        let args = [Arg::Struct(&from), Arg::Struct(&to), Arg::Struct(noise), step.into(), report.into()];
        self.queue.launch("match_noise", Extent::of(noise.count as usize), &args)
    }
}
