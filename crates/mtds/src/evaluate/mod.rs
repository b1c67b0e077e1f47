//! Rolling-origin evaluation of anything that forecasts: models, baselines, rivals, an oracle.
//!
//! ```text
//! sequence ── first s steps seen ──→ forecast of the rest ──→ score of the sequence ──→ a row per s: mean ± s.e.
//! ```
//! What forecasts is a [`Forecaster`]: from a sequence and its origins to one forecast for each. Every table of scores in this
//! project is made of [`ScoreRow`]s, and every row of them here.

pub(crate) mod baselines;
pub(crate) mod follow;
mod row;
mod scoring;

use std::collections::BTreeMap;
use std::fmt;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use baselines::Baseline;
pub(crate) use baselines::{BaselineSettings, Learned, OfMembers};
pub(crate) use follow::{Following, FollowingEnsemble, Updates};
pub use row::ScoreRow;
pub(crate) use scoring::OURS;
pub use scoring::{Scored, Scoring, ScoringProgress};

pub use crate::predict::{CENTRAL_LEVELS, Coverage, Estimate, SequenceScore, score};

use crate::family::Family;
use crate::infer::Observer;
use crate::learn::Control;
use crate::predict::Forecast;
use crate::{Error, Result};

/// Sequences of each thread between two looks at the progress: a sequence may take a tenth of a second, and who stops the work waits no longer
/// than a second.
const EACH: usize = 2;

/// How much of a sequence is seen before the rest is forecast.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Seen {
    /// This many steps.
    Steps(usize),
    /// This share of its steps, rounded down.
    Share(f64),
}

impl Seen {
    /// Steps that are seen of a sequence of this length, or would be if it were long enough.
    fn steps_of(self, n_time: usize) -> usize {
        match self {
            Self::Steps(steps) => steps,
            Self::Share(share) => (share * n_time as f64) as usize,
        }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steps(steps) => write!(f, "{steps} steps"),
            Self::Share(share) => write!(f, "{:.0} % of each", 100.0 * share),
        }
    }
}

/// Where forecasts begin, and how far they go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origins {
    /// How much is seen before each forecast, rising.
    pub seen: Vec<Seen>,
    /// Most steps of a forecast; `None` to the end of the sequence.
    pub horizon: Option<usize>,
}

/// One forecast that is asked for: the steps seen before it, and its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Steps seen.
    pub seen: usize,
    /// Steps to forecast.
    pub n_time: usize,
}

impl Origins {
    /// After each of these numbers of steps, to the end of each sequence.
    #[must_use]
    pub fn after(steps: &[usize]) -> Self {
        Self { seen: steps.iter().map(|&steps| Seen::Steps(steps)).collect(), horizon: None }
    }

    /// After half of each sequence, to its end.
    #[must_use]
    pub fn half() -> Self {
        Self { seen: vec![Seen::Share(0.5)], horizon: None }
    }

    /// The origin of each `seen` in a sequence of this length; `None` where nothing is left to forecast.
    #[must_use]
    pub fn of(&self, n_time: usize) -> Vec<Option<Origin>> {
        let origin = |seen: &Seen| {
            let seen = seen.steps_of(n_time);
            let rest = n_time.checked_sub(seen).filter(|rest| *rest > 0)?;
            Some(Origin { seen, n_time: rest.min(self.horizon.unwrap_or(usize::MAX)) })
        };
        self.seen.iter().map(origin).collect()
    }

    /// Whether no sequence of the family is long enough for any of them.
    #[must_use]
    pub fn are_beyond(&self, family: &Family) -> bool {
        family.sequences().iter().all(|sequence| self.of(sequence.n_time()).iter().all(Option::is_none))
    }
}

/// Something that forecasts.
pub trait Forecaster: Sync {
    /// The forecasts of sequence `i` of a family, one per origin, in data units. Origins rise; what lies behind one may
    /// not be looked at for its forecast, inputs excepted.
    ///
    /// # Errors
    /// A sequence that cannot be forecast.
    fn forecasts(&self, family: &Family, i: usize, origins: &[Origin]) -> Result<Vec<Forecast>>;

    /// [`Forecaster::forecasts`] that ends when `observe` says so: at once, and in the middle where one sequence takes long.
    ///
    /// # Errors
    /// As [`Forecaster::forecasts`]; [`Error::Stopped`].
    fn forecasts_observed(
        &self,
        (family, i): (&Family, usize),
        origins: &[Origin],
        observe: &Observer<'_>,
    ) -> Result<Vec<Forecast>> {
        match observe() {
            Control::Stop => Err(Error::Stopped),
            Control::Continue => self.forecasts(family, i, origins),
        }
    }
}

