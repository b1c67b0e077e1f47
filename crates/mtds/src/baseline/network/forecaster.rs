//! A gated recurrent network that forecasts: learning, forecasts, storage.

use serde::{Deserialize, Serialize};

use super::Trained;
use super::batch::Widths;
use super::material::{Part, Piece, divide};
use super::objective::ForecastObjective;
use super::pass::Network;
use super::settings::{Criterion, GruSettings};
use super::stack::StackWeights;
use crate::family::{Family, Scaling, Signal};
use crate::learn::{Control, Progress, Trainer};
use crate::predict::{DrawNoise, Forecast};
use crate::random::{Stream, stream};
use crate::{Error, Result};

/// A network for all sequences that it was learned from.
///
/// With serde it is its settings, scaling, parameters and spread; equal bits come back.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct GruForecaster {
    stored: Stored,
    network: Network,
    weights: StackWeights<f32>,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    settings: GruSettings,
    scaling: Scaling,
    parameters: Vec<f32>,
    /// By length of the seed, rising.
    spread: Vec<SeedSpread>,
}

/// The spread of errors after seeds of one length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeedSpread {
    seed: usize,
    /// Steps after the seed × p, model units.
    std_devs: Vec<f64>,
}

impl GruForecaster {
    /// Learns one network for all sequences of `family`.
    ///
    /// Learning is judged by `held_out`, or where it is `None` by what [`GruSettings::held_out`] sets aside; the
    /// scaling is that of the sequences learned from. Segments that have nothing to predict after the shortest seed are left
    /// out. The result depends on the arguments and on nothing else. `observer` sees every step and may stop the run.
    ///
    /// # Errors
    /// [`Error::Setting`] for settings out of range, too few sequences to hold some out, or segments that are no longer
    /// than the shortest seed; [`Error::Shape`] for held-out sequences of other widths; [`Error::Diverged`] with the step
    /// at which a loss or gradient was not finite.
    pub fn fit(
        family: &Family,
        held_out: Option<&Family>,
        settings: &GruSettings,
        seed: u64,
        observer: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Trained<Self>> {
        settings.check()?;
        let (train, judged) = match held_out {
            Some(held_out) => (Part::whole(family), Some(Part::whole(held_out))),
            None => divide(family, settings.held_out, seed)?,
        };
        let scaling = settings.scaling.scaling(&train.family)?;
        let network = Network::new(settings, Widths { d_obs: family.d_obs(), d_input: family.d_input() })?;
        let pieces = |part: &Part| part.pieces(&scaling, settings.segments);
        let judged = judged.as_ref().map(pieces).transpose()?;
        let objective = ForecastObjective::new(network, settings, pieces(&train)?, judged)?;
        let first = objective.first(&mut stream(seed, Stream::Network));
        let mut trainer =
            Trainer::new(objective, first, settings.plan.clone(), stream(seed, Stream::Training))?;
        let outcome = trainer.run(observer)?;
        let (settings, parameters) = (settings.clone(), outcome.parameters.clone());
        let mut network = Self::assemble(Stored { settings, scaling, parameters, spread: vec![] })?;
        network.measure(&trainer.into_objective())?;
        Ok(Trained { network, outcome })
    }

    /// Measures the spread of errors after seeds of several lengths.
    fn measure(&mut self, objective: &ForecastObjective) -> Result<()> {
        let batch = self.stored.settings.batch;
        for seed in self.stored.settings.warm_up.measured() {
            let judged = objective.judged(seed);
            if judged.is_empty() {
                continue;
            }
            let (n_time, residuals) = self.network.residuals(&self.weights, &judged, batch)?;
            let std_devs = residuals.step_std(0, n_time);
            check_finite("spread of the errors of a network, entry", &std_devs)?;
            self.stored.spread.push(SeedSpread { seed, std_devs });
        }
        Ok(())
    }

    /// The settings that it was learned by.
    #[must_use]
    pub fn settings(&self) -> &GruSettings {
        &self.stored.settings
    }

    /// From data units to model units and back.
    #[must_use]
    pub fn scaling(&self) -> &Scaling {
        &self.stored.scaling
    }

    /// All parameters: each gated layer, decoder, log s of every output if learned.
    #[must_use]
    pub fn parameters(&self) -> &[f32] {
        &self.stored.parameters
    }

    /// Standard deviation of the errors h steps after a seed of `n_seen` steps, row h − 1, in model units: steps × p.
    ///
    /// It was measured at a few lengths between the shortest and the longest seed; the nearest one that is not longer counts, or
    /// the shortest.
    #[must_use]
    pub fn spread(&self, n_seen: usize) -> &[f64] {
        let longer = self.stored.spread.partition_point(|spread| spread.seed <= n_seen);
        &self.stored.spread[longer.saturating_sub(1)].std_devs
    }

    /// The deviation s of every output that [`Criterion::Gaussian`] learned, in model units; `None` otherwise.
    #[must_use]
    pub fn noise(&self) -> Option<Vec<f64>> {
        let noise = &self.stored.parameters[self.network.stack.n_parameters()..];
        let learned = self.stored.settings.criterion == Criterion::Gaussian;
        learned.then(|| noise.iter().map(|&x| f64::from(x).exp()).collect())
    }

    /// The forecast of `n_time` steps after `past`, in data units.
    ///
    /// At most the last [`WarmUp::longest`](super::WarmUp::longest) steps of the past are read: the network never learned
    /// from longer seeds. Beyond the steps that its spread was measured at, the last one holds.
    ///
    /// # Shapes
    /// `past`: n × p, n ≥ 1, NaN where missing. `inputs`: at least (n + n_time) × m, from the first step of the past on.
    ///
    /// # Errors
    /// [`Error::Shape`] for sizes that do not fit, an empty past or no steps to forecast; [`Error::NotFinite`] for an
    /// infinite output, an input that is not finite, or a prediction that has grown beyond all numbers.
    pub fn forecast(&self, past: &Signal, inputs: Option<&Signal>, n_time: usize) -> Result<Forecast> {
        let (seen, p) = (past.n_time(), self.network.widths.d_obs);
        let piece = self.piece(past, inputs, n_time)?;
        let seed = piece.n_time - n_time;
        let predictions = self.network.free_run(&self.weights, &[(&piece, seed)])?;
        let means = predictions[seed * p..].to_vec();
        check_finite("prediction of a network, entry", &means)?;
        let spread = self.spread(seed);
        let held = |at: usize| spread[(at / p).min(spread.len() / p - 1) * p + at % p];
        let noise = DrawNoise::DiagonalByStep((0..n_time * p).map(held).collect());
        let (scaling, of) =
            (&self.stored.scaling, |value: &dyn Fn(usize) -> f64| (0..p).map(value).collect::<Vec<_>>());
        Forecast::new(seen, p, vec![1.0], means, noise)?
            .rescaled(&of(&|d| scaling.offset(d)), &of(&|d| scaling.scale(d)))
    }

    /// The part of the past that is read and the steps to come, in model units.
    fn piece(&self, past: &Signal, inputs: Option<&Signal>, n_time: usize) -> Result<Piece> {
        let (seen, Widths { d_obs, d_input }) = (past.n_time(), self.network.widths);
        if seen == 0 || n_time == 0 {
            let found = format!("{seen} and {n_time} steps");
            return Err(Error::shape("past and horizon of a forecast", "at least one step of each", found));
        }
        let (width, steps) = inputs.map_or((0, usize::MAX), |u| (u.width(), u.n_time()));
        if width != d_input || steps < seen + n_time {
            let expected = format!("{d_input} columns, at least {} steps", seen + n_time);
            let found = inputs.map_or("none".into(), |_| format!("{width} columns, {steps} steps"));
            return Err(Error::shape("inputs of a forecast", expected, found));
        }
        let first = seen - seen.min(self.stored.settings.warm_up.longest);
        let scaling = &self.stored.scaling;
        let mut piece = super::material::piece_of(&past.slice(first..seen), scaling)?;
        piece.outputs.resize((seen - first + n_time) * d_obs, f64::NAN);
        piece.n_time = seen - first + n_time;
        if let Some(inputs) = inputs {
            let inputs = inputs.slice(first..seen + n_time);
            check_finite("input of a forecast, entry", inputs.values())?;
            piece.inputs = scaling.inputs_to_model(&inputs)?.values().to_vec();
        }
        Ok(piece)
    }
}

impl GruForecaster {
    /// With a spread that may still be missing.
    fn assemble(stored: Stored) -> Result<Self> {
        stored.settings.check()?;
        let widths = Widths { d_obs: stored.scaling.d_obs(), d_input: stored.scaling.d_input() };
        let network = Network::new(&stored.settings, widths)?;
        let n_noise = if stored.settings.criterion == Criterion::Gaussian { widths.d_obs } else { 0 };
        let expected = network.stack.n_parameters() + n_noise;
        if stored.parameters.len() != expected {
            return Err(Error::shape("parameters of a network", expected, stored.parameters.len()));
        }
        let mut weights = StackWeights::default();
        network.stack.arrange(&stored.parameters[..network.stack.n_parameters()], &mut weights)?;
        Ok(Self { stored, network, weights })
    }
}

impl TryFrom<Stored> for GruForecaster {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        let p = stored.scaling.d_obs();
        let fits =
            |spread: &SeedSpread| !spread.std_devs.is_empty() && spread.std_devs.len().is_multiple_of(p);
        if stored.spread.is_empty() || !stored.spread.iter().all(fits) {
            let expected = format!("one or more seeds, with one or more rows of {p}");
            let found = stored.spread.iter().map(|spread| spread.std_devs.len()).collect::<Vec<_>>();
            return Err(Error::shape("spread of a network", expected, format!("{found:?} numbers")));
        }
        let parameters: Vec<f64> = stored.parameters.iter().map(|&w| f64::from(w)).collect();
        check_finite("parameter of a network", &parameters)?;
        for spread in &stored.spread {
            check_finite("spread of a network, entry", &spread.std_devs)?;
        }
        Self::assemble(stored)
    }
}

impl From<GruForecaster> for Stored {
    fn from(forecaster: GruForecaster) -> Self {
        forecaster.stored
    }
}

fn check_finite(what: &str, values: &[f64]) -> Result<()> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(at) => Err(Error::NotFinite { what: format!("{what} {at}"), value: values[at], hint: "" }),
        None => Ok(()),
    }
}
