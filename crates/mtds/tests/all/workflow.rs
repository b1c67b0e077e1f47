//! A fit as a library: stopped anywhere and resumed from bytes, on any number of threads, it makes the same model.

use mtds::{Control, Error, Family, Fit, FitStage, Fitting, LearnRule, Model, Sequence, Signal, Wishes};

/// Decays of different speeds, some of them with a bump.
fn family() -> Family {
    let value = |i: usize, t: usize| {
        let rate = 0.03 * (1.0 + i as f64);
        (-rate * t as f64).exp() + 0.05 * ((7 * i + 13 * t) % 10) as f64
    };
    let member = |i: usize| {
        let values = (0..16).map(|t| value(i, t)).collect();
        Sequence::new(format!("decay {i}"), Signal::column(values)).unwrap()
    };
    Family::new((0..25).map(member).collect()).unwrap()
}

fn fit() -> Fit {
    let wishes = Wishes {
        code: Some(1),
        state: Some(2),
        hidden: Some(vec![4]),
        refine_steps: Some(20),
        validation: Some(0.3),
        ..Wishes::default()
    };
    Fit { wishes, seed: 5, ..Fit::default() }
}

fn whole() -> Model {
    fit().run(&family(), &mut |_| Control::Continue).unwrap().unwrap()
}

#[test]
fn cut_in_every_stage_and_resumed_the_bits_are_the_same() {
    let (family, wanted) = (family(), whole().to_files().unwrap());
    let mut checkpoint: Option<Vec<u8>> = None;
    let mut cut = vec![];
    let model = loop {
        let mut fitting: Fitting = match &checkpoint {
            None => fit().begin(&family).unwrap(),
            Some(bytes) => fit().resume(&family, bytes).unwrap(),
        };
        // Every stage is cut once, learning in its middle.
        let found = fitting.run(&mut |heard| {
            let is_new = !cut.contains(&heard.stage);
            let is_place = heard.stage != FitStage::Learning || heard.done == 10;
            if is_new && is_place {
                cut.push(heard.stage);
                return Control::Stop;
            }
            Control::Continue
        });
        match found.unwrap() {
            Some(model) => break model,
            None => checkpoint = Some(fitting.checkpoint().unwrap()),
        }
    };
    assert_eq!(
        cut,
        [
            FitStage::Learning,
            FitStage::Expecting,
            FitStage::Calibrating,
            FitStage::Inferring,
            FitStage::Judging
        ]
    );
    assert!(model.to_files().unwrap() == wanted);
}

/// A fit that goes as far as forecasts do forecasts as the whole one; the rest can be found out afterwards.
#[test]
fn a_fit_that_ends_with_forecasts_can_go_on_to_the_whole() {
    let (family, whole) = (family(), whole());
    let mut fitting = fit().begin(&family).unwrap();
    let mut stages = vec![];
    let model = fitting.run_to_forecasts(&mut |heard| {
        stages.push(heard.stage);
        Control::Continue
    });
    let model = model.unwrap().unwrap();
    assert!(!stages.contains(&FitStage::Inferring) && !stages.contains(&FitStage::Judging));
    assert!(model.members.is_empty() && model.scores.is_empty() && !whole.members.is_empty());
    let seen = Sequence::new("seen", Signal::column(vec![1.0, 0.8, 0.7, 0.5])).unwrap();
    let mean = |model: &Model| model.forecast(&seen, 5).unwrap().mean();
    assert_eq!(mean(&model), mean(&whole));
    let rest = fitting.run(&mut |_| Control::Continue).unwrap().unwrap();
    assert!(rest.to_files().unwrap() == whole.to_files().unwrap());
}