impl<F: Fn(&Family, usize, &[Origin]) -> Result<Vec<Forecast>> + Sync> Forecaster for F {
    fn forecasts(&self, family: &Family, i: usize, origins: &[Origin]) -> Result<Vec<Forecast>> {
        self(family, i, origins)
    }
}

/// What forecasts from each origin on its own, whatever the others are.
pub fn from_each_origin(
    one: impl Fn(&Family, usize, Origin) -> Result<Forecast> + Sync,
) -> impl Fn(&Family, usize, &[Origin]) -> Result<Vec<Forecast>> + Sync {
    move |family, i, origins| origins.iter().map(|&origin| one(family, i, origin)).collect()
}

/// How one forecaster did from one origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// Means over sequences.
    pub row: ScoreRow,
    /// What they are means of: number of the sequence, and its score.
    pub sequences: Vec<(usize, SequenceScore)>,
}

impl Evaluated {
    /// The row over all sequences, in case there are others by now.
    pub(crate) fn over_all(&self) -> Option<ScoreRow> {
        ScoreRow::over(&self.row.method, self.row.seen, self.sequences.iter().map(|(_, score)| score))
    }

    /// The mean difference of the CRPS, this less another, over the sequences that both scored, and its standard error; `None` where there is
    /// none.
    ///
    /// Sequences that are hard for one are hard for the other, so that the difference is known better than either.
    #[must_use]
    pub fn crps_less(&self, other: &Self) -> Option<Estimate> {
        let others: BTreeMap<usize, f64> =
            other.sequences.iter().map(|(i, score)| (*i, score.crps)).collect();
        let differences = self.sequences.iter().filter_map(|(i, score)| Some(score.crps - others.get(i)?));
        Estimate::of(&differences.collect::<Vec<_>>())
    }
}

/// Scores `forecaster` on these sequences of a family; a result per origin that any of them has, with something observed
/// behind it.
///
/// `observer` is told sequences done, and may stop the work. Results do not depend on the number of threads.
///
/// # Errors
/// Those of the forecaster; [`Error::Shape`] for another number of forecasts than of origins, or one of other steps;
/// [`Error::Stopped`].
pub fn evaluate(
    (name, forecaster): (&str, &dyn Forecaster),
    (family, sequences): (&Family, &[usize]),
    origins: &Origins,
    observer: &mut dyn FnMut(usize) -> Control,
) -> Result<Vec<Evaluated>> {
    let mut found: Vec<Vec<(usize, SequenceScore)>> = vec![vec![]; origins.seen.len()];
    let mut done = 0;
    for batch in sequences.chunks(EACH * rayon::current_num_threads()) {
        let scored = batch.par_iter().map(|&i| score_one(forecaster, family, i, origins));
        for (&i, scores) in batch.iter().zip(scored.collect::<Result<Vec<_>>>()?) {
            for (of_origin, score) in found.iter_mut().zip(scores) {
                of_origin.extend(score.map(|score| (i, score)));
            }
        }
        done += batch.len();
        if observer(done) == Control::Stop {
            return Err(Error::Stopped);
        }
    }
    let evaluated = |(seen, sequences): (&Seen, Vec<(usize, SequenceScore)>)| {
        let row = ScoreRow::over(name, *seen, sequences.iter().map(|(_, score)| score))?;
        Some(Evaluated { row, sequences })
    };
    Ok(origins.seen.iter().zip(found).filter_map(evaluated).collect())
}

/// The scores of a sequence, one per origin.
fn score_one(
    forecaster: &dyn Forecaster,
    family: &Family,
    i: usize,
    origins: &Origins,
) -> Result<Vec<Option<SequenceScore>>> {
    let outputs = family.sequence(i).outputs();
    let wanted = origins.of(outputs.n_time());
    let there: Vec<Origin> = wanted.iter().flatten().copied().collect();
    let forecasts = match there.is_empty() {
        true => vec![],
        false => forecaster.forecasts(family, i, &there)?,
    };
    check_number("forecasts of a sequence", there.len(), forecasts.len())?;
    let one = |(origin, forecast): (&Origin, &Forecast)| {
        check_number("first step of a forecast", origin.seen, forecast.first_step())?;
        check_number("steps of a forecast", origin.n_time, forecast.n_time())?;
        let truth = outputs.slice(origin.seen..origin.seen + origin.n_time);
        score(forecast, truth.values(), &CENTRAL_LEVELS)
    };
    let mut scores = there.iter().zip(&forecasts).map(one);
    wanted.iter().map(|origin| origin.and_then(|_| scores.next()).transpose().map(Option::flatten)).collect()
}

