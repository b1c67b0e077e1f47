//! Regressions against normal equations, and leave-one-out residuals against leaving one out.

use proptest::prelude::*;

use super::*;
use crate::Sequence;
use crate::algebra::{cholesky, solve_factored};
use crate::learn::Control;

/// Prediction at `x` by normal equations with an intercept that is not penalised.
fn normal_equations(rows: &[(Vec<f64>, f64)], penalty: f64, x: &[f64]) -> f64 {
    let (m, d) = (rows.len() as f64, x.len());
    let centre: Vec<f64> = (0..d).map(|j| rows.iter().map(|(a, _)| a[j]).sum::<f64>() / m).collect();
    let mean = rows.iter().map(|(_, y)| y).sum::<f64>() / m;
    let (mut gram, mut right) = (vec![0.0; d * d], vec![0.0; d]);
    for (a, y) in rows {
        for i in 0..d {
            right[i] += (a[i] - centre[i]) * (y - mean);
            (0..d).for_each(|j| gram[i * d + j] += (a[i] - centre[i]) * (a[j] - centre[j]));
        }
    }
    (0..d).for_each(|i| gram[i * d + i] += penalty);
    let b = solve_factored(&cholesky(&gram, d).unwrap(), right);
    mean + x.iter().zip(&centre).zip(&b).map(|((x, c), b)| (x - c) * b).sum::<f64>()
}

proptest! {
    #[test]
    fn residuals_are_those_of_leaving_one_out(
        (m, d) in (2..9usize, 1..7usize),
        numbers in prop::collection::vec(-2.0..2.0f64, 80),
        k in -6..9i32,
    ) {
        let features: Vec<Vec<f64>> = (0..m).map(|i| numbers[i * d..(i + 1) * d].to_vec()).collect();
        let y: Vec<f64> = numbers[60..60 + m].to_vec();
        let penalty = 10f64.powf(f64::from(k) / 3.0);
        let design = Design::of((0..m).collect(), &features);
        let mean = y.iter().sum::<f64>() / m as f64;
        let centred: Vec<f64> = y.iter().map(|y| y - mean).collect();
        let left = &design.svd.left;
        let along: Vec<f64> = (0..left.cols).map(|k| (0..m).map(|i| left[(i, k)] * centred[i]).sum()).collect();
        let found = design.residuals(&centred, &along, penalty);
        for i in 0..m {
            let others = (0..m).filter(|j| *j != i).map(|j| (features[j].clone(), y[j])).collect::<Vec<_>>();
            let expected = y[i] - normal_equations(&others, penalty, &features[i]);
            prop_assert!((found[i] - expected).abs() < 1e-8 * (1.0 + expected.abs()), "{} {}", found[i], expected);
        }
    }

    #[test]
    fn predictions_are_those_of_the_normal_equations_at_the_best_penalty(
        (m, d) in (3..9usize, 1..7usize),
        numbers in prop::collection::vec(-2.0..2.0f64, 80),
    ) {
        let features: Vec<Vec<f64>> = (0..m).map(|i| numbers[i * d..(i + 1) * d].to_vec()).collect();
        let y: Vec<f64> = numbers[60..60 + m].to_vec();
        let found = Design::of((0..m).collect(), &features).regress(&y);
        let rows = |out: Option<usize>| {
            (0..m).filter(|j| Some(*j) != out).map(|j| (features[j].clone(), y[j])).collect::<Vec<_>>()
        };
        let squares = |penalty: f64| {
            (0..m).map(|i| (y[i] - normal_equations(&rows(Some(i)), penalty, &features[i])).powi(2)).sum::<f64>()
        };
        let penalties: Vec<f64> = PENALTIES.map(|k| 10f64.powf(f64::from(k) / 3.0)).collect();
        let least = penalties.iter().map(|&penalty| squares(penalty)).fold(f64::INFINITY, f64::min);
        prop_assert!((found.std_dev.powi(2) * m as f64 - least).abs() < 1e-7 * (1.0 + least));
        let x = &numbers[72..72 + d];
        let at_best = penalties.iter().filter(|&&penalty| squares(penalty) <= least * (1.0 + 1e-7) + 1e-12);
        let nearest = at_best.map(|&penalty| (normal_equations(&rows(None), penalty, x) - found.predict(x)).abs());
        prop_assert!(nearest.fold(f64::INFINITY, f64::min) < 1e-6);
    }
}

