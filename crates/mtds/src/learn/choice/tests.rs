//! Choices: sensible for families of any size, kept where asked for, the same when replayed.

use proptest::prelude::*;

use super::*;
use crate::base::{Base, Lds};
use crate::generator::Role;
use crate::learn::{RefineRule, StartRule};
use crate::{Error, System, random};

pub(super) fn facts(n_seq: usize, max_time: usize, d_obs: usize, drive: Stimulus) -> Facts {
    Facts {
        n_seq,
        max_time,
        median_time: max_time,
        d_obs,
        d_input: usize::from(drive != Stimulus::None),
        own_inputs: drive == Stimulus::Ongoing,
        drive,
        steady_inputs: false,
        zero_inputs: if drive == Stimulus::Impulse { 0.99 } else { 0.0 },
        missing: 0.0,
        cycle: false,
    }
}

pub(super) fn resolve(wishes: &Wishes, facts: &Facts) -> crate::Result<(Choices, Vec<Choice>)> {
    Choices::resolve(wishes, facts, None)
}

fn from_draws() -> Wishes {
    Wishes { learn: Some(LearnRule::Mco), ..Wishes::default() }
}

#[test]
fn a_layered_model_gets_a_front_and_what_goes_with_it() {
    let driven = facts(40, 60, 2, Stimulus::Ongoing);
    let wish = |wishes: Wishes| {
        resolve(&Wishes { base: Some(super::layered::LAYERED.to_owned()), ..wishes }, &driven)
    };
    let (choices, _) = wish(Wishes::default()).unwrap();
    assert_eq!((choices.front, choices.bottleneck, choices.learn), (64, 2, LearnRule::Elbo));
    assert!(choices.adapt.iter().any(|block| block == "feedthrough"), "{:?}", choices.adapt);
    let front = choices.front(1, 2).unwrap();
    assert_eq!((front.d_input, front.d_hidden, front.d_out()), (1, 64, 2));
    let skipping = Wishes { front_skip: Some(true), front_seed: Some(3), ..Wishes::default() };
    let front = wish(skipping).unwrap().0.front(1, 2).unwrap();
    assert_eq!((front.d_out(), front.seed_steps()), (3, 3));
    assert_eq!(resolve(&Wishes::default(), &driven).unwrap().0.front(1, 2), None);
}

#[test]
fn fronts_that_cannot_be_are_refused() {
    let of = |wishes: Wishes, drive| resolve(&wishes, &facts(40, 60, 1, drive)).unwrap_err().to_string();
    let some = |front: usize| Wishes { front: Some(front), ..Wishes::default() };
    assert!(of(some(16), Stimulus::None).contains("no inputs"));
    assert!(of(Wishes { bottleneck: Some(4), ..Wishes::default() }, Stimulus::Ongoing).contains("`front`"));
    assert!(of(Wishes { bottleneck: Some(0), ..some(16) }, Stimulus::Ongoing).contains("expected 1 or more"));
    assert!(of(Wishes { front_seed: Some(60), ..some(16) }, Stimulus::Ongoing).contains("at most 59"));
    assert!(of(Wishes { front_rate: Some(0.0), ..some(16) }, Stimulus::Ongoing).contains("front_rate"));
    let residual = Wishes { residual: Some(true), base: Some("lds".into()), ..Wishes::default() };
    assert!(of(residual, Stimulus::Ongoing).contains("only rnn"));
}

#[test]
fn what_only_a_front_has_is_refused_without_one() {
    let bad = [
        ("front_rate", Wishes { front_rate: Some(0.1), ..Wishes::default() }),
        ("front_seed", Wishes { front_seed: Some(3), ..Wishes::default() }),
        ("front_skip", Wishes { front_skip: Some(true), ..Wishes::default() }),
        ("bottleneck", Wishes { bottleneck: Some(2), ..Wishes::default() }),
    ];
    for (key, wishes) in bad {
        match resolve(&wishes, &facts(40, 60, 2, Stimulus::Ongoing)) {
            Err(Error::Setting { name, why }) => {
                assert!(name == key && why.contains("`front`, too"), "{why}")
            }
            other => panic!("{key}: {other:?}"),
        }
    }
}

