//! How wide forecasts have to be: by what they made of members that nothing that forecasts had learned from.
//!
//! ```text
//! r_v = (y − m) / (q₉₀ − m)  or  (m − y) / (m − q₁₀)      how far a value lies from the mean of its forecast, in halves of the 80 % interval
//! log f(n, m) = a_n + b(m)                                n: steps seen;  b: linear between knots, for each output its own
//! minimises Σ_v w_v ρ(log r_v − log f)                    ρ(u) = 0.8 u where u > 0, else −0.2 u      [1]
//! ```
//! The 80 % interval of a forecast that is stretched by f around its mean holds a value where r ≤ f, so that f is the 80 % quantile of r, given n and
//! m: a regression of quantiles, and intervals that hold as often as they say on members like those that were asked [2]. A few members that are far from
//! everything count as outside, however far they are. The values of a case together count 1. Of N members the quantile 0.8 (N + 1) / N is taken, since the next one
//! may lie beyond all of them [2]; 0.9 at most, because of four members it would be the worst value of all.
//!
//! b is used where there are eight members or more and it describes members that did not decide on it better, by more than one standard error; without it, a is drawn towards 0 by how surely 80 %
//! intervals held another share than 80 % (the rule of James and Stein).
//!
//! References: \[1\] Koenker & Bassett (1978), *Regression Quantiles*; \[2\] Romano, Patterson & Candès (2019), *Conformalized Quantile Regression*.

use rayon::prelude::*;

use super::comparison::{Case, Value};
use crate::model::{Levels, Widths};
use crate::predict::Estimate;

/// What an interval should hold.
const HELD: f64 = 0.8;
/// The highest quantile that is taken for it, and fewest members that tell widths of levels apart.
const HIGHEST: f64 = 0.9;
const FEWEST: usize = 8;
/// Cases that count as much as the belief in one width for all numbers of steps, and members as much as that in none.
const BELIEF: (f64, f64) = (8.0, 2.0);
/// Knots lie at these quantiles of the means of forecasts, where these differ.
const KNOTS: [f64; 3] = [0.1, 0.5, 0.9];
/// Most values of a case: neighbours tell much the same.
const MOST_VALUES: usize = 40;
/// Logarithms of r and of factors go from minus this to this.
const WIDEST: f64 = 3.0;
/// Rounds over all factors, and parts of the members of which each judges factors that the others found.
const ROUNDS: usize = 6;
const PARTS: usize = 3;
/// Least standard deviation of the share held, from member to member.
const LEAST_STD: f64 = 0.1;

/// A value that was forecast.
struct Outcome {
    /// Which of the members and of the numbers of steps seen.
    member: usize,
    seen: usize,
    /// Where its forecast lies among the knots of its output: the knot below, and the share of the next.
    output: usize,
    place: (usize, f64),
    log_ratio: f64,
    weight: f64,
}

/// Logarithms of factors: by steps seen, and by output and knot.
struct Logs {
    by_seen: Vec<f64>,
    by_level: Vec<Vec<f64>>,
}

/// How many there are: numbers of steps seen, and knots by output; and the quantile that is taken.
struct Sizes {
    n_seen: usize,
    n_knots: Vec<usize>,
    quantile: f64,
}

