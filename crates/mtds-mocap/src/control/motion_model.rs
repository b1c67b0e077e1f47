//! A model of motions: one whose outputs are the 64 of a body and whose inputs are among the 32 of a route.

use mtds::parts::{MapLaplace, Misfit};
use mtds::random::Random;
use mtds::{CodePath, Model, Signal};

use super::route::{LEAD, Pace, Route, stride_of};
use super::steering::steered;
use super::style::StyleMix;
use super::way::Way;
use crate::clip::Clip;
use crate::features::input_names;
use crate::frame::{D_OBS, Outputs, output_names, smooth};
use crate::signal::FPS;
use crate::skeleton::leg_length;
use crate::{Error, Result};

/// Seconds under which a code that changes is averaged, so that its change begins and ends gently.
const CODE_SIGMA_SECS: f64 = 0.25;
/// Most frames of an example that are looked at, from its middle: codes are known long before.
const MOST_EXAMPLE_FRAMES: usize = 240;
/// Fewest frames of an example: less than a second shows no gait.
const FEWEST_FRAMES: usize = 32;
/// How a code is found: an example of seconds leaves hardly a doubt, so that the mode is all that is asked for.
const QUICK: MapLaplace = MapLaplace {
    starts: 6,
    max_iterations: 100,
    tolerance: 1e-2,
    draws: 64,
    min_ess: 0.0,
    defensive_share: 0.05,
};
/// The step of a model whose rows are counted, as those of families of motions are.
const ROW_BY_ROW: f64 = 1.0;
/// Seconds of a walk by which legs are measured, and its speed where the model does not say one.
const LEG_SECS: f64 = 3.0;
const SOME_SPEED: f64 = 1.0;
/// Legs of one style are at most so much longer or shorter than those of the average member.
const MOST_APART: f64 = 1.12;
/// Number of names that a message lists.
const MOST_LISTED: usize = 40;

/// A model that makes motions.
#[derive(Debug, Clone)]
pub struct MotionModel<'m> {
    model: &'m Model,
    /// For each input of the model, its place among the 32.
    inputs: Vec<usize>,
}

/// What an example tells of its style.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The code.
    pub code: Vec<f64>,
    /// How far the example lies outside of what the model knows.
    pub misfit: Misfit,
}

impl<'m> MotionModel<'m> {
    /// The model, if it is one of motions.
    ///
    /// # Errors
    /// [`Error::NoMotionModel`] for other outputs, other inputs, or other time steps.
    pub fn of(model: &'m Model) -> Result<Self> {
        let wrong = |expected: String, found: String| Err(Error::NoMotionModel { expected, found });
        let (outputs, known) = (&model.columns.outputs, output_names());
        let is_output = |(found, name): (&String, &String)| bare(found, 'y') == name;
        if outputs.len() != D_OBS || !outputs.iter().zip(&known).all(is_output) {
            let other = outputs.iter().zip(&known).find(|&(found, name)| !is_output((found, name)));
            let found = other.map_or(String::new(), |(found, name)| format!(", `{found}` for `{name}`"));
            return wrong(format!("the {D_OBS} outputs of a body"), format!("{}{found}", outputs.len()));
        }
        let known = input_names();
        let mut inputs = Vec::with_capacity(model.columns.inputs.len());
        for name in &model.columns.inputs {
            match known.iter().position(|known| known == bare(name, 'u')) {
                Some(place) => inputs.push(place),
                None => return wrong("inputs of a path and a gait".into(), format!("`{name}`")),
            }
        }
        for needed in ["phase_cos", "phase_sin", "path_forward_30"] {
            if !inputs.iter().any(|&place| known[place] == needed) {
                return wrong(format!("an input `{needed}`"), format!("{} others", inputs.len()));
            }
        }
        match model.time_step.as_deref() {
            Some(step) if step.parse() != Ok(ROW_BY_ROW) => {
                wrong(format!("steps of one row, {FPS} a second"), format!("steps of {step}"))
            }
            _ => Ok(Self { model, inputs }),
        }
    }

