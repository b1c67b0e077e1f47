//! Tests of variational learning, by behaviour.

mod bounds;
mod gradients;
mod learning;
mod windows;

use super::bound::{Drawn, Terms};
use super::draws::{Spacing, standard_normals};
use super::*;
use crate::base::Lds;
use crate::family::{Scaling, SegmentPlan};
use crate::generator::{Activation, Skip};
use crate::learn::toy::family;
use crate::learn::{Control, Objective, Outcome, Schedule, Trainer, TrainingPlan};
use crate::random::stream;
use crate::system::{Architecture, System};

/// A small linear system with two code dimensions and a hidden layer.
fn model() -> System {
    let spec = Architecture::new(Lds::new(3, 2, 1), 2)
        .hidden(&[5], Activation::Tanh)
        .skip(Skip::Affine)
        .share("feedthrough")
        .adapt("initial_state");
    System::initialise(spec, Scaling::identity(2, 1), &mut stream(3, 0)).unwrap()
}

fn constant(value: f64) -> Schedule {
    Schedule::constant(value).unwrap()
}

fn objective(own_inputs: bool, settings: Variational) -> VariationalObjective {
    VariationalObjective::new(model(), &family(own_inputs), None, settings).unwrap()
}

/// Beliefs away from their symmetric start, where every gradient has something to show.
fn spread_parameters(objective: &VariationalObjective) -> Vec<f32> {
    let mut parameters = objective.first_parameters(&mut stream(8, 0));
    let n_model = objective.model().n_parameters();
    for (at, w) in parameters[n_model..].iter_mut().enumerate() {
        *w += 0.4 * (at as f32 * 1.7).sin();
    }
    parameters
}

/// Loss and gradient at `step`, always with the same draws.
fn loss(objective: &mut VariationalObjective, parameters: &[f32], step: u64) -> (f64, Vec<f32>) {
    let mut gradient = vec![0.0; parameters.len()];
    let report = objective.gradient(parameters, &mut gradient, step, &mut stream(5, 0)).unwrap();
    (report.loss, gradient)
}

/// A central difference with the h² error taken out; rounding in f32 asks for a large step.
fn difference(mut loss: impl FnMut(&[f32]) -> f64, parameters: &[f32], i: usize) -> f64 {
    let mut at = |h: f32| {
        let (mut up, mut down) = (parameters.to_vec(), parameters.to_vec());
        up[i] += h;
        down[i] -= h;
        (loss(&up) - loss(&down)) / f64::from(up[i] - down[i])
    };
    (4.0 * at(2.5e-3) - at(5e-3)) / 3.0
}

fn plan(steps: u64, rate: f64) -> TrainingPlan {
    TrainingPlan { steps, learning_rate: constant(rate), ..TrainingPlan::default() }
}

fn go_on(_: &crate::learn::Progress) -> Control {
    Control::Continue
}

/// What a run of a trainer came to: the model, what is believed of its codes, how much of the code is used.
struct Learned {
    model: System,
    codes: Gaussians,
    usage: CodeUsage,
    outcome: Outcome,
}

fn learned(mut objective: VariationalObjective, outcome: Outcome) -> Learned {
    let codes = objective.codes_at(&outcome.parameters).unwrap();
    let model = objective.model_at(&outcome.parameters).unwrap();
    Learned { model, usage: CodeUsage::of(&codes), codes, outcome }
}