/// The widths of forecasts that are mixed with these weights by steps seen, by these cases.
pub(super) fn of(weights: &(dyn Fn(usize) -> Vec<f64> + Sync), cases: &[&Case]) -> Widths {
    let mut seen: Vec<usize> = cases.iter().map(|case| case.seen).collect();
    seen.sort_unstable();
    seen.dedup();
    let mut members: Vec<(usize, usize)> = cases.iter().map(|case| (case.group, case.member)).collect();
    members.sort_unstable();
    members.dedup();
    if members.is_empty() {
        return Widths::default();
    }
    let of_case = |case: &&Case| {
        let number = |known: Result<usize, usize>| known.expect("all were listed");
        let member = number(members.binary_search(&(case.group, case.member)));
        let at = number(seen.binary_search(&case.seen));
        let found = outcomes(&weights(case.seen), case).into_iter();
        found.map(|(level, one)| (level, Outcome { member, seen: at, ..one })).collect()
    };
    let found: Vec<Vec<(f64, Outcome)>> = cases.par_iter().map(of_case).collect();
    let mut found: Vec<(f64, Outcome)> = found.into_iter().flatten().collect();
    let knots = knots(&found);
    found.iter_mut().for_each(|(level, one)| one.place = place(&knots[one.output], *level));
    let outcomes: Vec<&Outcome> = found.iter().map(|(_, one)| one).collect();
    let n_members = members.len() as f64;
    let quantile = (HELD * (n_members + 1.0) / n_members).min(HIGHEST);
    let sizes = Sizes { n_seen: seen.len(), n_knots: knots.iter().map(Vec::len).collect(), quantile };
    let few = n_members / (n_members + BELIEF.1);
    let (logs, levels) = match levels_help(&outcomes, members.len(), &sizes) {
        true => (Logs::with_levels(&outcomes, &sizes).drawn(few), knots),
        false => {
            let sure = sureness(&outcomes, members.len(), sizes.n_seen);
            (Logs::plain(&outcomes, &sizes).drawn(few * sure), vec![])
        }
    };
    let exp = |logs: Vec<f64>| -> Vec<f64> { logs.into_iter().map(f64::exp).collect() };
    let levels = levels.into_iter().zip(logs.by_level).map(|(at, logs)| Levels { at, factors: exp(logs) });
    Widths { levels: levels.collect(), factors: exp(logs.by_seen), seen }
}

/// Values of a case with the means of their forecasts; member, steps and place are still to be said.
fn outcomes(weights: &[f64], case: &Case) -> Vec<(f64, Outcome)> {
    let stride = case.values.len().div_ceil(MOST_VALUES);
    let weight = 1.0 / case.values.len().div_ceil(stride) as f64;
    let outcome = |value: &Value| {
        let forecast = value.mixed(weights);
        let mean = forecast.mean();
        let edge = |q: f64| forecast.quantile(q).expect("a level between 0 and 1") - mean;
        let (off, far) = match value.truth - mean {
            off if off > 0.0 => (off, edge(0.5 + 0.5 * HELD)),
            off => (-off, -edge(0.5 - 0.5 * HELD)),
        };
        // Of a forecast so skewed that its mean lies outside of the interval, no factor holds what is beyond the mean.
        let log_ratio = if far > 0.0 { (off / far).ln().clamp(-WIDEST, WIDEST) } else { WIDEST };
        (mean, Outcome { member: 0, seen: 0, output: value.output, place: (0, 0.0), log_ratio, weight })
    };
    case.values.iter().step_by(stride).map(outcome).collect()
}

/// By output, quantiles of the means of forecasts.
fn knots(found: &[(f64, Outcome)]) -> Vec<Vec<f64>> {
    let d_obs = found.iter().map(|(_, one)| one.output + 1).max().unwrap_or(0);
    let of_output = |c: usize| {
        let mut means: Vec<f64> =
            found.iter().filter(|(_, one)| one.output == c).map(|(mean, _)| *mean).collect();
        means.sort_by(f64::total_cmp);
        let at = |q: f64| means.get((q * means.len() as f64) as usize).copied();
        let mut knots: Vec<f64> = KNOTS.iter().filter_map(|&q| at(q)).collect();
        knots.dedup();
        knots
    };
    (0..d_obs).map(of_output).collect()
}

/// The knot below a level, and the share of the one above.
fn place(knots: &[f64], level: f64) -> (usize, f64) {
    match knots.partition_point(|&knot| knot <= level) {
        0 => (0, 0.0),
        above if above == knots.len() => (above - 1, 0.0),
        above => (above - 1, (level - knots[above - 1]) / (knots[above] - knots[above - 1])),
    }
}

/// Whether factors that depend on the level, found by other members, describe members better.
fn levels_help(outcomes: &[&Outcome], n_members: usize, sizes: &Sizes) -> bool {
    let mut gains = vec![0.0; n_members];
    for part in 0..PARTS {
        let others: Vec<&Outcome> =
            outcomes.iter().copied().filter(|one| one.member % PARTS != part).collect();
        let (plain, levels) = (Logs::plain(&others, sizes), Logs::with_levels(&others, sizes));
        for one in outcomes.iter().filter(|one| one.member % PARTS == part) {
            gains[one.member] += one.weight * (plain.loss(one) - levels.loss(one));
        }
    }
    let gain = Estimate::of(&gains).filter(|_| n_members >= FEWEST);
    gain.is_some_and(|gain| gain.std_error.is_some_and(|error| gain.mean > error))
}