#[test]
fn the_base_model_and_the_way_to_learn_follow_from_the_family() {
    let of = |wishes: Wishes, facts: &Facts| {
        let (choices, _) = resolve(&wishes, facts).unwrap();
        (choices.base, choices.learn, choices.start)
    };
    let is = |name: &str, learn, start| (name.to_owned(), learn, start);
    let (usual, wide) = (facts(40, 60, 2, Stimulus::Impulse), facts(40, 60, 70, Stimulus::Ongoing));
    let lds = || Wishes { base: Some("lds".into()), ..Wishes::default() };
    let begin = Wishes { start: Some(Beginning::Prior), ..Wishes::default() };
    assert_eq!(of(Wishes::default(), &usual), is("kalman", LearnRule::Iwae, Beginning::None));
    assert_eq!(of(lds(), &usual), is("lds", LearnRule::Mco, Beginning::Prior));
    assert_eq!(of(from_draws(), &usual), is("lds", LearnRule::Mco, Beginning::Prior));
    assert_eq!(of(begin, &usual), is("lds", LearnRule::Mco, Beginning::Prior));
    assert_eq!(of(Wishes::default(), &wide), is("lds", LearnRule::Iwae, Beginning::None));
    let residual = Wishes { residual: Some(true), ..Wishes::default() };
    assert_eq!(of(residual, &usual), is("rnn", LearnRule::Mco, Beginning::Prior));
}

#[test]
fn the_oscillators_get_what_was_tried_on_them() {
    let (choices, why) = resolve(&from_draws(), &facts(128, 80, 1, Stimulus::Impulse)).unwrap();
    assert_eq!((choices.code, choices.state, choices.start), (4, 4, Beginning::Prior));
    assert_eq!((choices.scaling, choices.segment, choices.l2), (ScalingRule::InputUnits, 0, 100.0));
    assert!((choices.start_noise - 0.52).abs() < 1e-9);
    assert!(!choices.adapt.iter().any(|block| block == "initial_state"), "{:?}", choices.adapt);
    assert!(why.iter().all(|choice| !choice.asked && !choice.why.is_empty()));
}

#[test]
fn few_sequences_start_from_effects_and_none_is_held_out() {
    let (choices, _) = resolve(&from_draws(), &facts(3, 40, 2, Stimulus::None)).unwrap();
    assert_eq!((choices.start, choices.validation, choices.code), (Beginning::Effects, 0.0, 2));
    assert!(choices.adapt.iter().any(|block| block == "initial_state"));
    assert!(choices.prior_std > 1.3 && choices.noise_spread > 0.2);
}

#[test]
fn weights_of_few_short_sequences_are_held_less() {
    let l2 = |wishes: &Wishes, n, t| resolve(wishes, &facts(n, t, 1, Stimulus::None)).unwrap().0.l2;
    let usual = Wishes::default();
    assert!(l2(&usual, 24, 11) < 0.25 * l2(&usual, 200, 11));
    assert!(l2(&usual, 40, 80) < l2(&usual, 80, 80) && l2(&usual, 200, 80) == l2(&usual, 400, 80));
    let effects = Wishes { start: Some(Beginning::Effects), ..Wishes::default() };
    assert_eq!(l2(&effects, 24, 40), l2(&effects, 200, 40));
}

#[test]
fn inputs_of_their_own_cost_rollouts() {
    let (choices, _) = resolve(&from_draws(), &facts(200, 100, 3, Stimulus::Ongoing)).unwrap();
    assert_eq!((choices.particles, choices.scaling), (256, ScalingRule::All));
    assert!(choices.adapt.iter().any(|block| block == "feedthrough"));
    assert!(choices.start_steps < 2000);
}

#[test]
fn what_is_asked_for_is_kept_and_said() {
    let wishes = Wishes { code: Some(2), start_steps: Some(7), ..Wishes::default() };
    let (choices, why) = resolve(&wishes, &facts(128, 80, 1, Stimulus::None)).unwrap();
    assert_eq!((choices.code, choices.start_steps), (2, 7));
    let asked: Vec<_> = why.iter().filter(|choice| choice.asked).map(|choice| choice.key.as_str()).collect();
    assert_eq!(asked, ["code", "start_steps"]);
    assert_eq!(wishes.differing(&choices), Vec::<&str>::new());
    assert_eq!(Wishes { code: Some(3), ..wishes }.differing(&choices), ["code"]);
}

