//! What verbs about motions share: which style and which way is meant, and where made-up motions begin.

use super::known::{self, Code};
use super::mocap::side::{Side, SideClip};
use crate::options::Common;
use crate::usage::{Refusal, UsageError, value, within};
use anyhow::{Context, Result};
use clap::Args;
use clap::builder::TypedValueParser;
use mtds::Model;
use mtds::random::{Stream, stream};
use mtds_data::FAR_OUTSIDE;
use mtds_mocap::clip::ClipSettings;
use mtds_mocap::control::{MotionModel, Pace, Route, StyleMix, Way};
use mtds_mocap::files::{read_clip, read_way};
use mtds_mocap::frame::Outputs;
use mtds_mocap::signal::FPS;
use mtds_mocap::skeleton::leg_length;
use std::path::{Path, PathBuf};

/// Speed of a walk where neither anybody nor the model says one, in metres a second.
const SOME_SPEED: f64 = 1.1;

/// A way, for models of motions.
#[derive(Debug, Args)]
pub struct WayOptions {
    /// For models of motions: a way in words, e.g. "walk 4, left 90, walk 3" (metres, degrees), a table of points (.csv with x,z
    /// in metres, and t in seconds), or a clip (.bvh) whose way and steps are taken
    #[arg(long, value_name = "PATH", conflicts_with_all = ["inputs", "steps"])]
    pub path: Option<String>,

    /// Metres a second on that way [default: as those that the model was learned from, on average]
    #[arg(long, value_name = "SPEED", requires = "path", conflicts_with_all = ["inputs", "steps"])]
    #[arg(value_parser = within(0.05..=15.0, "0.05 to 15 metres a second", "1.2"))]
    pub speed: Option<f64>,

    /// Steps a second, of both feet together [default: as adults step at that speed]
    #[arg(long, value_name = "N", requires = "path", conflicts_with_all = ["inputs", "steps"])]
    #[arg(value_parser = within(0.1..=10.0, "0.1 to 10 steps a second", "1.8"))]
    pub steps_per_second: Option<f64>,
}

impl WayOptions {
    /// The route that is meant; none without a path.
    ///
    /// # Errors
    /// Words that say nothing, a file that cannot be read, a pace where the file has its own.
    pub(super) fn route(&self, model: &MotionModel<'_>, common: &Common) -> Result<Option<Route>> {
        let Some(path) = &self.path else { return Ok(None) };
        let own_pace = |what: &str| {
            let problem = format!("`{path}` has {what} of its own");
            UsageError::new("--speed", problem, "leave it out, or a table of points without times")
        };
        let route = if has_ending(path, "bvh") {
            if self.speed.is_some() {
                return Err(own_pace("a speed").into());
            }
            let clip = read_clip(Path::new(path), &ClipSettings::default())?;
            let route = Route::of_clip(&clip).map_err(|error| in_file(Path::new(path), error))?;
            self.steps_per_second.map_or(Ok(route.clone()), |steps| route.with_steps(steps))?
        } else {
            let way = match has_ending(path, "csv") {
                true => read_way(Path::new(path))?,
                false => Way::parse(path).map_err(|error| {
                    UsageError::new("--path", error.to_string(), "walk 4, left 90, walk 3")
                })?,
            };
            if way.is_timed() && self.speed.is_some() {
                return Err(own_pace("times").into());
            }
            let speed = match way.mean_speed() {
                Some(own) => own,
                None => self.speed.or(model.usual_speed()).unwrap_or(SOME_SPEED),
            };
            let usual = Pace::usual(speed);
            let steps_per_second = self.steps_per_second.unwrap_or(usual.steps_per_second);
            let pace = Pace { steps_per_second, ..usual };
            common.say(format_args!("note: {speed:.2} m/s, {steps_per_second:.2} steps a second"));
            Route::along(&way, pace)?
        };
        say_strange(model, &route, path, common)?;
        Ok(Some(route))
    }
}

/// Inputs that are this many deviations away are unlike what a model was learned from: walks of the shared recordings are, but for one, within 3 of
/// those of the built-in walkers, three of four runs beyond 4.
const STRANGE: f64 = 3.0;

/// Says so where nobody went like this in what the model was learned from; how far outside it is.
pub(super) fn say_strange(
    model: &MotionModel<'_>,
    route: &Route,
    name: &str,
    common: &Common,
) -> Result<f64> {
    let found = model.strangeness(route)?;
    if found > STRANGE {
        common.say(format_args!(
            "note: `{name}` goes as no clip went that the model was learned from (inputs {found:.1} deviations away): a run for a \
             model of walks? What comes out may look odd"
        ));
    }
    Ok(found)
}