/// How surely intervals hold another share than they say: 1 − k / χ², 0 at least, of k numbers of steps seen.
fn sureness(outcomes: &[&Outcome], n_members: usize, n_seen: usize) -> f64 {
    let mut held = vec![vec![(0.0, 0.0); n_members]; n_seen];
    for one in outcomes {
        let (weight, inside) = &mut held[one.seen][one.member];
        *weight += one.weight;
        *inside += if one.log_ratio <= 0.0 { one.weight } else { 0.0 };
    }
    let of_steps = |members: &Vec<(f64, f64)>| {
        let known = members.iter().filter(|(weight, _)| *weight > 0.0);
        let shares: Vec<f64> = known.map(|(weight, inside)| inside / weight - HELD).collect();
        let least = LEAST_STD / (shares.len() as f64).sqrt();
        Estimate::of(&shares).map_or(0.0, |off| {
            let error = off.std_error.unwrap_or(f64::INFINITY).max(least);
            (off.mean / error).powi(2)
        })
    };
    let chi_squared: f64 = held.iter().map(of_steps).sum();
    (1.0 - n_seen as f64 / chi_squared.max(f64::MIN_POSITIVE)).max(0.0)
}

impl Outcome {
    /// How much a knot of its output counts in its factor.
    fn share_of(&self, knot: usize) -> f64 {
        match self.place {
            (below, share) if below == knot => 1.0 - share,
            (below, share) if below + 1 == knot => share,
            _ => 0.0,
        }
    }
}

impl Logs {
    fn zero(sizes: &Sizes) -> Self {
        Self {
            by_seen: vec![0.0; sizes.n_seen],
            by_level: sizes.n_knots.iter().map(|&n| vec![0.0; n]).collect(),
        }
    }

    /// By steps seen alone.
    fn plain(outcomes: &[&Outcome], sizes: &Sizes) -> Self {
        let mut logs = Self::zero(sizes);
        logs.find_by_seen(outcomes, sizes.quantile);
        logs
    }

    /// One after the other, each given the rest.
    fn with_levels(outcomes: &[&Outcome], sizes: &Sizes) -> Self {
        let mut logs = Self::zero(sizes);
        for _ in 0..ROUNDS {
            logs.find_by_seen(outcomes, sizes.quantile);
            logs.find_by_level(outcomes, sizes.quantile);
        }
        logs
    }

    fn drawn(mut self, share: f64) -> Self {
        let all = self.by_level.iter_mut().flatten().chain(&mut self.by_seen);
        all.for_each(|log| *log *= share);
        self
    }

    /// log f of the forecast of a value.
    fn at(&self, one: &Outcome) -> f64 {
        let of_output = self.by_level[one.output].iter().enumerate();
        self.by_seen[one.seen] + of_output.map(|(knot, log)| one.share_of(knot) * log).sum::<f64>()
    }

    fn loss(&self, one: &Outcome) -> f64 {
        let off = one.log_ratio - self.at(one);
        if off > 0.0 { HELD * off } else { (HELD - 1.0) * off }
    }

    /// Each from its own cases, where all together count as much as some of them.
    fn find_by_seen(&mut self, outcomes: &[&Outcome], q: f64) {
        let rest: Vec<(f64, f64)> = outcomes
            .iter()
            .map(|one| (one.log_ratio - self.at(one) + self.by_seen[one.seen], one.weight))
            .collect();
        // The values of a case count 1 together.
        let n_cases: f64 = rest.iter().map(|(_, weight)| weight).sum();
        for seen in 0..self.by_seen.len() {
            let weighted = rest.iter().zip(outcomes).map(|((log, weight), one)| {
                let own = if one.seen == seen { 1.0 } else { 0.0 };
                (*log, weight * (own + BELIEF.0 / n_cases))
            });
            self.by_seen[seen] = quantile(weighted.collect(), q).clamp(-WIDEST, WIDEST);
        }
    }

    fn find_by_level(&mut self, outcomes: &[&Outcome], q: f64) {
        for output in 0..self.by_level.len() {
            for knot in 0..self.by_level[output].len() {
                let concerned =
                    outcomes.iter().filter(|one| one.output == output && one.share_of(knot) > 0.0);
                let before = self.by_level[output][knot];
                let weighted = concerned.map(|one| {
                    let share = one.share_of(knot);
                    ((one.log_ratio - self.at(one)) / share + before, one.weight * share)
                });
                self.by_level[output][knot] = quantile(weighted.collect(), q).clamp(-WIDEST, WIDEST);
            }
        }
    }
}

