//! How much parts count whose forecasts are mixed: as much as lowers the score of the mixture, where members can tell.
//!
//! ```text
//! CRPS(w) = Σ_v w_v E|X_v − y| − ½ Σ_vu w_v w_u E|X_v − X_u|        X_v ~ forecast of part v,  Σ_v w_v = 1,  w_v ≥ 0        [1]
//! C_n(w)  = mean of CRPS(w) / CRPS_n over the cases with n steps seen        CRPS_n: mean of CRPS(w*) over them
//! w⁰      = argmin mean_n C_n(w) + τ KL(w ‖ w*)        w*: half for the systems that keep up, half for the ways, evenly within each
//! w_n     = argmin C_n(w) + τ_n √(½ KL(w ‖ w⁰))        over the ways that keep up after n steps, and the systems together        [2]
//! τ       : median standard error, over members, of how far the score of a part is from that of the best; τ_n: likewise after n steps
//! ```
//! A score is quadratic in w, so that one pass over the forecasts gives that of every mixture. After few steps all errors are large; in units of what is
//! usual there, late forecasts count as much as early ones. Few members know little: parts that they cannot tell apart stay where they were. One that is behind the best by more than chance
//! gives (Student's t, one in 200, by five members or more) does not keep up and counts nothing: a little of a forecast that is far off hardly shows in the score, and moves the mean. What is best after a few steps need not be so later, but a quarter of the cases says less than all: weights by
//! steps seen stay at those of all together unless what is gained is more than chance gives to weights that are so far away, as in the bound of [2]. How systems share is the same after any number of steps.
//!
//! References: \[1\] Gneiting & Raftery (2007), *Strictly Proper Scoring Rules, Prediction, and Estimation*, eq. 21; \[2\] McAllester (2003), *PAC-Bayesian Stochastic Model
//! Selection*: of N members whose scores have variance s², s²/N = τ².

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::comparison::Case;
use crate::learn::FEWEST;
use crate::model::WaysBySeen;
use crate::predict::Estimate;

/// Weight below which a part is left out of the forecasts, and the least of the systems.
const NEGLIGIBLE: f64 = 0.03;
const LEAST: f64 = 1e-3;
/// Probability below which a part that is so far behind the best is no chance: it counts nothing.
const CLEARLY: f64 = 0.005;
/// Rounds of the search for weights: far more than a handful of them need.
const ROUNDS: usize = 2000;
/// Strengths of the belief, in τ, among which w_n is looked for: whatever minimises with the root of the divergence does so with the divergence at one strength.
const STRENGTHS: [f64; 10] = [8.0, 4.0, 2.5, 1.6, 1.0, 0.7, 0.5, 0.35, 0.2, 0.1];

/// E|X_v − y| of each part and E|X_v − X_u| of each pair: the score of every mixture.
#[derive(Clone, Debug)]
pub(super) struct Score {
    pub(super) errors: Vec<f64>,
    /// n × n.
    pub(super) distances: Vec<f64>,
}

/// Weights of all parts, systems first, and of the ways by steps seen.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    /// Means over all cases.
    pub(super) overall: Vec<f64>,
    pub(super) by_seen: WaysBySeen,
}

impl Score {
    /// Of no values.
    pub(super) fn zero(n: usize) -> Self {
        Self { errors: vec![0.0; n], distances: vec![0.0; n * n] }
    }

    fn add(&mut self, share: f64, other: &Self) {
        self.errors.iter_mut().zip(&other.errors).for_each(|(sum, e)| *sum += share * e);
        self.distances.iter_mut().zip(&other.distances).for_each(|(sum, d)| *sum += share * d);
    }

    /// The score of a mixture.
    pub(super) fn of(&self, weights: &[f64]) -> f64 {
        let n = weights.len();
        let error: f64 = self.errors.iter().zip(weights).map(|(e, w)| w * e).sum();
        let pairs = (0..n * n).map(|vu| weights[vu / n] * weights[vu % n] * self.distances[vu]);
        error - 0.5 * pairs.sum::<f64>()
    }