/// Whoever stops a fit has a model from the first steps of learning on, and may still go on to the same bits.
#[test]
fn a_fit_that_was_stopped_has_a_model() {
    let (family, whole) = (family(), whole());
    let mut fitting = fit().begin(&family).unwrap();
    assert!(fitting.so_far().unwrap().is_none(), "nothing was learned");
    let seen = Sequence::new("seen", Signal::column(vec![1.0, 0.8, 0.7, 0.5])).unwrap();
    let mean = |model: &Model| model.forecast(&seen, 5).unwrap().mean();
    let (mut found, mut cut) = (vec![], vec![]);
    let model = loop {
        let ended = fitting.run(&mut |heard| {
            let is_place = heard.stage != FitStage::Learning || heard.done == 10;
            if is_place && !cut.contains(&heard.stage) {
                cut.push(heard.stage);
                return Control::Stop;
            }
            Control::Continue
        });
        match ended.unwrap() {
            Some(model) => break model,
            None => found.push(fitting.so_far().unwrap().unwrap()),
        }
        // From a checkpoint there is the same.
        let resumed = fit().resume(&family, &fitting.checkpoint().unwrap()).unwrap();
        let again = resumed.so_far().unwrap().unwrap();
        assert!(again.to_files().unwrap() == found[found.len() - 1].to_files().unwrap());
    };
    assert!(model.to_files().unwrap() == whole.to_files().unwrap());
    let half = &found[0];
    assert_eq!(half.fit.as_ref().unwrap().stages.last().unwrap().steps, 10);
    assert!(
        half.members.is_empty() && mean(half).iter().all(|y| y.is_finite()) && mean(half) != mean(&whole)
    );
    let reread = Model::from_files(&half.to_files().unwrap()).unwrap();
    assert_eq!(mean(&reread), mean(half));
    // Calibrated, and before its members are known, it forecasts as the whole one does.
    assert_eq!(mean(&found[found.len() - 1]), mean(&whole));
}

/// Stopped after every batch of sequences: each is inferred once, and the model is the same.
#[test]
fn inference_goes_on_where_it_was_cut() {
    let (family, wanted) = (family(), whole().to_files().unwrap());
    let is_inference = |stage| matches!(stage, FitStage::Expecting | FitStage::Inferring);
    let (mut fitting, mut told) = (fit().begin(&family).unwrap(), vec![]);
    let model = loop {
        let found = fitting.run(&mut |heard| {
            // The first that is heard of a stage says where it begins, or goes on.
            if !is_inference(heard.stage)
                || heard.done == 0
                || told.last() == Some(&(heard.stage, heard.done))
            {
                return Control::Continue;
            }
            told.push((heard.stage, heard.done));
            Control::Stop
        });
        match found.unwrap() {
            Some(model) => break model,
            None => fitting = fit().resume(&family, &fitting.checkpoint().unwrap()).unwrap(),
        }
    };
    let of = |stage| told.iter().filter(|(of, _)| *of == stage).map(|(_, done)| *done).collect::<Vec<u64>>();
    // 17 teachers, and 8 held-out sequences under four priors; nothing is done twice, however many threads there are.
    let (expecting, inferring) = (of(FitStage::Expecting), of(FitStage::Inferring));
    assert!(expecting.is_sorted_by(|a, b| a < b) && inferring.is_sorted_by(|a, b| a < b));
    assert!([17, 25, 33, 41, 49].iter().all(|done| expecting.contains(done)), "{expecting:?}");
    assert_eq!((expecting.last(), inferring.last()), (Some(&49), Some(&25)));
    assert!(model.to_files().unwrap() == wanted);
}

#[test]
fn the_share_of_all_work_grows_to_the_end() {
    let mut shares = vec![];
    let mut observer = |heard: &mtds::FitProgress| {
        shares.push(heard.whole);
        Control::Continue
    };
    fit().run(&family(), &mut observer).unwrap().unwrap();
    assert!(shares.is_sorted(), "{shares:?}");
    assert!(
        shares[0] == 0.0 && shares[shares.len() / 2] > 0.0 && *shares.last().unwrap() > 0.999,
        "{shares:?}"
    );
    // Several systems, of which each is a part.
    let mut compare = fit();
    compare.wishes = Wishes { effort: Some(0.003), compare: Some(true), ..Wishes::default() };
    let mut at_systems: Vec<(usize, f64)> = vec![];
    let mut observer = |heard: &mtds::FitProgress| {
        if at_systems.last().is_none_or(|(part, _)| heard.part.1 > 1 && *part != heard.part.0) {
            at_systems.push((heard.part.0, heard.whole));
        }
        Control::Continue
    };
    compare.run(&family(), &mut observer).unwrap().unwrap();
    assert!(at_systems.len() > 3 && at_systems.is_sorted_by(|a, b| a < b), "{at_systems:?}");
}

