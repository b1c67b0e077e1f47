//! Online inference: the posterior follows a sequence as it is observed.
//!
//! ```text
//! every τ observations     q_{t−τ} → q_t   by adaptive importance sampling (Algorithm 2)
//! at step a + H            a ← the next anchor, a + H/2; observations before it are dropped
//! at step a + H/2          remember q_t and the state as a function of z: the next anchor
//! ```
//! The posterior is exact (up to sampling) while the sequence is shorter than H. Beyond, the anchor's
//! mixture is the prior and its carried state the start, so that time and memory per observation stay
//! bounded: H/2 steps of history are stored at least, and fewer than H.
//!
//! Each anchor is inferred from the one before it. Were the history moved on after an anchor is remembered instead of before, every
//! other anchor would be inferred from every other: two beliefs that drift apart, and an answer that jumps between them.
//!
//! Differs from the paper: the prior guards an update; and while the sequence is within its first H steps, a search
//! for modes that the update missed follows it, and it is made again from these if there are any.

use serde::{Deserialize, Serialize};

use super::carried::CarriedState;
use super::code::{CodeTarget, NoiseBelief};
use super::drift::{self, Drift};
use super::missed;
use super::{AdaptiveImportance, FirstMixture, GaussianMixture, Points, Posterior, adaptive_importance};
use crate::base::emission::Group;
use crate::family::Signal;
use crate::random::Random;
use crate::system::{FrontState, System};
use crate::{Error, Result};

/// Climbs beyond which a number is a slip.
const MOST_STARTS: usize = 1 << 16;

/// Settings of online inference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Online {
    /// The sampler.
    pub importance: AdaptiveImportance,
    /// What is believed about the noise.
    pub noise: NoiseBelief,
    /// Climbs by gradient per update, in search of modes that it missed; 0 for the paper's way: no search, and from
    /// the last posterior alone.
    pub mode_starts: usize,
    /// Observations τ between updates.
    pub every: usize,
    /// Steps H of history, over which the posterior is exact: rounded down to an even number of updates; `None` keeps all.
    pub history: Option<usize>,
    /// Standard deviation σ of the walk of every dimension of the code, per step; `None` for codes that stand still. It needs a
    /// history, over half of which a code is taken to stand still.
    pub drift: Option<f64>,
}

impl Default for Online {
    fn default() -> Self {
        Self {
            importance: AdaptiveImportance::default(),
            noise: NoiseBelief::default(),
            mode_starts: 16,
            every: 5,
            history: None,
            drift: None,
        }
    }
}

impl Online {
    /// The same with a few updates over a sequence of this length, for where only the end matters: they find the posterior more
    /// surely than one at the end, and cost less than one every few steps.
    #[must_use]
    pub fn with_few_updates(&self, n_time: usize) -> Self {
        let few = n_time.div_ceil(4).max(10);
        let every = self.history.map_or(few, |history| few.min(history / 2)).max(1);
        Self { every, ..self.clone() }
    }

    /// Steps between two anchors: whole updates, never more than H/2.
    fn apart(&self, history: usize) -> usize {
        history / 2 / self.every * self.every
    }

    pub(crate) fn validate(&self) -> Result<()> {
        self.importance.validate()?;
        if self.mode_starts > MOST_STARTS {
            let why = format!("found {}; expected 0 to {MOST_STARTS}", self.mode_starts);
            return Err(Error::setting("mode_starts", why));
        }
        drift::check(self.drift, self.history)?;
        if self.every == 0 {
            return Err(Error::setting("every", "found 0; expected 1 or more observations between updates"));
        }
        match self.history {
            Some(history) if history < 2 * self.every => Err(Error::setting(
                "history",
                format!("found {history}; expected at least two updates, {} steps", 2 * self.every),
            )),
            _ => Ok(()),
        }
    }
}