#[test]
fn wishes_out_of_range_are_named() {
    let bad = [
        ("code", Wishes { code: Some(0), ..Wishes::default() }),
        ("refine_steps", Wishes { refine_steps: Some(0), ..Wishes::default() }),
        ("validation", Wishes { validation: Some(1.0), ..Wishes::default() }),
        ("learning_rate", Wishes { learning_rate: Some(f64::NAN), ..Wishes::default() }),
        (
            "share",
            Wishes {
                adapt: Some(vec!["decay".into()]),
                share: Some(vec!["decay".into()]),
                ..Wishes::default()
            },
        ),
        ("hidden", Wishes { hidden: Some(vec![1_000_000_000_000_000]), ..Wishes::default() }),
        ("hidden", Wishes { hidden: Some(vec![0]), ..Wishes::default() }),
        ("hidden", Wishes { hidden: Some(vec![1; 1000]), ..Wishes::default() }),
        (
            "fix",
            Wishes { share: Some(vec!["rest".into()]), fix: Some(vec!["rest".into()]), ..Wishes::default() },
        ),
    ];
    for (key, wishes) in bad {
        match resolve(&wishes, &facts(20, 30, 1, Stimulus::None)) {
            Err(Error::Setting { name, .. }) => assert_eq!(name, key),
            other => panic!("{key}: {other:?}"),
        }
    }
    let unknown = Wishes { adapt: Some(vec!["wings".into()]), ..Wishes::default() };
    let error = resolve(&unknown, &facts(20, 30, 1, Stimulus::None)).unwrap_err().to_string();
    assert!(error.contains("`wings`") && error.contains("decay"), "{error}");
}

#[test]
fn bounds_are_learned_without_a_start_and_replay() {
    for learn in [LearnRule::Elbo, LearnRule::Iwae] {
        let wishes = Wishes { learn: Some(learn), amortised: Some(8), window: Some(10), ..Wishes::default() };
        let (choices, why) = resolve(&wishes, &facts(40, 60, 1, Stimulus::Ongoing)).unwrap();
        assert_eq!((choices.start, choices.start_steps, choices.particles), (Beginning::None, 0, 0));
        let base = Base::from(Lds::new(choices.state, 1, 1));
        let course = choices.course(&base).unwrap();
        let RefineRule::Variational(refine) = &course.refine else { panic!("{course:?}") };
        assert_eq!((refine.network, refine.objective.window), (Some(8), Some(10)));
        assert_eq!(course.start, StartRule::None);
        let weight = &refine.objective.divergence_weight;
        let (first, full) = (choices.hard_steps + 1, choices.hard_steps + choices.kl_warmup + 1);
        assert_eq!((weight.value_at(first), weight.value_at(full)), (0.0, 1.0));
        assert!(full < choices.refine_steps && refine.objective.hard.is_some());
        let scaling = crate::family::Scaling::identity(1, 1);
        System::initialise(
            choices.architecture((1, 1, 80), None).unwrap(),
            scaling,
            &mut random::stream(1, 0),
        )
        .unwrap();
        let replayed = resolve(&Wishes::from(choices.clone()), &facts(40, 60, 1, Stimulus::Ongoing)).unwrap();
        assert_eq!(replayed, (choices, why));
    }
    let (hybrid, _) = resolve(
        &Wishes { learn: Some(LearnRule::Iwae), start: Some(Beginning::Prior), ..Wishes::default() },
        &facts(40, 60, 1, Stimulus::None),
    )
    .unwrap();
    assert!(hybrid.start_steps > 0 && hybrid.particles > 0);
}

#[test]
fn steps_of_large_networks_are_minibatches_and_others_if_asked() {
    let wishes = |front: usize, minibatch| Wishes {
        base: Some(super::layered::LAYERED.into()),
        learn: Some(LearnRule::Elbo),
        front: Some(front),
        minibatch,
        ..Wishes::default()
    };
    let batch_of = |wishes: &Wishes| {
        let (choices, _) = resolve(wishes, &facts(40, 60, 1, Stimulus::Ongoing)).unwrap();
        let course = choices.course(&Base::from(Lds::new(choices.state, 1, 1))).unwrap();
        let RefineRule::Variational(refine) = course.refine else { panic!("a bound") };
        (refine.objective.batch, refine.objective.draws)
    };
    assert_eq!(batch_of(&wishes(1024, None)), (Some(16), 1));
    assert_eq!(batch_of(&wishes(1024, Some(0))), (None, 16));
    assert_eq!(batch_of(&wishes(32, None)), (None, 16));
    assert_eq!(batch_of(&wishes(32, Some(5))), (Some(5), 1));
}