    /// Of fewer parts, each a mixture of these.
    fn merged(&self, parts: &[Vec<f64>]) -> Self {
        let n = self.errors.len();
        let distance = |a: &[f64], b: &[f64]| {
            (0..n * n).map(|vu| a[vu / n] * b[vu % n] * self.distances[vu]).sum::<f64>()
        };
        Self {
            errors: parts
                .iter()
                .map(|part| part.iter().zip(&self.errors).map(|(w, e)| w * e).sum())
                .collect(),
            distances: parts.iter().flat_map(|a| parts.iter().map(|b| distance(a, b))).collect(),
        }
    }
}

/// A member: the numbers of steps seen, and the scores there.
type Member = Vec<(usize, Score)>;

impl Weights {
    /// Of `n` parts, the first of which are systems: one of them always counts.
    pub(super) fn of((n_systems, n): (usize, usize), cases: &[&Case]) -> Self {
        let believed = believed(n_systems, n);
        let members = in_usual_units(&believed, cases);
        let kept = [keep_up(n_systems, &members), vec![true; n - n_systems]].concat();
        let pooled = settled(&of_those(&believed, &kept), &members);
        let shares = shares(&pooled[..n_systems]);
        let systems = [shares.as_slice(), &vec![0.0; n - n_systems]].concat();
        let merging: Vec<Vec<f64>> =
            std::iter::once(systems).chain((n_systems..n).map(|v| alone(n, v))).collect();
        let together = [&[pooled[..n_systems].iter().sum()], &pooled[n_systems..]].concat();
        let merged = |score: &Score| score.merged(&merging);
        let members: Vec<Member> = members
            .iter()
            .map(|scores| scores.iter().map(|(seen, score)| (*seen, merged(score))).collect())
            .collect();
        let mut seen: Vec<usize> = cases.iter().map(|case| case.seen).collect();
        seen.sort_unstable();
        seen.dedup();
        let at = |&steps: &usize| {
            let members = after(steps, &members);
            let mut kept = keep_up(together.len(), &members);
            kept[0] = true; // systems go on where ways end
            moved(&of_those(&together, &kept), &members)
        };
        let found = seen.iter().map(at);
        let found: Vec<Vec<f64>> = found.map(without_negligible).collect();
        let mean = match found.len() {
            0 => without_negligible(together),
            _ => {
                let at = |case: &&Case| seen.binary_search(&case.seen).expect("all were listed");
                let all: Vec<&[f64]> = cases.iter().map(|case| found[at(case)].as_slice()).collect();
                (0..=n - n_systems)
                    .map(|k| all.iter().map(|w| w[k]).sum::<f64>() / all.len() as f64)
                    .collect()
            }
        };
        let overall = [shares.iter().map(|share| share * mean[0]).collect(), mean[1..].to_vec()].concat();
        Self {
            overall,
            by_seen: WaysBySeen { weights: found.iter().map(|w| w[1..].to_vec()).collect(), seen },
        }
    }
}

/// w*.
fn believed(n_systems: usize, n: usize) -> Vec<f64> {
    let half = if n > n_systems { 0.5 } else { 1.0 };
    let one = |v: usize| match v {
        v if v < n_systems => half / n_systems as f64,
        _ => half / (n - n_systems) as f64,
    };
    (0..n).map(one).collect()
}

/// Which of the first `n` parts are not clearly behind the best of them.
fn keep_up(n: usize, members: &[Member]) -> Vec<bool> {
    let Some((_, first)) = members.iter().flatten().next() else { return vec![true; n] };
    let mean = mean_of(members, first.errors.len());
    let keeps_up = |v: usize| match behind((v, n), members, &mean) {
        Some(Estimate { mean, std_error: Some(std_error), n }) if n >= FEWEST => {
            let student = StudentsT::new(0.0, 1.0, (n - 1) as f64);
            student.is_ok_and(|student| mean <= student.inverse_cdf(1.0 - CLEARLY) * std_error)
        }
        _ => true,
    };
    (0..n).map(keeps_up).collect()
}

/// Weights of those parts alone that are kept.
fn of_those(weights: &[f64], kept: &[bool]) -> Vec<f64> {
    let of_those: Vec<f64> = weights.iter().zip(kept).map(|(w, kept)| if *kept { *w } else { 0.0 }).collect();
    let all: f64 = of_those.iter().sum();
    of_those.iter().map(|w| w / all).collect()
}

/// Part `v` and no other.
pub(super) fn alone(n: usize, v: usize) -> Vec<f64> {
    (0..n).map(|u| f64::from(u8::from(u == v))).collect()
}