/// Where the stored history begins.
#[derive(Clone, Debug)]
pub(super) struct Anchor {
    /// Steps before it.
    pub(super) step: usize,
    /// Prior over u there.
    pub(super) prior: GaussianMixture,
    /// State there; `None` at the beginning of the sequence.
    pub(super) state: Option<CarriedState>,
    /// Log evidence of what came before.
    pub(super) log_evidence: f64,
}

/// The posterior of one sequence, followed online.
#[derive(Debug)]
pub struct Tracker {
    model: System,
    pub(super) settings: Online,
    pub(super) random: Random,
    pub(super) anchor: Anchor,
    /// Where the stored history will begin.
    pub(super) next_anchor: Option<Anchor>,
    /// Outputs since the anchor, in model units, and what drives the base model there, row by row.
    pub(super) outputs: Vec<f64>,
    pub(super) inputs: Vec<f64>,
    /// What what is left over may depend on since the anchor, row by row; nothing where it does not go on.
    pub(super) functions: Vec<f64>,
    /// Where the front is after the last observation.
    pub(super) front: FrontState,
    /// Inputs of the steps whose outputs the front encodes, in model units: until the last of them, it begins anew.
    pub(super) seed_inputs: Vec<f64>,
    pub(super) posterior: Option<Posterior>,
    /// Steps since the anchor that the posterior knows.
    pub(super) known: usize,
    /// Log evidence of what came before the steps that the posterior was inferred from.
    pub(super) evidence_before: f64,
}

impl Tracker {
    /// Before the first observation.
    ///
    /// # Errors
    /// Settings out of range.
    pub fn new(model: &System, settings: Online, random: Random) -> Result<Self> {
        settings.validate()?;
        let too_short = |&history: &usize| 2 * settings.apart(history) <= model.seed_steps();
        if let Some(history) = settings.history.filter(too_short) {
            let (seed, updates) = (model.seed_steps(), 2 * settings.every);
            let why = format!(
                "found {history}; expected more than the {seed} steps that the front encodes, and a multiple of {updates}"
            );
            return Err(Error::setting("history", why));
        }
        let prior = settings.noise.extend(&model.prior().mixture(model.d_code())?)?;
        Ok(Self {
            model: model.clone(),
            settings,
            random,
            anchor: Anchor { step: 0, prior, state: None, log_evidence: 0.0 },
            next_anchor: None,
            outputs: vec![],
            inputs: vec![],
            functions: vec![],
            front: FrontState::default(),
            seed_inputs: vec![],
            posterior: None,
            known: 0,
            evidence_before: 0.0,
        })
    }

    /// The model that is followed.
    #[must_use]
    pub fn model(&self) -> &System {
        &self.model
    }

    /// Observations so far.
    #[must_use]
    pub fn n_observed_steps(&self) -> usize {
        self.anchor.step + self.n_stored()
    }

    /// Steps of history that are stored.
    #[must_use]
    pub fn n_stored(&self) -> usize {
        self.outputs.len() / self.model.base().d_obs()
    }

    /// The posterior at the last update.
    #[must_use]
    pub fn posterior(&self) -> Option<&Posterior> {
        self.posterior.as_ref()
    }

    /// log p(y_{1:t}) at the last update, of outputs in model units; with a bounded history, under the
    /// assumed densities.
    #[must_use]
    pub fn log_evidence(&self) -> Option<f64> {
        Some(self.evidence_before + self.posterior.as_ref()?.log_evidence()?)
    }

    /// Takes one step of outputs (NaN = missing) and inputs, in data units; updates every τ steps.
    ///
    /// Returns whether the posterior was updated. On an error nothing has changed.
    ///
    /// # Errors
    /// Rows of the wrong width, infinite outputs, inputs that are not finite.
    pub fn observe(&mut self, outputs: &[f64], inputs: &[f64]) -> Result<bool> {
        let (y, u) = self.to_model_units(outputs, inputs)?;
        self.make_room();
        self.outputs.extend(y);
        self.take_inputs(u)?;
        if let Some(remainder) = self.model.spec().remainder {
            self.functions.extend(remainder.functions(inputs));
        }
        let due = self.n_observed_steps().is_multiple_of(self.settings.every);
        if due {
            self.update()?;
        }
        Ok(due)
    }