#[test]
fn a_comparison_is_told_and_can_be_stopped() {
    let mut compare = fit();
    compare.wishes = Wishes { effort: Some(0.003), compare: Some(true), ..Wishes::default() };
    let whole = compare.run(&family(), &mut |_| Control::Continue).unwrap().unwrap();
    let mut fitting = compare.begin(&family()).unwrap();
    let mut told = vec![];
    let mut observer = |heard: &mtds::FitProgress| match heard.stage {
        FitStage::Comparing if heard.done > 0 => {
            told.push((heard.done, heard.all));
            Control::Stop
        }
        _ => Control::Continue,
    };
    assert!(fitting.run(&mut observer).unwrap().is_none());
    assert!(matches!(told[..], [(1.., all)] if all > 1), "{told:?}");
    let mut resumed = compare.resume(&family(), &fitting.checkpoint().unwrap()).unwrap();
    let model = resumed.run(&mut |_| Control::Continue).unwrap().unwrap();
    assert!(model.to_files().unwrap() == whole.to_files().unwrap());
}

#[test]
fn one_and_two_threads_make_the_same_model() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| whole().to_files().unwrap())
    };
    assert!(with(1) == with(2));
}

#[test]
fn a_model_answers_without_being_borrowed() {
    let model = whole();
    let history = family().sequence(3).clone();
    let forecast = model.forecast(&history, 5).unwrap();
    assert_eq!((forecast.first_step(), forecast.n_time()), (16, 5));
    assert_eq!(model.forecast(&history, 5).unwrap(), forecast, "the same question has the same answer");
    let trackers: Vec<_> = (0..3).map(|i| model.track(i).unwrap()).collect();
    let parameters = model.system.parameters().as_ptr();
    drop(model);
    for mut tracker in trackers {
        assert_eq!(
            tracker.systems().trackers()[0].model().parameters().as_ptr(),
            parameters,
            "parameters are shared, not copied"
        );
        tracker.observe(&[1.0], &[]).unwrap();
        assert!(tracker.forecast(2, None).unwrap().mean()[0].is_finite());
    }
}

#[test]
fn other_columns_are_refused_by_name() {
    let model = whole();
    let renamed = family().with_output_names(["height"]).unwrap();
    let origins = mtds::evaluate::Origins::after(&[8]);
    assert_eq!(model.evaluate(&family(), &origins).unwrap().len(), 1);
    let error = model.evaluate(&renamed, &origins).unwrap_err().to_string();
    assert!(error.contains("outputs by name") && error.contains("height"), "{error}");
}

#[test]
fn a_fit_goes_on_only_with_what_it_was() {
    let family = family();
    let mut fitting = fit().begin(&family).unwrap();
    let stopped = fitting.run(&mut |heard| if heard.done == 5 { Control::Stop } else { Control::Continue });
    assert!(stopped.unwrap().is_none());
    let bytes = fitting.checkpoint().unwrap();
    let mut other = fit();
    other.wishes.code = Some(2);
    let refused = |fit: &Fit, family: &Family, bytes: &[u8]| fit.resume(family, bytes).err().unwrap();
    assert!(matches!(refused(&other, &family, &bytes), Error::Resumed { key, .. } if key == "code"));
    let fewer = family.subset(&[0, 1, 2, 3]).unwrap();
    assert!(matches!(refused(&fit(), &fewer, &bytes), Error::Resumed { key, .. } if key == "data"));
    for cut in [0, 5, 15, bytes.len() / 2, bytes.len() - 1] {
        assert!(matches!(refused(&fit(), &family, &bytes[..cut]), Error::Store { .. }), "{cut}");
    }
}

#[test]
fn beliefs_about_segments_are_kept_with_their_places() {
    let mut cut = fit();
    cut.wishes.learn = Some(LearnRule::Elbo);
    cut.wishes.segment = Some(8);
    cut.wishes.overlap = Some(4);
    let model = cut.run(&family(), &mut |_| Control::Continue).unwrap().unwrap();
    let held_out = &model.fit.as_ref().unwrap().held_out_ids;
    assert!(!held_out.is_empty());
    for member in model.members.iter().filter(|member| !held_out.contains(&member.id)) {
        let own: Vec<_> = model.segments.iter().filter(|segment| segment.member == member.id).collect();
        let places: Vec<_> = own.iter().map(|segment| (segment.start, segment.n_time)).collect();
        assert_eq!(places, [(0, 8), (4, 8), (8, 8)], "{}", member.id);
        assert!(own.iter().all(|segment| segment.code_mean.len() == 1 && segment.code_std_dev[0] > 0.0));
    }
    let files = model.to_files().unwrap();
    assert_eq!(Model::from_files(&files).unwrap().segments.len(), model.segments.len());
    assert!(whole().segments.is_empty(), "sequences that are learned whole have members alone");
}
