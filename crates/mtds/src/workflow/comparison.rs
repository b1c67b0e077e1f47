//! What each part of a model makes of members that it did not learn from: how much it counts in forecasts (`weights`), and how wide these are (`widths`).

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::weights::{Score, Weights, alone, by_member};
use super::widths;
use crate::Result;
use crate::evaluate::{Forecaster, Origin, Origins};
use crate::family::Family;
use crate::model::{WaysBySeen, Widths};
use crate::predict::{Estimate, Forecast, Marginal};

/// Shares of what members show after which the rest is forecast, and the fewest steps.
const SHARES: [f64; 4] = [0.1, 0.25, 0.5, 0.75];
const FEWEST: usize = 2;
/// Most values of a case: of longer ones every second step, every third, … counts.
const MOST_VALUES: usize = 400;
/// Components that forecasts are thinned to before they are compared with each other.
const THINNED: usize = 20;

/// What one part came to.
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

/// What was forecast of one member from one origin, by every part.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// Cases of other groups decide on forecasts that are judged by this one.
    pub(super) group: usize,
    pub(super) member: usize,
    /// Steps seen.
    pub(super) seen: usize,
    pub(super) values: Vec<Value>,
    /// Mean over values.
    pub(super) score: Score,
}

/// An observed value, its output and the deviation of that, and what each part forecast.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) truth: f64,
    pub(super) output: usize,
    unit: f64,
    marginals: Vec<Marginal<'static>>,
}

/// How much each part counts, and how wide forecasts are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Decision {
    /// Of all parts, the systems first: means over all numbers of steps seen.
    pub(super) weights: Vec<f64>,
    /// Of the ways; among the systems it is the same after any number of steps.
    pub(super) by_seen: WaysBySeen,
    pub(super) widths: Widths,
}

/// Where forecasts begin that decide: after some shares of the steps at which members show something, wherever on the grid these lie.
pub(super) fn origins(family: &Family) -> Origins {
    let mut shown = vec![0usize; family.max_time()];
    for sequence in family.sequences() {
        let rows = sequence.outputs().rows().enumerate();
        rows.filter(|(_, row)| row.iter().any(|y| !y.is_nan())).for_each(|(t, _)| shown[t] += 1);
    }
    let all = shown.iter().sum::<usize>() as f64;
    let after = |share: &f64| {
        let mut before = 0;
        let is_beyond = |n: &usize| {
            before += n;
            before as f64 > share * all * (1.0 + 1e-9) // a product that is rounded
        };
        shown.iter().position(is_beyond).unwrap_or(shown.len()).max(FEWEST)
    };
    let mut steps: Vec<usize> = SHARES.iter().map(after).collect();
    steps.dedup();
    Origins::after(&steps)
}

/// What all parts make of these members; `group` of each.
pub(super) fn cases(
    parts: &[&dyn Forecaster],
    family: &Family,
    members: &[(usize, usize)],
    (origins, units): (&Origins, &[f64]),
) -> Result<Vec<Case>> {
    let of = |&(i, group): &(usize, usize)| cases_of(parts, (family, i, group), origins, units);
    let found = members.par_iter().map(of).collect::<Result<Vec<_>>>()?;
    Ok(found.into_iter().flatten().collect())
}

fn cases_of(
    parts: &[&dyn Forecaster],
    (family, member, group): (&Family, usize, usize),
    origins: &Origins,
    units: &[f64],
) -> Result<Vec<Case>> {
    let outputs = family.sequence(member).outputs();
    let origins: Vec<Origin> = origins.of(outputs.n_time()).into_iter().flatten().collect();
    let forecasts: Vec<Vec<Forecast>> =
        parts.iter().map(|one| one.forecasts(family, member, &origins)).collect::<Result<_>>()?;
    let mut cases = vec![];
    for (k, origin) in origins.iter().enumerate() {
        let mut values = vec![];
        // Neighbours tell much the same.
        let stride = (origin.n_time * outputs.width()).div_ceil(MOST_VALUES);
        for t in (0..origin.n_time).step_by(stride) {
            for (c, y) in outputs.row(origin.seen + t).iter().enumerate().filter(|(_, y)| !y.is_nan()) {
                let marginals = forecasts.iter().map(|of| of[k].marginal_at(t, c).thin(THINNED)).collect();
                values.push(Value { truth: *y, output: c, unit: units[c], marginals });
            }
        }
        if !values.is_empty() {
            cases.push(Case::new((group, member, origin.seen), values, parts.len()));
        }
    }
    Ok(cases)
}

