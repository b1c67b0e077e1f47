//! Cells from end to end, at tiny sizes: the same bits however they are computed, and nothing known that should not be.

use std::collections::BTreeMap;

use super::cell::{CellId, Found};
use super::experiment::Experiment;
use super::fixtures::{STYLES, material};
use super::material::{Clip, Material};
use super::{Method, Part};
use crate::cells::{Cells, Surroundings};
use crate::{Scale, Trouble};
use mtds::{Sequence, Signal};

/// A few steps of small networks.
fn tiny(material: &Material) -> Experiment<'_> {
    let mut experiment = Experiment::new(material, Scale::Quick, 1, 0.05).expect("material");
    let (protocol, settings) = (&mut experiment.protocol, &mut experiment.settings);
    (protocol.seen, protocol.ahead, protocol.least) = (16, 12, 16);
    (protocol.told, protocol.starts, protocol.folds) = (vec![2, 12], 3, vec![1]);
    (protocol.shares, protocol.starts_of_style) = (vec![4], 2);
    (protocol.sources, protocol.codes) = (2, 3);
    (settings.units, settings.steps) = (8, 10);
    (settings.classifier.units, settings.classifier.hidden) = (8, 6);
    settings.classifier.plan.steps = 20;
    (settings.model.front, settings.model.bottleneck, settings.model.state) = (Some(8), Some(3), Some(4));
    (settings.model.code, settings.model.segment) = (Some(2), Some(16));
    (settings.model.refine_steps, settings.model.overlap) = (Some(10), Some(8));
    experiment
}

#[derive(Default)]
struct Memory(BTreeMap<String, Vec<u8>>, Vec<String>);

impl Surroundings for Memory {
    fn look_up(&self, cell: &str) -> Result<Option<Vec<u8>>, Trouble> {
        Ok(self.0.get(cell).cloned())
    }

    fn keep(&mut self, cell: &str, bytes: &[u8]) -> Result<(), Trouble> {
        self.0.insert(cell.to_owned(), bytes.to_vec());
        Ok(())
    }

    fn unusable(&mut self, cell: &str, why: &str) {
        self.1.push(format!("{cell} {why}"));
    }

    fn progress(&mut self, _: &str) {}
}

fn cells(names: &[&str]) -> Vec<CellId> {
    names.iter().map(|name| name.parse().expect("a name")).collect()
}

fn run(experiment: &Experiment<'_>, names: &[&str], threads: usize, memory: &mut Memory) {
    let outcome = experiment.run(&cells(names), threads, &|| 0.0, memory).expect("surroundings");
    assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
}

const ALL: [&str; 7] = [
    "e1-mtds-s04-r00",
    "e1-gru-styles-s04-r00",
    "e2-mtds-f01-r00",
    "e2-gru-closed-f01-r00",
    "e2-gru-inputs-f01-r00",
    "e2-simple-f01-r00",
    "e3-r00",
];

/// At once on two threads, one after the other on one, resumed: the same bytes.
#[test]
fn mocap_cells_have_the_same_bits_however_they_are_computed() {
    let material = material(3, 140);
    let experiment = tiny(&material);
    let (mut one, mut two) = (Memory::default(), Memory::default());
    run(&experiment, &ALL, 1, &mut one);
    run(&experiment, &ALL[3..5], 2, &mut two);
    run(&experiment, &ALL, 2, &mut two);
    run(&experiment, &ALL[..1], 4, &mut two);
    assert_eq!((one.0.len(), &one.1, &two.1), (ALL.len(), &vec![], &vec![]));
    for (name, bytes) in &one.0 {
        assert_eq!(Some(bytes), two.0.get(name), "{name}");
    }
    let outcome = experiment.run(&[], 1, &|| 0.0, &mut one).expect("kept");
    assert!(outcome.cells.len() == ALL.len() && outcome.missing.contains(&"map-r00".to_owned()));
    let methods = outcome.assembly.methods(super::Kind::Novel);
    for name in ["mtds", "mtds-code", "gru-closed", "gru-inputs-seed", "harmonics", "last-frame"] {
        assert!(methods.contains(&name), "{methods:?}");
    }
    let transfer = &outcome.assembly.transfers[0];
    assert_eq!((transfer.one.len(), transfer.styles.len()), (3, 3));
    assert!(transfer.one.iter().flatten().all(|p| p.is_some_and(|p| (0.0..=1.0).contains(&p))));
}