/// The scores of each member in units of what a mixture has after as many steps.
fn in_usual_units(mixture: &[f64], cases: &[&Case]) -> Vec<Member> {
    let usual = |seen: usize| {
        let own = cases.iter().filter(|case| case.seen == seen).map(|case| case.score.of(mixture));
        match own.clone().sum::<f64>() / own.count() as f64 {
            usual if usual > 0.0 => usual,
            _ => 1.0,
        }
    };
    let one = |case: &&Case| {
        let mut score = Score::zero(mixture.len());
        score.add(1.0 / usual(case.seen), &case.score);
        (case.seen, score)
    };
    by_member(cases).iter().map(|own| own.iter().map(one).collect()).collect()
}

/// Cases of each member.
pub(super) fn by_member<'a>(cases: &[&'a Case]) -> Vec<Vec<&'a Case>> {
    let own = |a: &&Case, b: &&Case| (a.group, a.member) == (b.group, b.member);
    cases.chunk_by(own).map(<[&Case]>::to_vec).collect()
}

/// What members show after so many steps.
fn after(seen: usize, members: &[Member]) -> Vec<Member> {
    let own = |member: &Member| member.iter().filter(|(steps, _)| *steps == seen).cloned().collect();
    members.iter().map(own).filter(|member: &Member| !member.is_empty()).collect()
}

fn mean_of(members: &[Member], n: usize) -> Score {
    let (mut mean, n_cases) = (Score::zero(n), members.iter().map(Vec::len).sum::<usize>());
    members.iter().flatten().for_each(|(_, score)| mean.add(1.0 / n_cases as f64, score));
    mean
}

/// w⁰ of w*.
fn settled(believed: &[f64], members: &[Member]) -> Vec<f64> {
    let mean = mean_of(members, believed.len());
    match uncertainty(members, &mean) {
        tau if tau.is_finite() => least(believed, &mean, tau),
        _ => believed.to_vec(),
    }
}

/// w_n of w⁰.
fn moved(believed: &[f64], members: &[Member]) -> Vec<f64> {
    let mean = mean_of(members, believed.len());
    let tau = uncertainty(members, &mean);
    let mut best = (mean.of(believed), believed.to_vec());
    for strength in STRENGTHS.iter().filter(|_| tau.is_finite()) {
        let weights = least(believed, &mean, strength * tau);
        let objective = mean.of(&weights) + tau * (0.5 * divergence(&weights, believed)).sqrt();
        if objective < best.0 {
            best = (objective, weights);
        }
    }
    best.1
}

/// KL(w ‖ believed).
fn divergence(weights: &[f64], believed: &[f64]) -> f64 {
    let counting = weights.iter().zip(believed).filter(|(w, _)| **w > 0.0);
    counting.map(|(w, b)| w * (w / b).ln()).sum::<f64>().max(0.0)
}

/// The weights with the least score plus τ KL(w ‖ believed); by multiplicative steps, which keep them on the simplex.
fn least(believed: &[f64], mean: &Score, tau: f64) -> Vec<f64> {
    let (n, mut weights) = (believed.len(), believed.to_vec());
    let largest = mean.errors.iter().copied().fold(f64::MIN_POSITIVE, f64::max) + tau;
    for _ in 0..ROUNDS {
        let slope = |v: usize| {
            let mixed = (0..n).map(|u| weights[u] * mean.distances[v * n + u]).sum::<f64>();
            let log = |w: f64| w.max(f64::MIN_POSITIVE).ln();
            mean.errors[v] - mixed + tau * (log(weights[v]) - log(believed[v]))
        };
        let slopes: Vec<f64> = (0..n).map(slope).collect();
        let lowest = slopes.iter().copied().fold(f64::INFINITY, f64::min);
        weights.iter_mut().zip(&slopes).for_each(|(w, s)| *w *= (-(s - lowest) / largest).exp());
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= total);
    }
    weights
}

/// Median over parts of the standard error by which their scores differ from that of the best; infinite where nobody can tell.
fn uncertainty(members: &[Member], mean: &Score) -> f64 {
    let n = mean.errors.len();
    let best = best(mean, n);
    let std_error = |v: usize| behind((v, n), members, mean).and_then(|behind| behind.std_error);
    let mut errors: Vec<f64> =
        (0..n).filter(|v| *v != best).map(|v| std_error(v).unwrap_or(f64::INFINITY)).collect();
    errors.sort_by(f64::total_cmp);
    errors.get(errors.len() / 2).copied().unwrap_or(f64::INFINITY)
}

