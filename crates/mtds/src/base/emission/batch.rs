//! A family arranged for scoring: sequences that share their inputs stand side by side.

use std::sync::Arc;

use crate::family::{Family, Signal};
use crate::kernel::Real;
use crate::{Error, Result};

/// Sequences with the same inputs, so that one rollout per particle serves them all.
#[derive(Clone, Debug)]
pub struct Group<R> {
    /// Steps of the longest member.
    pub n_time: usize,
    /// Number of outputs p.
    pub d_obs: usize,
    /// n_time × d_input, row-major.
    pub inputs: Vec<R>,
    /// Steps whose inputs are all zero.
    pub quiet: Vec<bool>,
    /// Places of the members in the family.
    pub members: Vec<usize>,
    /// (n_time · p) × n_members; missing outputs are 0.
    pub values: Vec<R>,
    /// The same values, n_members × (n_time · p): contiguous for one sequence.
    pub by_member: Vec<R>,
    /// The distinct sets of observed outputs, each n_time · p.
    pub patterns: Vec<Vec<bool>>,
    /// Which pattern each member has.
    pub pattern_of: Vec<usize>,
    /// Σ_t y² per member and output, n_members × p.
    pub squares: Vec<R>,
    /// Observed steps per member and output, n_members × p.
    pub counts: Vec<R>,
    /// Outputs of the first steps that are told and not scored, by step: values, 0 where missing, then 1 where observed.
    pub seed: Vec<R>,
}

/// Which arrangement of a family it is: an engine that keeps one elsewhere knows it again by this.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stamp(Arc<()>);

impl PartialEq for Stamp {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A whole family arranged for scoring; not to be changed once it was scored.
#[derive(Clone, Debug)]
pub struct Batch<R> {
    /// One group per distinct inputs.
    pub groups: Vec<Group<R>>,
    /// Number of sequences.
    pub n_seq: usize,
    /// Observed values in all.
    pub n_observed: usize,
    pub(crate) stamp: Stamp,
}

impl<R: Real> Batch<R> {
    /// Arranges a family (in model units).
    #[must_use]
    pub fn new(family: &Family) -> Self {
        let all: Vec<usize> = (0..family.n_seq()).collect();
        let share = family.sequences().iter().all(|s| s.inputs().is_none());
        let groups = if share {
            vec![Group::new(family, all)]
        } else {
            all.into_iter().map(|i| Group::new(family, vec![i])).collect()
        };
        Self { groups, n_seq: family.n_seq(), n_observed: family.n_observed(), stamp: Stamp::default() }
    }

    /// The same with every sequence in a group of its own, the outputs of its first `steps` told and not scored.
    #[must_use]
    pub fn seeded(family: &Family, steps: usize) -> Self {
        let group = |i: usize| {
            let mut group = Group::new(family, vec![i]);
            group.set_apart(steps);
            group
        };
        let groups: Vec<Group<R>> = (0..family.n_seq()).map(group).collect();
        let counts = groups.iter().flat_map(|group| &group.counts);
        let n_observed = counts.map(|count| count.to_f64() as usize).sum();
        Self { groups, n_seq: family.n_seq(), n_observed, stamp: Stamp::default() }
    }
}

impl<R: Real> Group<R> {
    fn new(family: &Family, members: Vec<usize>) -> Self {
        let n_time = members.iter().map(|&i| family.sequence(i).n_time()).max().unwrap_or(0);
        let outputs: Vec<&Signal> = members.iter().map(|&i| family.sequence(i).outputs()).collect();
        let mut group = Self::of_outputs(&outputs, n_time, family.d_obs());
        group.set_inputs(members.first().and_then(|&i| family.inputs_of(i)), family.d_input());
        group.members = members;
        group
    }

    /// Some steps of one sequence of a family.
    pub(crate) fn of_window(family: &Family, i: usize, steps: std::ops::Range<usize>) -> Self {
        let outputs = family.sequence(i).outputs().slice(steps.clone());
        let mut group = Self::of_outputs(&[&outputs], steps.len(), family.d_obs());
        group.set_inputs(family.inputs_of(i).map(|u| u.slice(steps)).as_ref(), family.d_input());
        group
    }

