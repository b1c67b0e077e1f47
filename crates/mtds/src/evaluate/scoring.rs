//! A model beside baselines: the same sequences from the same origins, in one list of rows, and how far apart they are.

use super::{Baseline, BaselineSettings, Estimate, Evaluated, Forecaster, Origin, Origins, evaluate};
use crate::family::Family;
use crate::infer::Observer;
use crate::learn::Control;
use crate::model::Model;
use crate::predict::Forecast;
use crate::{Error, Result};

/// The name of the model in rows; a baseline has its [`Baseline::title`].
pub(crate) const OURS: &str = "this model";

/// What is scored: forecasts of every sequence of a family, by a model and by baselines.
#[derive(Debug, Clone)]
pub struct Scoring<'a> {
    /// The model.
    pub model: &'a Model,
    /// The sequences.
    pub family: &'a Family,
    /// What baselines learn from.
    pub training: Option<&'a Family>,
    /// What the model is compared with; each counts once.
    pub against: &'a [Baseline],
    /// Where forecasts begin, and how far they go.
    pub origins: Origins,
    /// Units of the recurrent network among the baselines, and most steps of its learning; [`Scoring::NETWORK`] unless there is a reason.
    pub network: (usize, u64),
    /// Seed of all randomness.
    pub seed: u64,
}

/// How one forecaster did from one origin, and how far the model is from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// Who forecast; `None` for the model.
    pub baseline: Option<Baseline>,
    /// Scores, as a row and by sequence.
    pub evaluated: Evaluated,
    /// The model's CRPS less that of this baseline, over the same sequences; `None` for the model itself, and where the two share none.
    pub model_less: Option<Estimate>,
}

/// How far a scoring is: a forecaster begins to learn, and to forecast, with nothing done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoringProgress {
    /// Who learns or forecasts; `None` for the model.
    pub baseline: Option<Baseline>,
    /// Whether it learns; otherwise it forecasts.
    pub is_learning: bool,
    /// Steps, or sequences, done.
    pub done: u64,
    /// All of them; 0 where that is not known yet.
    pub all: u64,
    /// The bound that learning reached, where it is known.
    pub bound: Option<f64>,
}

impl Scoring<'_> {
    /// Units of the recurrent network among the baselines, and most steps of its learning.
    pub const NETWORK: (usize, u64) = BaselineSettings::NETWORK;

    /// Scores by origin, in each the model before baselines, these in the order of [`Baseline::ALL`].
    ///
    /// `observer` is told how far it is, `go_on` is asked within sequences that take long; either may stop the work. Results do not depend
    /// on the number of threads.
    ///
    /// # Errors
    /// [`Model::check_columns`]; sequences that the model cannot take; baselines that find nothing to learn from; [`Error::Stopped`].
    pub fn run(
        &self,
        observer: &mut dyn FnMut(&ScoringProgress) -> Control,
        go_on: &Observer<'_>,
    ) -> Result<Vec<Scored>> {
        self.model.check_columns(self.family)?;
        let own = self.model.following(self.seed)?;
        let ours = self.evaluated(None, &own, (&mut *observer, go_on))?;
        let settings = BaselineSettings {
            network: self.network,
            ..BaselineSettings::of((&self.origins, self.family), self.seed)
        };
        let of_model =
            |evaluated: &Evaluated| Scored { baseline: None, evaluated: evaluated.clone(), model_less: None };
        let mut all: Vec<Scored> = ours.iter().map(of_model).collect();
        for baseline in Baseline::ALL.into_iter().filter(|one| self.against.contains(one)) {
            let begins =
                ScoringProgress { baseline: Some(baseline), is_learning: true, done: 0, all: 0, bound: None };
            if observer(&begins) == Control::Stop {
                return Err(Error::Stopped);
            }
            let learned = baseline.learn(&self.model.system, self.training, &settings, &mut |heard| {
                observer(&ScoringProgress {
                    done: heard.step,
                    all: heard.steps,
                    bound: heard.bound,
                    ..begins
                })
            })?;
            let theirs = self.evaluated(Some(baseline), &learned, (&mut *observer, go_on))?;
            all.extend(theirs.into_iter().map(|theirs| {
                let same = ours.iter().find(|ours| ours.row.seen == theirs.row.seen);
                let model_less = same.and_then(|ours| ours.crps_less(&theirs));
                Scored { baseline: Some(baseline), evaluated: theirs, model_less }
            }));
        }
        all.sort_by_key(|one| self.origins.seen.iter().position(|seen| *seen == one.evaluated.row.seen));
        Ok(all)
    }

    fn evaluated(
        &self,
        baseline: Option<Baseline>,
        forecaster: &dyn Forecaster,
        (observer, go_on): (&mut dyn FnMut(&ScoringProgress) -> Control, &Observer<'_>),
    ) -> Result<Vec<Evaluated>> {
        let every: Vec<usize> = (0..self.family.n_seq()).collect();
        let mut tell = |done: usize| {
            let (done, all) = (done as u64, every.len() as u64);
            observer(&ScoringProgress { baseline, is_learning: false, done, all, bound: None })
        };
        if tell(0) == Control::Stop {
            return Err(Error::Stopped);
        }
        let stoppable = Stoppable(forecaster, go_on);
        let name = baseline.map_or(OURS, Baseline::title);
        evaluate((name, &stoppable), (self.family, &every), &self.origins, &mut tell)
    }
}

/// A forecaster that ends once the caller wants it to: within a sequence where that takes long, else before the next, and not after a batch.
struct Stoppable<'a>(&'a dyn Forecaster, &'a Observer<'a>);

impl Forecaster for Stoppable<'_> {
    fn forecasts(&self, family: &Family, i: usize, origins: &[Origin]) -> Result<Vec<Forecast>> {
        self.0.forecasts_observed((family, i), origins, self.1)
    }
}