/// Whatever a style that is left out holds, what is learned from the others is the same: only its own errors change.
#[test]
fn a_poisoned_style_that_is_left_out_changes_nothing_that_learned() {
    let clean = material(2, 100);
    let style = STYLES[1];
    let poisoned = |factor: f64| {
        let clips = clean.clips().iter().map(|clip| {
            let bad = |from: &Sequence| {
                let values = from.outputs().values().iter().map(|value| factor * value + 100.0).collect();
                let outputs = Signal::new(from.n_time(), from.outputs().width(), values).expect("as wide");
                let bare = Sequence::new(from.id(), outputs).expect("rows");
                bare.with_inputs(from.inputs().expect("inputs").clone()).expect("as long")
            };
            match clip.style == style {
                true => Clip { plain: bad(&clip.plain), mirrored: bad(&clip.mirrored), ..clip.clone() },
                false => clip.clone(),
            }
        });
        let names = [(0..18).map(|c| format!("y{c}")).collect(), names_of_inputs()];
        Material::new("a test", clips.collect(), names).expect("three styles")
    };
    // What was learned and chosen, by the digest of all parameters; and the unit of errors.
    let chosen = |material: &Material, name: &str| {
        let cell = tiny(material).compute(&cells(&[name])[0]).expect("computed");
        let Found::Forecasts { chosen, methods, .. } = cell.found else { panic!("forecasts") };
        (chosen, methods)
    };
    for name in &ALL[2..6] {
        let (one, other) = (chosen(&clean, name), chosen(&poisoned(7.0), name));
        assert!(one.0.is_object(), "{name}: {}", one.0);
        assert_eq!(one.0, other.0, "{name}");
        assert_ne!(one.1, other.1, "{name} is scored by the style that was left out");
    }
    let units = |material: &Material| {
        let learned = material.whole(|clip| clip.style != style);
        super::material::Units::of(&material.family(&learned).expect("clips")).expect("observed").deviation
    };
    assert_eq!(units(&clean), units(&poisoned(7.0)));
    assert_ne!(clean.fingerprint().unwrap(), poisoned(7.0).fingerprint().unwrap());
}

fn names_of_inputs() -> Vec<String> {
    ["speed", "phase_cos", "phase_sin"].map(String::from).to_vec()
}

/// Nothing that learns is shown a label, and mirror images go where their clips go.
#[test]
fn what_is_learned_from_has_no_labels() {
    let material = material(3, 60);
    let family = material.family(&material.whole(|clip| clip.part == Part::Train)).expect("clips");
    assert!(family.labels().all(|label| label.is_none()));
    assert_eq!(family.n_seq(), 2 * 3 * 2);
    assert!(family.sequences().iter().all(|one| !one.id().contains("_2")), "the last clip is for the test");
    assert!(family.index_of("bold_0~mirrored").is_ok());
}

#[test]
fn cells_of_other_settings_are_computed_again_and_of_other_data_refused() {
    let material = material(2, 100);
    let mut experiment = tiny(&material);
    let mut memory = Memory::default();
    run(&experiment, &ALL[5..6], 1, &mut memory);
    let kept = memory.0.clone();
    experiment.settings.steps += 1;
    run(&experiment, &ALL[5..6], 1, &mut memory);
    assert!(memory.1.is_empty(), "settings of networks are not those of what learns next to nothing");
    experiment.protocol.seed = 2;
    let error = experiment.run(&cells(&ALL[5..6]), 1, &|| 0.0, &mut memory).expect_err("refused");
    assert!(error.to_string().contains("seed 1") && error.to_string().contains("seed 2"), "{error}");
    assert_eq!(memory.0, kept);
}

#[test]
fn the_cells_of_both_scales_are_all_there() {
    let material = material(2, 60);
    let quick = Experiment::new(&material, Scale::Quick, 1, 1.0).expect("material");
    let full = Experiment::new(&material, Scale::Full, 1, 1.0).expect("material");
    let names = |experiment: &Experiment<'_>| -> std::collections::BTreeSet<String> {
        experiment.cells().iter().map(ToString::to_string).collect()
    };
    let (few, all) = (names(&quick), names(&full));
    assert_eq!((few.len(), all.len()), (quick.cells().len(), full.cells().len()));
    for name in ["e1-mtds-s32-r02", "e2-gru2-closed-f02-r00", "e1-gru-styles-s01-r00", "e3-r02", "map-r00"] {
        assert!(all.contains(name), "{name}");
    }
    for name in ["map-r01", "e2-simple-f00-r01", "e2-gru2-closed-f02-r01"] {
        assert!(!all.contains(name), "{name}");
    }
    assert!(few.contains("e2-mtds-f01-r00") && few.iter().all(|name| name.ends_with("r00")));
    assert!(Experiment::new(&material, Scale::Quick, 1, 0.0).is_err());
    assert!(Method::ALL.iter().all(|method| full.methods.iter().any(|of| of.contains(method))));
}