    /// One step in model units.
    ///
    /// # Errors
    /// As [`Tracker::observe`].
    pub(super) fn to_model_units(&self, outputs: &[f64], inputs: &[f64]) -> Result<(Vec<f64>, Vec<f64>)> {
        let (base, scaling) = (self.model.base(), self.model.scaling());
        let step = self.n_observed_steps() + 1;
        let row = |what: &str, values: &[f64], width: usize| {
            if values.len() == width {
                Ok(())
            } else {
                Err(Error::shape(format!("{what} at step {step}"), width, values.len()))
            }
        };
        row("outputs", outputs, base.d_obs())?;
        row("inputs", inputs, self.model.d_input())?;
        let infinite = outputs.iter().find(|y| y.is_infinite());
        if let Some(&value) = infinite.or(inputs.iter().find(|u| !u.is_finite())) {
            let what = format!("observation at step {step}");
            return Err(Error::NotFinite { what, value, hint: "; give NaN for a missing output" });
        }
        let y = scaling.outputs_to_model(&Signal::new(1, outputs.len(), outputs.to_vec())?)?;
        let u = match inputs.is_empty() {
            true => vec![],
            false => {
                scaling.inputs_to_model(&Signal::new(1, inputs.len(), inputs.to_vec())?)?.values().to_vec()
            }
        };
        let y = y.values().to_vec();
        if let Some(&value) = y.iter().chain(&u).find(|value| (**value as f32).is_infinite()) {
            let what = format!("observation at step {step} in model units");
            return Err(Error::NotFinite { what, value, hint: " of single precision" });
        }
        Ok((y, u))
    }

    /// Brings the posterior up to the last observation, if it is not.
    ///
    /// # Errors
    /// None for settings that [`Tracker::new`] accepted.
    pub fn update(&mut self) -> Result<&Posterior> {
        if self.posterior.is_none() || self.known < self.n_stored() {
            let posterior = self.infer()?;
            self.known = self.n_stored();
            self.posterior = Some(posterior);
            self.evidence_before = self.anchor.log_evidence;
            self.remember_anchor()?;
        }
        self.posterior.as_ref().ok_or_else(|| Error::setting("every", "no update was made"))
    }

    fn infer(&mut self) -> Result<Posterior> {
        let (outputs, inputs) = self.history()?;
        let group = self.group(&outputs, inputs.as_ref())?;
        let state = self.anchor.state.as_ref();
        let target = CodeTarget::new(&self.model, self.model.parameters(), &self.anchor.prior, group, state);
        let (settings, prior) = (&self.settings.importance, &self.anchor.prior);
        let previous = self.posterior.as_ref().and_then(Posterior::mixture);
        let starts = self.settings.mode_starts;
        if starts == 0 {
            let start = previous.map_or(FirstMixture::Prior(prior), FirstMixture::Previous);
            return adaptive_importance(settings, &target, start, &mut self.random);
        }
        let few = prior.len() <= settings.components;
        let guard = if few { prior.clone() } else { prior.collapsed()? };
        let guarded = |previous| FirstMixture::Guarded { previous, prior: &guard };
        let start = previous.map_or(FirstMixture::Prior(prior), guarded);
        let posterior = adaptive_importance(settings, &target, start, &mut self.random)?;
        if state.is_some() {
            return Ok(posterior); // a carried state has no gradient to climb by
        }
        let search =
            missed::search((starts, settings.components), &target, prior, &posterior, &mut self.random)?;
        let Some(start) = &search.start else { return Ok(posterior.after(&search.work)) };
        let again = adaptive_importance(settings, &target, guarded(start), &mut self.random)?;
        Ok(again.after(posterior.diagnostics()).after(&search.work))
    }

