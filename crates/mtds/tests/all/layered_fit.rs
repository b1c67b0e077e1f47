//! Fits of layered models with the settings of motions: they do what they say, resume to the same bits, and repeat on any number of threads.

use crate::common::{layered_fit, on_threads, styled};
use mtds::parts::{Activation, Beginning, RateRule};
use mtds::{Control, Fit, Model, Wishes};

fn with(change: impl FnOnce(&mut Wishes)) -> Fit {
    let mut fit = layered_fit();
    change(&mut fit.wishes);
    fit
}

fn run(fit: &Fit) -> Model {
    fit.run(&styled(6, 90), &mut |_| Control::Continue).unwrap().unwrap()
}

/// All that can be asked for at once, in few steps.
fn everything() -> Fit {
    with(|wishes| {
        wishes.refine_steps = Some(40);
        wishes.hard_steps = Some(10);
        wishes.kl_warmup = Some(10);
        wishes.hidden = Some(vec![20]);
        wishes.rank = Some(5);
        wishes.front_lag = Some(true);
        wishes.front_skip = Some(true);
        wishes.smooth = Some(40.0);
        wishes.start = Some(Beginning::Responses);
        wishes.schedule = Some(RateRule::Constant);
        wishes.start_inputs = Some(vec!["u2".into()]);
        wishes.front_l2 = Some(0.5);
        (wishes.shared_rate, wishes.shared_l2) = (Some(0.5), Some(0.1));
    })
}

#[test]
fn a_fit_with_every_setting_resumes_to_the_same_bits_on_any_number_of_threads() {
    let fit = everything();
    let want = on_threads(2, || run(&fit).to_files().unwrap());
    let family = styled(6, 90);
    let got = on_threads(1, || {
        let mut fitting = fit.begin(&family).unwrap();
        let stopped = fitting.run(&mut |heard| match heard.step {
            Some(step) if step.step == 23 => Control::Stop,
            _ => Control::Continue,
        });
        assert!(stopped.unwrap().is_none());
        let mut resumed = fit.resume(&family, &fitting.checkpoint().unwrap()).unwrap();
        resumed.run(&mut |_| Control::Continue).unwrap().unwrap().to_files().unwrap()
    });
    assert!(got == want);
}

#[test]
fn the_architecture_is_as_asked() {
    let model = run(&everything());
    let spec = model.system.spec();
    let layers: Vec<_> = spec.network.hidden.iter().map(|layer| (layer.width, layer.activation)).collect();
    assert_eq!(layers, [(20, Activation::Tanh), (5, Activation::Identity)]);
    assert!(spec.front.unwrap().lag);
    let again = Model::from_files(&model.to_files().unwrap()).unwrap();
    assert_eq!(model.system.spec(), again.system.spec());
}

/// Mean squared difference of neighbours' codes, in units of the spread of all.
fn roughness(model: &Model) -> f64 {
    let codes: Vec<_> = model.segments.iter().collect();
    let d_code = codes[0].code_mean.len();
    let each = |d: usize| {
        let mean = codes.iter().map(|code| code.code_mean[d]).sum::<f64>() / codes.len() as f64;
        let spread: f64 = codes.iter().map(|code| (code.code_mean[d] - mean).powi(2)).sum();
        let pairs = codes.windows(2).filter(|pair| pair[0].member == pair[1].member);
        pairs.map(|pair| (pair[0].code_mean[d] - pair[1].code_mean[d]).powi(2)).sum::<f64>()
            / spread.max(1e-9)
    };
    (0..d_code).map(each).sum::<f64>() / d_code as f64
}

#[test]
fn codes_of_one_sequence_vary_smoothly_where_that_is_asked() {
    let [free, smooth] =
        [0.0, 200.0].map(|steps| roughness(&run(&with(|wishes| wishes.smooth = Some(steps)))));
    assert!(smooth < 0.5 * free, "{smooth}, without {free}");
}

#[test]
fn settings_that_go_with_others_are_refused_without_them() {
    let refused = |change: fn(&mut Wishes)| {
        let error = with(change).begin(&styled(4, 60)).err().expect("it cannot be meant");
        error.to_string()
    };
    type Change = fn(&mut Wishes);
    let alone: [(&str, Change); 7] = [
        ("start_inputs", |wishes| wishes.start_inputs = Some(vec!["u1".into()])),
        ("shared_rate", |wishes| wishes.shared_rate = Some(0.0)),
        ("shared_l2", |wishes| wishes.shared_l2 = Some(-1.0)),
        ("smooth", |wishes| (wishes.smooth, wishes.learn) = (Some(30.0), Some(mtds::LearnRule::Iwae))),
        ("smooth", |wishes| wishes.smooth = Some(-1.0)),
        ("resampled", |wishes| wishes.resampled = Some(5)),
        ("rank", |wishes| wishes.rank = Some(100_000)),
    ];
    for (key, change) in alone {
        let said = refused(change);
        assert!(said.contains(key), "{said}");
    }
    // Choices that an earlier version wrote are all there but for what it did not know, and need no lengths of the code to choose from.
    let mut replayed = Wishes::from(with(|_| {}).begin(&styled(4, 60)).unwrap().choices().clone());
    replayed.selection = Some(0.25);
    (replayed.smooth, replayed.rank, replayed.resampled, replayed.front_lag) = (None, None, None, None);
    assert!(Fit { wishes: replayed, ..Fit::default() }.begin(&styled(4, 60)).is_ok());
    assert!(refused(|wishes| wishes.selection = Some(0.25)).contains("selection"));
    let without = Wishes { front_lag: Some(true), base: Some("rnn".into()), ..Wishes::default() };
    let error = Fit { wishes: without, ..Fit::default() }.begin(&styled(4, 60)).err().unwrap().to_string();
    assert!(error.contains("front_lag") && error.contains("`front`"), "{error}");
}
