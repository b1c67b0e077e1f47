//! Pictures of a clip: a row of poses, and the clip in motion over a grid of the ground.

use super::canvas::Canvas;
use super::figure::{Line, MONTAGE_SIZE, Sheet, Tone, View, body_lines, montage};
use super::png::png;
use crate::frame::smooth;
use crate::{Joint, JointTrack, Result};

/// White paper.
const PAPER: [u8; 3] = [255; 3];
/// Width and height of an animated picture in pixels.
const SIZE: [usize; 2] = [360, 360];
/// Pixels per metre in it.
const SCALE: f64 = 140.0;
/// Where its viewer stands: fixed in the world, high enough to see the ground.
const VIEW: View = View { yaw_rad: 0.7, elevation_rad: 0.35 };
/// Pictures per second, at most: enough to see a gait at half the size.
const MOST_FPS: f64 = 15.0;
/// Seconds over which the camera averages where the body is.
const CAMERA_SECS: f64 = 0.4;
/// Metres between lines on the ground, and how far they reach from the body.
const GRID: f64 = 0.5;
const GRID_REACH: i64 = 6;

/// A row of poses of the clip as a PNG file.
///
/// # Errors
/// None for a valid track.
pub fn montage_png(track: &JointTrack) -> Result<Vec<u8>> {
    let [width, height] = MONTAGE_SIZE;
    let mut canvas = Canvas::new(width as usize, height as usize, PAPER);
    draw(&mut canvas, &montage(track)?);
    Ok(png(&[canvas], [0, 1]))
}

/// The clip in motion as an animated PNG file, the viewer going along with it.
///
/// # Errors
/// None for a valid track.
pub fn animated_png(track: &JointTrack) -> Result<Vec<u8>> {
    let step = (track.fps / MOST_FPS).ceil().max(1.0) as usize;
    let axis = |axis: usize| {
        let hips: Vec<f64> = (0..track.n_frames()).map(|t| track.at(t, Joint::Hips)[axis]).collect();
        smooth(&hips, CAMERA_SECS * track.fps)
    };
    let (x, z) = (axis(0), axis(2));
    let frames = (0..track.n_frames()).step_by(step);
    let pictures: Vec<Canvas> = frames.map(|t| picture(track, t, [x[t], z[t]])).collect();
    let milliseconds = (1000.0 * step as f64 / track.fps).round().clamp(1.0, 60_000.0);
    Ok(png(&pictures, [milliseconds as u16, 1000]))
}

/// One frame with the ground below, the camera over `[x, z]`.
fn picture(track: &JointTrack, frame: usize, [x, z]: [f64; 2]) -> Canvas {
    let mut canvas = Canvas::new(SIZE[0], SIZE[1], PAPER);
    let sheet = Sheet { scale: SCALE, origin: [0.5 * SIZE[0] as f64, 0.84 * SIZE[1] as f64] };
    draw(&mut canvas, &ground([x, z], &sheet));
    let body: Vec<_> = track.frame(frame).iter().map(|&[px, py, pz]| [px - x, py, pz - z]).collect();
    draw(&mut canvas, &body_lines(&body, &VIEW, &sheet));
    canvas
}

/// Lines of the world's grid around the camera, so that feet can be seen to stand.
fn ground([x, z]: [f64; 2], sheet: &Sheet) -> Vec<Line> {
    let reach = GRID_REACH as f64 * GRID;
    let on_sheet = |x: f64, z: f64| sheet.at(VIEW.project([x, 0.0, z]).0);
    let mut lines = Vec::new();
    for k in -GRID_REACH..=GRID_REACH {
        let off = |centre: f64| ((centre / GRID).round() + k as f64) * GRID - centre;
        let (across, along) = (off(x), off(z));
        let ends = [
            [on_sheet(across, -reach), on_sheet(across, reach)],
            [on_sheet(-reach, along), on_sheet(reach, along)],
        ];
        lines.extend(ends.map(|ends| Line { ends, width: 1.0, tone: Tone::Ground }));
    }
    lines
}

fn draw(canvas: &mut Canvas, lines: &[Line]) {
    for line in lines {
        canvas.line(line.ends, line.width, colour(line.tone));
    }
}

fn colour(tone: Tone) -> [u8; 3] {
    match tone {
        Tone::Left => [38, 102, 191],
        Tone::Right => [214, 96, 38],
        Tone::Middle => [70, 70, 76],
        Tone::Ground => [200, 200, 204],
    }
}
