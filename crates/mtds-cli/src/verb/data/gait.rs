//! `mtds data gait`: the procedural walker's walks as BVH files, each with its ground truth beside it.

use crate::options::Common;
use crate::output::write_whole;
use crate::usage::{Refusal, check_directory, value, within};
use anyhow::Result;
use clap::Args;
use mtds_mocap::bvh;
use mtds_mocap::walker::{Cast, Style, Walk};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds data gait -o walks
      four walks in each of eight styles, with known contacts and phase beside each file
  mtds data gait -o few --styles old,proud --walks 2 --frames 150
      two styles, two short walks each
";

/// More walks or frames: most likely a typing error.
const MOST: usize = 1_000_000;

/// Walks, by style.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Gait {
    /// Folder to write; files go to folders named by style
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,

    /// Styles, e.g. old,proud [default: all eight]
    #[arg(long, value_name = "STYLES", value_delimiter = ',', value_parser = value(style))]
    pub styles: Vec<Style>,

    /// Walks of each style; the last one is for testing where there are several
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = within(1..=MOST, "1 to 1000000", "4"))]
    pub walks: usize,

    /// Frames of a walk
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = within(1..=MOST, "1 to 1000000", "4"))]
    pub frames: usize,

    /// Frames per second
    #[arg(long, value_name = "RATE", default_value_t = 30.0)]
    #[arg(value_parser = within(1.0..=1000.0, "1 to 1000 frames per second", "30"))]
    pub fps: f64,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

fn style(name: String) -> Result<Style, Refusal> {
    let wrong = || (format!("found `{name}`, which is no style"), Style::ALL.map(Style::name).join(", "));
    Style::from_name(&name).ok_or_else(wrong)
}

impl Gait {
    /// Writes all walks, a table of them with splits, and the gaits that were drawn.
    pub(super) fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        check_directory("--out", &self.out)?;
        let is_asked = |style: &Style| self.styles.is_empty() || self.styles.contains(style);
        let styles: Vec<_> = Style::ALL.into_iter().filter(is_asked).map(Style::name).collect();
        let cast = Cast { n_per_style: self.walks, n_frames: self.frames, fps: self.fps, ..Cast::default() };
        let mut walks = cast.walks(self.common.seed())?;
        walks.retain(|walk| is_asked(&walk.style));
        let mut manifest = vec![["file", "style", "fps", "frames", "split"].map(str::to_owned)];
        for (number, walk) in walks.iter().enumerate() {
            let style = walk.style.name();
            let is_last = (number + 1).is_multiple_of(self.walks);
            let split = if is_last && self.walks > 1 { "test" } else { "train" };
            let file = format!("{style}/{}.bvh", walk.id);
            write_whole(&self.out.join(&file), &bvh::write(&walk.walk.to_bvh()?))?;
            let truth = self.out.join(style).join(format!("{}.truth.csv", walk.id));
            write_whole(&truth, &csv_bytes(&truth_rows(&walk.walk))?)?;
            let (fps, frames) = (self.fps.to_string(), walk.walk.track.n_frames().to_string());
            manifest.push([file, style.to_owned(), fps, frames, split.to_owned()]);
        }
        write_whole(&self.out.join("manifest.csv"), &csv_bytes(&manifest)?)?;
        let gait = |walk: &mtds_mocap::walker::CastWalk| {
            (walk.id.clone(), json!({"style": walk.style.name(), "gait": walk.gait}))
        };
        let gaits = serde_json::to_vec_pretty(&walks.iter().map(gait).collect::<Value>())?;
        write_whole(&self.out.join("gaits.json"), &gaits)?;
        let document = || {
            json!({
                "verb": "data gait",
                "version": env!("CARGO_PKG_VERSION"),
                "folder": self.out,
                "n_walks": walks.len(),
                "styles": styles,
                "frames": self.frames,
                "fps": self.fps,
            })
        };
        let text = || format!("{}: {} walks in {} styles\n", self.out.display(), walks.len(), styles.len());
        self.common.print(stdout, text, document)
    }
}

/// Contacts of both feet and the phase, a row per frame.
fn truth_rows(walk: &Walk) -> Vec<[String; 4]> {
    let mut rows = vec![["frame", "left_stands", "right_stands", "phase_rad"].map(str::to_owned)];
    rows.extend(walk.phase_rad.iter().enumerate().map(|(frame, phase)| {
        let [left, right] = [0, 1].map(|foot| u8::from(walk.contacts[foot][frame]).to_string());
        [frame.to_string(), left, right, phase.to_string()]
    }));
    rows
}

fn csv_bytes<const N: usize>(rows: &[[String; N]]) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(vec![]);
    rows.iter().try_for_each(|row| writer.write_record(row))?;
    Ok(writer.into_inner()?)
}