impl Case {
    fn new((group, member, seen): (usize, usize, usize), values: Vec<Value>, n: usize) -> Self {
        let mut score = Score::zero(n);
        for Value { truth, unit, marginals, .. } in &values {
            let share = 1.0 / (unit * values.len() as f64);
            for v in 0..n {
                score.errors[v] += share * marginals[v].mean_distance(&Marginal::point(*truth));
                for u in 0..=v {
                    let distance = share * marginals[v].mean_distance(&marginals[u]);
                    score.distances[v * n + u] += distance;
                    score.distances[u * n + v] += if u < v { distance } else { 0.0 };
                }
            }
        }
        Self { group, member, seen, values, score }
    }
}

impl Value {
    /// The forecast of a mixture.
    pub(super) fn mixed(&self, weights: &[f64]) -> Marginal<'static> {
        Marginal::mixed(weights.iter().copied().zip(&self.marginals))
    }
}

impl Decision {
    /// What these cases say of `n` parts, the first of which are systems: one of them always counts.
    pub(super) fn of((n_systems, n): (usize, usize), cases: &[&Case]) -> Self {
        let Weights { overall: weights, by_seen } = Weights::of((n_systems, n), cases);
        let mut decision = Self { weights, by_seen, widths: Widths::default() };
        decision.widths = widths::of(&|seen| decision.after(seen), cases);
        decision
    }

    /// The weights of all parts after a number of steps.
    pub(super) fn after(&self, seen: usize) -> Vec<f64> {
        let Some(ways) = self.by_seen.at(seen) else { return self.weights.clone() };
        let n_systems = self.weights.len() - ways.len();
        let (before, now) = (self.weights[..n_systems].iter().sum::<f64>(), 1.0 - ways.iter().sum::<f64>());
        let systems = self.weights[..n_systems].iter().map(|w| w / before * now);
        systems.chain(ways.iter().copied()).collect()
    }

    /// The table of parts.
    pub(super) fn rows(&self, names: &[String], cases: &[&Case]) -> Vec<StructureRow> {
        let members = by_member(cases);
        let row = |v: usize| {
            let alone = alone(names.len(), v);
            let own: Vec<f64> = members.iter().map(|cases| mean_crps(cases, &|_| alone.clone())).collect();
            let behind =
                own.iter().zip(&members).map(|(own, cases)| own - mean_crps(cases, &|seen| self.after(seen)));
            let (behind, own) = (Estimate::of(&behind.collect::<Vec<_>>()), Estimate::of(&own));
            StructureRow {
                structure: names[v].clone(),
                weight: self.weights[v],
                crps: own.as_ref().map_or(f64::NAN, |own| own.mean),
                crps_se: own.as_ref().and_then(|own| own.std_error),
                behind: behind.as_ref().map_or(f64::NAN, |behind| behind.mean),
                behind_se: behind.and_then(|behind| behind.std_error),
                n_seq: members.len(),
            }
        };
        (0..names.len()).map(row).collect()
    }
}

