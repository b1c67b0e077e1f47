//! What the model is compared with: networks without a code, and forecasts that learn next to nothing.

use std::collections::BTreeMap;

use mtds::parts::{GruForecaster, GruSettings, Own, PriorWeight, Remainder};
use mtds::{Control, Device, Error, Family, Result, Sequence, Signal};

use super::cell::{Errors, Method};
use super::material::{Material, Stretch, Units, piece};
use super::model::digest;
use super::split::{Starts, evenly};
use super::window::{Told, Window, errors, windows};

/// Of so many stretches one is held out to decide when a network stops: the paper's 12.5 %.
const HELD_OUT: usize = 8;
/// Most windows by which it is chosen how what is left over goes on, and the rows after which the last of it has faded that are tried, as for the model.
const MOST_CHOOSING: usize = 32;
const FADINGS: [f64; 2] = [8.0, 32.0];

/// What is asked: what is learned from, what is forecast, and how errors are told.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The clips.
    pub material: &'a Material,
    /// What is learned from.
    pub learned: &'a [Stretch],
    /// What is forecast.
    pub windows: &'a [Window],
    /// The unit of errors.
    pub units: &'a Units,
    /// How they are told.
    pub told: &'a Told<'a>,
    /// The seed of the repetition.
    pub seed: u64,
    /// Where the model is learned.
    pub device: &'a Device,
}

impl Question<'_> {
    /// The errors of a way to forecast the windows.
    pub(super) fn errors(
        &self,
        name: &str,
        forecast: &mut dyn FnMut(&Window) -> Result<Vec<f64>>,
    ) -> Result<Errors> {
        errors(name, self.windows, self.units, self.told, forecast)
    }

    /// What is learned from and what is held out, which has no clip in common with it where there are enough.
    fn divided(&self) -> Result<[Vec<Stretch>; 2]> {
        if self.learned.len() < 2 {
            let why = format!("found {}; expected at least 2 to hold one out", self.learned.len());
            return Err(Error::Setting { name: "stretches".into(), why });
        }
        let n = self.learned.len();
        // The last of every eight, and of fewer than eight the last.
        let is_held = |k: usize| k % HELD_OUT == HELD_OUT - 1 || (n < HELD_OUT && k == n - 1);
        let (held, kept): (Vec<_>, Vec<_>) =
            self.learned.iter().copied().enumerate().partition(|(k, _)| is_held(*k));
        Ok([kept, held].map(|part| part.into_iter().map(|(_, stretch)| stretch).collect()))
    }

    /// How what a forecast leaves over goes on, by windows of stretches that it did not learn from, as long as those that are asked.
    fn rule(&self, held_out: &[Stretch], fitted: &dyn Fn(&Window) -> Result<Vec<f64>>) -> Result<Remainder> {
        let phase = self.material.phase();
        let seen = self.windows.first().map_or(1, |window| window.seen);
        let ahead = self.windows.iter().map(Window::ahead).max().unwrap_or(1);
        let starts = Starts::spread(held_out, seen, &[ahead.min(8), ahead.min(64), ahead], MOST_CHOOSING);
        let rules = FADINGS.map(|fading| Remainder { weight: PriorWeight::Found(Own::Own), fading, phase });
        let mut totals = vec![0.0; rules.len()];
        for window in windows(self.material, &starts, seen) {
            let fitted = fitted(&window)?;
            for (total, rule) in totals.iter_mut().zip(&rules) {
                let mean = self.after_seed(*rule, &window, &fitted);
                let rows = mean.chunks(self.units.mean.len()).enumerate();
                let square = |(h, row)| self.units.squared(window.outputs.row(window.seen + h), row);
                *total += rows.map(square).sum::<f64>() / window.ahead() as f64;
            }
        }
        let best = totals.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(k, _)| k);
        Ok(rules[best])
    }

    /// A forecast with what it leaves over of the rows seen, by the rule that the model has of itself.
    fn after_seed(&self, rule: Remainder, window: &Window, fitted: &[f64]) -> Vec<f64> {
        rule.beside(&window.past(), &window.inputs, fitted, &self.units.deviation)
    }
}

/// Learns a rival and forecasts; says what was chosen on the way.
///
/// # Errors
/// Those of learning.
pub fn by_network(
    ask: &Question<'_>,
    method: Method,
    settings: &GruSettings,
) -> Result<(Vec<Errors>, serde_json::Value)> {
    match method {
        Method::GruInputs => by_inputs(ask, settings),
        Method::GruStyles => by_styles(ask, settings),
        _ => {
            let network = learned(ask, settings)?;
            let mut forecast = |window: &Window| after(&network, window);
            let found = ask.errors(method.name(), &mut forecast)?;
            Ok((vec![found], serde_json::json!({ "parameters": digest(network.parameters()) })))
        }
    }
}

/// One network for what a question learns from.
fn learned(ask: &Question<'_>, settings: &GruSettings) -> Result<GruForecaster> {
    let [kept, held] = ask.divided()?;
    let [kept, held] = [ask.material.family(&kept)?, ask.material.family(&held)?];
    let mut watch = |_: &_| Control::Continue;
    let long =
        |family: &Family| family.sequences().iter().any(|one| one.n_time() > settings.warm_up.shortest);
    // Nothing is judged where all that is held out is too short to have a row to predict.
    let held = Some(&held).filter(|held| long(held));
    Ok(GruForecaster::fit(&kept, held, settings, ask.seed, &mut watch)?.network)
}