    /// Takes the inputs of the last step (model units) through the front, or puts the clock beside them.
    fn take_inputs(&mut self, inputs: Vec<f64>) -> Result<()> {
        let (model, n) = (self.model.clone(), self.n_observed_steps());
        let width = inputs.len();
        let is_seed = model.spec().front.is_some() && n <= model.seed_steps();
        let (rows, seed) = if is_seed {
            // What is encoded has grown: from the beginning again, with one output more.
            self.seed_inputs.extend(inputs);
            (self.front, self.inputs) = (FrontState::default(), vec![]);
            (self.seed_inputs.clone(), Some(Signal::new(n, model.base().d_obs(), self.outputs.clone())?))
        } else {
            (inputs, None)
        };
        let first = seed.as_ref().map_or(n - 1, |_| 0);
        let rows = (width > 0).then(|| Signal::new(n - first, width, rows)).transpose()?;
        let drive = model.drive(rows, first..n, seed.as_ref(), &mut self.front)?;
        self.inputs.extend(drive.iter().flat_map(|drive| drive.values()));
        Ok(())
    }

    /// What will drive the base model in the next steps, given their inputs in model units.
    pub(crate) fn drive_on(&self, inputs: Option<Signal>, n_time: usize) -> Result<Option<Signal>> {
        let now = self.n_observed_steps();
        self.model.drive(inputs, now..now + n_time, None, &mut self.front.clone())
    }

    /// The stored history arranged for scoring.
    fn group(&self, outputs: &Signal, drive: Option<&Signal>) -> Result<Group<f32>> {
        let mut group = Group::single(outputs, drive, self.model.base().d_input())?;
        group.set_apart(self.model.seed_steps().saturating_sub(self.anchor.step));
        Ok(group)
    }

    /// Outputs and inputs since the anchor.
    fn history(&self) -> Result<(Signal, Option<Signal>)> {
        let (n, base) = (self.n_stored(), self.model.base());
        let outputs = Signal::new(n, base.d_obs(), self.outputs.clone())?;
        let inputs = match base.d_input() {
            0 => None,
            width => Some(Signal::new(n, width, self.inputs.clone())?),
        };
        Ok((outputs, inputs))
    }

    /// Remembers the present step as the next anchor, if the present one is far enough behind.
    fn remember_anchor(&mut self) -> Result<()> {
        let Some(history) = self.settings.history else { return Ok(()) };
        let apart = self.settings.apart(history);
        if self.next_anchor.is_none() && self.n_stored() >= apart {
            self.next_anchor = self.anchor_here()?;
        }
        Ok(())
    }

    /// Drops the oldest observations if one more would fill the history.
    fn make_room(&mut self) {
        let Some(history) = self.settings.history else { return };
        if self.n_stored() + 1 < 2 * self.settings.apart(history) {
            return;
        }
        let Some(next) = self.next_anchor.take() else { return };
        let base = self.model.base();
        let dropped = next.step - self.anchor.step;
        self.outputs.drain(..dropped * base.d_obs());
        self.inputs.drain(..dropped * base.d_input());
        let width = self.model.spec().remainder.map_or(0, |remainder| remainder.width());
        self.functions.drain(..dropped * width);
        self.known -= dropped;
        self.anchor = next;
    }

    /// An anchor at the present step, which the posterior knows.
    ///
    /// Where nothing fits the observations there is no mixture: the prior stands in, and they are forgotten.
    fn anchor_here(&mut self) -> Result<Option<Anchor>> {
        let Some(posterior) = &self.posterior else { return Ok(None) };
        let mixture = match posterior.mixture() {
            Some(mixture) => &as_known(mixture, posterior.diagnostics().ess)?,
            None => &self.anchor.prior,
        };
        let states = self.beliefs(posterior.draws())?;
        let (draws, mixture) = match self.drift() {
            Some(drift) => (drift.moved(posterior.draws(), &mut self.random), drift.widened(mixture)?),
            None => (posterior.draws().clone(), mixture.clone()),
        };
        let (draws, weights) = (&draws, posterior.weights());
        let log_evidence = posterior.log_evidence().unwrap_or(f64::NEG_INFINITY);
        Ok(Some(Anchor {
            step: self.n_observed_steps(),
            state: Some(CarriedState::fit((draws, weights), &mixture, self.model.d_code(), &states)?),
            prior: mixture,
            log_evidence: self.anchor.log_evidence + log_evidence,
        }))
    }