/// The work of learning is bounded, however many members there are; few are learned from all together.
#[test]
fn large_families_are_learned_in_minibatches() {
    let of = |n_seq: usize| resolve(&Wishes::default(), &facts(n_seq, 50, 1, Stimulus::Impulse)).unwrap().0;
    let gradients = |choices: &Choices, n_seq: usize| {
        let taken = if choices.minibatch > 0 { choices.minibatch } else { n_seq };
        choices.refine_steps * (taken * choices.refine_particles) as u64
    };
    assert_eq!((of(100).minibatch, of(400).minibatch), (0, 0));
    let mut last = gradients(&of(400), 400);
    for (n_seq, taken) in [(1000, 256), (2000, 256), (5000, 384), (10_000, 384), (100_000, 384)] {
        let choices = of(n_seq);
        assert_eq!(
            (choices.minibatch, choices.refine_particles, choices.learn),
            (taken, 16, LearnRule::Iwae)
        );
        let now = gradients(&choices, n_seq);
        // Of 900 members all together a gradient of this size was taken 1 820 times.
        assert!(now <= 12_000 * 384 * 16 && 3 * now >= last, "{n_seq}: {now}");
        last = now;
    }
}

#[test]
fn what_a_way_to_learn_does_not_have_is_refused() {
    let elbo = Some(LearnRule::Elbo);
    let bad = [
        ("hard_steps", Wishes { hard_steps: Some(5), ..from_draws() }),
        ("kl_warmup", Wishes { kl_warmup: Some(5), ..from_draws() }),
        ("temperature", Wishes { temperature: Some(0.5), ..from_draws() }),
        ("amortised", Wishes { amortised: Some(5), ..from_draws() }),
        ("window", Wishes { window: Some(5), ..from_draws() }),
        ("minibatch", Wishes { minibatch: Some(5), ..from_draws() }),
        ("start_steps", Wishes { learn: elbo, start_steps: Some(5), ..Wishes::default() }),
        ("particles", Wishes { learn: elbo, particles: Some(5), ..Wishes::default() }),
        ("hard_steps", Wishes { learn: elbo, hard_steps: Some(1 << 40), ..Wishes::default() }),
        ("temperature", Wishes { learn: elbo, temperature: Some(f64::NAN), ..Wishes::default() }),
    ];
    for (key, wishes) in bad {
        match resolve(&wishes, &facts(20, 30, 1, Stimulus::None)) {
            Err(Error::Setting { name, .. }) => assert_eq!(name, key),
            other => panic!("{key}: {other:?}"),
        }
    }
}

#[test]
fn new_members_are_decided_about_where_enough_sequences_are_held_out() {
    let decided = |wishes: &Wishes, n_seq: usize| {
        let (choices, _) = resolve(wishes, &facts(n_seq, 30, 1, Stimulus::None)).unwrap();
        (choices.prior, choices.calibrate)
    };
    let unshared = Wishes { fix: Some(vec!["process_noise".to_owned()]), ..Wishes::default() };
    assert_eq!(decided(&Wishes::default(), 64), (PriorRule::Auto, true));
    assert_eq!(decided(&Wishes::default(), 20), (PriorRule::Normal, false)); // four are held out
    assert_eq!(decided(&Wishes { validation: Some(0.25), ..Wishes::default() }, 20), (PriorRule::Auto, true));
    assert_eq!(decided(&from_draws(), 64), (PriorRule::Auto, false)); // no process noise
    assert_eq!(decided(&unshared, 64), (PriorRule::Auto, false));
    let asked = |wishes: Wishes| Wishes { calibrate: Some(true), ..wishes };
    for (wishes, n_seq) in [(Wishes::default(), 20), (from_draws(), 64), (unshared, 64)] {
        match resolve(&asked(wishes), &facts(n_seq, 30, 1, Stimulus::None)) {
            Err(Error::Setting { name, .. }) => assert_eq!(name, "calibrate"),
            other => panic!("{other:?}"),
        }
    }
}

fn names(names: &[&str]) -> Option<Vec<String>> {
    Some(names.iter().map(|name| (*name).to_owned()).collect())
}

