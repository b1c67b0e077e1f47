//! `mtds mocap export`: a sequence of a family goes back to the world, onto a skeleton, into a file.

use super::side::{Side, path_beside};
use crate::output::{print, write_whole};
use crate::plan::{ClipFormat, ExportPlan, Feet, Format, Verbosity};
use anyhow::{Result, bail};
use mtds::family::Sequence;
use mtds_data::{ReadOptions, read_family};
use mtds_mocap::export::{
    METRES_PER_UNIT, Sliding, animated_png, foot_sliding, glb, lock_feet, montage_png, posed,
};
use mtds_mocap::frame::{D_OBS, Outputs, Placement};
use mtds_mocap::signal::FPS;
use mtds_mocap::{JointTrack, bvh, gait};
use serde_json::json;
use std::io::Write;

/// Exports a sequence.
///
/// # Errors
/// A family that cannot be read or has other outputs than a prepared one, a sequence that it does not have or whose
/// outputs have gaps, a file that cannot be written.
pub fn export(plan: &ExportPlan, stdout: &mut dyn Write) -> Result<()> {
    let read = read_family(&plan.family, &ReadOptions::default())?;
    let sequence = read.family.get(&plan.series)?;
    let track = world(plan, sequence)?;
    let contacts = gait::contacts(&track);
    let before = foot_sliding(&track, &contacts)?;
    let track = match plan.feet {
        Feet::Free => track,
        Feet::Locked => lock_feet(&track, &contacts)?,
    };
    let after = foot_sliding(&track, &contacts)?;
    let (bytes, error_m) = bytes_of(&track, plan.format)?;
    write_whole(&plan.out, &bytes)?;
    print(stdout, &said(plan, &track, error_m, [before, after])?)
}

/// Positions in the world.
fn world(plan: &ExportPlan, sequence: &Sequence) -> Result<JointTrack> {
    let width = sequence.outputs().width();
    if width != D_OBS {
        bail!(
            "`{}`: expected the {D_OBS} outputs of a family from `mtds mocap prepare`, found {width}",
            plan.family.display()
        );
    }
    let side = Side::read(&plan.family)?;
    let start = side.as_ref().and_then(|side| side.clips.get(&plan.series)).map(|clip| clip.start);
    if start.is_none() && plan.common.verbosity != Verbosity::Quiet {
        let beside = path_beside(&plan.family, "mocap.json");
        eprintln!(
            "note: `{}` does not say where `{}` begins; it begins at the origin",
            beside.display(),
            plan.series
        );
    }
    let start = start.unwrap_or(Placement { x: 0.0, z: 0.0, facing_rad: 0.0 });
    let fps = side.map_or(FPS, |side| side.fps);
    Ok(Outputs { values: sequence.outputs().clone(), start, fps }.to_track()?)
}

/// The file, and how far rotations are from positions on average, where there are any.
fn bytes_of(track: &JointTrack, format: ClipFormat) -> Result<(Vec<u8>, Option<f64>)> {
    Ok(match format {
        ClipFormat::Bvh => {
            let posed = posed(track)?;
            (bvh::write(&posed.motion), Some(posed.mean_error_m))
        }
        ClipFormat::Glb => {
            let posed = posed(track)?;
            (glb(&posed.motion, METRES_PER_UNIT)?, Some(posed.mean_error_m))
        }
        ClipFormat::Montage => (montage_png(track)?, None),
        ClipFormat::Animation => (animated_png(track)?, None),
    })
}

fn said(
    plan: &ExportPlan,
    track: &JointTrack,
    error_m: Option<f64>,
    sliding: [Sliding; 2],
) -> Result<String> {
    let [before, after] = sliding;
    if plan.common.format == Format::Json {
        let document = json!({
            "verb": "mocap export",
            "version": env!("CARGO_PKG_VERSION"),
            "file": plan.out,
            "series": plan.series,
            "frames": track.n_frames(),
            "fps": track.fps,
            "mean_error_m": error_m,
            "sliding_in_family": before,
            "sliding_in_file": after,
        });
        return Ok(format!("{}\n", serde_json::to_string_pretty(&document)?));
    }
    let mut text = format!("{}: {} frames at {} per second", plan.out.display(), track.n_frames(), track.fps);
    if let Some(error_m) = error_m {
        text += &format!(", rotations within {:.1} mm of positions on average", 1000.0 * error_m);
    }
    text += &format!("; feet slide at {:.1} cm/s", 100.0 * after.mean_speed);
    if plan.feet == Feet::Locked {
        text += &format!(" ({:.1} before they were locked)", 100.0 * before.mean_speed);
    }
    Ok(text + "\n")
}
