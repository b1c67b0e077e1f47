//! `mtds data gait`: the procedural walker's walks as BVH files, each with its ground truth beside it.

use crate::output::{print, write_whole};
use crate::plan::{Format, GaitPlan};
use anyhow::Result;
use mtds_mocap::bvh;
use mtds_mocap::walker::{CastWalk, Walk};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write;

/// Writes all walks, a table of them with splits, and the gaits that were drawn.
///
/// # Errors
/// A file that cannot be written; a `stdout` that takes no more.
pub fn run(plan: &GaitPlan, stdout: &mut dyn Write) -> Result<()> {
    let mut walks = plan.cast.walks(plan.common.seed)?;
    walks.retain(|walk| plan.styles.contains(&walk.style));
    let mut manifest = "file,style,fps,frames,split\n".to_owned();
    for (number, walk) in walks.iter().enumerate() {
        let style = walk.style.name();
        let is_last = (number + 1).is_multiple_of(plan.cast.n_per_style);
        let split = if is_last && plan.cast.n_per_style > 1 { "test" } else { "train" };
        let file = format!("{style}/{}.bvh", walk.id);
        write_whole(&plan.out.join(&file), &bvh::write(&walk.walk.to_bvh()?))?;
        let truth = plan.out.join(style).join(format!("{}.truth.csv", walk.id));
        write_whole(&truth, truth_table(&walk.walk).as_bytes())?;
        let _ = writeln!(manifest, "{file},{style},{},{},{split}", plan.cast.fps, walk.walk.track.n_frames());
    }
    write_whole(&plan.out.join("manifest.csv"), manifest.as_bytes())?;
    let gaits = serde_json::to_vec_pretty(&gaits(&walks))?;
    write_whole(&plan.out.join("gaits.json"), &gaits)?;
    print(stdout, &said(plan, &walks)?)
}

/// Contacts of both feet and the phase, a row per frame.
fn truth_table(walk: &Walk) -> String {
    let mut text = "frame,left_stands,right_stands,phase_rad\n".to_owned();
    for (frame, phase) in walk.phase_rad.iter().enumerate() {
        let [left, right] = [0, 1].map(|foot| u8::from(walk.contacts[foot][frame]));
        let _ = writeln!(text, "{frame},{left},{right},{phase}");
    }
    text
}

/// The gait of every walk, by its name.
fn gaits(walks: &[CastWalk]) -> serde_json::Value {
    walks
        .iter()
        .map(|walk| (walk.id.clone(), json!({"style": walk.style.name(), "gait": walk.gait})))
        .collect()
}

fn said(plan: &GaitPlan, walks: &[CastWalk]) -> Result<String> {
    let styles: Vec<_> = plan.styles.iter().map(|style| style.name()).collect();
    Ok(match plan.common.format {
        Format::Text => {
            format!("{}: {} walks in {} styles\n", plan.out.display(), walks.len(), styles.len())
        }
        Format::Json => {
            let document = json!({
                "verb": "data gait",
                "version": env!("CARGO_PKG_VERSION"),
                "folder": plan.out,
                "n_walks": walks.len(),
                "styles": styles,
                "frames": plan.cast.n_frames,
                "fps": plan.cast.fps,
            });
            format!("{}\n", serde_json::to_string_pretty(&document)?)
        }
    })
}