#[test]
fn named_blocks_move_and_the_rest_stays_as_by_default() {
    let facts = facts(40, 60, 1, Stimulus::Impulse);
    let of = |wishes: &Wishes| {
        let (choices, why) = resolve(wishes, &facts).unwrap();
        let replayed = resolve(&Wishes::from(choices.clone()), &facts).unwrap();
        assert_eq!(replayed.0, choices);
        assert_eq!(wishes.differing(&choices), Vec::<&str>::new());
        let asked: Vec<String> =
            why.into_iter().filter(|choice| choice.asked).map(|choice| choice.key).collect();
        (choices, asked)
    };
    let (usual, _) = of(&Wishes::default());
    assert!(usual.fix.contains(&"initial_state".to_owned()), "{usual:?}");
    let (started, asked) = of(&Wishes { adapt: names(&["initial_state"]), ..Wishes::default() });
    assert_eq!(asked, ["adapt", "fix"]);
    assert_eq!(started.share, usual.share);
    assert!(usual.adapt.iter().all(|block| started.adapt.contains(block)), "{started:?}");
    assert!(
        started.adapt.contains(&"initial_state".to_owned()) && started.adapt.len() == usual.adapt.len() + 1
    );
    let (slower, _) = of(&Wishes { share: names(&["decay"]), ..Wishes::default() });
    assert!(slower.share.contains(&"decay".to_owned()) && slower.share.contains(&"process_noise".to_owned()));
    assert!(!slower.adapt.contains(&"decay".to_owned()) && slower.adapt.len() + 1 == usual.adapt.len());
}

#[test]
fn rest_says_what_becomes_of_all_other_blocks() {
    let facts = facts(40, 60, 1, Stimulus::None);
    let only = Wishes { adapt: names(&["offset"]), share: names(&["rest"]), ..Wishes::default() };
    let (choices, _) = resolve(&only, &facts).unwrap();
    assert_eq!((choices.adapt.len(), choices.fix.len()), (1, 0), "{choices:?}");
    assert_eq!(resolve(&Wishes::from(choices.clone()), &facts).unwrap().0, choices);
    assert_eq!(only.differing(&choices), Vec::<&str>::new());
    assert_eq!(only.differing(&resolve(&Wishes::default(), &facts).unwrap().0), ["share"]);
    // A held block keeps the value at which learning would begin.
    let held = Wishes { fix: names(&["decay"]), ..Wishes::default() };
    let (choices, _) = resolve(&held, &facts).unwrap();
    let layout = choices.architecture((1, 0, 80), None).unwrap().layout().unwrap();
    assert_eq!(layout.block("decay").unwrap().role, Role::Fixed(1.6));
}

#[test]
fn typed_blocks_come_before_those_of_a_file() {
    let facts = facts(40, 60, 1, Stimulus::Impulse);
    let (stored, _) = resolve(&Wishes::default(), &facts).unwrap();
    let typed = Wishes { adapt: names(&["initial_state"]), compare: Some(false), ..Wishes::default() };
    let (choices, _) = resolve(&typed.clone().or(stored.clone().into()), &facts).unwrap();
    assert_eq!(choices, resolve(&typed, &facts).unwrap().0);
}

