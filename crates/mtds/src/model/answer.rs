//! Questions and answers: forecasts, trackers, new sequences, scores.

use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

use super::infer::{Inferred, Under};
use super::{Companion, Follower, FollowingModel, Member, Model, ModelTracker};
use crate::evaluate::{Evaluated, OURS, Origins, evaluate};
use crate::family::{Family, Sequence, Signal};
use crate::infer::{Candidate, Ensemble, Method, Observer, Online};
use crate::learn::Control;
use crate::predict::{CodePath, Forecast, MAX_DRAWS, Surprise};
use crate::random::{Random, Stream, stream};
use crate::{Error, Result};

/// Outcomes drawn from every forecast: their mean is off by a tenth of a deviation, a hundredth of the variance.
const SURPRISE_DRAWS: usize = 100;

impl Model {
    /// Where a sequence is going: the `horizon` steps after its outputs, in data units.
    ///
    /// Its inputs, where the model has some, reach to the end of the horizon. The same question has the same answer: random
    /// numbers come from the seed of the model.
    ///
    /// # Errors
    /// Outputs or inputs that do not fit the model; inputs that end too soon; no steps asked for.
    pub fn forecast(&self, history: &Sequence, horizon: usize) -> Result<Forecast> {
        let seed = self.provenance.seed;
        let given = (history.outputs(), history.inputs());
        self.forecast_with(
            given,
            horizon,
            Method::AdaptiveImportance,
            [stream(seed, Stream::Infer(0)), stream(seed, Stream::Forecast(0))],
        )
        .map(|(forecast, _)| forecast)
    }

    /// [`Model::forecast`] by any method, with random numbers for the posterior and for the forecast; also what is known of the code.
    ///
    /// # Errors
    /// As [`Model::forecast`] and [`Model::infer`].
    pub fn forecast_with(
        &self,
        (outputs, inputs): (&Signal, Option<&Signal>),
        horizon: usize,
        method: Method,
        random: [Random; 2],
    ) -> Result<(Forecast, Inferred)> {
        self.forecast_observed((outputs, inputs), horizon, method, random, &|| Control::Continue)
    }