/// The score of part `v` alone.
fn score_of(v: usize, score: &Score) -> f64 {
    score.errors[v] - 0.5 * score.distances[v * score.errors.len() + v]
}

/// Which of the first `n` parts has the best score.
fn best(mean: &Score, n: usize) -> usize {
    let is_better = |v: usize, best: usize| score_of(v, mean) < score_of(best, mean);
    (1..n).fold(0, |best, v| if is_better(v, best) { v } else { best })
}

/// How far the score of part `v` is from that of the best of the first `n`, over members.
fn behind((v, n): (usize, usize), members: &[Member], mean: &Score) -> Option<Estimate> {
    let best = best(mean, n);
    let of_case = |(_, one): &(usize, Score)| score_of(v, one) - score_of(best, one);
    let of_member = |own: &Member| own.iter().map(of_case).sum::<f64>() / own.len() as f64;
    Estimate::of(&members.iter().map(of_member).collect::<Vec<_>>())
}

/// How systems share what they have together, without those that hardly count: each takes time. The one that counts most stays.
fn shares(systems: &[f64]) -> Vec<f64> {
    let leader = leader(systems, systems.len());
    let kept = |v: usize| if v == leader || systems[v] >= NEGLIGIBLE { systems[v] } else { 0.0 };
    let kept: Vec<f64> = (0..systems.len()).map(kept).collect();
    let total: f64 = kept.iter().sum();
    match total > 0.0 {
        true => kept.iter().map(|w| w / total).collect(),
        false => alone(systems.len(), leader),
    }
}

/// Ways that hardly count do not; the systems, which come first, stay.
fn without_negligible(mut weights: Vec<f64>) -> Vec<f64> {
    weights[0] = weights[0].max(LEAST);
    weights[1..].iter_mut().filter(|w| **w < NEGLIGIBLE).for_each(|w| *w = 0.0);
    let total: f64 = weights.iter().sum();
    weights.iter().map(|w| w / total).collect()
}

