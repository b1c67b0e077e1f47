//! Recipes: chosen by what a family is, kept apart from what is asked for, the same when replayed, and the paper's as the paper has it.

use super::tests::{facts, resolve};
use super::*;
use crate::Error;
use crate::base::{Base, Rnn};
use crate::generator::Role;
use crate::learn::{Interpolation, RefineRule, Schedule, StartRule};

fn motions() -> Facts {
    Facts { cycle: true, d_input: 20, ..facts(40, 600, 64, Stimulus::Ongoing) }
}

fn asked(recipe: Recipe) -> Wishes {
    Wishes { recipe: Some(recipe), ..Wishes::default() }
}

#[test]
fn a_motion_is_known_by_its_phase_and_its_many_outputs() {
    let of = |wishes: &Wishes, facts: &Facts| resolve(wishes, facts).unwrap().0.recipe;
    assert_eq!(of(&Wishes::default(), &motions()), Recipe::Motion);
    assert_eq!(of(&Wishes::default(), &Facts { cycle: false, ..motions() }), Recipe::Usual);
    assert_eq!(of(&Wishes::default(), &Facts { d_obs: 3, ..motions() }), Recipe::Usual);
    for wishes in [
        Wishes { base: Some("gru".into()), ..Wishes::default() },
        Wishes { learn: Some(LearnRule::Mco), ..Wishes::default() },
        Wishes { compare: Some(true), ..Wishes::default() },
        asked(Recipe::Usual),
    ] {
        assert_eq!(of(&wishes, &motions()), Recipe::Usual, "{wishes:?}");
    }
}

#[test]
fn the_settings_of_a_motion_reach_learning_and_say_why() {
    let (choices, why) = resolve(&Wishes::default(), &motions()).unwrap();
    assert_eq!(
        (choices.base.as_str(), choices.code, choices.segment, choices.overlap),
        ("layered", 8, 64, 32)
    );
    assert_eq!(
        (choices.start, choices.learn, choices.compare),
        (Beginning::Responses, LearnRule::Elbo, false)
    );
    assert!(why.iter().all(|choice| !choice.asked && !choice.why.is_empty()));
    let base = Base::from(Rnn::new(choices.state, 64, choices.bottleneck));
    let course = choices.course(&base).unwrap();
    assert!(matches!(course.start, StartRule::Responses(start) if start.std_dev == choices.hard_std));
    let RefineRule::Variational(refine) = course.refine else { panic!("a bound") };
    assert_eq!((refine.objective.jitter, refine.objective.search), (16, None));
    assert_eq!(refine.objective.hard.map(|hard| hard.steps), Some(choices.refine_steps / 5));
    assert_eq!((refine.plan.averaging, refine.plan.clip_norm), (Some(0.999), Some(256.0)));
    assert_eq!(refine.objective.beliefs.rate, 5.0);
    let front = choices.front(20, 64).unwrap();
    assert_eq!((front.unscored, front.seed_steps()), (4, 4));
    let replayed = resolve(&Wishes::from(choices.clone()), &motions()).unwrap();
    assert_eq!(replayed, (choices, why));
}

#[test]
fn a_large_motion_is_a_motion_of_the_papers_size() {
    let (choices, _) = resolve(&asked(Recipe::MotionLarge), &motions()).unwrap();
    assert_eq!((choices.front, choices.bottleneck, choices.state), (1024, 24, 128));
    let (small, _) = resolve(&asked(Recipe::Motion), &motions()).unwrap();
    let same = (choices.code, choices.segment, choices.start, choices.temperature, choices.refine_steps);
    assert_eq!(same, (small.code, small.segment, small.start, small.temperature, small.refine_steps));
}

#[test]
fn what_is_asked_for_beside_a_recipe_is_kept() {
    let wishes = Wishes { segment: Some(40), refine_steps: Some(100), code: Some(3), ..Wishes::default() };
    let (choices, _) = resolve(&wishes, &motions()).unwrap();
    assert_eq!((choices.recipe, choices.code, choices.overlap, choices.jitter), (Recipe::Motion, 3, 20, 10));
    assert_eq!((choices.hard_steps, choices.kl_warmup), (20, 20));
    let whole = Wishes { segment: Some(0), ..Wishes::default() };
    let (choices, _) = resolve(&whole, &motions()).unwrap();
    assert_eq!((choices.overlap, choices.jitter), (0, 0));
}

