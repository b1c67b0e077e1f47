//! The multi-task system as `mtds fit` learns it, and its forecasts with and without what the rows seen tell beside the code.

use mtds::random::{Stream, stream};
use mtds::{Control, Device, Error, Family, Fit, Method as Inference, Model, Posterior, Result, Wishes};

use super::cell::Errors;
use super::rivals::Question;
use super::window::Window;

/// The names of the two ways to forecast.
pub const NAMES: [&str; 2] = ["mtds", "mtds-code"];

/// Learns a model, as far as it forecasts; labels are not there to be seen.
///
/// # Errors
/// Those of learning.
pub fn learn(family: &Family, wishes: &Wishes, (device, seed): (&Device, u64)) -> Result<Model> {
    let fit = Fit { wishes: wishes.clone(), seed, device: device.clone(), ..Fit::default() };
    fit.begin(family)?.run_to_forecasts(&mut |_| Control::Continue)?.ok_or(Error::Stopped)
}

/// Learns and forecasts; says what was chosen on the way.
///
/// # Errors
/// Those of learning and inference.
pub fn by_model(ask: &Question<'_>, wishes: &Wishes) -> Result<(Vec<Errors>, serde_json::Value)> {
    let model = learn(&ask.material.family(ask.learned)?, wishes, (ask.device, ask.seed))?;
    let chosen = serde_json::json!({
        "parameters": digest(model.system.parameters()),
        "remainder": model.system.spec().remainder,
        "settings": model.fit.as_ref().map(|fit| &fit.settings),
    });
    // Without what the rows seen tell beside the code, from the same posteriors.
    let alone = model.system.clone().with_remainder(None)?;
    let mut posteriors = vec![];
    let with_seed = ask.errors(NAMES[0], &mut |window| {
        let (mean, posterior) = forecast(&model, window, ask.seed)?;
        posteriors.push(posterior);
        Ok(mean)
    })?;
    let mut known = posteriors.iter();
    let by_code = ask.errors(NAMES[1], &mut |window| {
        let posterior = known.next().ok_or(Error::Stopped)?;
        let mut random = stream(ask.seed, Stream::Forecast(0));
        let (past, inputs) = (window.past(), Some(&window.inputs));
        Ok(alone.forecast(posterior, &past, inputs, window.ahead(), &mut random)?.mean())
    })?;
    let found = vec![with_seed, by_code];
    Ok((found, chosen))
}

/// Means of a window's rows ahead, by the rows seen; and what these tell of the code.
fn forecast(model: &Model, window: &Window, seed: u64) -> Result<(Vec<f64>, Posterior)> {
    let random = [stream(seed, Stream::Infer(0)), stream(seed, Stream::Forecast(0))];
    let past = window.past();
    let given = (&past, Some(&window.inputs));
    let (forecast, inferred) =
        model.forecast_with(given, window.ahead(), Inference::AdaptiveImportance, random)?;
    Ok((forecast.mean(), inferred.posterior))
}

/// Identifies parameters, bit by bit (FNV-1a): equal learning shows.
#[must_use]
pub(super) fn digest(parameters: &[f32]) -> String {
    let bytes = parameters.iter().flat_map(|value| value.to_bits().to_le_bytes());
    let hash = bytes
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}
