//! `mtds mocap export`: a sequence of a family goes back to the world, onto a skeleton, into a file.

use super::clip_file::{clip_file, ending};
use super::side::{Side, path_beside};
use crate::options::Common;
use crate::output::write_whole;
use crate::usage::file;
use anyhow::{Result, bail};
use clap::Args;
use mtds::Sequence;
use mtds_data::{ReadOptions, read_family};
use mtds_mocap::export::{METRES_PER_UNIT, animated_png, foot_sliding, glb, lock_feet, montage_png, posed};
use mtds_mocap::frame::{D_OBS, Outputs, Placement};
use mtds_mocap::signal::FPS;
use mtds_mocap::{JointTrack, bvh, gait};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds mocap export walks.csv --series old_01 -o old.bvh
      one sequence of a prepared family as a skeleton with rotations
  mtds mocap export walks.csv --series proud_02 -o proud.glb --lock-feet
      another as a 3-D model in motion, feet held where they stand
";

/// Which sequence, and into which file.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Export {
    /// A family as `mtds mocap prepare` writes it
    #[arg(value_name = "FAMILY")]
    pub family: PathBuf,

    /// Which sequence
    #[arg(long, value_name = "ID")]
    pub series: String,

    /// File to write: .bvh, .glb, .png for a row of poses, .apng for a moving picture
    #[arg(short, long, value_name = "CLIP", value_parser = file(clip_file(&["bvh", "glb", "png", "apng"])))]
    pub out: PathBuf,

    /// Hold feet in place while they stand
    #[arg(long)]
    pub lock_feet: bool,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

impl Export {
    /// Exports a sequence.
    ///
    /// # Errors
    /// A family that cannot be read or has other outputs than a prepared one, a sequence that it does not have or whose
    /// outputs have gaps, a file that cannot be written.
    pub fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        let read = read_family(&self.family, &ReadOptions::default())?;
        let track = self.world(read.family.get(&self.series)?)?;
        let contacts = gait::contacts(&track);
        let before = foot_sliding(&track, &contacts)?;
        let track = if self.lock_feet { lock_feet(&track, &contacts)? } else { track };
        let after = foot_sliding(&track, &contacts)?;
        let (bytes, error_m) = bytes_of(&track, &ending(&self.out))?;
        write_whole(&self.out, &bytes)?;
        let document = || {
            json!({
                "verb": "mocap export",
                "version": env!("CARGO_PKG_VERSION"),
                "file": self.out,
                "series": self.series,
                "frames": track.n_frames(),
                "fps": track.fps,
                "mean_error_m": error_m,
                "sliding_in_family": before,
                "sliding_in_file": after,
            })
        };
        let text = || {
            let out = self.out.display();
            let mut text = format!("{out}: {} frames at {} per second", track.n_frames(), track.fps);
            if let Some(error_m) = error_m {
                text += &format!(", rotations within {:.1} mm of positions on average", 1000.0 * error_m);
            }
            text += &format!("; feet slide at {:.1} cm/s", 100.0 * after.mean_speed);
            if self.lock_feet {
                text += &format!(" ({:.1} before they were locked)", 100.0 * before.mean_speed);
            }
            text + "\n"
        };
        self.common.print(stdout, text, document)
    }

    /// Positions in the world.
    fn world(&self, sequence: &Sequence) -> Result<JointTrack> {
        let width = sequence.outputs().width();
        if width != D_OBS {
            bail!(
                "`{}`: expected the {D_OBS} outputs of a family from `mtds mocap prepare`, found {width}",
                self.family.display()
            );
        }
        let side = Side::read(&self.family)?;
        let start = side.as_ref().and_then(|side| side.clips.get(&self.series)).map(|clip| clip.start);
        if start.is_none() {
            self.common.say(format_args!(
                "note: `{}` does not say where `{}` begins; it begins at the origin",
                path_beside(&self.family, "mocap.json").display(),
                self.series
            ));
        }
        let start = start.unwrap_or(Placement { x: 0.0, z: 0.0, facing_rad: 0.0 });
        let fps = side.map_or(FPS, |side| side.fps);
        Ok(Outputs { values: sequence.outputs().clone(), start, fps }.to_track()?)
    }
}

/// The file, and how far rotations are from positions on average, where there are any.
fn bytes_of(track: &JointTrack, ending: &str) -> Result<(Vec<u8>, Option<f64>)> {
    Ok(match ending {
        "png" => (montage_png(track)?, None),
        "apng" => (animated_png(track)?, None),
        _ => {
            let posed = posed(track)?;
            let bytes = match ending {
                "glb" => glb(&posed.motion, METRES_PER_UNIT)?,
                _ => bvh::write(&posed.motion),
            };
            (bytes, Some(posed.mean_error_m))
        }
    })
}
