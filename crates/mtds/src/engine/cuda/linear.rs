//! Linear systems on a card: scores of codes on a family, which stay there, gradients by their weights, and codes of each sequence's own.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mtds_cuda::{
    Error, Features, Found, Gpu, Linear, LinearData, LinearShape, LinearWeights, Pull, Scores,
    StoredSequences,
};

use super::{MOST_KEPT, Rows, activation, sources};
use crate::base::emission::{Batch, Group, NoiseForm, Stamp};
use crate::base::{InputMap, Lds};
use crate::engine::{CodeScores, Codes, Gradient, Trial, Weights};
use crate::generator::{FeatureMap, Skip};
use crate::system::System;

/// Codes × scored values from which linear systems go to a card that nobody asked for: a step of learning with a quarter of the particles of
/// the paper's oscillators. Not measured yet.
const WORTH_A_CARD: usize = 10_000_000;

/// Which linear systems a card takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Takes {
    /// All that it has kernels for: it was asked for.
    All,
    /// Those with enough work.
    Large,
}

/// Linear systems that are kept compiled and with their memory, the last one first.
#[derive(Debug)]
pub(super) struct LinearSystems {
    takes: Takes,
    kept: Mutex<Vec<Kept>>,
}

#[derive(Debug)]
struct Kept {
    linear: Linear,
    /// Families that were scored last.
    stored: Vec<(Stamp, StoredSequences)>,
}

/// Scores that lie on a card.
#[derive(Debug)]
pub(in crate::engine) struct CardScores {
    scores: Scores,
    /// All of them, once somebody has asked for one.
    home: OnceLock<Vec<f32>>,
    n_codes: usize,
}

impl CardScores {
    /// The score of one code and one sequence; NaN where the card is gone.
    pub(in crate::engine) fn get(&self, code: usize, sequence: usize) -> f32 {
        let home = self.home.get_or_init(|| self.scores.to_host().unwrap_or_default());
        home.get(sequence * self.n_codes + code).copied().unwrap_or(f32::NAN)
    }
}

/// `None`: the processor has to do it.
type Done<T> = Result<Option<T>, Error>;

impl LinearSystems {
    pub(super) fn new(takes: Takes) -> Self {
        Self { takes, kept: Mutex::default() }
    }

    /// Whether so many codes on so many values are worth it.
    fn takes(&self, n_codes: usize, n_values: usize) -> bool {
        n_codes > 0 && (self.takes == Takes::All || n_codes.saturating_mul(n_values) >= WORTH_A_CARD)
    }

    /// Runs with the linear system of a shape, which is kept for the next time.
    fn with<T>(
        &self,
        gpu: &Gpu,
        shape: LinearShape,
        work: impl FnOnce(&mut Kept) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kept = match all.iter().position(|kept| *kept.linear.shape() == shape) {
            Some(place) => all.remove(place),
            None => Kept { linear: Linear::new(gpu, shape)?, stored: vec![] },
        };
        let found = work(&mut kept);
        all.insert(0, kept);
        all.truncate(MOST_KEPT);
        found
    }