fn check_number(what: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::shape(what, expected, found)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::DrawNoise;
    use crate::{Sequence, Signal};

    fn family(lengths: &[usize]) -> Family {
        let sequence = |&n: &usize| Sequence::new(format!("{n}"), Signal::column(vec![0.5; n])).unwrap();
        Family::new(lengths.iter().map(sequence).collect()).unwrap()
    }

    #[test]
    fn origins_leave_something_to_forecast() {
        let origins = Origins { horizon: Some(4), ..Origins::after(&[3, 5, 10]) };
        let pairs = |n| origins.of(n).into_iter().flatten().map(|o| (o.seen, o.n_time)).collect::<Vec<_>>();
        assert_eq!((pairs(3), pairs(6)), (vec![], vec![(3, 3), (5, 1)]));
        assert_eq!(pairs(30), [(3, 4), (5, 4), (10, 4)]);
        assert_eq!(Origins::half().of(7), [Some(Origin { seen: 3, n_time: 4 })]);
        let family = family(&[3, 6, 30]);
        assert!(!origins.are_beyond(&family) && Origins::after(&[30]).are_beyond(&family));
    }

    #[test]
    fn rows_are_means_over_the_sequences_that_reach_an_origin() {
        let family = family(&[3, 6, 30]);
        // Off by the number of the sequence.
        let off = from_each_origin(|_, i, o| {
            let means = vec![0.5 + i as f64; o.n_time];
            Forecast::new(o.seen, 1, vec![1.0], means, DrawNoise::Diagonal(vec![1.0]))
        });
        let found = evaluate(("off", &off), (&family, &[0, 1, 2]), &Origins::after(&[2, 5, 99]), &mut |_| {
            Control::Continue
        });
        let found = found.unwrap();
        let rows: Vec<_> = found.iter().map(|e| (e.row.seen, e.row.n_seq, e.row.rmse)).collect();
        assert_eq!(rows, [(Seen::Steps(2), 3, 1.0), (Seen::Steps(5), 2, 1.5)]);
        assert_eq!(found[1].sequences.iter().map(|(i, _)| *i).collect::<Vec<_>>(), [1, 2]);
        let stopped = evaluate(("off", &off), (&family, &[0]), &Origins::half(), &mut |_| Control::Stop);
        assert!(matches!(stopped, Err(Error::Stopped)));
    }

    #[test]
    fn differences_are_taken_within_sequences() {
        let family = family(&[3, 6, 30, 4]);
        // Off by this much and by the number of the sequence; the CRPS of a narrow forecast is its error.
        let off = |much: f64| {
            move |_: &Family, i: usize, origins: &[Origin]| {
                let one = |o: &Origin| {
                    let noise = DrawNoise::Diagonal(vec![1e-9]);
                    Forecast::new(
                        o.seen,
                        1,
                        vec![1.0],
                        vec![0.5 + much * (1 + i * i) as f64; o.n_time],
                        noise,
                    )
                };
                origins.iter().map(one).collect::<Result<Vec<_>>>()
            }
        };
        let scored = |much: f64, sequences: &[usize]| {
            let found =
                evaluate(("off", &off(much)), (&family, sequences), &Origins::after(&[2]), &mut |_| {
                    Control::Continue
                });
            found.unwrap().remove(0)
        };
        let (ours, theirs) = (scored(1.0, &[0, 1, 2]), scored(3.0, &[1, 2, 3]));
        // Sequences 1 and 2: −2 · 2 and −2 · 5.
        let found = ours.crps_less(&theirs).unwrap();
        assert!(
            (found.mean + 7.0).abs() < 1e-7 && (found.std_error.unwrap() - 3.0).abs() < 1e-7 && found.n == 2
        );
        let back = theirs.crps_less(&ours).unwrap();
        assert!((back.mean - 7.0).abs() < 1e-7);
        assert!(ours.crps_less(&scored(1.0, &[3])).is_none());
    }

    /// A forecast of zeros.
    fn zeros(first_step: usize, n_time: usize) -> Result<Forecast> {
        Forecast::new(first_step, 1, vec![1.0], vec![0.0; n_time], DrawNoise::Diagonal(vec![1.0]))
    }

    #[test]
    fn forecasts_of_other_steps_than_asked_for_are_refused() {
        let refusal = |forecaster: &dyn Forecaster| {
            let origins = Origins::after(&[2, 5, 99]);
            let found =
                evaluate(("a", forecaster), (&family(&[9]), &[0]), &origins, &mut |_| Control::Continue);
            found.unwrap_err().to_string()
        };
        let early = from_each_origin(|_, _, o| zeros(o.seen - 1, o.n_time));
        assert_eq!(refusal(&early), "first step of a forecast: expected 2, found 1");
        let short = from_each_origin(|_, _, o| zeros(o.seen, o.n_time - 1));
        assert_eq!(refusal(&short), "steps of a forecast: expected 7, found 6");
        let lazy = |_: &Family, _: usize, origins: &[Origin]| {
            origins[1..].iter().map(|o| zeros(o.seen, o.n_time)).collect()
        };
        assert_eq!(refusal(&lazy), "forecasts of a sequence: expected 2, found 1");
        let eager = |_: &Family, _: usize, origins: &[Origin]| {
            [origins[0]].iter().chain(origins).map(|o| zeros(o.seen, o.n_time)).collect()
        };
        assert_eq!(refusal(&eager), "forecasts of a sequence: expected 2, found 3");
    }

    #[test]
    fn scores_are_those_of_the_formulas() {
        let values: Vec<f64> = (0..30).map(|t| 0.9 * (0.7 * f64::from(t)).sin()).collect();
        let family = Family::new(vec![Sequence::new("a", Signal::column(values.clone())).unwrap()]).unwrap();
        let zero = from_each_origin(|_, _, o| {
            let noise = DrawNoise::Diagonal(vec![0.4]);
            Forecast::new(o.seen, 1, vec![1.0], vec![0.0; o.n_time], noise)
        });
        let found = evaluate(("zero", &zero), (&family, &[0]), &Origins::after(&[10, 20]), &mut |_| {
            Control::Continue
        });
        for (Evaluated { row, .. }, seen) in found.unwrap().iter().zip([10, 20]) {
            let future = &values[seen..];
            let square = future.iter().map(|y| y * y).sum::<f64>() / future.len() as f64;
            let nll = 0.5 * square / 0.16 + 0.4f64.ln() + 0.5 * (2.0 * std::f64::consts::PI).ln();
            assert!((row.rmse - square.sqrt()).abs() < 1e-12 && (row.nll - nll).abs() < 1e-12);
            // The central 80 % of N(0, 0.4²) ends at 1.2816 deviations.
            let inside = future.iter().filter(|y| y.abs() <= 0.4 * 1.281_551_565_5).count();
            assert!((row.cover80 - inside as f64 / future.len() as f64).abs() < 1e-12);
            assert!(row.cover50 <= row.cover80 && row.cover80 <= row.cover95 && row.crps > 0.0);
            assert_eq!((row.n_seq, row.rmse_se), (1, None));
        }
    }

    #[test]
    fn rows_of_repetitions_count_each_once() {
        let row = |n_seq: usize, rmse: f64| ScoreRow {
            n_seq,
            rmse,
            ..ScoreRow::over("a", Seen::Steps(3), [score_of_zeros()].iter()).unwrap()
        };
        let found = ScoreRow::over_repetitions(&[row(10, 1.0), row(2, 3.0)]).unwrap();
        assert_eq!((found.n_seq, found.rmse, found.rmse_se), (12, 2.0, Some(1.0)));
        assert_eq!((found.seen, found.method.as_str(), found.nll_se), (Seen::Steps(3), "a", Some(0.0)));
        assert!(ScoreRow::over_repetitions(&[]).is_none());
    }

    fn score_of_zeros() -> SequenceScore {
        score(&zeros(3, 2).unwrap(), &[0.1, -0.2], &CENTRAL_LEVELS).unwrap().unwrap()
    }

    #[test]
    fn what_was_seen_is_a_number_in_files() {
        let text = serde_json::to_string(&[Seen::Steps(20), Seen::Share(0.5)]).unwrap();
        assert_eq!(text, "[20,0.5]");
        assert_eq!(serde_json::from_str::<Vec<Seen>>(&text).unwrap(), [Seen::Steps(20), Seen::Share(0.5)]);
    }
}