#[test]
fn segments_overlap_as_the_page_says() {
    let long = facts(4, 700, 1, Stimulus::None);
    let counting = |id: &str| {
        let values = (0..700).map(f64::from).collect();
        crate::family::Sequence::new(id, crate::family::Signal::column(values)).unwrap()
    };
    let family = crate::family::Family::new(vec![counting("a"), counting("b")]).unwrap();
    let shared = |wishes: &Wishes| {
        let (choices, _) = resolve(wishes, &long).unwrap();
        let pieces = choices.segments().unwrap().cut(&family).unwrap().family;
        let (first, second) = (pieces.sequence(0).outputs(), pieces.sequence(1).outputs());
        first.values().iter().filter(|y| second.values().contains(y)).count()
    };
    assert_eq!(shared(&Wishes::default()), 32);
    assert_eq!(shared(&Wishes { segment: Some(100), overlap: Some(40), ..Wishes::default() }), 40);
    assert_eq!(shared(&Wishes { overlap: Some(0), ..Wishes::default() }), 0);
    for (segment, overlap) in [(None, 256), (Some(0), 1), (Some(10), 10)] {
        let wishes = Wishes { segment, overlap: Some(overlap), ..Wishes::default() };
        match resolve(&wishes, &long) {
            Err(Error::Setting { name, why }) => {
                assert!(name == "overlap" && why.contains("`segment`"), "{why}")
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn unknown_keys_are_refused() {
    let error = serde_json::from_str::<Wishes>(r#"{"codes": 3}"#).unwrap_err().to_string();
    assert!(error.contains("codes"), "{error}");
}

proptest! {
    /// Whatever the family, choices make a model and a course, and replayed they are the same.
    #[test]
    fn choices_are_usable_and_replay(
        (n_seq, max_time, d_obs) in (1_usize..3000, 1_usize..3000, 1_usize..9),
        drive in prop_oneof![Just(Stimulus::None), Just(Stimulus::Impulse), Just(Stimulus::Ongoing)],
    ) {
        let facts = facts(n_seq, max_time, d_obs, drive);
        let (choices, why) = resolve(&Wishes::default(), &facts).unwrap();
        let architecture = choices.architecture((d_obs, facts.d_input, facts.max_time), None).unwrap();
        let course = choices.course(&architecture.base).unwrap();
        let RefineRule::Variational(refine) = &course.refine else { panic!("iwae by default") };
        refine.plan.check().unwrap();
        let scaling = crate::family::Scaling::identity(d_obs, facts.d_input);
        System::initialise(architecture, scaling, &mut random::stream(1, 0)).unwrap();
        let text = serde_json::to_string(&choices).unwrap();
        let wishes: Wishes = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&wishes, &Wishes::from(choices.clone()));
        let (replayed, again) = resolve(&wishes, &facts).unwrap();
        prop_assert_eq!(&replayed, &choices);
        prop_assert_eq!(&again, &why);
        prop_assert_eq!(why.len(), serde_json::to_value(&choices).unwrap().as_object().unwrap().len());
    }
}

#[test]
fn structures_are_compared_unless_one_is_asked_for_or_data_are_too_few() {
    let compared = |wishes: &Wishes, facts: &Facts| resolve(wishes, facts).unwrap().0.compare;
    let some = facts(40, 20, 1, Stimulus::None);
    assert!(compared(&Wishes::default(), &some));
    assert!(compared(&Wishes { effort: Some(0.1), ..Wishes::default() }, &some));
    assert!(!compared(&Wishes { code: Some(2), ..Wishes::default() }, &some));
    assert!(!compared(&Wishes::default(), &facts(3, 20, 1, Stimulus::None)));
    let large = facts(500, 80, 1, Stimulus::None);
    assert!(compared(&Wishes::default(), &large));
    let folds = |n_seq: usize| Structure::folds(3.0, &facts(n_seq, 20, 1, Stimulus::None));
    assert_eq!((folds(4), folds(6), folds(40), Structure::folds(3.0, &large)), (4, 5, 3, 1));
    let names = |facts: &Facts| -> Vec<&str> {
        Structure::all(&Wishes::default(), facts).iter().map(|structure| structure.name).collect()
    };
    assert_eq!(names(&some), ["plain", "clock", "curves"]);
    assert_eq!(names(&facts(40, 20, 1, Stimulus::Impulse)), ["plain", "draws"]);
    assert_eq!(names(&facts(40, 20, 1, Stimulus::Ongoing)), ["plain"]);
    let dieting = Facts { steady_inputs: true, ..facts(40, 20, 1, Stimulus::Ongoing) };
    assert_eq!(names(&dieting), ["plain", "clock", "curves"], "who somebody is does not tell how old");
    assert_eq!(names(&large), ["plain"], "several would take too long");
    assert_eq!(names(&facts(10, 600, 1, Stimulus::None)), ["plain"], "segments begin at any time");
    assert_eq!(names(&facts(10, 20, 20, Stimulus::None)), ["plain"]);
    let generous = Wishes { budget: Some(30.0), ..Wishes::default() };
    assert_eq!((Structure::all(&generous, &large).len(), Structure::folds(30.0, &large)), (3, 3));
    for structure in Structure::all(&Wishes::default(), &some) {
        let (choices, _) = resolve(&structure.wishes, &some).unwrap();
        assert!(choices.compare && choices.validation == 0.2, "{}", structure.name);
        assert_eq!(choices.clock > 0, structure.name != "plain");
        assert_eq!(choices.hidden.is_empty(), structure.name == "curves");
    }
}

#[test]
fn a_budget_is_work_and_changes_what_is_learned() {
    let facts = facts(100, 50, 1, Stimulus::None);
    let steps = |budget: Option<f64>| {
        let (choices, why) = resolve(&Wishes { budget, ..Wishes::default() }, &facts).unwrap();
        let n_systems = Structure::systems(choices.budget, &facts);
        (n_systems, choices.refine_steps, why.iter().any(|choice| choice.key == "budget"))
    };
    assert_eq!(steps(None), steps(Some(3.0)));
    let (usual, little, much) = (steps(None), steps(Some(0.3)), steps(Some(30.0)));
    assert_eq!((usual.0, little.0, much.0), (9, 1, 9));
    assert!(much.1 > usual.1, "{much:?} {usual:?}");
    assert!(resolve(&Wishes { budget: Some(0.0), ..Wishes::default() }, &facts).is_err());
}