    /// [`Engine::score`](crate::engine::Engine::score).
    pub(super) fn score(
        &self,
        gpu: &Gpu,
        (trial, codes): (Trial<'_>, &Codes),
        batch: &Batch<f32>,
        scores: &mut CodeScores,
    ) -> Done<()> {
        let Some(shape) = shape_of(trial.system) else { return Ok(None) };
        if batch.n_seq == 0 || !self.takes(codes.len(), batch.n_observed) || !suits(&shape, batch) {
            return Ok(None);
        }
        let last = scores.on_card.take().and_then(Arc::into_inner);
        let (own, summary) = self.with(gpu, shape, |kept| {
            let mut own = match last.map(|last| last.scores).filter(|own| kept.linear.owns(own)) {
                Some(own) => own,
                None => kept.linear.scores()?,
            };
            kept.store(batch)?;
            let summary =
                kept.linear.score((trial.parameters, &codes.single()), &kept.stored[0].1, &mut own)?;
            Ok((own, summary))
        })?;
        (scores.n_codes, scores.n_seq) = (codes.len(), batch.n_seq);
        (scores.log_evidence, scores.ess) = (summary.log_evidence, summary.effective_codes);
        let on_card = CardScores { scores: own, home: OnceLock::new(), n_codes: codes.len() };
        scores.on_card = Some(Arc::new(on_card));
        Ok(Some(()))
    }

    /// [`Engine::gradient`](crate::engine::Engine::gradient).
    pub(super) fn gradient(
        &self,
        gpu: &Gpu,
        (trial, codes): (Trial<'_>, &Codes),
        batch: &Batch<f32>,
        weights: &Weights<'_>,
    ) -> Done<Gradient> {
        let Some(shape) = shape_of(trial.system).filter(|shape| suits(shape, batch)) else {
            return Ok(None);
        };
        let flat: Vec<(usize, usize, f32)>;
        let weights = match weights {
            Weights::Normalised(scores) => match &scores.on_card {
                Some(on_card) => LinearWeights::Normalised(&on_card.scores),
                None => return Ok(None),
            },
            Weights::Resampled { scores, per_sequence, uniforms } => match &scores.on_card {
                Some(on_card) => LinearWeights::Resampled {
                    scores: &on_card.scores,
                    per_sequence: *per_sequence,
                    uniforms,
                },
                None => return Ok(None),
            },
            Weights::Pairs(pairs) => {
                let pairs = pairs.iter().enumerate();
                let of_code = |(m, pairs): (usize, &Vec<(usize, f64)>)| {
                    pairs.iter().map(|&(i, w)| (m, i, w as f32)).collect::<Vec<_>>()
                };
                flat = pairs.flat_map(of_code).collect();
                let each = batch.n_observed / batch.n_seq.max(1);
                if !self.takes(flat.len(), each) {
                    return Ok(None);
                }
                LinearWeights::Pairs(&flat)
            }
        };
        let found = self.with(gpu, shape, |kept| {
            kept.store(batch)?;
            kept.linear.gradient((trial.parameters, &codes.single()), &kept.stored[0].1, weights)
        })?;
        Ok(Some(Gradient {
            parameters: found.parameters,
            weighted_log_likelihood: found.weighted_log_likelihood,
        }))
    }

    /// Codes of each sequence's own, perhaps with shifts of log s behind them.
    pub(super) fn own(
        &self,
        gpu: &Gpu,
        (trial, points): (Trial<'_>, &Codes),
        rows: &Rows,
        pull: Option<Pull<'_>>,
    ) -> Done<Found> {
        let n_seq = rows.n_rows.len().max(1);
        if !self.takes(points.len(), rows.outputs.len() / n_seq) {
            return Ok(None);
        }
        let Some(shape) = shape_of(trial.system) else { return Ok(None) };
        let data = LinearData {
            inputs: rows.inputs.clone(),
            outputs: rows.outputs.clone(),
            steps: rows.n_rows.clone(),
            shares_inputs: false,
        };
        let (codes, shifts) = super::split_points(points, shape.d_code);
        let parameters = &trial.parameters[..shape.n_parameters()];
        let found = self.with(gpu, shape, |kept| {
            let stored = kept.linear.store(&data)?;
            kept.linear.own(parameters, &stored, (&codes, &shifts), pull)
        })?;
        Ok(Some(found))
    }
}

impl Kept {
    /// Brings a family to the card, unless it is there; it then comes first.
    fn store(&mut self, batch: &Batch<f32>) -> Result<(), Error> {
        let known = self.stored.iter().position(|(stamp, _)| *stamp == batch.stamp);
        let stored = match known {
            Some(place) => self.stored.remove(place).1,
            None => self.linear.store(&data_of(batch))?,
        };
        self.stored.insert(0, (batch.stamp.clone(), stored));
        self.stored.truncate(MOST_KEPT);
        Ok(())
    }
}

/// The shape of a linear system, if there are kernels for it; sizes are checked there.
fn shape_of(system: &System) -> Option<LinearShape> {
    let (base, network) = (system.base().downcast_ref::<Lds>()?, &system.spec().network);
    if base.noise_form != NoiseForm::Diagonal || system.spec().front.is_some() || network.d_code == 0 {
        return None;
    }
    Some(LinearShape {
        d_code: network.d_code,
        features: match network.features {
            FeatureMap::Identity => Features::Identity,
            FeatureMap::Trigonometric => Features::Trigonometric,
        },
        hidden: network.hidden.iter().map(|layer| (layer.width, activation(layer.activation))).collect(),
        skip: network.skip == Skip::Affine,
        d_state: base.d_state,
        d_input: base.d_input,
        d_obs: base.d_obs,
        is_gated: base.input_map == InputMap::Sparse,
        theta: sources(system),
    })
}

/// Whether sequences are arranged as kernels have them: all with the same inputs, or each with its own.
fn suits(shape: &LinearShape, batch: &Batch<f32>) -> bool {
    let fits = |group: &Group<f32>| {
        group.inputs.len() == group.n_time * shape.d_input && group.seed.is_empty() && group.n_time > 0
    };
    let alone = |group: &Group<f32>| group.n_members() == 1;
    batch.groups.iter().all(fits) && (batch.groups.len() == 1 || batch.groups.iter().all(alone))
}

/// Sequences in the order of the family; those that share inputs are all as long as the longest, with nothing observed at their ends.
fn data_of(batch: &Batch<f32>) -> LinearData {
    let shares_inputs = batch.groups.len() == 1;
    let mut places: Vec<(usize, &Group<f32>, usize)> = batch
        .groups
        .iter()
        .flat_map(|group| group.members.iter().enumerate().map(move |(m, &i)| (i, group, m)))
        .collect();
    places.sort_unstable_by_key(|place| place.0);
    let mut data = LinearData { shares_inputs, ..LinearData::default() };
    for (_, group, member) in places {
        let len = group.n_time * group.d_obs;
        let values = &group.by_member[member * len..(member + 1) * len];
        let seen = &group.patterns[group.pattern_of[member]];
        data.outputs.extend(values.iter().zip(seen).map(|(&y, &seen)| if seen { y } else { f32::NAN }));
        data.steps.push(group.n_time);
        if !shares_inputs {
            data.inputs.extend(&group.inputs);
        }
    }
    if shares_inputs {
        data.inputs.clone_from(&batch.groups[0].inputs);
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::{Family, Sequence, Signal};

    fn family(inputs: bool) -> Family {
        let sequence = |(i, outputs): (usize, Vec<f64>)| {
            let n = outputs.len();
            let sequence = Sequence::new(format!("s{i}"), Signal::column(outputs)).unwrap();
            let u = Signal::column((0..n).map(|t| (10 * i + t) as f64).collect());
            if inputs { sequence.with_inputs(u).unwrap() } else { sequence }
        };
        let outputs = [vec![1.0, f64::NAN, 2.0], vec![3.0], vec![4.0, 5.0]];
        Family::new(outputs.into_iter().enumerate().map(sequence).collect()).unwrap()
    }

    #[test]
    fn sequences_come_in_the_order_of_the_family() {
        let own = data_of(&Batch::new(&family(true)));
        assert_eq!(
            (&own.steps[..], &own.inputs[..]),
            (&[3, 1, 2][..], &[0.0, 1.0, 2.0, 10.0, 20.0, 21.0][..])
        );
        assert!(own.outputs[1].is_nan() && own.outputs[2..] == [2.0, 3.0, 4.0, 5.0] && !own.shares_inputs);

        let mut batch = Batch::new(&family(false));
        batch.groups[0].members.reverse();
        let shared = data_of(&batch);
        assert_eq!(shared.steps, [3; 3]);
        assert_eq!(shared.outputs[..2], [4.0, 5.0], "the last member is the first of the family");
        assert!(shared.outputs[2].is_nan() && shared.outputs[4..6].iter().all(|y| y.is_nan()));
        assert!(shared.shares_inputs && shared.inputs.is_empty());
    }

    #[test]
    fn a_card_that_nobody_asked_for_takes_what_is_worth_it() {
        let (asked, large) = (LinearSystems::new(Takes::All), LinearSystems::new(Takes::Large));
        assert!(asked.takes(1, 1) && !asked.takes(0, 1000));
        assert!(large.takes(4000, 128 * 80) && !large.takes(500, 128 * 80));
    }
}
