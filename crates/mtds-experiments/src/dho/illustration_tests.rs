//! Illustrations show what the model says, and stay apart from its scores.

use super::super::fixtures::{tiny_protocol, tiny_settings};
use super::super::protocol::Protocol;
use super::*;
use mtds::Forecast;
use mtds::evaluate::from_each_origin;
use mtds::parts::DrawNoise;

/// Forecasts the number of observations it has seen, with noise of 0.5.
fn counter() -> impl Forecaster {
    from_each_origin(|_, _, Origin { seen, n_time }| {
        let noise = DrawNoise::Diagonal(vec![0.5]);
        Forecast::new(seen, 1, vec![1.0], vec![seen as f64; n_time], noise)
    })
}

fn long() -> Protocol {
    Protocol { n_time: 40, n_test: 3, ..tiny_protocol() }
}

#[test]
fn a_model_is_shown_what_the_caption_says() {
    let test = long().test(0).unwrap();
    let all = illustrate(&counter(), &test, 3).unwrap();
    assert_eq!(all.iter().map(|one| one.sequence).collect::<Vec<_>>(), [0, 1]);
    for one in &all {
        let (samples, interval) = (one.samples.as_ref().unwrap(), one.interval.as_ref().unwrap());
        assert_eq!((samples.seen, samples.draws.len(), interval.seen), (15, DRAWS, 30));
        let mean = samples.draws.concat().iter().sum::<f64>() / (25 * DRAWS) as f64;
        // 750 draws of N(15, 0.5²): five standard errors are 0.09, a false alarm in two million.
        assert!((mean - 15.0).abs() < 0.09, "{mean}");
        assert!(interval.mean.iter().all(|&mean| mean == 30.0));
        // 30 ± 1.95996 · 0.5, rounded.
        assert!(interval.lower.iter().all(|&y| (y - 29.02).abs() < 1e-9), "{:?}", interval.lower);
        assert!(interval.upper.iter().all(|&y| (y - 30.98).abs() < 1e-9));
        let truth = test.outputs(one.sequence);
        assert!(one.outputs.iter().zip(truth).all(|(shown, y)| (shown - y).abs() <= 0.5e-4 + 1e-12));
        one.check(40).unwrap();
        assert!(matches!(one.check(41), Err(Error::Shape { .. })));
    }
    assert_ne!(all[0].samples, all[1].samples, "sequences draw from streams of their own");
}

#[test]
fn short_sequences_have_what_fits() {
    let short = |n_time| Protocol { n_time, n_test: 1, ..tiny_protocol() }.test(0).unwrap();
    let one = illustrate(&counter(), &short(24), 3).unwrap().remove(0);
    assert!(one.samples.is_some() && one.interval.is_none());
    one.check(24).unwrap();
    let one = illustrate(&counter(), &short(15), 3).unwrap().remove(0);
    assert!(one.samples.is_none() && one.interval.is_none());
}

#[test]
fn the_oracle_is_sure_where_it_has_seen_more() {
    let all = illustrate(&tiny_settings().oracle.anew(5), &long().test(1).unwrap(), 5).unwrap();
    for one in &all {
        let interval = one.interval.as_ref().unwrap();
        let widths = || interval.upper.iter().zip(&interval.lower).map(|(upper, lower)| upper - lower);
        // Never narrower than ± 1.96 of the noise, up to rounding and 128 draws of the noise-free means.
        assert!(widths().all(|width| width > 0.18), "{:?}", widths().collect::<Vec<_>>());
        let inside = one.outputs[30..].iter().zip(interval.lower.iter().zip(&interval.upper));
        // Ten steps in 95 % intervals: fewer than six inside once in 10⁴ sequences, were steps independent.
        assert!(inside.filter(|(y, (lower, upper))| (*lower..=*upper).contains(y)).count() >= 6);
    }
}
