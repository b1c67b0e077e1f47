//! A motion as a picture: a row of poses.

use mtds_mocap::export::{MONTAGE_SIZE, Tone, montage};
use mtds_mocap::{JointTrack, Result};
use mtds_report::chart::{Picture, StraightStroke, drawing};

/// Draws poses from all over a clip; `label` says what is to be seen.
///
/// # Errors
/// None for a valid track.
pub(in crate::verb) fn poses(label: &str, track: &JointTrack) -> Result<Picture> {
    let lines = montage(track)?;
    let strokes = lines.iter().map(|line| StraightStroke {
        ends: line.ends,
        colour: colour(line.tone),
        width: line.width,
    });
    Ok(drawing(label, MONTAGE_SIZE, strokes))
}

/// Colours that show on light and dark pages.
fn colour(tone: Tone) -> &'static str {
    match tone {
        Tone::Left => "#2f74d0",
        Tone::Right => "#d66026",
        Tone::Middle => "#85858c",
        Tone::Ground => "#a8a8ae",
    }
}