fn family(rows: &[Vec<f64>]) -> Family {
    let sequence =
        |(i, y): (usize, &Vec<f64>)| Sequence::new(format!("{i}"), Signal::column(y.clone())).unwrap();
    Family::new(rows.iter().enumerate().map(sequence).collect()).unwrap()
}

#[test]
fn intervals_have_the_variance_of_the_residuals_and_their_skew() {
    // The last step is the first and an error that is rarely large.
    let rows: Vec<Vec<f64>> = (0..40)
        .map(|i| {
            vec![f64::from((i * 17) % 40), f64::from((i * 17) % 40) + if i % 8 == 0 { 7.0 } else { -1.0 }]
        })
        .collect();
    let ridge = RidgeRegression::fit(&family(&rows)).unwrap();
    let found = ridge.forecast(&Signal::column(vec![20.0]), 1, &|| Control::Continue).unwrap();
    let (mean, variance) = (found.mean()[0], found.variance()[0]);
    let fitted = ridge.by_seen.get(1, || unreachable!("was asked for")).unwrap();
    let s = fitted.targets[0].as_ref().unwrap().std_dev;
    let unit = ridge.forecast(&Signal::column(vec![20.0]), 1, &|| Control::Continue).unwrap().noise().clone();
    let DrawNoise::DiagonalByStep(noise) = unit else { panic!("{unit:?}") };
    let scale = noise[0] / (0.9 * 40f64.powf(-0.2) * s);
    // Residuals add up to about 0, so that their mean square is the variance.
    assert!((variance / (s * scale).powi(2) - 1.0).abs() < 0.01, "{variance} {s} {scale}");
    let [low, high] = [0.05, 0.95].map(|q| found.quantile(q).unwrap()[0]);
    assert!(high - mean > 1.5 * (mean - low), "{low} {mean} {high}");
}

#[test]
fn a_step_that_few_show_is_left_to_the_step_before() {
    let rows: Vec<Vec<f64>> = (0..12)
        .map(|i| (0..if i < 3 { 5 } else { 4 }).map(|t| f64::from(i) + f64::from(t)).collect())
        .collect();
    let ridge = RidgeRegression::fit(&family(&rows)).unwrap();
    let found = ridge.forecast(&Signal::column(vec![2.0]), 4, &|| Control::Continue).unwrap().mean();
    assert_eq!(found[3], found[2]);
    assert!((found[2] - 5.0).abs() < 0.1 && (found[1] - 4.0).abs() < 0.1, "{found:?}");
}

/// Gaps of a grid that all share counted as values, and there was no room for the first of these.
#[test]
fn on_a_sparse_grid_in_common_all_that_members_show_is_regressed_on() {
    let member = |first: f64| -> Vec<f64> {
        let value = |t: usize| match t {
            0 | 182 => first,
            t if t % 7 == 0 => 0.0,
            _ => f64::NAN,
        };
        (0..183).map(value).collect()
    };
    let rows: Vec<Vec<f64>> = (0..20).map(|i| member(f64::from((i * 7) % 20) - 9.5)).collect();
    let ridge = RidgeRegression::fit(&family(&rows)).unwrap();
    let past = Signal::column(member(6.0)[..180].to_vec());
    let found = ridge.forecast(&past, 3, &|| Control::Continue).unwrap().mean();
    assert!((found[2] - 6.0).abs() < 0.5, "{found:?}");
}
