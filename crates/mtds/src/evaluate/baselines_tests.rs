//! Baselines are stopped wherever they ask, and what was stopped leaves nothing behind.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::{Architecture, Scaling, Sequence};

/// Twelve curves of twenty steps, some of them with gaps.
fn family() -> Family {
    let value = |i: usize, t: usize| match (i * 20 + t) % 31 {
        0 => f64::NAN,
        k => (0.1 * (1 + i % 4) as f64 * t as f64).sin() + 0.01 * k as f64,
    };
    let curve = |i: usize| Signal::column((0..20).map(|t| value(i, t)).collect());
    Family::new((0..12).map(|i| Sequence::new(format!("{i}"), curve(i)).unwrap()).collect()).unwrap()
}

fn like() -> System {
    let architecture = Architecture::new(Lds::new(1, 1, 0), 1);
    System::initialise(architecture, Scaling::identity(1, 0), &mut stream(1, Stream::Training)).unwrap()
}

fn learned(baseline: Baseline, observer: &mut dyn FnMut(&BaselineProgress) -> Control) -> Result<Learned> {
    let settings = BaselineSettings { seen: (5, 5), horizon: None, network: (4, 20), seed: 1 };
    baseline.learn(&like(), Some(&family()), &settings, observer)
}

#[test]
fn learning_that_takes_rounds_ends_at_any_of_them() {
    for baseline in [Baseline::Fpca, Baseline::Gp, Baseline::Pooled, Baseline::Gru] {
        let mut heard = vec![];
        learned(baseline, &mut |step| {
            heard.push((step.step, step.steps));
            Control::Continue
        })
        .unwrap();
        assert!(heard.len() > 5 && heard.iter().all(|(done, all)| done <= all), "{baseline:?} {heard:?}");
        for stop in [1, 2, heard.len() / 2, heard.len()] {
            let mut n = 0;
            let found = learned(baseline, &mut |_| {
                n += 1;
                if n == stop { Control::Stop } else { Control::Continue }
            });
            assert!(matches!(found, Err(Error::Stopped)), "{baseline:?} at {stop} of {}", heard.len());
            assert_eq!(n, stop, "{baseline:?} goes on after it was stopped");
        }
    }
}

#[test]
fn forecasts_end_wherever_they_ask() {
    let (family, origins) = (family(), [Origin { seen: 4, n_time: 3 }, Origin { seen: 9, n_time: 5 }]);
    for baseline in Baseline::ALL {
        let ready = || learned(baseline, &mut |_| Control::Continue).unwrap();
        let asked = AtomicUsize::new(0);
        let count = || {
            asked.fetch_add(1, Ordering::Relaxed);
            Control::Continue
        };
        let expected = ready().forecasts_observed((&family, 3), &origins, &count).unwrap();
        let n = asked.into_inner();
        let fewest = match baseline {
            Baseline::Nearest | Baseline::Ridge => 20,
            Baseline::Single => 1000,
            _ => 2,
        };
        assert!(n >= fewest, "{baseline:?} asks {n} times");
        let stopped = ready();
        for stop in [0, 1, n / 2, n - 1] {
            let asked = AtomicUsize::new(0);
            let observe = || match asked.fetch_add(1, Ordering::Relaxed) >= stop {
                true => Control::Stop,
                false => Control::Continue,
            };
            // What an earlier round found out is not asked for again.
            let fresh = ready();
            let found = fresh.forecasts_observed((&family, 3), &origins, &observe);
            assert!(matches!(found, Err(Error::Stopped)), "{baseline:?} at {stop} of {n}");
            let _ = stopped.forecasts_observed((&family, 3), &origins, &observe);
        }
        assert_eq!(stopped.forecasts(&family, 3, &origins).unwrap(), expected, "{baseline:?}");
    }
}
