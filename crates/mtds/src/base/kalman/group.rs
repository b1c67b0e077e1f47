//! The filter over sequences that share inputs: covariances once per pattern, means once per sequence.
//!
//! What is known of a state, where it is handed on, is m (n values), then F by rows (n × n).

use super::{Belief, Gains, GainsGradient, Means, Pattern, Pushes, StochasticLds};
use crate::base::RolloutInputs;
use crate::base::emission::{Group, Pull};
use crate::kernel::{LANES, Lanes, Real};

/// Why shapes fit: a model was checked when it was made, and so was its batch.
const FITS: &str = "sizes of model and batch were checked";

/// One pass of the filter over a group, kept for its adjoint.
#[derive(Clone, Debug)]
pub(crate) struct GroupFilter<S> {
    lds: StochasticLds,
    patterns: Vec<Pattern>,
    /// One per pattern.
    gains: Vec<Gains<S>>,
    pushes: Option<Pushes<S>>,
    start: Option<Vec<S>>,
    end: Vec<S>,
}

impl<S: Lanes> GroupFilter<S> {
    pub(crate) fn new(lds: &StochasticLds, group: &Group<S::Real>) -> Self {
        let pattern = |mask: &Vec<bool>| Pattern::new(mask, group.d_obs).expect(FITS);
        let patterns = group.patterns.iter().map(pattern).collect();
        let lds = lds.clone();
        Self { lds, patterns, gains: vec![], pushes: None, start: None, end: vec![] }
    }

    /// Runs the covariances, from what is known of the state or else from m_0 in θ.
    pub(crate) fn run(&mut self, theta: &[S], start: Option<&[S]>, drive: RolloutInputs<'_, S>) {
        let n = self.lds.lds.d_state;
        let factor = start.map(|start| &start[n..]);
        self.gains.clear();
        for pattern in &self.patterns {
            self.gains.push(Gains::new(&self.lds, theta, pattern, factor).expect(FITS));
        }
        self.pushes = self.gains.first().map(|gains| gains.system().pushes(drive).expect(FITS));
        self.start = start.map(|start| start[..n].to_vec());
    }

    /// Filters one member; `None` where there is none.
    fn means(&self, group: &Group<S::Real>, member: usize) -> Option<(&Gains<S>, &Pushes<S>, Means<S>)> {
        let (gains, pushes) = (&self.gains[*group.pattern_of.get(member)?], self.pushes.as_ref()?);
        let length = group.n_time * group.d_obs;
        let values = &group.by_member[member * length..(member + 1) * length];
        let mut means = Means::new(gains);
        gains.means(pushes, self.start.as_deref(), values, &mut means).expect(FITS);
        Some((gains, pushes, means))
    }

    /// log p(Y_i | θ) of every member.
    pub(crate) fn scores(&self, group: &Group<S::Real>, scores: &mut [S]) {
        for (member, score) in scores.iter_mut().enumerate() {
            *score = self.means(group, member).map_or(S::zero(), |(_, _, means)| means.log_likelihood);
        }
    }

    /// log p(Y | θ) of the first member; keeps what is known of its last state.
    pub(crate) fn log_density(&mut self, group: &Group<S::Real>, out: &mut [f64]) {
        let Some((gains, _, means)) = self.means(group, 0) else { return out.fill(0.0) };
        let Belief { mean, factor } = gains.belief(&means, group.n_time).expect(FITS);
        for (lane, out) in out.iter_mut().enumerate() {
            *out = means.log_likelihood.lane(lane).to_f64();
        }
        self.end = [mean, factor].concat();
    }

    /// What is known of the last state, after [`GroupFilter::log_density`].
    pub(crate) fn end(&self) -> &[S] {
        &self.end
    }

    /// Σ_i w_i log p(Y_i | θ) per lane; its gradient is added to those of θ and of the inputs (unless empty), that with respect to
    /// m_0 written to `d_start`.
    pub(crate) fn pull(
        &self,
        theta: &[S],
        drive: RolloutInputs<'_, S>,
        group: &Group<S::Real>,
        pull: Pull<'_, S>,
        (d_theta, d_start, d_inputs): (&mut [S], &mut [S], &mut [S]),
    ) -> S {
        let mut gradients: Vec<Option<GainsGradient<S>>> = vec![None; self.gains.len()];
        let mut total = S::zero();
        d_start.fill(S::zero());
        for (member, weight) in weights(pull, group.n_members()) {
            let Some((gains, pushes, means)) = self.means(group, member) else { continue };
            let gradient =
                gradients[group.pattern_of[member]].get_or_insert_with(|| GainsGradient::new(gains));
            gains.pull(pushes, &means, weight, gradient, d_start).expect(FITS);
            total = weight.mul_add(means.log_likelihood, total);
        }
        for (gains, gradient) in self.gains.iter().zip(gradients) {
            if let Some(gradient) = gradient {
                gains.add_to_theta(theta, drive, gradient, (&mut *d_theta, &mut *d_inputs)).expect(FITS);
            }
        }
        total
    }
}

/// The members that pull, and how strongly in each lane.
fn weights<S: Lanes>(pull: Pull<'_, S>, n_members: usize) -> Vec<(usize, S)> {
    match pull {
        Pull::Dense(weights) => weights.iter().copied().enumerate().collect(),
        Pull::Sparse(lanes) => {
            let mut of = vec![[0.0; LANES]; n_members];
            for (lane, pairs) in lanes.iter().enumerate() {
                pairs.iter().for_each(|&(member, weight)| of[member][lane] += weight);
            }
            let pulling = of.into_iter().enumerate().filter(|(_, row)| row.iter().any(|&w| w != 0.0));
            pulling.map(|(i, row)| (i, S::from_fn(|lane| S::Real::from_f64(row[lane])))).collect()
        }
    }
}