fn after(network: &GruForecaster, window: &Window) -> Result<Vec<f64>> {
    Ok(network.forecast(&window.past(), Some(&window.inputs), window.ahead())?.mean())
}

/// A network of its own for each style.
fn by_styles(ask: &Question<'_>, settings: &GruSettings) -> Result<(Vec<Errors>, serde_json::Value)> {
    let mut networks = BTreeMap::new();
    for style in ask.material.styles() {
        let own: Vec<Stretch> =
            ask.learned.iter().copied().filter(|one| ask.material.style(one) == style).collect();
        networks.insert(style.as_str(), learned(&Question { learned: &own, ..*ask }, settings)?);
    }
    let mut forecast = |window: &Window| after(&networks[window.style.as_str()], window);
    let found = ask.errors(Method::GruStyles.name(), &mut forecast)?;
    let digests: BTreeMap<&str, String> =
        networks.iter().map(|(style, network)| (*style, digest(network.parameters()))).collect();
    Ok((vec![found], serde_json::json!({ "parameters": digests })))
}

/// A network that reads the inputs alone, and the same with what it leaves over of the rows seen.
fn by_inputs(ask: &Question<'_>, settings: &GruSettings) -> Result<(Vec<Errors>, serde_json::Value)> {
    let [kept, held] = ask.divided()?;
    let family = |stretches: &[Stretch]| blank_first(&ask.material.family(stretches)?, ask.material);
    let mut watch = |_: &_| Control::Continue;
    let network =
        GruForecaster::fit(&family(&kept)?, Some(&family(&held)?), settings, ask.seed, &mut watch)?.network;
    let fitted = |window: &Window| fitted(&network, window);
    let rule = ask.rule(&held, &fitted)?;
    let name = Method::GruInputs.name();
    let d = ask.units.mean.len();
    let alone = ask.errors(name, &mut |window| Ok(fitted(window)?.split_off(window.seen * d)))?;
    let with_seed = ask
        .errors(&format!("{name}-seed"), &mut |window| Ok(ask.after_seed(rule, window, &fitted(window)?)))?;
    Ok((
        vec![alone, with_seed],
        serde_json::json!({ "parameters": digest(network.parameters()), "seed_rule": rule }),
    ))
}

/// Segments whose first row is unknown, so that a network that sees one row before it predicts sees no output at all.
fn blank_first(family: &Family, material: &Material) -> Result<Family> {
    let plan = GruSettings::default().segments.ok_or_else(|| Error::Setting {
        name: "segments".into(),
        why: "expected how sequences are cut".into(),
    })?;
    let segments = plan.cut(family)?.family;
    let blank = |i: usize| -> Result<Sequence> {
        let from = segments.sequence(i);
        let mut values = from.outputs().values().to_vec();
        values[..from.outputs().width()].fill(f64::NAN);
        let outputs = Signal::new(from.n_time(), from.outputs().width(), values)?;
        piece(from.id(), (outputs, segments.inputs_of(i).cloned()))
    };
    let long = (0..segments.n_seq()).filter(|&i| segments.sequence(i).n_time() > 1);
    material.named(long.map(blank).collect::<Result<_>>()?)
}

/// What a network that reads inputs alone says of all rows; of the first it says what it says of the second.
fn fitted(network: &GruForecaster, window: &Window) -> Result<Vec<f64>> {
    let (n, d) = (window.outputs.n_time(), window.outputs.width());
    let unknown = Signal::new(1, d, vec![f64::NAN; d])?;
    let rest = network.forecast(&unknown, Some(&window.inputs), n - 1)?.mean();
    Ok(rest[..d].iter().chain(&rest).copied().collect())
}

/// What learns next to nothing.
///
/// # Errors
/// None for windows of the material.
pub fn simple(ask: &Question<'_>) -> Result<(Vec<Errors>, serde_json::Value)> {
    let mean = |window: &Window| -> Vec<f64> {
        let past = window.past();
        let d = past.width();
        (0..d).map(|c| (0..window.seen).map(|t| past.get(t, c)).sum::<f64>() / window.seen as f64).collect()
    };
    let flat = |window: &Window, row: &[f64]| -> Vec<f64> { row.repeat(window.ahead()) };
    let seed_mean = |window: &Window| Ok(mean(window).repeat(window.outputs.n_time()));
    let rule = ask.rule(&evenly(ask.learned, MOST_CHOOSING), &seed_mean)?;
    let found = vec![
        ask.errors("training-mean", &mut |window| Ok(flat(window, &ask.units.mean)))?,
        ask.errors("last-frame", &mut |window| Ok(flat(window, window.outputs.row(window.seen - 1))))?,
        ask.errors("seed-mean", &mut |window| Ok(flat(window, &mean(window))))?,
        ask.errors("harmonics", &mut |window| Ok(ask.after_seed(rule, window, &seed_mean(window)?)))?,
    ];
    Ok((found, serde_json::json!({ "seed_rule": rule })))
}