    /// How the code drifts, if it does.
    pub(crate) fn drift(&self) -> Option<Drift> {
        let (std_dev, history) = (self.settings.drift?, self.settings.history?);
        Some(Drift { std_dev, stretch: self.settings.apart(history), d_code: self.model.d_code() })
    }

    /// Steps until the code moves again.
    pub(crate) fn until_move(&self, drift: &Drift) -> usize {
        let last = self.next_anchor.as_ref().unwrap_or(&self.anchor).step;
        drift.stretch.saturating_sub(self.n_observed_steps() - last).max(1)
    }

    /// What is known of the state after the last observation, for each point: n × d_belief.
    pub(crate) fn beliefs(&self, points: &Points) -> Result<Vec<f64>> {
        let (outputs, inputs) = self.history()?;
        let group = &self.group(&outputs, inputs.as_ref())?;
        let start = self.anchor.state.as_ref();
        Ok(self.model.state_beliefs(group, start, points))
    }

    /// What is added to the forecasts of points because of what they leave over of the stored steps, n × n_time × d_obs; nothing where
    /// that does not go on. `future` inputs are in data units.
    pub(crate) fn left_over(
        &self,
        (points, weights): (&Points, &[f64]),
        future: Option<&Signal>,
        n_time: usize,
    ) -> Result<Option<Vec<f64>>> {
        let Some(remainder) = self.model.spec().remainder.filter(|_| self.n_stored() > 0) else {
            return Ok(None);
        };
        let (outputs, inputs) = self.history()?;
        let states = self.anchor.state.as_ref().map(|state| state.states(points));
        let codes = points.first_dims(self.model.d_code());
        let fitted = self.model.simulate(&codes, states.as_deref(), inputs.as_ref(), outputs.n_time())?;
        let skip = self.model.settling(outputs.n_time()).saturating_sub(self.anchor.step);
        let functions = (self.functions.as_slice(), &remainder.rows(future, n_time)[..]);
        Ok(Some(remainder.added(&outputs, (&fitted.outputs, weights), functions, skip)))
    }

    /// Random numbers for what is drawn from the posterior.
    pub(crate) fn random(&mut self) -> &mut Random {
        &mut self.random
    }
}

/// The mixture, as far as this many effective draws know it: covariances times 1 + (d + 2) / n.
///
/// Errors of its means and covariances are carried from anchor to anchor, and outgrow a posterior that narrows with every observation.
/// The factor is about that of the predictive distribution of a Gaussian known from n draws: it forgets as fast as errors come in.
fn as_known(mixture: &GaussianMixture, draws: f64) -> Result<GaussianMixture> {
    mixture.tilted(1.0 + (mixture.dim() + 2) as f64 / draws.max(1.0))
}

impl System {
    /// Follows a whole sequence (data units) and returns the tracker at its end.
    ///
    /// # Errors
    /// Settings out of range; outputs or inputs of the wrong size.
    pub fn track(
        &self,
        outputs: &Signal,
        inputs: Option<&Signal>,
        settings: Online,
        random: Random,
    ) -> Result<Tracker> {
        crate::base::emission::check_inputs(inputs, outputs.n_time(), self.d_input())?;
        let mut tracker = Tracker::new(self, settings, random)?;
        for (t, y) in outputs.rows().enumerate() {
            tracker.observe(y, inputs.map_or(&[], |inputs| inputs.row(t)))?;
        }
        tracker.update()?;
        Ok(tracker)
    }
}
