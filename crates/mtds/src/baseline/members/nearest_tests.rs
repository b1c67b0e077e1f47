//! The kernel against its limits, and leaving out against families that lack the member.

use super::*;
use crate::Sequence;
use crate::learn::Control;

const NAN: f64 = f64::NAN;

fn family(rows: &[Vec<f64>]) -> Family {
    let sequence =
        |(i, y): (usize, &Vec<f64>)| Sequence::new(format!("{i}"), Signal::column(y.clone())).unwrap();
    Family::new(rows.iter().enumerate().map(sequence).collect()).unwrap()
}

fn lines(n: usize, n_time: usize) -> Vec<Vec<f64>> {
    let line = |i: usize| (0..n_time).map(move |t| (i * i) as f64 + (1 + i % 3) as f64 * (t * t) as f64);
    (0..n).map(|i| line(i).collect()).collect()
}

fn chosen(nearest: &NearestMembers, seen: usize) -> Chosen {
    nearest.choose(seen, &|| Control::Continue).unwrap()
}

/// With this kernel and hardly any noise, after `seen` steps.
fn with_kernel(rows: &[Vec<f64>], seen: usize, kernel: Kernel) -> NearestMembers {
    let mut nearest = NearestMembers::fit(&family(rows)).unwrap();
    let chosen = chosen(&nearest, seen);
    let std_devs = vec![1e-9; chosen.std_devs.len()];
    nearest.by_seen = BySeen::new();
    nearest.by_seen.get(seen, || Ok(Chosen { kernel, std_devs, ..chosen })).unwrap();
    nearest
}

fn close(found: &[f64], expected: &[f64]) {
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{found:?} {expected:?}");
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn a_narrow_kernel_gives_the_future_of_the_nearest_and_a_wide_one_the_mean() {
    let rows = lines(6, 7);
    let narrow = with_kernel(&rows, 2, Kernel { bandwidth: 1e-9, shift: 0.0 });
    for i in 0..6 {
        let past = Signal::column(vec![rows[i][0] + 0.1, rows[i][1] - 0.1]);
        let found = narrow.forecast(&past, 5, &|| Control::Continue).unwrap();
        assert_eq!(found.n_draws(), 1);
        close(&found.mean(), &rows[i][2..]);
    }
    let wide = with_kernel(&rows, 2, Kernel { bandwidth: 1e9, shift: 0.0 });
    let found = wide.forecast(&Signal::column(vec![40.0, NAN]), 5, &|| Control::Continue).unwrap();
    let mean = |t: usize| rows.iter().map(|row| row[t]).sum::<f64>() / 6.0;
    close(&found.mean(), &(2..7).map(mean).collect::<Vec<_>>());
}

#[test]
fn futures_are_shifted_by_the_last_difference_that_was_seen() {
    let rows = lines(6, 7);
    let past = Signal::column(vec![rows[4][0] + 1.0, rows[4][1] + 3.0, NAN]);
    for shift in [0.0, 0.5, 1.0] {
        let nearest = with_kernel(&rows, 3, Kernel { bandwidth: 1e-9, shift });
        let expected: Vec<f64> = rows[4][3..].iter().map(|y| y + 3.0 * shift).collect();
        close(&nearest.forecast(&past, 4, &|| Control::Continue).unwrap().mean(), &expected);
    }
}

#[test]
fn members_that_share_no_step_with_the_past_count_only_where_none_does() {
    let rows = vec![vec![0.0, NAN, 1.0], vec![NAN, 5.0, 9.0], vec![2.0, NAN, 3.0]];
    let nearest = with_kernel(&rows, 2, Kernel { bandwidth: 1e9, shift: 0.0 });
    close(
        &nearest.forecast(&Signal::column(vec![0.0, NAN]), 1, &|| Control::Continue).unwrap().mean(),
        &[2.0],
    );
    close(
        &nearest.forecast(&Signal::column(vec![NAN, NAN]), 1, &|| Control::Continue).unwrap().mean(),
        &[13.0 / 3.0],
    );
}

/// Each member forecast by a rival whose family lacks it, brought to the same units; kernel by kernel.
#[test]
fn the_trials_are_forecasts_of_families_that_lack_the_member() {
    let rows = lines(7, 8);
    let nearest = NearestMembers::fit(&family(&rows)).unwrap();
    let curves = &nearest.curves;
    let data = |value: f64| {
        // Units of the whole family, found from two of its values.
        let (a, b) = (curves.members[0][0], curves.members[6][7]);
        rows[0][0] + (value - a) * (rows[6][7] - rows[0][0]) / (b - a)
    };
    for kernel in [Kernel { bandwidth: 0.4, shift: 0.5 }, Kernel { bandwidth: 1.6, shift: 1.0 }] {
        for i in 0..7 {
            let others: Vec<usize> = (0..7).filter(|j| *j != i).collect();
            let look = nearest.look(&curves.members[i][..3], others.clone());
            let trials = nearest.trials(i, &look, 3, kernel);
            let rest: Vec<Vec<f64>> = others.iter().map(|&j| rows[j].clone()).collect();
            let apart = with_kernel(&rest, 3, kernel)
                .forecast(&Signal::column(rows[i][..3].to_vec()), 5, &|| Control::Continue)
                .unwrap();
            let means: Vec<f64> = trials.iter().map(|trial| data(trial.mean)).collect();
            close(&means, &apart.mean());
            let unit = data(1.0) - data(0.0);
            let spread: Vec<f64> = trials.iter().map(|trial| (trial.variance * unit * unit).sqrt()).collect();
            close(&spread, &apart.variance().into_iter().map(f64::sqrt).collect::<Vec<_>>());
        }
    }
}

#[test]
fn noise_is_the_variance_that_futures_lack() {
    let trial = |entry: usize, truth: f64, variance: f64| Trial { entry, truth, mean: 0.0, variance };
    let trials = [trial(4, 2.0, 1.0), trial(4, -4.0, 3.0), trial(5, 1.0, 4.0)];
    let found = lacking(&trials, 4, 3, 1);
    // Over all: errors 4, 16, 1; variances 1, 3, 4. By entry, with their means as one more.
    let (error, variance) = (21.0 / 3.0, 8.0 / 3.0);
    let expected = [
        (20.0 + error) / 3.0 - (4.0 + variance) / 3.0,
        (1.0 + error) / 2.0 - (4.0 + variance) / 2.0,
        error - variance,
    ];
    close(&found, &expected.map(f64::sqrt));
    let enough = lacking(&[trial(0, 1.0, 9.0)], 0, 1, 1);
    close(&enough, &[0.1]);
}

/// Parallel lines that begin apart go on apart: only the shift tells.
#[test]
fn leaving_out_finds_that_futures_should_be_shifted() {
    let rows: Vec<Vec<f64>> =
        (0..12).map(|i| (0..10).map(|t| (i * i) as f64 + f64::from(t).sin()).collect()).collect();
    let nearest = NearestMembers::fit(&family(&rows)).unwrap();
    assert_eq!(chosen(&nearest, 4).kernel.shift, 1.0);
    // One pattern with noise around it: the level seen says nothing of the next.
    let jumping: Vec<Vec<f64>> =
        (0..12).map(|i| (0..10).map(|t| f64::from((i * 7 + t * (5 + i % 4)) % 11)).collect()).collect();
    let kernel = chosen(&NearestMembers::fit(&family(&jumping)).unwrap(), 4).kernel;
    assert!(kernel.shift < 1.0 && kernel.bandwidth > 0.3, "{kernel:?}");
}