/// "Mocap" and "Further Learning Details" of the paper, and its table "Hyper-parameters of mocap models", row MT-RNN: Adam, η 3e-5,
/// multi-task η 1e-3, regularization 1e-2.
#[test]
fn the_paper_is_as_the_paper_has_it() {
    let (choices, _) = resolve(&asked(Recipe::Paper), &motions()).unwrap();
    assert_eq!((choices.front, choices.bottleneck, choices.state), (1024, 24, 128));
    assert_eq!((choices.base.as_str(), choices.hidden.len(), choices.amortised), ("layered", 0, 0));
    assert_eq!((choices.segment, choices.minibatch, choices.refine_particles), (64, 16, 1));
    assert_eq!((choices.refine_steps, choices.hard_steps, choices.kl_warmup), (20_000, 2_000, 0));
    assert_eq!((choices.hard_std, choices.temperature, choices.jitter), (1e-3, 1.0, 0));
    let base = Base::from(Rnn::new(128, 64, 24));
    let RefineRule::Variational(refine) = choices.course(&base).unwrap().refine else { panic!("a bound") };
    let eta = Schedule::new(Interpolation::Step, vec![(0, 1e-3)]).unwrap();
    assert_eq!(refine.plan.learning_rate, eta);
    let rate = |name: &str| {
        let found = refine.objective.rates.iter().find(|(block, _)| block == name);
        1e-3 * found.map_or(1.0, |(_, rate)| *rate)
    };
    assert!((rate("front") - 3e-5).abs() < 1e-12);
    assert_eq!((refine.objective.beliefs.rate, refine.objective.generator.rate), (1.0, 1.0));
    // λ of a segment's loss: 34 members of 19 segments each (at a stride of 32 steps) are learned from.
    let segments = 34.0 * 18.0;
    assert!((choices.l2 / segments - 1e-2).abs() < 1e-9, "{}", choices.l2);
    assert_eq!(choices.front_l2, choices.l2);
    assert_eq!((refine.objective.draws, refine.objective.search), (1, None));
    let architecture = choices.architecture((64, 32, 600), None).unwrap();
    let role =
        |name: &str| architecture.roles.iter().find(|(block, _)| block == name).map(|(_, role)| role.clone());
    for block in ["recurrent", "input", "bias", "emission", "offset"] {
        assert_eq!(role(block), Some(Role::Adapted), "{block}");
    }
    assert_eq!(role("feedthrough"), Some(Role::Fixed(0.0)));
}

#[test]
fn what_a_setting_needs_is_named() {
    let elbo = || Wishes { learn: Some(LearnRule::Elbo), ..Wishes::default() };
    let draws = || Wishes { learn: Some(LearnRule::Mco), ..Wishes::default() };
    let bad = [
        ("jitter", Wishes { jitter: Some(3), ..elbo() }),
        ("jitter", Wishes { segment: Some(20), jitter: Some(3), ..draws() }),
        ("hard_std", Wishes { hard_std: Some(0.1), ..elbo() }),
        ("code_rate", Wishes { code_rate: Some(2.0), ..draws() }),
        ("averaging", Wishes { averaging: Some(1.0), ..elbo() }),
        ("clip", Wishes { clip: Some(0.0), ..elbo() }),
        ("start", Wishes { start: Some(Beginning::Responses), ..draws() }),
        ("start", Wishes { start: Some(Beginning::Responses), amortised: Some(4), ..elbo() }),
        ("unscored", Wishes { unscored: Some(2), ..elbo() }),
        ("unscored", Wishes { front: Some(8), unscored: Some(30), ..elbo() }),
        ("front_l2", Wishes { front_l2: Some(1.0), ..elbo() }),
        ("front_l2", Wishes { front: Some(8), front_l2: Some(-1.0), ..elbo() }),
    ];
    for (key, wishes) in bad {
        match resolve(&wishes, &facts(20, 30, 1, Stimulus::Ongoing)) {
            Err(Error::Setting { name, .. }) => assert_eq!(name, key, "{wishes:?}"),
            other => panic!("{key}: {other:?}"),
        }
    }
}

#[test]
fn rates_and_averages_are_as_asked() {
    let wishes = Wishes {
        schedule: Some(RateRule::Constant),
        averaging: Some(0.99),
        clip: Some(3.0),
        code_rate: Some(2.0),
        learning_rate: Some(0.01),
        ..Wishes { learn: Some(LearnRule::Elbo), ..Wishes::default() }
    };
    let (choices, _) = resolve(&wishes, &facts(40, 60, 1, Stimulus::Ongoing)).unwrap();
    let course = choices.course(&Base::from(Rnn::new(choices.state, 1, 1))).unwrap();
    let RefineRule::Variational(refine) = course.refine else { panic!("a bound") };
    let rates = [1, 5, choices.refine_steps].map(|step| refine.plan.learning_rate.value_at(step));
    assert_eq!(rates, [0.01; 3]);
    assert_eq!((refine.plan.averaging, refine.plan.clip_norm), (Some(0.99), Some(3.0)));
    assert_eq!(refine.objective.beliefs.rate, 2.0);
}
