//! How much each structure counts in the forecasts: by what each made of members that it did not learn from.
//!
//! ```text
//! CRPS(w) = Σ_v w_v E|X_v − y| − ½ Σ_vu w_v w_u E|X_v − X_u|        X_v ~ forecast of structure v,  Σ_v w_v = 1,  w_v ≥ 0
//! ```
//! is the score of forecasts that are mixed with weights w. It is quadratic in w, so that one pass over the forecasts gives the score of
//! every mixture, and the best of them is found exactly. Few members know little: w is drawn towards equal parts by as much as they do.
//!
//! Reference: Gneiting & Raftery (2007), *Strictly Proper Scoring Rules, Prediction, and Estimation*, eq. 21, for the score of a mixture.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::evaluate::{Forecaster, Origin, Origins, Seen};
use crate::family::Family;
use crate::predict::{Estimate, Forecast, Marginal};

/// Shares of a sequence after which the rest is forecast.
const SHARES: [f64; 3] = [0.25, 0.5, 0.75];
/// Components that forecasts are thinned to before they are compared with each other.
const THINNED: usize = 40;
/// Members that count as much as the belief in equal parts.
const BELIEF: f64 = 8.0;
/// Rounds of the search for weights: far more than three or four of them need.
const ROUNDS: usize = 2000;

/// What one structure came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StructureRow {
    /// Its name.
    pub structure: String,
    /// How much it counts in the forecasts; all together 1.
    pub weight: f64,
    /// CRPS of its forecasts of members that it did not learn from, in deviations of an output: mean over members.
    #[serde(with = "crate::store::number")]
    pub crps: f64,
    /// Its standard error.
    pub crps_se: Option<f64>,
    /// Difference from the mixture, member by member.
    #[serde(with = "crate::store::number")]
    pub behind: f64,
    /// Its standard error.
    pub behind_se: Option<f64>,
    /// Number of members.
    pub n_seq: usize,
}

impl StructureRow {
    /// A structure that could not be learned.
    pub(super) fn left_out(name: &str) -> Self {
        let (crps, behind) = (f64::NAN, f64::NAN);
        Self {
            structure: name.to_owned(),
            weight: 0.0,
            crps,
            crps_se: None,
            behind,
            behind_se: None,
            n_seq: 0,
        }
    }
}

/// Terms of the score of one member: E|X_v − y| of each structure, and E|X_v − X_u| of each pair, means over what was observed.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    errors: Vec<f64>,
    distances: Vec<f64>,
}

impl Terms {
    /// The terms of sequence `i`; `None` where nothing was observed behind any origin. `scales`: deviation of each output.
    pub(super) fn of(
        structures: &[&dyn Forecaster],
        (family, i): (&Family, usize),
        scales: &[f64],
    ) -> Result<Option<Self>> {
        let outputs = family.sequence(i).outputs();
        let origins: Vec<Origin> = origins().of(outputs.n_time()).into_iter().flatten().collect();
        let origins: Vec<Origin> = origins.into_iter().filter(|origin| origin.seen > 0).collect();
        let n = structures.len();
        let forecasts: Vec<Vec<Forecast>> =
            structures.iter().map(|one| one.forecasts(family, i, &origins)).collect::<Result<_>>()?;
        let (mut errors, mut distances, mut count) = (vec![0.0; n], vec![0.0; n * n], 0.0);
        for (k, origin) in origins.iter().enumerate() {
            for t in 0..origin.n_time {
                for (c, y) in outputs.row(origin.seen + t).iter().enumerate().filter(|(_, y)| !y.is_nan()) {
                    let ours: Vec<Marginal<'_>> =
                        forecasts.iter().map(|of| of[k].marginal_at(t, c).thin(THINNED)).collect();
                    for v in 0..n {
                        errors[v] += ours[v].mean_distance(&Marginal::point(*y)) / scales[c];
                        for u in 0..=v {
                            let distance = ours[v].mean_distance(&ours[u]) / scales[c];
                            distances[v * n + u] += distance;
                            distances[u * n + v] += if u < v { distance } else { 0.0 };
                        }
                    }
                    count += 1.0;
                }
            }
        }
        errors.iter_mut().chain(&mut distances).for_each(|term| *term /= f64::max(count, 1.0));
        Ok((count > 0.0).then_some(Self { errors, distances }))
    }

    /// The score of a mixture.
    fn crps(&self, weights: &[f64]) -> f64 {
        let n = weights.len();
        let error: f64 = self.errors.iter().zip(weights).map(|(e, w)| w * e).sum();
        let pair = |vu: usize| weights[vu / n] * weights[vu % n] * self.distances[vu];
        error - 0.5 * (0..n * n).map(pair).sum::<f64>()
    }
}

fn origins() -> Origins {
    Origins { seen: SHARES.map(Seen::Share).to_vec(), horizon: None }
}

