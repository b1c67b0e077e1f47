//! Smallest sizes, gaps everywhere, shapes of forecasts, and errors that say what to do.

use proptest::prelude::*;

use super::*;
use crate::baseline::network::GruForecaster;
use crate::family::SegmentPlan;
use crate::{Error, Result};

fn column(id: &str, values: &[f64]) -> Sequence {
    Sequence::new(id, Signal::column(values.to_vec())).unwrap()
}

fn fit(family: &Family, settings: &GruSettings) -> Result<GruForecaster> {
    Ok(GruForecaster::fit(family, None, settings, 1, &mut onward)?.network)
}

#[test]
fn the_smallest_network_of_the_smallest_family() {
    let family = Family::new(vec![column("a", &[1.0, 3.0])]).unwrap();
    for training in [Loop::Open, Loop::Fed, Loop::Closed] {
        let settings = GruSettings {
            units: vec![1],
            warm_up: WarmUp { shortest: 1, longest: 1 },
            ..small(training, OutputForm::Residual)
        };
        let network = fit(&family, &settings).unwrap();
        let forecast = network.forecast(&Signal::column(vec![2.0]), None, 1).unwrap();
        assert_eq!((forecast.first_step(), forecast.n_time()), (1, 1));
        assert!(forecast.log_density(0, &[2.0]).unwrap().is_finite());
    }
}

#[test]
fn constant_and_missing_outputs_give_finite_forecasts() {
    let nan = f64::NAN;
    let rows = |y: f64| {
        Signal::from_rows((0..12).map(|t| vec![4.0, if t % 2 == 0 { nan } else { y }, nan]).collect())
    };
    let sequence = |i: usize| Sequence::new(format!("{i}"), rows(i as f64).unwrap()).unwrap();
    let family = Family::new((0..4).map(sequence).collect()).unwrap();
    for training in [Loop::Open, Loop::Fed, Loop::Closed] {
        let network = fit(&family, &small(training, OutputForm::Residual)).unwrap();
        let nothing = Signal::from_rows(vec![vec![nan; 3]; 3]).unwrap();
        let forecast = network.forecast(&nothing, None, 40).unwrap();
        assert!(forecast.variance().iter().all(|v| *v > 0.0));
    }
}

#[test]
fn no_more_of_the_past_is_read_than_was_learned_from() {
    let family = waves(6, 30, 3);
    let network = fit(&family, &small(Loop::Closed, OutputForm::Direct)).unwrap();
    let long = family.sequence(0).outputs().slice(0..25);
    let (all, part) =
        (network.forecast(&long, None, 3).unwrap(), network.forecast(&long.slice(13..25), None, 3).unwrap());
    assert_eq!((all.mean(), all.first_step(), part.first_step()), (part.mean(), 25, 12));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn shapes(
        (p, m) in (1usize..4, 0usize..3), units in prop::collection::vec(1usize..20, 1..3),
        (seen, n_time) in (1usize..9, 1usize..9), closed in any::<bool>(),
    ) {
        let sequence = |i: usize| {
            let outputs = Signal::new(10 + i, p, noise((10 + i) * p, i)).unwrap();
            let sequence = Sequence::new(format!("{i}"), outputs).unwrap();
            if m == 0 { sequence } else { sequence.with_inputs(Signal::new(17, m, noise(17 * m, i)).unwrap()).unwrap() }
        };
        let family = Family::new((0..3).map(sequence).collect()).unwrap();
        let training = if closed { Loop::Closed } else { Loop::Open };
        let settings = GruSettings { units, plan: steps(1, 1e-3), ..small(training, OutputForm::Residual) };
        let network = fit(&family, &settings).unwrap();
        let past = family.sequence(0).outputs().slice(0..seen);
        let forecast = network.forecast(&past, family.inputs_of(0), n_time).unwrap();
        prop_assert_eq!((forecast.first_step(), forecast.n_time(), forecast.d_obs()), (seen, n_time, p));
    }
}

#[test]
fn settings_out_of_range_are_named() {
    let good = || small(Loop::Open, OutputForm::Direct);
    let cases = [
        ("units", GruSettings { units: vec![], ..good() }),
        ("units", GruSettings { units: vec![4, 0], ..good() }),
        ("warm_up.shortest", GruSettings { warm_up: WarmUp { shortest: 0, longest: 3 }, ..good() }),
        ("warm_up.longest", GruSettings { warm_up: WarmUp { shortest: 4, longest: 3 }, ..good() }),
        ("segments.length", GruSettings { segments: Some(SegmentPlan { length: 1, overlap: 0 }), ..good() }),
        ("batch", GruSettings { batch: 0, ..good() }),
        ("l2", GruSettings { l2: f64::NAN, ..good() }),
        ("held_out", GruSettings { held_out: HeldOut::Ends(1.0), ..good() }),
        ("epsilon", GruSettings { plan: TrainingPlan { epsilon: 0.0, ..steps(1, 0.1) }, ..good() }),
    ];
    for (expected, settings) in cases {
        match settings.check() {
            Err(Error::Setting { name, .. }) => assert_eq!(name, expected),
            other => panic!("{expected}: {other:?}"),
        }
        assert!(fit(&waves(4, 10, 1), &settings).is_err());
    }
    for n_layers in [1, 2] {
        let text = serde_json::to_string(&GruSettings::published(Loop::Closed, n_layers).unwrap()).unwrap();
        assert_eq!(serde_json::from_str::<GruSettings>(&text).unwrap().units, vec![1024; n_layers]);
    }
    assert!(GruSettings::published(Loop::Open, 0).is_err());
    assert_eq!(serde_json::from_str::<GruSettings>("{}").unwrap(), GruSettings::default());
}

#[test]
fn seeds_that_leave_nothing_to_predict_are_refused() {
    let settings = GruSettings {
        warm_up: WarmUp { shortest: 10, longest: 10 },
        ..small(Loop::Open, OutputForm::Direct)
    };
    let error = fit(&waves(4, 10, 1), &settings).unwrap_err().to_string();
    assert!(error.contains("training segment") && error.contains("10 steps"), "{error}");
    let held = GruSettings { held_out: HeldOut::Ends(0.3), ..settings };
    let error = fit(&waves(4, 20, 1), &held).unwrap_err().to_string();
    assert!(error.contains("held-out segment"), "{error}");
}

#[test]
fn divergence_is_an_error_with_its_step() {
    let settings = GruSettings { plan: steps(5, 1e38), ..small(Loop::Open, OutputForm::Residual) };
    match fit(&waves(4, 10, 1), &settings) {
        Err(Error::Diverged { step, .. }) => assert!((1..=5).contains(&step)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn forecasts_refuse_what_does_not_fit() {
    let network = fit(&waves(4, 10, 1), &small(Loop::Open, OutputForm::Direct)).unwrap();
    let past = Signal::from_rows(vec![vec![1.0, 2.0]; 3]).unwrap();
    assert!(matches!(network.forecast(&past.slice(0..0), None, 2), Err(Error::Shape { .. })));
    assert!(matches!(network.forecast(&past, None, 0), Err(Error::Shape { .. })));
    assert!(matches!(network.forecast(&Signal::column(vec![1.0]), None, 2), Err(Error::Shape { .. })));
    assert!(matches!(network.forecast(&past, Some(&past), 2), Err(Error::Shape { .. })));
    let infinite = Signal::from_rows(vec![vec![1.0, f64::INFINITY]]).unwrap();
    assert!(matches!(network.forecast(&infinite, None, 2), Err(Error::NotFinite { .. })));
}
