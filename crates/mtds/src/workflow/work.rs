//! How much of a fit is done: its stages in one unit of work, so that what is left of all of them can be told from what one has taken.
//!
//! ```text
//! unit: the likelihood of one value of one sequence under one code, in multiplications        a gradient counts three
//! ```
//! Estimates, for people who wait: nothing is decided by them.

use super::FitStage;
use super::fitting::Task;
use super::parts::Parts;
use crate::family::Family;
use crate::learn::{Choices, LearnRule};

/// A gradient, in likelihoods.
const GRADIENT: f64 = 3.0;
/// Likelihoods of a code that is followed from nothing, and of one of which a belief is known.
const FOLLOWED: f64 = 20_000.0;
const KNOWN: f64 = 1_500.0;
/// Most teachers and held-out sequences of a choice of the prior, and how many priors are tried after the first.
const TEACHERS: usize = 500;
const ASKED: usize = 100;
const PRIORS: f64 = 3.0;
/// Sequences by which forecasts are calibrated and judged at most; part of a sequence that they are shown.
const FORECAST: usize = 50;
const SHOWN: f64 = 0.5;
/// Checks of held-out bounds, and likelihoods of each per draw: those of the first look, and of the rounds after it.
const CHECKS: f64 = 40.0;
const PER_DRAW: f64 = 52.0;
/// Likelihoods of a search for codes, and searches.
const SEARCHED: f64 = 256.0 * 10.0;

/// The stages of one system.
const OF_SYSTEM: [FitStage; 4] =
    [FitStage::Starting, FitStage::Learning, FitStage::Expecting, FitStage::Calibrating];

/// The work of every stage of a fit.
#[derive(Clone, Debug)]
pub(super) struct WorkPlan {
    /// Of each system, stage by stage.
    systems: Vec<[f64; 4]>,
    /// Of the comparison of systems, of the members, and of the judgement.
    after: [f64; 3],
}

impl WorkPlan {
    /// The plan of systems with these settings, each learned from a part of the family.
    pub(super) fn of(tasks: &[(Task, Choices)], parts: &[Parts], family: &Family) -> Self {
        let systems =
            tasks.iter().map(|(task, choices)| system(choices, &parts[task.fold], family)).collect();
        let first = tasks.first().map_or(0.0, |(_, choices)| per_likelihood(choices, family));
        let (n, held_out) = (family.n_seq(), parts[0].held_out.as_ref().map_or(0, Family::n_seq));
        let forecasts = (held_out.min(FORECAST) * tasks.len()) as f64 * first * FOLLOWED * SHOWN;
        let is_compared = tasks.first().is_some_and(|(_, choices)| choices.compare);
        let compared = if is_compared { forecasts } else { 0.0 };
        Self { systems, after: [compared, first * n as f64 * KNOWN, forecasts] }
    }

    fn all(&self) -> f64 {
        self.systems.iter().flatten().chain(&self.after).sum()
    }

    /// The share of all work that is done once `done` of `all` parts of this stage are, in a system or after all of them.
    pub(super) fn share(&self, system: Option<usize>, stage: FitStage, (done, all): (u64, u64)) -> f64 {
        let part = if all == 0 { 0.0 } else { (done as f64 / all as f64).min(1.0) };
        let place = OF_SYSTEM.iter().position(|known| *known == stage);
        let (before, own) = match (system, place) {
            (Some(i), Some(k)) if i < self.systems.len() => {
                let earlier: f64 = self.systems[..i].iter().flatten().sum();
                (earlier + self.systems[i][..k].iter().sum::<f64>(), self.systems[i][k])
            }
            _ => {
                let k = match stage {
                    FitStage::Comparing => 0,
                    FitStage::Judging => 2,
                    _ => 1,
                };
                let earlier: f64 = self.systems.iter().flatten().chain(&self.after[..k]).sum();
                (earlier, self.after[k])
            }
        };
        ((before + part * own) / self.all().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    }
}

/// The stages of one system.
fn system(choices: &Choices, parts: &Parts, family: &Family) -> [f64; 4] {
    let cost = per_likelihood(choices, family);
    let n_seq = |part: &Option<Family>| part.as_ref().map_or(0, Family::n_seq);
    let (pieces, held_out) = (parts.pieces.n_seq() as f64, n_seq(&parts.held_out) as f64);
    let (draws, steps) = (choices.refine_particles as f64, choices.refine_steps as f64);
    let is_drawn = choices.learn == LearnRule::Mco;
    let taken = if choices.minibatch > 0 { pieces.min(choices.minibatch as f64) } else { pieces };
    let check = if is_drawn { 8192.0 + 40.0 * draws } else { PER_DRAW * choices.held_out_draws() as f64 };
    let searched = if is_drawn || choices.amortised > 0 { 0.0 } else { SEARCHED };
    let learning = steps * taken * draws * GRADIENT + CHECKS * held_out * check + pieces * searched;
    // A rollout of a draw serves every sequence, unless inputs differ.
    let rollouts =
        if family.d_input() > 0 && family.sequences()[0].inputs().is_some() { pieces } else { 1.0 };
    let start = choices.start_steps as f64 * choices.particles as f64 * rollouts * GRADIENT;
    let asked = parts.held_out.as_ref().map_or(0, |family| family.n_seq().min(ASKED)) as f64;
    let teachers = parts.training.n_seq().min(TEACHERS) as f64;
    let expecting = match choices.prior {
        crate::learn::PriorRule::Normal => 0.0,
        _ => (teachers + asked * (1.0 + PRIORS)) * KNOWN,
    };
    let calibrating = if choices.calibrate { held_out.min(FORECAST as f64) * FOLLOWED * SHOWN } else { 0.0 };
    [start, learning, expecting, calibrating].map(|likelihoods| likelihoods * cost)
}

/// Multiplications of the likelihood of one sequence under one code.
fn per_likelihood(choices: &Choices, family: &Family) -> f64 {
    let n_time = if choices.segment > 0 { family.max_time().min(choices.segment) } else { family.max_time() };
    let per_step = choices.state * (choices.state + family.d_obs() + family.d_input());
    let filtered = if choices.base == "kalman" { choices.state } else { 1 };
    (n_time * per_step * filtered) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> WorkPlan {
        WorkPlan {
            systems: vec![[0.0, 60.0, 10.0, 0.0], [10.0, 60.0, 10.0, 10.0]],
            after: [20.0, 10.0, 10.0],
        }
    }

    #[test]
    fn shares_grow_from_nothing_to_all() {
        let plan = plan();
        let share = |system, stage, done| plan.share(system, stage, (done, 100));
        let course = [
            share(Some(0), FitStage::Learning, 0),
            share(Some(0), FitStage::Learning, 50),
            share(Some(0), FitStage::Expecting, 0),
            share(Some(1), FitStage::Starting, 0),
            share(Some(1), FitStage::Learning, 100),
            share(Some(1), FitStage::Calibrating, 100),
            share(None, FitStage::Comparing, 50),
            share(None, FitStage::Inferring, 0),
            share(None, FitStage::Judging, 0),
            share(None, FitStage::Judging, 100),
        ];
        let expected =
            [0.0, 30.0, 60.0, 70.0, 140.0, 160.0, 170.0, 180.0, 190.0, 200.0].map(|done| done / 200.0);
        for (found, expected) in course.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{course:?}");
        }
    }

    #[test]
    fn a_stage_of_unknown_length_has_only_begun() {
        assert_eq!(plan().share(Some(0), FitStage::Expecting, (0, 0)), 0.3);
    }
}