    /// [`Model::forecast_with`] that ends when `observe` says so, as [`Model::infer_observed`] does.
    ///
    /// # Errors
    /// As [`Model::forecast_with`]; [`Error::Stopped`].
    pub fn forecast_observed(
        &self,
        (outputs, inputs): (&Signal, Option<&Signal>),
        horizon: usize,
        method: Method,
        [of_posterior, mut of_forecast]: [Random; 2],
        observe: &Observer<'_>,
    ) -> Result<(Forecast, Inferred)> {
        let given = (outputs, inputs);
        let one = |of: Under<'_>, posterior: Random, mut forecast: Random| {
            let inferred = self.infer_under(of, given, method, MAX_DRAWS, (posterior, observe))?;
            let ahead = of.system.forecast(&inferred.posterior, outputs, inputs, horizon, &mut forecast)?;
            Ok((ahead, inferred))
        };
        if self.companions.is_empty() || method == Method::Amortised {
            let (own, inferred) = one(self.own(), of_posterior, of_forecast)?;
            return Ok((self.blend.of(own, outputs)?, inferred));
        }
        let mut parts = vec![(self.own(), 1.0, of_posterior.clone(), of_forecast.clone())];
        let mut seeds = of_posterior;
        for Companion { system, online, weight, .. } in &self.companions {
            let (posterior, forecast) = (Random::from_rng(&mut seeds), Random::from_rng(&mut of_forecast));
            parts.push((Under { system, online }, *weight, posterior, forecast));
        }
        let found = parts.into_par_iter().map(|(of, weight, a, b)| Ok((weight, one(of, a, b)?)));
        let mut found = found.collect::<Result<Vec<_>>>()?;
        let inferred = found[0].1.1.clone();
        let forecasts = found.drain(..).map(|(weight, (forecast, _))| (weight, forecast));
        Ok((self.blend.of(Forecast::mixed(forecasts.collect())?, outputs)?, inferred))
    }

    /// All that forecasts, ready to follow sequences as `online` says.
    ///
    /// # Errors
    /// Inference settings that do not fit the systems.
    pub fn follower(&self, online: &Online) -> Result<Follower> {
        let own = Candidate::new(self.system.clone(), online.clone());
        let others = self.companions.iter().map(|companion| Candidate {
            model: companion.system.clone(),
            online: Online { noise: companion.online.noise, ..online.clone() },
            weight: companion.weight,
        });
        // Weights were found by forecasts of many members; the evidence of one sequence would overrule them all.
        let ensemble = Ensemble::new(std::iter::once(own).chain(others).collect())?.tempered(0.0)?;
        Ok(Follower::new(ensemble, self.blend.clone()))
    }

    /// A tracker before its first observation; number `i` of many has random numbers of its own. Trackers share the model's
    /// parameters.
    ///
    /// # Errors
    /// Inference settings that do not fit the system.
    pub fn track(&self, i: u64) -> Result<ModelTracker> {
        self.follower(&self.online)?.start(stream(self.provenance.seed, Stream::Tracker(i)))
    }

    /// The member of this id.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the ids that there are.
    pub fn member(&self, id: &str) -> Result<&Member> {
        self.members.iter().find(|member| member.id == id).ok_or_else(|| Error::Unknown {
            kind: "member",
            name: id.to_owned(),
            known: self.members.iter().map(|member| member.id.as_str()).collect::<Vec<_>>().join(", "),
        })
    }

    /// The mean sequence of a code; data units.
    ///
    /// # Shapes
    /// `code`: d_code; `inputs`: at least n_time × d_input, needed if the model has inputs.
    ///
    /// # Errors
    /// A code or inputs that do not fit.
    pub fn generate(&self, code: &[f64], inputs: Option<&Signal>, n_time: usize) -> Result<Signal> {
        self.system.generate(code, inputs, n_time)
    }

    /// The mean sequence of a system that changes along a path of codes.
    ///
    /// # Errors
    /// As [`Model::generate`].
    pub fn morph(&self, path: &CodePath, inputs: Option<&Signal>, n_time: usize) -> Result<Signal> {
        self.system.morph(path, inputs, n_time)
    }

    /// The inputs of `content`, answered with the code of `style`: that of the member of this id, or else what its outputs tell.
    ///
    /// # Errors
    /// A model without inputs; content without inputs; a style that the model cannot take.
    pub fn transfer(&self, content: &Sequence, style: &Sequence) -> Result<Signal> {
        let Some(inputs) = content.inputs().filter(|_| self.system.d_input() > 0) else {
            let why = "found no inputs, so that a sequence is all style; generate with the code of the style instead";
            return Err(Error::setting("content", why));
        };
        let code = match self.member(style.id()) {
            Ok(member) => member.code_mean.clone(),
            Err(_) => {
                let (given, random) =
                    ((style.outputs(), style.inputs()), stream(self.provenance.seed, Stream::Infer(0)));
                let inferred = self.infer(given, Method::AdaptiveImportance, MAX_DRAWS, random)?;
                inferred.posterior.mean()[..self.system.d_code()].to_vec()
            }
        };
        self.generate(&code, Some(inputs), inputs.n_time())
    }

    /// What forecasts with this model in an evaluation, with random numbers of this seed.
    ///
    /// # Errors
    /// As [`Model::follower`].
    pub fn following(&self, seed: u64) -> Result<FollowingModel> {
        Ok(self.follower(&self.online)?.evaluated((seed, Stream::Evaluate)))
    }

    /// Scores of its forecasts of every sequence of a family, from each origin.
    ///
    /// # Errors
    /// [`Model::check_columns`]; sequences that the model cannot take.
    pub fn evaluate(&self, family: &Family, origins: &Origins) -> Result<Vec<Evaluated>> {
        self.check_columns(family)?;
        let every: Vec<usize> = (0..family.n_seq()).collect();
        let following = self.following(self.provenance.seed)?;
        evaluate((OURS, &following), (family, &every), origins, &mut |_| Control::Continue)
    }

    /// How surprising sequence `i` of a family is: its steps are forecast a few at a time, as many as there are between two
    /// updates, and what came is compared with what was expected.
    ///
    /// # Errors
    /// A sequence that the model cannot take.
    pub fn surprise(&self, family: &Family, i: usize, seed: u64) -> Result<Surprise> {
        let (outputs, inputs) = (family.sequence(i).outputs(), family.inputs_of(i));
        let random = stream(seed, Stream::Anomaly(i as u64));
        let mut tracker = self.follower(&self.online)?.start(random)?;
        let mut random = stream(seed, Stream::Surprise(i as u64));
        let mut total = Surprise::default();
        for start in (0..outputs.n_time()).step_by(self.online.every) {
            let end = outputs.n_time().min(start + self.online.every);
            let future = inputs.map(|inputs| inputs.slice(start..end));
            let forecast = tracker.forecast(end - start, future.as_ref())?;
            let truth = outputs.slice(start..end);
            total = total.and(Surprise::of(&forecast, truth.values(), SURPRISE_DRAWS, &mut random)?);
            for t in start..end {
                tracker.observe(outputs.row(t), inputs.map_or(&[], |inputs| inputs.row(t)))?;
            }
        }
        Ok(total)
    }

    /// Whether a family has the outputs and inputs that the model was learned from, in the same order.
    ///
    /// # Errors
    /// [`Error::Shape`] that names both.
    pub fn check_columns(&self, family: &Family) -> Result<()> {
        for (what, expected, found) in [
            ("outputs", &self.columns.outputs, family.output_names()),
            ("inputs", &self.columns.inputs, family.input_names()),
        ] {
            if expected != found {
                let listed = |names: &[String]| match names {
                    [] => "none".to_owned(),
                    names => names.join(", "),
                };
                return Err(Error::shape(format!("{what} by name"), listed(expected), listed(found)));
            }
        }
        Ok(())
    }
}
