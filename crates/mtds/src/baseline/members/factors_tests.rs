//! The factor model against the dense Gaussian that it is.

use super::*;
use crate::Sequence;

const NAN: f64 = f64::NAN;

/// A model of 6 entries, 2 outputs and rank 2.
fn model() -> Factors {
    let loadings = Matrix::from_fn(6, 2, |k, j| (1.3 * k as f64 + 2.1 * j as f64).sin());
    Factors {
        mean: (0..6).map(|k| 0.2 * f64::from(k) - 0.3).collect(),
        loadings,
        noise: (0..6).map(|k| 0.05 + 0.1 * f64::from(k)).collect(),
    }
}

/// W Wᵀ + Ψ.
fn dense(model: &Factors) -> Matrix {
    let mut covariance = model.loadings.times(&model.loadings.transposed());
    (0..model.mean.len()).for_each(|k| covariance[(k, k)] += model.noise[k]);
    covariance
}

fn block(a: &Matrix, rows: &[usize], cols: &[usize]) -> Matrix {
    Matrix::from_fn(rows.len(), cols.len(), |i, j| a[(rows[i], cols[j])])
}

fn shown(values: &[f64]) -> Vec<usize> {
    (0..values.len()).filter(|&k| !values[k].is_nan()).collect()
}

#[test]
fn likelihoods_are_those_of_the_dense_gaussian() {
    let (model, covariance) = (model(), dense(&model()));
    for values in [vec![0.1, -0.4, NAN, 1.2, 0.7, NAN], vec![0.5; 6], vec![NAN; 6], vec![0.3, NAN]] {
        let o = shown(&values);
        let chol = cholesky(&block(&covariance, &o, &o).values, o.len()).unwrap();
        let residual: Vec<f64> = o.iter().map(|&k| values[k] - model.mean[k]).collect();
        let expected = -0.5 * dot(&residual, &solve_factored(&chol, residual.clone()))
            - log_diagonal_sum(&chol, o.len())
            - 0.5 * (2.0 * std::f64::consts::PI).ln() * o.len() as f64;
        let found = model.log_likelihood(&values).unwrap();
        assert!((found - expected).abs() < 1e-12 * (1.0 + expected.abs()), "{found} {expected}");
    }
}

#[test]
fn forecasts_are_conditionals_of_the_dense_gaussian() {
    let rows: Vec<Vec<f64>> = (0..8)
        .map(|i| (0..6).map(|k| ((i * 5 + k * 3) as f64 * 0.7).sin() * 2.0 + i as f64 * 0.1).collect())
        .collect();
    let sequence = |(i, y): (usize, &Vec<f64>)| {
        Sequence::new(format!("{i}"), Signal::new(3, 2, y.clone()).unwrap()).unwrap()
    };
    let family = Family::new(rows.iter().enumerate().map(sequence).collect()).unwrap();
    let mut rival = FactorCurves::fit(&family).unwrap();
    rival.model = model();
    let covariance = dense(&rival.model);
    let past = Signal::new(2, 2, vec![0.4, NAN, -0.2, 1.1]).unwrap();
    let found = rival.forecast(&past, 1).unwrap();
    let values = rival.curves.past(&past).unwrap();
    let (o, f) = (shown(&values), [4, 5]);
    let chol = cholesky(&block(&covariance, &o, &o).values, o.len()).unwrap();
    let residual: Vec<f64> = o.iter().map(|&k| values[k] - rival.model.mean[k]).collect();
    let explained = solve_factored(&chol, residual);
    let across = block(&covariance, &f, &o);
    let mean: Vec<f64> = (0..2).map(|i| rival.model.mean[f[i]] + dot(across.row(i), &explained)).collect();
    let conditional = Matrix::from_fn(2, 2, |i, j| {
        let extra = if i == j { rival.model.noise[f[i]] / 8.0 } else { 0.0 };
        covariance[(f[i], f[j])] - dot(across.row(i), &solve_factored(&chol, across.row(j).to_vec())) + extra
    });
    let chol = cholesky(&conditional.values, 2).unwrap();
    let expected = rival.curves.forecast(2, vec![1.0], mean, DrawNoise::Full(chol)).unwrap();
    for y in [[0.3, 0.1], [NAN, 1.0], [-1.0, 2.0]] {
        let (a, b) = (found.log_density(0, &y).unwrap(), expected.log_density(0, &y).unwrap());
        assert!((a - b).abs() < 1e-10, "{a} {b}");
    }
}

/// Members y = μ + w z + noise of one factor: rank, loadings and noise are found again. 300 members: errors of about 1/√300.
#[test]
fn em_finds_the_factor_that_made_the_members() {
    use crate::random::stream;
    use rand::RngExt;
    use rand_distr::StandardNormal;
    let mut random = stream(3, 0);
    let w: Vec<f64> = (0..8).map(|k| 1.0 + 0.2 * f64::from(k)).collect();
    let rows: Vec<Vec<f64>> = (0..300)
        .map(|i| {
            let z: f64 = random.sample(StandardNormal);
            let value = |k: usize| 0.5 + w[k] * z + 0.3 * random.sample::<f64, _>(StandardNormal);
            (0..8).map(value).enumerate().map(|(k, y)| if (i + 3 * k) % 7 == 0 { NAN } else { y }).collect()
        })
        .collect();
    let members: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    assert_eq!(best_rank(&members, (1, usize::MAX), &mut |_| Ok(())).unwrap(), Some(1));
    let found = Factors::fit(&members, &FirstAxes::of(&members), (1, 80), &mut |_| Ok(())).unwrap().unwrap();
    let sign = found.loadings[(0, 0)].signum();
    for k in 0..8 {
        assert!((sign * found.loadings[(k, 0)] - w[k]).abs() < 0.25, "{:?}", found.loadings);
        assert!(
            (found.noise[k] - 0.09).abs() < 0.04 && (found.mean[k] - 0.5).abs() < 0.5,
            "{:?}",
            found.noise
        );
    }
}

/// Without the priors' pull each round of EM would raise the likelihood; with 40 members they hardly matter.
#[test]
fn rounds_raise_the_likelihood() {
    let rows: Vec<Vec<f64>> = (0..40)
        .map(|i| {
            let value = |k: usize| {
                ((i * 13 % 40) as f64 / 10.0) * (0.5 * k as f64).cos()
                    + (((i * 31 + k * 17) % 19) as f64 - 9.0) / 20.0
            };
            (0..10).map(value).enumerate().map(|(k, y)| if (i + k) % 9 == 0 { NAN } else { y }).collect()
        })
        .collect();
    let members: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    let start = FirstAxes::of(&members);
    let likelihood = |rounds: usize| {
        let model = Factors::fit(&members, &start, (2, rounds), &mut |_| Ok(())).unwrap().unwrap();
        members.iter().map(|values| model.log_likelihood(values).unwrap()).sum::<f64>()
    };
    let found = [0, 1, 3, 10, 40].map(likelihood);
    assert!(found.windows(2).all(|pair| pair[1] > pair[0] - 0.5) && found[4] > found[0] + 10.0, "{found:?}");
}
