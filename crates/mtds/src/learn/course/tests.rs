//! Courses: every start and refinement learns, and a course cut anywhere goes on to the same bits.

use super::checkpoint::MAGIC;
use super::*;
use crate::base::Lds;
use crate::family::{SegmentPlan, Sequence, Signal};
use crate::generator::{Activation, Skip};
use crate::learn::elbo::{HardEnding, HardPhase, UsageStatus};
use crate::learn::{Adapted, Control, NoiseRule, Progress, RunEnd, Schedule};
use crate::system::Architecture;

/// Decays of different speeds.
fn family(n_seq: usize) -> Family {
    let member = |i: usize| {
        let rate = 0.05 + 0.3 * (i as f64 + 0.5) / n_seq as f64;
        let value = |t: usize| (-rate * t as f64).exp() + 0.01 * ((7 * i + 13 * t) % 10) as f64;
        Sequence::new(format!("s{i}"), Signal::column((0..20).map(value).collect())).unwrap()
    };
    Family::new((0..n_seq).map(member).collect()).unwrap()
}

fn spec() -> Architecture {
    let spec = Architecture::new(Lds::new(2, 1, 0), 1).hidden(&[8], Activation::Tanh);
    spec.skip(Skip::Affine).adapt("initial_state")
}

fn course(start: StartRule) -> Course {
    let plan = |steps| TrainingPlan {
        steps,
        learning_rate: Schedule::constant(1e-2).unwrap(),
        ..TrainingPlan::default()
    };
    let start = match start {
        StartRule::Prior(start) => StartRule::Prior(Box::new(PriorStart { plan: plan(12), ..*start })),
        effects => effects,
    };
    let floor = Schedule::constant(-3.0).unwrap();
    let noise = NoiseRule::Matched { damping: 0.1, floor };
    let mut refine =
        Refine { objective: Adapted { particles: 16, noise, ..Adapted::default() }, plan: plan(15) };
    refine.objective.first_particles = 128;
    refine.objective.rounds = 2;
    refine.plan.stopping.every = 5;
    Course { scaling: ScalingRule::Outputs, start, refine: RefineRule::Adapted(Box::new(refine)) }
}

fn from_prior() -> Course {
    let objective = MonteCarlo { particles: Schedule::constant(64.0).unwrap(), ..MonteCarlo::default() };
    course(StartRule::Prior(Box::new(PriorStart { objective, plan: TrainingPlan::default() })))
}

fn from_effects() -> Course {
    course(StartRule::Effects(RandomEffects { restarts: 16, steps: 40, ..RandomEffects::default() }))
}

/// Beliefs after `start`: for each sequence, or from a network of these units.
fn by_beliefs(start: StartRule, network: Option<usize>) -> Course {
    let base = course(start);
    let RefineRule::Adapted(refine) = base.refine else { panic!("adapted") };
    let objective = Variational {
        noise: refine.objective.noise,
        hard: Some(HardPhase { steps: 6, std_dev: 0.01, ending: HardEnding::Rescaled }),
        ..Variational::default()
    };
    let stage = VariationalRefine { objective, plan: refine.plan, network };
    Course { refine: RefineRule::Variational(Box::new(stage)), ..base }
}

/// Beliefs that begin by responses, over segments that are moved, weights averaged.
#[test]
fn a_course_of_moved_segments_resumes_and_does_not_depend_on_threads() {
    let whole = family(6);
    let cut = SegmentPlan { length: 8, overlap: 4 }.cut(&whole).unwrap();
    let Course { refine: RefineRule::Variational(mut stage), .. } = by_beliefs(StartRule::None, None) else {
        panic!("beliefs")
    };
    (stage.objective.jitter, stage.objective.batch, stage.plan.averaging) = (3, Some(5), Some(0.9));
    let start = StartRule::Responses(ResponsesStart { std_dev: 0.01, inputs: vec![] });
    let course = Course { scaling: ScalingRule::Outputs, start, refine: RefineRule::Variational(stage) };
    let cut_from = Some(CutFrom { family: whole, origins: cut.origins });
    let data =
        CourseData { family: cut.family, cut_from, held_out: None, seed: 5, device: Device::default() };
    let run = |cuts: &[usize], threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run_cut_on(&data, &course, cuts))
    };
    let expected = run(&[], 1);
    assert_eq!(run(&[], 2), expected);
    for cuts in [&[1][..], &[6, 7], &[3, 11]] {
        assert_eq!(run(cuts, 2), expected, "cut at {cuts:?}");
    }
}

/// Parameters and records of a course that is cut, written and read after each of these numbers of calls.
fn run_cut(course: &Course, cuts: &[usize]) -> (Vec<f32>, Vec<StageRecord>) {
    let data = CourseData {
        family: family(4),
        cut_from: None,
        held_out: Some(family(3)),
        seed: 5,
        device: Device::default(),
    };
    run_cut_on(&data, course, cuts)
}