    /// One sequence on its own.
    ///
    /// # Errors
    /// Outputs that are infinite (NaN is a missing one); inputs shorter than the outputs or of the wrong width.
    pub fn single(outputs: &Signal, inputs: Option<&Signal>, d_input: usize) -> Result<Self> {
        let n_time = outputs.n_time();
        if let Some(at) = outputs.values().iter().position(|y| y.is_infinite()) {
            let what = format!("outputs at step {}", at / outputs.width() + 1);
            return Err(Error::NotFinite {
                what,
                value: outputs.values()[at],
                hint: "; give NaN for a missing output",
            });
        }
        check_inputs(inputs, n_time, d_input)?;
        let mut group = Self::of_outputs(&[outputs], n_time, outputs.width());
        group.set_inputs(inputs, d_input);
        Ok(group)
    }

    fn of_outputs(outputs: &[&Signal], n_time: usize, d_obs: usize) -> Self {
        let n = outputs.len();
        let mut group = Self {
            n_time,
            d_obs,
            inputs: vec![],
            quiet: vec![true; n_time],
            members: (0..n).collect(),
            values: vec![R::default(); n_time * d_obs * n],
            by_member: vec![R::default(); n_time * d_obs * n],
            patterns: vec![],
            pattern_of: vec![],
            squares: vec![],
            counts: vec![],
            seed: vec![],
        };
        for (member, signal) in outputs.iter().enumerate() {
            group.add_member(member, signal, n);
        }
        group
    }

    fn add_member(&mut self, member: usize, signal: &Signal, n_members: usize) {
        let p = self.d_obs;
        let mut pattern = vec![false; self.n_time * p];
        let (mut squares, mut counts) = (vec![0.0; p], vec![0.0; p]);
        for (at, &y) in signal.values().iter().enumerate() {
            if y.is_finite() {
                let y = R::from_f64(y);
                pattern[at] = true;
                self.values[at * n_members + member] = y;
                self.by_member[member * self.n_time * p + at] = y;
                squares[at % p] += y.to_f64() * y.to_f64();
                counts[at % p] += 1.0;
            }
        }
        let known = self.patterns.iter().position(|known| *known == pattern);
        let index = known.unwrap_or_else(|| {
            self.patterns.push(pattern);
            self.patterns.len() - 1
        });
        self.pattern_of.push(index);
        self.squares.extend(squares.into_iter().map(R::from_f64));
        self.counts.extend(counts.into_iter().map(R::from_f64));
    }

    fn set_inputs(&mut self, inputs: Option<&Signal>, d_input: usize) {
        let Some(inputs) = inputs else {
            self.inputs = vec![R::default(); self.n_time * d_input];
            return;
        };
        let rows = || inputs.rows().take(self.n_time);
        self.quiet = rows().map(|row| row.iter().all(|&u| u == 0.0)).collect();
        self.inputs = rows().flatten().map(|&u| R::from_f64(u)).collect();
    }

    /// Tells the outputs of the first steps instead of scoring them; for a group of one sequence.
    pub(crate) fn set_apart(&mut self, steps: usize) {
        let (p, n) = (self.d_obs, steps.min(self.n_time));
        let Some(pattern) = self.patterns.first_mut() else { return };
        for t in 0..n {
            let row = t * p..(t + 1) * p;
            self.seed.extend(&self.by_member[row.clone()]);
            self.seed.extend(pattern[row.clone()].iter().map(|&seen| R::from_f64(f64::from(u8::from(seen)))));
            for at in row {
                if std::mem::take(&mut pattern[at]) {
                    let y = self.by_member[at].to_f64();
                    self.squares[at % p] = R::from_f64(self.squares[at % p].to_f64() - y * y);
                    self.counts[at % p] = R::from_f64(self.counts[at % p].to_f64() - 1.0);
                }
                (self.by_member[at], self.values[at]) = (R::default(), R::default());
            }
        }
    }

    /// Number of sequences.
    #[must_use]
    pub fn n_members(&self) -> usize {
        self.pattern_of.len()
    }
}

/// Inputs must cover `n_time` steps with `d_input` columns.
pub(crate) fn check_inputs(inputs: Option<&Signal>, n_time: usize, d_input: usize) -> Result<()> {
    let found = inputs.map_or(0, Signal::width);
    if found != d_input {
        return Err(Error::shape("inputs", format!("{d_input} columns"), format!("{found} columns")));
    }
    match inputs {
        Some(inputs) if inputs.n_time() < n_time => Err(Error::shape(
            "inputs",
            format!("at least {n_time} steps"),
            format!("{} steps", inputs.n_time()),
        )),
        _ => Ok(()),
    }
}