/// The terms of these members, in parallel.
pub(super) fn all_terms(
    structures: &[&dyn Forecaster],
    family: &Family,
    members: &[usize],
    scales: &[f64],
) -> Result<Vec<Terms>> {
    let found = members.par_iter().map(|&i| Terms::of(structures, (family, i), scales));
    Ok(found.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The weights of structures, and the table.
pub(super) fn weigh(names: &[String], terms: &[Terms]) -> (Vec<f64>, Vec<StructureRow>) {
    let n = names.len();
    let equal = vec![1.0 / n as f64; n];
    let best = best_weights(n, terms);
    let share = terms.len() as f64 / (terms.len() as f64 + BELIEF);
    let weights: Vec<f64> = best.iter().zip(&equal).map(|(b, e)| share * b + (1.0 - share) * e).collect();
    let row = |v: usize| {
        let alone: Vec<f64> = (0..n).map(|u| f64::from(u8::from(u == v))).collect();
        let own: Vec<f64> = terms.iter().map(|term| term.crps(&alone)).collect();
        let behind: Vec<f64> = own.iter().zip(terms).map(|(own, term)| own - term.crps(&weights)).collect();
        let (own, behind) = (Estimate::of(&own), Estimate::of(&behind));
        StructureRow {
            structure: names[v].clone(),
            weight: weights[v],
            crps: own.as_ref().map_or(f64::NAN, |own| own.mean),
            crps_se: own.as_ref().and_then(|own| own.std_error),
            behind: behind.as_ref().map_or(f64::NAN, |behind| behind.mean),
            behind_se: behind.and_then(|behind| behind.std_error),
            n_seq: terms.len(),
        }
    };
    let rows = (0..n).map(row).collect();
    (weights, rows)
}

/// The weights with the lowest mean score, by multiplicative steps, which keep them on the simplex.
fn best_weights(n: usize, terms: &[Terms]) -> Vec<f64> {
    let mut weights = vec![1.0 / n as f64; n];
    let mean = |of: &dyn Fn(&Terms) -> f64| terms.iter().map(of).sum::<f64>() / terms.len().max(1) as f64;
    let errors: Vec<f64> = (0..n).map(|v| mean(&|term| term.errors[v])).collect();
    let distances: Vec<f64> = (0..n * n).map(|vu| mean(&|term| term.distances[vu])).collect();
    let largest = errors.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    for _ in 0..ROUNDS {
        let slope = |v: usize| errors[v] - (0..n).map(|u| weights[u] * distances[v * n + u]).sum::<f64>();
        let slopes: Vec<f64> = (0..n).map(slope).collect();
        let least = slopes.iter().copied().fold(f64::INFINITY, f64::min);
        weights.iter_mut().zip(&slopes).for_each(|(w, s)| *w *= (-(s - least) / largest).exp());
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= total);
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::from_each_origin;
    use crate::predict::DrawNoise;
    use crate::{Sequence, Signal};

    fn family() -> Family {
        let values = |i: usize| (0..12).map(|t| ((7 * i + 3 * t) % 5) as f64 - 2.0).collect();
        let one = |i: usize| Sequence::new(format!("{i}"), Signal::column(values(i))).unwrap();
        Family::new((0..30).map(one).collect()).unwrap()
    }

    fn forecaster(mean: f64, std_dev: f64) -> impl Forecaster {
        from_each_origin(move |_: &Family, _: usize, o: Origin| {
            let noise = DrawNoise::Diagonal(vec![std_dev]);
            Forecast::new(o.seen, 1, vec![1.0], vec![mean; o.n_time], noise)
        })
    }

    fn terms(structures: &[&dyn Forecaster]) -> Vec<Terms> {
        let family = family();
        all_terms(structures, &family, &(0..30).collect::<Vec<_>>(), &[1.0]).unwrap()
    }

    #[test]
    fn scores_of_mixtures_are_those_of_mixed_forecasts() {
        let (a, b) = (forecaster(0.5, 1.0), forecaster(-1.0, 2.0));
        let found = terms(&[&a, &b]);
        let mixed = Marginal::new(vec![0.3, 0.7], vec![0.5, -1.0], vec![1.0, 2.0]).unwrap();
        let family = family();
        let mut sum = (0.0, 0.0);
        for seen in [3, 6, 9] {
            for t in seen..12 {
                sum = (sum.0 + mixed.crps(family.sequence(4).outputs().get(t, 0)), sum.1 + 1.0);
            }
        }
        assert!((found[4].crps(&[0.3, 0.7]) - sum.0 / sum.1).abs() < 1e-9);
    }

    #[test]
    fn what_forecasts_better_counts_more_and_all_count_a_little() {
        let (good, far, twin) = (forecaster(0.0, 1.4), forecaster(9.0, 1.4), forecaster(0.0, 1.4));
        let names = ["good", "far", "twin"].map(str::to_owned);
        let (weights, rows) = weigh(&names, &terms(&[&good, &far, &twin]));
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(weights[1] < 0.1 && weights[1] > 0.0, "{weights:?}");
        assert!((weights[0] - weights[2]).abs() < 1e-9);
        assert!(rows[1].behind > 5.0 && rows[0].behind < 0.0 && rows[0].n_seq == 30);
    }

    #[test]
    fn without_members_all_count_the_same() {
        let (weights, rows) = weigh(&["a".to_owned(), "b".to_owned()], &[]);
        assert_eq!(weights, [0.5, 0.5]);
        assert!(rows[0].crps.is_nan() && rows[0].n_seq == 0);
    }
}