fn has_ending(name: &str, ending: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// A style, or a mixture of some.
pub(super) fn style_mix() -> impl TypedValueParser<Value = StyleMix> {
    value(|text: String| -> Result<StyleMix, Refusal> {
        StyleMix::parse(&text).map_err(|error| (error.to_string(), "old, or 0.7*old+0.3*proud".into()))
    })
}

/// A style, as somebody said it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Said<'a> {
    /// By name, or as a mixture.
    Mix(&'static str, &'a StyleMix),
    /// By a clip of somebody.
    Example(&'a Path),
    /// By its code.
    Code(&'static str, &'a Code),
}

impl Said<'_> {
    /// The code that is meant.
    ///
    /// # Errors
    /// A style that the model does not know; a clip that cannot be read or shows no gait; a code of another length.
    pub(super) fn code(
        self,
        model: &MotionModel<'_>,
        settings: &ClipSettings,
        common: &Common,
    ) -> Result<Vec<f64>> {
        match self {
            Self::Mix(option, mix) => model.code_of_mix(mix).map_err(|error| match error {
                mtds_mocap::Error::UnknownStyle { name, known } => {
                    UsageError::new(option, format!("the model knows no style `{name}`"), known).into()
                }
                other => other.into(),
            }),
            Self::Code(option, code) => Ok(code.of_length(option, model.model().system.d_code())?),
            Self::Example(path) => {
                let clip = read_clip(path, settings)?;
                let mut random = stream(common.seed(), Stream::Infer(0));
                let example = model.example(&clip, &mut random).map_err(|error| in_file(path, error))?;
                if example.misfit.is_far_outside() {
                    let size = example.misfit.size().unwrap_or(f64::NAN);
                    common.say(format_args!(
                        "note: `{}` (errors {size:.1} times those of members): {FAR_OUTSIDE}",
                        path.display()
                    ));
                }
                Ok(example.code)
            }
        }
    }
}

/// The code of what was typed: that of a member or of a segment of one, and for a model of motions that of a style, a mixture, or a BVH file. What is called
/// a style is sought among styles first.
///
/// # Errors
/// What is none of these; a BVH file that cannot be used.
pub(super) fn code_of(
    (option, typed): (&'static str, &str),
    (model, place): (&Model, &Path),
    common: &Common,
) -> Result<Vec<f64>> {
    let known = known::known_code((option, typed), model, place);
    let (Err(_), Ok(motion)) = (&known, MotionModel::of(model)) else {
        return Ok(known?);
    };
    if has_ending(typed, "bvh") {
        return Said::Example(Path::new(typed)).code(&motion, &ClipSettings::default(), common);
    }
    let mix = StyleMix::parse(typed)
        .map_err(|error| UsageError::new(option, error.to_string(), "old, or 0.7*old+0.3*proud"))?;
    Said::Mix(option, &mix).code(&motion, &ClipSettings::default(), common)
}

/// The model as one of motions, which a way needs.
///
/// # Errors
/// A model of something else.
pub(super) fn motion_model<'m>(model: &'m Model, place: &Path) -> Result<MotionModel<'m>> {
    MotionModel::of(model).with_context(|| format!("`{}`", place.display()))
}

/// An error about a file, with its name.
pub(super) fn in_file(path: &Path, source: mtds_mocap::Error) -> mtds_mocap::Error {
    mtds_mocap::Error::InFile { path: path.into(), source: Box::new(source) }
}

/// Where made-up motions begin, by id, to be kept beside their family.
#[derive(Debug, Default)]
pub(super) struct Beginnings(Vec<(String, SideClip)>);

impl Beginnings {
    /// A motion that was made for a route.
    pub(super) fn push(&mut self, id: &str, outputs: &Outputs, model: &Path) -> Result<()> {
        let leg_m = leg_length(&outputs.to_track()?);
        let file = model.display().to_string();
        self.0.push((id.to_owned(), SideClip { file, split: None, start: outputs.start, leg_m }));
        Ok(())
    }

    /// A motion that answers to inputs of sequence `of` of a family: it begins where that begins, if a file beside the family says so.
    pub(super) fn push_of(&mut self, id: &str, family: Option<&PathBuf>, of: &str) -> Result<()> {
        let side = family.map(|family| Side::read(family)).transpose()?.flatten();
        let clip = side.and_then(|side| side.clips.get(of).cloned());
        self.0.extend(clip.map(|clip| (id.to_owned(), SideClip { split: None, ..clip })));
        Ok(())
    }

    /// Writes them beside a family, if there are any and it goes into a file.
    pub(super) fn write(self, family: Option<&Path>) -> Result<()> {
        match family {
            Some(family) if !self.0.is_empty() => Side::new(FPS, self.0.into_iter().collect()).write(family),
            _ => Ok(()),
        }
    }
}
