//! Steps that an engine takes whole: the trainer says what each is made of, and brings the state home when somebody asks for it.
//!
//! What a person sees is the same as where the host takes steps: records, held-out bounds, checkpoints. Between two visits home, the
//! trainer's own state lags behind; should the engine fail there, the run stands where it last was at home.

use super::{Progress, StepReport, Trainer, diverged};
use crate::engine::resident::{Resident, StepRule};
use crate::learn::adam::AdamState;
use crate::learn::checkpoint::Checkpoint;
use crate::learn::objective::Objective;
use crate::{Error, Result};

/// Learning where an engine computes.
pub(super) struct Away {
    resident: Box<dyn Resident>,
    /// Whether the trainer's state is that of the engine.
    is_home: bool,
    /// The run as it last was at home.
    last_home: Box<Checkpoint>,
    /// Whether the engine failed: the run is then what it last was at home.
    pub(super) is_lost: bool,
}

impl<O: Objective> Trainer<O> {
    /// Hands learning to the engine, if it takes steps whole.
    pub(super) fn settle(mut self) -> Result<Self> {
        let average = self.average.as_ref().map(|[average, _]| &average[..]);
        let Some(resident) = self.objective.resident((&self.groups, &self.state, average))? else {
            return Ok(self);
        };
        let last_home = Box::new(self.checkpoint());
        self.away = Some(Away { resident, is_home: true, last_home, is_lost: false });
        Ok(self)
    }

    /// The run as it last was at home, where the engine was lost.
    pub(super) fn lost(&self) -> Option<&Checkpoint> {
        self.away.as_ref().filter(|away| away.is_lost).map(|away| &*away.last_home)
    }

    /// Brings the state home.
    pub(super) fn bring_home(&mut self) -> Result<()> {
        let Some(away) = &mut self.away else { return Ok(()) };
        if away.is_home || away.is_lost {
            return Ok(());
        }
        let average = self.average.as_mut().map(|[average, _]| average);
        if let Err(why) = away.resident.bring_home(&mut self.state, average) {
            away.is_lost = true;
            return Err(why);
        }
        away.is_home = true;
        let now = Box::new(self.checkpoint());
        if let Some(away) = &mut self.away {
            away.last_home = now;
        }
        Ok(())
    }

    /// One step of the engine's, and what the objective does after it.
    pub(super) fn advance_away(&mut self) -> Result<Progress> {
        let step = self.step + 1;
        let mut random = self.random.clone();
        let order = self.objective.order(step, &mut random)?;
        let adam = self.plan.adam_step(step);
        let products = [self.state.beta1_product * adam.beta1, self.state.beta2_product * adam.beta2];
        let kept = self.plan.averaging.map_or(0.0, |kept| kept.min(step as f64 / (step as f64 + 9.0)));
        let rule = StepRule { adam, products, kept, clip: self.plan.clip_norm };
        let away = self.away.as_mut().expect("the caller has looked");
        let found = match away.resident.step(&order, &rule) {
            Ok(found) => found,
            Err(why) => {
                away.is_lost = !away.is_home;
                return Err(why);
            }
        };
        if !found.is_finite {
            let gradient = away.resident.gradient()?;
            let group = self.broken_group(&gradient, f32::is_finite);
            let what = group.map_or("the loss or a parameter".to_owned(), |group| {
                format!("parameter group `{}`", group.name)
            });
            return Err(diverged(step, what));
        }
        away.is_home = false;
        [self.state.beta1_product, self.state.beta2_product] = products;
        (self.random, self.step) = (random, step);
        self.objective.count_step();
        if self.objective.touches_parameters(step) {
            self.touch(step, 1.0 - kept)?;
        }
        let validation = match self.objective.is_watched() && self.plan.stopping.is_due(step, self.plan.steps)
        {
            true => {
                self.bring_home()?;
                let learned = self.average.as_ref().map_or(&self.state.parameters, |[average, _]| average);
                match self.objective.validate(learned)? {
                    Some(bound) if !bound.is_finite() => {
                        return Err(diverged(step, "the held-out bound".into()));
                    }
                    bound => bound,
                }
            }
            false => None,
        };
        let n = order.places.len() as f64;
        let bound = found.bound / order.n_observed.max(1) as f64;
        let report = StepReport { loss: found.penalty - found.total / n, bound, ess: None };
        self.note(&report, validation);
        Ok(Progress {
            step,
            steps: self.plan.steps,
            loss: report.loss,
            bound,
            ess: None,
            validation,
            best_validation: self.stopping.best.as_ref().map(|best| best.bound),
            learning_rate: adam.learning_rate,
            gradient_norm: found.norm,
        })
    }

    /// Lets the objective change parameters after a step; `taken` is the share of them that the average took.
    fn touch(&mut self, step: u64, taken: f64) -> Result<()> {
        self.bring_home()?;
        let mut trial: AdamState = self.state.clone();
        self.objective.finish_step(&mut trial.parameters, step);
        let changed = self.objective.change_units(&mut trial.parameters, step)?;
        for &(place, factor) in &changed {
            trial.change_unit(place, factor);
        }
        self.require_finite(&trial.parameters, step, f32::is_finite)?;
        if let Some([average, _]) = &mut self.average {
            let pairs = trial.parameters.iter().zip(&self.state.parameters);
            match changed.is_empty() {
                true => {
                    average.iter_mut().zip(pairs).for_each(|(a, (new, old))| *a += taken as f32 * (new - old))
                }
                false => average.copy_from_slice(&trial.parameters),
            }
        }
        self.state = trial;
        let average = self.average.as_ref().map(|[average, _]| &average[..]);
        let away = self.away.as_mut().ok_or_else(|| Error::setting("device", "found no learning on it"))?;
        away.resident.go_on_from(&self.state, average)
    }
}

#[cfg(test)]
#[path = "resident_tests.rs"]
mod tests;