/// Mean score of mixtures with weights by steps seen.
fn mean_crps(cases: &[&Case], weights: &dyn Fn(usize) -> Vec<f64>) -> f64 {
    cases.iter().map(|case| case.score.of(&weights(case.seen))).sum::<f64>() / cases.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::from_each_origin;
    use crate::predict::DrawNoise;
    use crate::{Sequence, Signal};

    /// Thirty members of twelve steps: every fifth value of −2 … 2 in turn.
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

    fn found(parts: &[&dyn Forecaster]) -> Vec<Case> {
        let members: Vec<(usize, usize)> = (0..30).map(|i| (i, i % 3)).collect();
        cases(parts, &family(), &members, (&origins(&family()), &[2.0])).unwrap()
    }

    fn decided(parts: &[&dyn Forecaster]) -> (Decision, Vec<StructureRow>) {
        let cases = found(parts);
        let all: Vec<&Case> = cases.iter().collect();
        let decision = Decision::of((1, parts.len()), &all);
        let names: Vec<String> = (0..parts.len()).map(|v| format!("part {v}")).collect();
        (decision.clone(), decision.rows(&names, &all))
    }

    /// Samples of the first hours lay before the first origin, and of the rest one or two behind the last.
    #[test]
    fn origins_lie_where_members_show_something() {
        let steps = |family: &Family, n_time: usize| -> Vec<usize> {
            origins(family).of(n_time).into_iter().flatten().map(|origin| origin.seen).collect()
        };
        assert_eq!(steps(&family(), 12), [2, 3, 6, 9]);
        let sampled = [0, 1, 2, 4, 8, 14, 20, 28, 36, 48, 96];
        let values = (0..97).map(|t| if sampled.contains(&t) { t as f64 } else { f64::NAN }).collect();
        let sparse = Sequence::new("a", Signal::column(values)).unwrap();
        assert_eq!(steps(&Family::new(vec![sparse]).unwrap(), 97), [2, 14, 36]);
    }

    #[test]
    fn scores_of_mixtures_are_those_of_mixed_forecasts() {
        let (a, b) = (forecaster(0.5, 1.0), forecaster(-1.0, 2.0));
        let cases = found(&[&a, &b]);
        let case = cases.iter().find(|case| (case.member, case.seen) == (4, 6)).unwrap();
        let (weights, means, family) = ([0.3, 0.7], [0.5, -1.0], family());
        let truths = |t: usize| family.sequence(4).outputs().get(t, 0);
        let mean_crps = |of: &Marginal<'_>| (6..12).map(|t| of.crps(truths(t))).sum::<f64>() / 6.0 / 2.0;
        let mixed = Marginal::new(weights.to_vec(), means.to_vec(), vec![1.0, 2.0]).unwrap();
        assert!((case.score.of(&weights) - mean_crps(&mixed)).abs() < 1e-9);
        let value = &case.values[0];
        assert_eq!(value.mixed(&weights).variance(), mixed.variance());
    }

    #[test]
    fn what_forecasts_better_counts_more_and_equals_count_the_same() {
        let (good, far, twin) = (forecaster(0.0, 1.4), forecaster(9.0, 1.4), forecaster(0.0, 1.4));
        let (decision, rows) = decided(&[&good, &far, &twin]);
        let weights = &decision.weights;
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert_eq!(weights[1], 0.0, "{weights:?}");
        assert!((weights[0] - 2.0 * weights[2]).abs() < 1e-6, "a system, and one of two ways: {weights:?}");
        assert!(rows[1].behind > 2.5 && rows[0].behind.abs() < 0.1 && rows[0].n_seq == 30);
    }

    #[test]
    fn the_system_that_counts_most_stays_however_little_that_is() {
        let (far, good) = (forecaster(9.0, 1.4), forecaster(0.0, 1.4));
        let weights = decided(&[&far, &good]).0.weights;
        assert!(weights[0] > 0.0 && weights[0] < 0.03, "{weights:?}");
    }

    #[test]
    fn widths_are_those_that_outcomes_have() {
        // Values spread by √2 around 0; forecasts say 0.5, 1.4 and 5.
        let factor = |std_dev: f64| decided(&[&forecaster(0.0, std_dev)]).0.widths.factors;
        let (narrow, fitting, wide) = (factor(0.5), factor(1.4), factor(5.0));
        assert!(narrow.iter().all(|f| *f > 1.7), "{narrow:?}");
        assert!(fitting.iter().all(|f| (0.8..1.25).contains(f)), "{fitting:?}");
        assert!(wide.iter().all(|f| *f < 0.55), "{wide:?}");
        assert_eq!(narrow.len(), 4, "after 2, 3, 6 and 9 steps");
    }

    #[test]
    fn without_members_all_count_the_same_and_nothing_is_stretched() {
        let decision = Decision::of((1, 2), &[]);
        assert_eq!(decision.weights, [0.5, 0.5]);
        assert_eq!(decision.widths, Widths::default());
        assert!(decision.rows(&["a".to_owned(), "b".to_owned()], &[])[0].crps.is_nan());
        // One member tells nothing of how sure it is.
        let (a, b) = (forecaster(0.0, 1.0), forecaster(3.0, 1.0));
        let cases = found(&[&a, &b]);
        let one: Vec<&Case> = cases.iter().filter(|case| case.member == 7).collect();
        assert_eq!(Decision::of((1, 2), &one).weights, [0.5, 0.5]);
    }

    #[test]
    fn a_member_that_is_judged_decides_nothing() {
        let (a, b) = (forecaster(0.5, 1.0), forecaster(-0.5, 1.5));
        let clean = found(&[&a, &b]);
        let mut poisoned = clean.clone();
        for case in poisoned.iter_mut().filter(|case| case.group == 1) {
            case.score.errors = vec![1e6, 0.0];
            case.values.iter_mut().for_each(|value| value.truth = 1e6);
        }
        let without = |cases: &[Case]| {
            Decision::of((1, 2), &cases.iter().filter(|case| case.group != 1).collect::<Vec<_>>())
        };
        assert_eq!(without(&clean), without(&poisoned));
        assert_ne!(without(&clean), Decision::of((1, 2), &poisoned.iter().collect::<Vec<_>>()));
    }
}