fn run_cut_on(data: &CourseData, course: &Course, cuts: &[usize]) -> (Vec<f32>, Vec<StageRecord>) {
    let mut learner = Learner::new(course.clone(), spec(), data.clone()).unwrap();
    let mut calls = 0;
    loop {
        let mut observe = |_: &Progress| {
            calls += 1;
            if cuts.contains(&calls) { Control::Stop } else { Control::Continue }
        };
        if learner.run(&mut observe).unwrap() != RunEnd::Interrupted {
            break;
        }
        if !cuts.is_empty() {
            let bytes = learner.checkpoint().to_bytes().unwrap();
            let read = CourseCheckpoint::from_bytes(&bytes).unwrap();
            assert_eq!(read.to_bytes().unwrap(), bytes);
            learner = Learner::resume(course.clone(), spec(), data.clone(), read).unwrap();
        }
    }
    let fitted = learner.fitted().unwrap().unwrap();
    (fitted.model.parameters().to_vec(), learner.records())
}

#[test]
fn a_course_that_is_cut_ends_with_the_same_bits() {
    for course in [from_prior(), from_effects()] {
        let whole = run_cut(&course, &[]);
        assert_eq!(whole.1.iter().map(|r| r.stage).collect::<Vec<_>>(), [Stage::Start, Stage::Refine]);
        for cuts in [&[1][..], &[4, 5], &[12, 13], &[3, 11, 14, 20]] {
            assert_eq!(run_cut(&course, cuts), whole, "cut at {cuts:?}");
        }
    }
    let starts = [StartRule::None, from_prior().start, from_effects().start];
    for (start, network) in starts.iter().flat_map(|start| [(start.clone(), None), (start.clone(), Some(3))])
    {
        let course = by_beliefs(start, network);
        let whole = run_cut(&course, &[]);
        assert_eq!(whole.1.last().unwrap().stage, Stage::Variational);
        for cuts in [&[1][..], &[6, 7], &[3, 11, 14, 20]] {
            assert_eq!(run_cut(&course, cuts), whole, "cut at {cuts:?}");
        }
    }
}

#[test]
fn beliefs_are_left_by_variational_courses_alone() {
    let (train, held_out) = (family(4), family(3));
    let data = CourseData {
        family: train.clone(),
        cut_from: None,
        held_out: Some(held_out),
        seed: 5,
        device: Device::default(),
    };
    for (course, network) in
        [(by_beliefs(StartRule::None, None), false), (by_beliefs(StartRule::None, Some(3)), true)]
    {
        let mut learner = Learner::new(course.clone(), spec(), data.clone()).unwrap();
        assert_eq!(learner.stage(), Stage::Variational);
        while learner.run(&mut |_| Control::Continue).unwrap() == RunEnd::Interrupted {}
        let found = learner.beliefs().unwrap().unwrap();
        assert_eq!(found.network.is_some(), network);
        assert_eq!(found.usage.divergence.len(), 1);
        assert!(found.usage.status == UsageStatus::Used || found.usage.active == 0, "{:?}", found.usage);
        let model = learner.fitted().unwrap().unwrap().model;
        if let Some(network) = found.network {
            network.belief(&model, train.sequence(0).outputs(), None).unwrap();
        }
    }
    let course = from_prior();
    let mut learner = Learner::new(course.clone(), spec(), data.clone()).unwrap();
    while learner.run(&mut |_| Control::Continue).unwrap() == RunEnd::Interrupted {}
    assert_eq!(learner.beliefs().unwrap(), None);
}

#[test]
fn refinement_gains_on_what_it_started_from() {
    for course in [from_prior(), from_effects()] {
        let (_, records) = run_cut(&course, &[]);
        let checks = records[1].history.validations();
        assert!(checks.last().unwrap().bound > checks[0].bound, "{checks:?}");
    }
}

#[test]
fn a_checkpoint_of_another_course_is_refused() {
    let data =
        CourseData { family: family(4), cut_from: None, held_out: None, seed: 5, device: Device::default() };
    let (prior, effects) = (from_prior(), from_effects());
    let checkpoint = Learner::new(effects, spec(), data.clone()).unwrap().checkpoint();
    let error = Learner::resume(prior, spec(), data, checkpoint).err().unwrap().to_string();
    assert!(error.contains("another way to learn"), "{error}");
}

#[test]
fn broken_bytes_are_refused() {
    let data =
        CourseData { family: family(4), cut_from: None, held_out: None, seed: 5, device: Device::default() };
    let course = from_prior();
    let bytes = Learner::new(course.clone(), spec(), data.clone()).unwrap().checkpoint().to_bytes().unwrap();
    for n in [0, 5, MAGIC.len() + 3, MAGIC.len() + 20, bytes.len() / 2, bytes.len() - 1] {
        let error = CourseCheckpoint::from_bytes(&bytes[..n]).unwrap_err();
        assert!(matches!(error, Error::Store { .. }), "{n}: {error}");
    }
    let mut long = bytes;
    long[MAGIC.len()..MAGIC.len() + 8].fill(0xff);
    assert!(CourseCheckpoint::from_bytes(&long).is_err());
}
