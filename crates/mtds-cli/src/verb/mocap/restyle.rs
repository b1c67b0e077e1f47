//! `mtds mocap restyle`: a BVH file in another style, on its own skeleton, along its own way.

use super::clip_file::{clip_file, ending};
use super::take::rules;
use crate::options::Common;
use crate::output::write_whole;
use crate::usage::file;
use crate::verb::known::{Code, code};
use crate::verb::model::model_at;
use crate::verb::motion::{Said, in_file, motion_model, say_strange, style_mix};
use anyhow::Result;
use clap::Args;
use mtds::{CodePath, Model};
use mtds_mocap::bvh;
use mtds_mocap::clip::ClipSettings;
use mtds_mocap::control::{Restyled, Route, StyleMix};
use mtds_mocap::export::{animated_png, montage_png};
use mtds_mocap::files::read_character;
use mtds_mocap::starter;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds mocap restyle walks/neutral/neutral_01.bvh --like walks/proud/proud_01.bvh -o proud.bvh
      the first walk, moved as the second moves, on its own skeleton and along its own way
  mtds mocap restyle walks/neutral/neutral_01.bvh --model walkers --style 0.7*old+0.3*proud -o mixed.glb --picture
      a mixture of two styles that the model knows, with a picture and a moving picture beside the file
";

/// Which clip, in which style.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Restyle {
    /// The clip: a BVH file of somebody who walks
    #[arg(value_name = "CLIP")]
    pub clip: PathBuf,

    /// Directory of a model of motions [default: the one of walks that comes with the program]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<PathBuf>,

    /// Another BVH file, whose style is taken
    #[arg(long, value_name = "FILE", required_unless_present_any = ["style", "code"])]
    pub like: Option<PathBuf>,

    /// A style that the model knows, or a mixture, e.g. 0.7*old+0.3*proud; again for styles to pass in turn, evenly in time
    #[arg(long, value_name = "STYLE", allow_hyphen_values = true, conflicts_with_all = ["like", "code"])]
    #[arg(value_parser = style_mix())]
    pub style: Vec<StyleMix>,

    /// A code, e.g. 0.3,-1.2
    #[arg(long, value_name = "CODE", allow_hyphen_values = true, conflicts_with = "like")]
    #[arg(value_parser = code("--code"))]
    pub code: Option<Code>,

    /// File to write: .bvh or .glb
    #[arg(short, long, value_name = "FILE", value_parser = file(clip_file(&["bvh", "glb"])))]
    pub out: PathBuf,

    /// Leave a row of poses (.png) and a moving picture (.apng) beside the file
    #[arg(long)]
    pub picture: bool,

    /// Rules of your own for skeletons that are not known, as JSON
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

impl Restyle {
    /// Restyles a clip.
    ///
    /// # Errors
    /// A clip that cannot be read, is on no known skeleton, too short or without a gait; a model that makes no motions; a
    /// style that it does not know; a file that cannot be written.
    pub fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        let settings = ClipSettings { rules: rules(self.rules.as_ref())?, ..ClipSettings::default() };
        let character = read_character(&self.clip, &settings)?;
        for trap in character.clip.traps.iter().filter(|trap| trap.look) {
            self.common.say(format_args!("note: `{}`: {}: {}", self.clip.display(), trap.name, trap.detail));
        }
        let (place, model) = self.model()?;
        let model = motion_model(&model, &place)?;
        let codes = self.said().map(|said| said.code(&model, &settings, &self.common));
        let codes = codes.collect::<Result<Vec<_>>>()?;
        let path = CodePath::new(codes.clone())?;
        let made = character.restyled(&model, &path).map_err(|error| in_file(&self.clip, error))?;
        let route = Route::of_clip(&character.clip)?.scaled(made.factor);
        let name = self.clip.display().to_string();
        let strangeness = say_strange(&model, &route, &name, &self.common)?;
        let files = self.write(&made)?;
        let document = || {
            json!({
                "verb": "mocap restyle",
                "version": env!("CARGO_PKG_VERSION"),
                "seed": self.common.seed(),
                "files": files,
                "model": place,
                "codes": codes,
                "frames": made.track.n_frames(),
                "fps": made.track.fps,
                "mean_error_m": made.posed.mean_error_m,
                "sliding_in_clip": made.sliding_before,
                "sliding_in_file": made.sliding,
                "strangeness": strangeness,
                "body_factor": made.factor,
            })
        };
        self.common.print(stdout, || text(&files, &made), document)
    }

    /// The model that was named, or else the one that comes with the program, and its name.
    fn model(&self) -> Result<(PathBuf, Model)> {
        match &self.model {
            Some(place) => Ok((place.clone(), model_at(place, &self.common)?)),
            None => Ok((starter::NAME.into(), starter::model()?)),
        }
    }

    /// What was said about the style; clap sees to it that it was one thing.
    fn said(&self) -> impl Iterator<Item = Said<'_>> {
        let like = self.like.iter().map(|path| Said::Example(path));
        let style = self.style.iter().map(|mix| Said::Mix("--style", mix));
        like.chain(style).chain(self.code.iter().map(|code| Said::Code("--code", code)))
    }

    /// Writes the clip and its pictures; their names.
    fn write(&self, made: &Restyled) -> Result<Vec<PathBuf>> {
        let bytes = match ending(&self.out).as_str() {
            "glb" => made.glb()?,
            _ => bvh::write(&made.posed.motion),
        };
        let mut files = vec![(self.out.clone(), bytes)];
        if self.picture {
            files.push((self.out.with_extension("png"), montage_png(&made.track)?));
            files.push((self.out.with_extension("apng"), animated_png(&made.track)?));
        }
        files.iter().try_for_each(|(path, bytes)| write_whole(path, bytes))?;
        Ok(files.into_iter().map(|(path, _)| path).collect())
    }
}

fn text(files: &[PathBuf], made: &Restyled) -> String {
    let (frames, fps) = (made.track.n_frames(), made.track.fps);
    let out: &Path = &files[0];
    let mut text = format!(
        "{}: {frames} frames at {fps} per second; feet slide at {:.1} cm/s ({:.1} in the clip as it came)\n",
        out.display(),
        100.0 * made.sliding.mean_speed,
        100.0 * made.sliding_before.mean_speed,
    );
    files[1..].iter().for_each(|path| text += &format!("{}\n", path.display()));
    text
}