/// The system that counts most.
pub(super) fn leader(weights: &[f64], n_systems: usize) -> usize {
    (1..n_systems).fold(0, |best, v| if weights[v] > weights[best] { v } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two origins of 22 members; parts whose forecasts are points, off by `errors` of member, origin and part.
    fn cases(n: usize, errors: impl Fn(usize, usize, usize) -> f64) -> Vec<Case> {
        let one = |k: usize| {
            let (member, origin) = (k / 2, k % 2);
            let off: Vec<f64> = (0..n).map(|v| errors(member, origin, v)).collect();
            let distances = (0..n * n).map(|vu| (off[vu / n] - off[vu % n]).abs()).collect();
            let score = Score { errors: off.iter().map(|e| e.abs()).collect(), distances };
            Case { group: 0, member, seen: [3, 6][origin], values: vec![], score }
        };
        (0..44).map(one).collect()
    }

    fn found(n: usize, errors: impl Fn(usize, usize, usize) -> f64) -> Weights {
        Weights::of((1, n), &cases(n, errors).iter().collect::<Vec<_>>())
    }

    /// Looks like noise, from −1 to 1; all members together have none.
    fn noise(member: usize, k: usize) -> f64 {
        ((member * 7 + k * 5) % 11) as f64 / 5.0 - 1.0
    }

    #[test]
    fn weights_are_those_with_the_least_score_and_distance_from_the_belief() {
        let cases = cases(2, |member, origin, v| 1.0 + v as f64 * (0.6 + 0.5 * noise(member, origin)));
        let members = in_usual_units(&[0.7, 0.3], &cases.iter().collect::<Vec<_>>());
        let mean = mean_of(&members, 2);
        let tau = uncertainty(&members, &mean);
        let objective = |w: f64| {
            let divergence = w * (w / 0.7).ln() + (1.0 - w) * ((1.0 - w) / 0.3).ln();
            mean.of(&[w, 1.0 - w]) + tau * divergence
        };
        let best =
            (1..1000).map(|k| k as f64 / 1000.0).min_by(|a, b| objective(*a).total_cmp(&objective(*b)));
        let found = settled(&[0.7, 0.3], &members)[0];
        assert!((found - best.unwrap()).abs() < 2e-3 && (found - 0.7).abs() > 0.02, "{found} {best:?}");
    }

    #[test]
    fn parts_that_members_cannot_tell_apart_keep_half_for_the_systems() {
        let overall = found(4, |member, origin, _| 1.0 + noise(member, origin)).overall;
        let expected = [0.5, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0];
        assert!(overall.iter().zip(expected).all(|(w, e)| (w - e).abs() < 1e-6), "{overall:?}");
    }

    #[test]
    fn a_way_that_is_clearly_behind_after_some_steps_counts_nothing_there() {
        let weights = found(4, |member, origin, v| {
            1.0 + 0.3 * noise(member, 2 * v + origin) + if (v, origin) == (3, 1) { 0.4 } else { 0.0 }
        });
        let [early, late] = weights.by_seen.weights.as_slice() else { panic!("{weights:?}") };
        assert!(early[2] > 0.05 && late[2] == 0.0 && late[0] > 0.05, "{weights:?}");
    }

    #[test]
    fn of_systems_the_best_stays_though_ways_are_clearly_ahead() {
        let cases = cases(3, |member, origin, v| [3.0, 2.5, 0.3][v] * (1.0 + 0.1 * noise(member, origin)));
        let weights = Weights::of((2, 3), &cases.iter().collect::<Vec<_>>()).overall;
        assert!(weights[0] == 0.0 && weights[1] > 0.0 && weights[2] > 0.9, "{weights:?}");
    }

    #[test]
    fn weights_by_steps_are_those_of_all_cases_where_a_few_say_little() {
        let weights = found(3, |member, origin, v| 2.0 + noise(member, 2 * v) + 0.02 * (v * origin) as f64);
        let [early, late] = weights.by_seen.weights.as_slice() else { panic!("{weights:?}") };
        assert!(early.iter().zip(late).all(|(a, b)| (a - b).abs() < 1e-12), "{weights:?}");
    }

    #[test]
    fn what_is_best_late_counts_late_and_what_is_best_early_early() {
        let weights = found(3, |member, origin, v| match (v, origin) {
            (0, _) => 2.0 + noise(member, 1),
            (1, 0) | (2, 1) => 0.5 * noise(member, 2),
            _ => 1.5 + noise(member, 3),
        });
        let [early, late] = weights.by_seen.weights.as_slice() else { panic!("{weights:?}") };
        assert_eq!(weights.by_seen.seen, [3, 6]);
        assert!(early[0] > 0.8 && early[1] < 0.2 && late[1] > 0.8 && late[0] < 0.2, "{weights:?}");
        let mean = |k: usize| 0.5 * (early[k] + late[k]);
        assert!((0..2).all(|k| (weights.overall[1 + k] - mean(k)).abs() < 1e-12), "{weights:?}");
        assert!((weights.overall.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    /// Errors after few steps were four times those after many, and decided alone.
    #[test]
    fn histories_with_large_errors_count_no_more_than_others() {
        let errors = |member: usize, origin: usize, v: usize| {
            1.0 + noise(member, v) + if v == origin { 0.2 } else { 0.0 }
        };
        let (even, early) =
            (found(2, errors), found(2, |member, origin, v| errors(member, origin, v) * [40.0, 1.0][origin]));
        for (a, b) in even.overall.iter().zip(&early.overall) {
            assert!((a - b).abs() < 1e-9, "{even:?} {early:?}");
        }
    }

    #[test]
    fn of_systems_that_hardly_count_the_first_stays() {
        assert_eq!(shares(&[0.02, 0.01]), [1.0, 0.0]);
        assert_eq!(shares(&[0.0, 0.0]), [1.0, 0.0]);
        assert_eq!(shares(&[0.3, 0.02, 0.1]), [0.3 / 0.4, 0.0, 0.1 / 0.4]);
        assert_eq!(without_negligible(vec![0.0, 0.02, 0.98])[1..], [0.0, 0.98 / 0.981]);
        // Parts beside nothing, and nobody to say anything.
        assert_eq!(Weights::of((2, 2), &[]).overall, [0.5, 0.5]);
        let alone = found(1, |_, _, _| 1.0);
        assert_eq!((alone.overall, alone.by_seen.at(4)), (vec![1.0], Some(vec![])));
    }
}
