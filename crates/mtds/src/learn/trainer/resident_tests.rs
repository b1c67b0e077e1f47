//! Learning on an engine that fails: a card that is full, vanishes, or does not give its memory back.

use super::super::*;
use crate::engine::resident::{Beginning, Resident, StepDone, StepOrder, StepRule};
use crate::learn::objective::{ParameterGroup, StepReport};
use crate::learn::toy::NoisySquare;
use crate::random::stream;

/// What goes wrong, and at which step or visit home.
#[derive(Clone, Copy, PartialEq)]
enum Failure {
    Nothing,
    Step(u64),
    Home(u64),
}

/// An engine that moves every parameter by 0.01 a step.
struct Engine {
    state: AdamState,
    taken: u64,
    fails: Failure,
}

fn gone() -> Error {
    Error::Device { why: "the card was lost".into() }
}

impl Resident for Engine {
    fn step(&mut self, _: &StepOrder, _: &StepRule) -> Result<StepDone> {
        self.taken += 1;
        if self.fails == Failure::Step(self.taken) {
            return Err(gone());
        }
        self.state.parameters.iter_mut().for_each(|w| *w += 0.01);
        Ok(StepDone { total: 0.0, bound: 0.0, penalty: 0.0, norm: 0.0, is_finite: true })
    }

    fn bring_home(&self, state: &mut AdamState, _: Option<&mut Vec<f32>>) -> Result<()> {
        if self.fails == Failure::Home(self.taken) {
            return Err(gone());
        }
        state.clone_from(&self.state);
        Ok(())
    }

    fn go_on_from(&mut self, state: &AdamState, _: Option<&[f32]>) -> Result<()> {
        self.state.clone_from(state);
        Ok(())
    }

    fn gradient(&self) -> Result<Vec<f32>> {
        Ok(vec![])
    }
}

/// An objective whose steps the engine takes, unless there is none.
struct Engaged {
    toy: NoisySquare,
    fails: Option<Failure>,
}

impl Objective for Engaged {
    fn groups(&self) -> Vec<ParameterGroup> {
        self.toy.groups()
    }

    fn gradient(&mut self, w: &[f32], g: &mut [f32], step: u64, random: &mut Random) -> Result<StepReport> {
        self.toy.gradient(w, g, step, random)
    }

    fn validate(&mut self, w: &[f32]) -> Result<Option<f64>> {
        self.toy.validate(w)
    }

    fn state(&self) -> serde_json::Value {
        self.toy.state()
    }

    fn restore(&mut self, state: &serde_json::Value) -> Result<()> {
        self.toy.restore(state)
    }

    fn resident(&mut self, (_, state, _): Beginning<'_>) -> Result<Option<Box<dyn Resident>>> {
        let engine =
            |fails| -> Box<dyn Resident> { Box::new(Engine { state: state.clone(), taken: 0, fails }) };
        Ok(self.fails.map(engine))
    }

    fn order(&mut self, _: u64, _: &mut Random) -> Result<StepOrder> {
        Ok(StepOrder {
            places: vec![0],
            first_rows: vec![0],
            n_rows: vec![1],
            noise: vec![0.0],
            temperature: 1.0,
            divergence_weight: 1.0,
            is_hard: false,
            noise_floor: 0.0,
            n_observed: 1,
        })
    }

    fn touches_parameters(&self, _: u64) -> bool {
        false
    }

    fn is_watched(&self) -> bool {
        false
    }
}

fn trainer(fails: Failure) -> Trainer<Engaged> {
    let plan = TrainingPlan { steps: 40, ..TrainingPlan::default() };
    let objective = Engaged { toy: NoisySquare::new(), fails: Some(fails) };
    Trainer::new(objective, vec![0.0; 3], plan, stream(7, 0)).unwrap()
}

fn until(step: u64) -> impl FnMut(&Progress) -> Control {
    move |progress| if progress.step == step { Control::Stop } else { Control::Continue }
}

#[test]
fn an_engine_that_fails_leaves_the_checkpoint_of_its_last_visit_home() {
    for (fails, home) in
        [(Failure::Step(25), 20), (Failure::Step(3), 0), (Failure::Home(40), 20), (Failure::Home(20), 0)]
    {
        let mut trainer = trainer(fails);
        let found = trainer.run(&mut until(20)).and_then(|_| trainer.run(&mut until(40)));
        let said = found.unwrap_err().to_string();
        assert!(said.contains("the card was lost"), "{said}");
        let left = Checkpoint::from_bytes(&trainer.checkpoint().to_bytes().unwrap()).unwrap();
        assert_eq!(left.step, home);
        assert!(left.state.parameters.iter().all(|w| (w - 0.01 * home as f32).abs() < 1e-5));
        // The processor goes on from there.
        let mut resumed = Trainer::resume(Engaged { toy: NoisySquare::new(), fails: None }, left).unwrap();
        let mut steps = vec![];
        let outcome = resumed.run(&mut |progress| {
            steps.push(progress.step);
            Control::Continue
        });
        assert_eq!(
            (outcome.unwrap().status, steps[0], steps.len() as u64),
            (RunEnd::Finished, home + 1, 40 - home)
        );
    }
}

#[test]
fn an_engine_that_does_not_fail_goes_to_the_end() {
    let outcome = trainer(Failure::Nothing).run(&mut until(41)).unwrap();
    assert_eq!((outcome.status, outcome.step), (RunEnd::Finished, 40));
    assert!(outcome.parameters.iter().all(|w| (w - 0.4).abs() < 1e-4));
}