    /// The model itself.
    #[must_use]
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// Styles that it knows by name: labels of its members, each once, or their ids where they have none.
    #[must_use]
    pub fn styles(&self) -> Vec<&'m str> {
        let name = |member: &'m mtds::Member| member.label.as_deref().unwrap_or(&member.id);
        let mut names: Vec<&str> = self.model.members.iter().map(name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The code of a style: the mean over members with this label, or that of the member of this id, or of a segment of it
    /// (`old_03@128`).
    ///
    /// # Errors
    /// [`Error::UnknownStyle`] with those that it knows.
    pub fn code_of(&self, name: &str) -> Result<Vec<f64>> {
        let members = || self.model.members.iter();
        let of_style: Vec<&mtds::Member> =
            members().filter(|member| member.label.as_deref() == Some(name)).collect();
        if of_style.is_empty() {
            let unknown = |_| Error::UnknownStyle { name: name.into(), known: listed(&self.styles()) };
            return self.model.code_called(name).map(<[f64]>::to_vec).map_err(unknown);
        }
        let mean =
            |d: usize| of_style.iter().map(|member| member.code_mean[d]).sum::<f64>() / of_style.len() as f64;
        Ok((0..self.model.system.d_code()).map(mean).collect())
    }

    /// The code of a mixture.
    ///
    /// # Errors
    /// As [`MotionModel::code_of`].
    pub fn code_of_mix(&self, mix: &StyleMix) -> Result<Vec<f64>> {
        let mut code = vec![0.0; self.model.system.d_code()];
        for (name, weight) in &mix.parts {
            let own = self.code_of(name)?;
            code.iter_mut().zip(own).for_each(|(sum, value)| *sum += weight * value);
        }
        Ok(code)
    }

    /// The style of a clip that the model has not met.
    ///
    /// # Errors
    /// [`Error::Unusable`] for a clip without a gait, or too short; what inference refuses.
    pub fn example(&self, clip: &Clip, random: &mut Random) -> Result<Example> {
        stride_of(clip)?;
        let (outputs, inputs) = (&clip.features.outputs.values, self.chosen(&clip.features.inputs)?);
        let n = outputs.n_time();
        if n < FEWEST_FRAMES {
            return Err(too_short(n + 1));
        }
        let start = n.saturating_sub(MOST_EXAMPLE_FRAMES) / 2;
        let rows = start..n.min(start + MOST_EXAMPLE_FRAMES);
        let (outputs, inputs) = (outputs.slice(rows.clone()), inputs.slice(rows));
        let seen = (&outputs, Some(&inputs));
        let (system, noise) = (&self.model.system, self.model.online.noise);
        let posterior = system.infer_modes(&outputs, Some(&inputs), noise, &QUICK, random)?;
        let misfit = self.model.misfit(seen, &posterior)?;
        Ok(Example { code: posterior.mean()[..system.d_code()].to_vec(), misfit })
    }

    /// The motion along a route while the style goes through `codes`, evenly in time; it stays on the route.
    ///
    /// # Errors
    /// Codes of another length than those of the model.
    pub fn walk(&self, codes: &CodePath, route: &Route) -> Result<Outputs> {
        let inputs = self.chosen(&route.inputs()?)?;
        let path = CodePath::new(gently(codes, route.n_frames()))?;
        let raw = self.model.morph(&path, Some(&inputs), inputs.n_time())?;
        steered(&raw, route)
    }

    /// Length of the legs of the body that a model moves in the style of `codes`, in metres: on a straight way at the usual speed,
    /// and not far from that of its average member, as legs of a style that is known badly may be stretched.
    ///
    /// # Errors
    /// As [`MotionModel::walk`].
    pub fn leg_m(&self, codes: &CodePath) -> Result<f64> {
        let speed = self.usual_speed().unwrap_or(SOME_SPEED);
        let route = Route::along(&Way::straight(speed * LEG_SECS), Pace::usual(speed))?;
        let leg = |code: Vec<f64>| -> Result<f64> {
            Ok(leg_length(&self.walk(&CodePath::new(vec![code])?, &route)?.to_track()?))
        };
        let members = &self.model.members;
        let mean = |d: usize| {
            members.iter().map(|member| member.code_mean[d]).sum::<f64>() / members.len().max(1) as f64
        };
        let usual = leg((0..self.model.system.d_code()).map(mean).collect())?;
        let own = [0.0, 0.5, 1.0].map(|position| leg(codes.at(position)));
        let own = own.into_iter().sum::<Result<f64>>()? / 3.0;
        Ok(own.clamp(usual / MOST_APART, usual * MOST_APART))
    }

    /// The inputs that the model takes, of all 32 on a route that [`Outputs`] of [`MotionModel::walk`] answer to.
    ///
    /// # Errors
    /// None for a route as it was made.
    pub fn inputs_of(&self, route: &Route) -> Result<Signal> {
        // Row t of the outputs is frame t, which the inputs of the frame before lead to.
        Ok(self.chosen(&route.inputs()?)?.slice(LEAD - 1..LEAD - 1 + route.n_frames()))
    }

    /// How far inputs of a route are from those that the model was learned from: root mean square over the route of the farthest
    /// column, in deviations; about 1 for what is usual.
    ///
    /// # Errors
    /// None for a route as it was made.
    pub fn strangeness(&self, route: &Route) -> Result<f64> {
        let scaled = self.model.system.scaling().inputs_to_model(&self.inputs_of(route)?)?;
        let n = scaled.n_time().max(1) as f64;
        let square = |c: usize| scaled.rows().map(|row| row[c] * row[c]).sum::<f64>() / n;
        Ok((0..scaled.width()).map(square).fold(0.0, f64::max).sqrt())
    }

    /// The mean speed of what it was learned from, in metres a second; none where the model does not scale its inputs.
    #[must_use]
    pub fn usual_speed(&self) -> Option<f64> {
        let forward = input_names().iter().position(|name| name == "path_forward_30")?;
        let column = self.inputs.iter().position(|&place| place == forward)?;
        // What one row of zeros becomes tells offset and scale.
        let row = |value: f64| -> Option<f64> {
            let mut values = vec![0.0; self.inputs.len()];
            values[column] = value;
            let signal = Signal::new(1, values.len(), values).ok()?;
            Some(self.model.system.scaling().inputs_to_model(&signal).ok()?.get(0, column))
        };
        let (zero, one) = (row(0.0)?, row(1.0)?);
        let mean = -zero / (one - zero);
        (mean.is_finite() && mean > 0.05).then_some(mean)
    }

    /// Those of the 32 columns that the model takes.
    fn chosen(&self, inputs: &Signal) -> Result<Signal> {
        let values = inputs.rows().flat_map(|row| self.inputs.iter().map(|&place| row[place])).collect();
        Ok(Signal::new(inputs.n_time(), self.inputs.len(), values)?)
    }
}

/// A clip that is too short for anything.
pub(super) fn too_short(n_frames: usize) -> Error {
    Error::Unusable {
        expected: format!("at least {} frames at {FPS} a second", FEWEST_FRAMES + 1),
        found: n_frames.to_string(),
        hint: "take a longer clip",
    }
}

/// A code for every frame from the lead on: held before the beginning, changing gently at corners of the path.
fn gently(codes: &CodePath, n_frames: usize) -> Vec<Vec<f64>> {
    let position = |t: usize| if n_frames > 1 { t as f64 / (n_frames - 1) as f64 } else { 0.0 };
    let rows: Vec<Vec<f64>> = (0..n_frames).map(|t| codes.at(position(t))).collect();
    let columns: Vec<Vec<f64>> = (0..codes.d_code())
        .map(|d| smooth(&rows.iter().map(|row| row[d]).collect::<Vec<_>>(), CODE_SIGMA_SECS * FPS))
        .collect();
    (0..LEAD + n_frames)
        .map(|t| columns.iter().map(|column| column[t.saturating_sub(LEAD)]).collect())
        .collect()
}

/// A column's name without the letter that families put before it.
fn bare(name: &str, letter: char) -> &str {
    name.strip_prefix(letter).and_then(|rest| rest.strip_prefix('_')).unwrap_or(name)
}

fn listed(names: &[&str]) -> String {
    let more = names.len().saturating_sub(MOST_LISTED);
    let shown = names.iter().take(MOST_LISTED).copied().collect::<Vec<_>>().join(", ");
    match (names.is_empty(), more) {
        (true, _) => "none by name".into(),
        (_, 0) => shown,
        _ => format!("{shown} and {more} more"),
    }
}