/// The least value that, with all below it, has the share `q` of the weight; 0 where there are none.
fn quantile(mut weighted: Vec<(f64, f64)>, q: f64) -> f64 {
    weighted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
    let mut below = 0.0;
    let reaches = |&&(_, weight): &&(f64, f64)| {
        below += weight;
        below >= q * total
    };
    let found = weighted.iter().find(reaches).or(weighted.last());
    found.map_or(0.0, |(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{Forecaster, Origin, from_each_origin};
    use crate::family::{Family, Sequence, Signal};
    use crate::predict::{DrawNoise, Forecast};
    use crate::workflow::comparison::{cases, origins};

    /// Thirty members of twelve steps around levels from 1 to 30, with deviations that are as large as `std_dev` says of the level.
    fn family(std_dev: fn(f64) -> f64) -> Family {
        let value = |i: usize, t: usize| {
            let level = (1 + i) as f64;
            level + std_dev(level) * (((7 * i + 3 * t) % 5) as f64 - 2.0)
        };
        let one = |i: usize| {
            let values = (0..12).map(|t| value(i, t)).collect();
            Sequence::new(format!("{i}"), Signal::column(values)).unwrap()
        };
        Family::new((0..30).map(one).collect()).unwrap()
    }

    /// Knows the level of a member; says that deviations are 5.
    fn forecaster() -> impl Forecaster {
        from_each_origin(|_: &Family, i: usize, o: Origin| {
            let noise = DrawNoise::Diagonal(vec![5.0]);
            Forecast::new(o.seen, 1, vec![1.0], vec![(1 + i) as f64; o.n_time], noise)
        })
    }

    fn found(std_dev: fn(f64) -> f64) -> Widths {
        let members: Vec<(usize, usize)> = (0..30).map(|i| (i, i % 3)).collect();
        let forecaster = forecaster();
        let family = family(std_dev);
        let cases = cases(&[&forecaster], &family, &members, (&origins(&family), &[2.0])).unwrap();
        of(&|_| vec![1.0], &cases.iter().collect::<Vec<_>>())
    }

    #[test]
    fn noise_that_grows_with_the_level_is_as_wide_as_it_is() {
        let widths = found(|level| 0.2 * level);
        let [levels] = widths.levels.as_slice() else { panic!("{widths:?}") };
        assert!(levels.at.windows(2).all(|pair| pair[0] < pair[1]) && levels.at.len() == 3);
        // 2 · 0.2 · level, the larger of the two sizes of deviations, in 6.4, half the interval: 0.25 at level 4, 1.7 at level 27.
        let at = |k: usize| widths.at(6) * levels.factors[k];
        assert!(at(0) < 0.35 && at(2) > 1.2 && at(1) > 1.5 * at(0) && at(2) > 1.2 * at(1), "{widths:?}");
    }

    /// Four members whose noise grows with their level: nobody can tell that from one that lies far out.
    #[test]
    fn four_members_tell_no_widths_of_levels() {
        let members: Vec<(usize, usize)> = (0..4).map(|i| (7 * i, i)).collect();
        let forecaster = forecaster();
        let family = family(|level| 0.2 * level);
        let cases = cases(&[&forecaster], &family, &members, (&origins(&family), &[2.0])).unwrap();
        let widths = of(&|_| vec![1.0], &cases.iter().collect::<Vec<_>>());
        assert!(widths.levels.is_empty() && widths.factors.iter().all(|f| *f < 2.0), "{widths:?}");
    }

    #[test]
    fn noise_that_is_everywhere_the_same_has_one_width() {
        let widths = found(|_| 1.0);
        assert!(widths.levels.is_empty(), "{widths:?}");
        assert!(widths.factors.iter().all(|f| (0.25..0.4).contains(f)), "2 / 6.4: {widths:?}");
    }

    #[test]
    fn levels_lie_between_knots() {
        let knots = [1.0, 2.0, 4.0];
        assert_eq!(
            [0.0, 1.0, 3.0, 4.0, 9.0].map(|level| place(&knots, level)),
            [(0, 0.0), (0, 0.0), (1, 0.5), (2, 0.0), (2, 0.0)]
        );
        assert_eq!(of(&|_| vec![1.0], &[]), Widths::default());
    }
}
