//! Reads the motion part of a BVH file: its header and one line of numbers per frame.

use super::read::Remark;
use super::scan::Scanner;
use crate::{Error, Result};

/// Frame time in seconds, and the values of all whole frames, `n_frames × n_channels`.
pub(super) fn read(
    scanner: &mut Scanner,
    n_channels: usize,
    remarks: &mut Vec<Remark>,
) -> Result<(f64, Vec<f64>)> {
    scanner.require("MOTION", "the frames follow the hierarchy; check the braces above")?;
    let declared = read_count(scanner)?;
    let frame_time = read_frame_time(scanner)?;
    let values = read_lines(scanner, n_channels, remarks)?;
    let found = values.len() / n_channels;
    if found != declared {
        remarks.push(Remark::FrameCount { declared, found });
    }
    Ok((frame_time, values))
}

/// `Frames: 12`, with any blanks, or none, around the colon.
fn read_count(scanner: &mut Scanner) -> Result<usize> {
    let hint = "e.g. `Frames: 120`";
    if !(scanner.take_text("Frames") && scanner.take_text(":")) {
        return Err(scanner.error("`Frames:` and their number", hint));
    }
    let before = *scanner;
    let count = std::str::from_utf8(scanner.word()).ok().and_then(|text| text.parse().ok());
    count.ok_or_else(|| before.error("the number of frames", hint))
}

/// `Frame Time: .0083333`, with any blanks, or none, around the colon.
fn read_frame_time(scanner: &mut Scanner) -> Result<f64> {
    let hint = "e.g. `Frame Time: 0.033333`, in seconds";
    if !(scanner.take_text("Frame") && scanner.take_text("Time") && scanner.take_text(":")) {
        return Err(scanner.error("`Frame Time:` and seconds", hint));
    }
    let before = *scanner;
    let seconds = scanner.number()?;
    if seconds > 0.0 { Ok(seconds) } else { Err(before.error("seconds above 0", hint)) }
}

/// Every line that is not blank, as one frame each; a last line that is cut off is dropped with a remark.
fn read_lines(scanner: &mut Scanner, n_channels: usize, remarks: &mut Vec<Remark>) -> Result<Vec<f64>> {
    let mut values = Vec::new();
    loop {
        scanner.skip_space();
        if scanner.peek().is_none() {
            return Ok(values);
        }
        let start = *scanner;
        let before = values.len();
        read_line(scanner, n_channels, &mut values)?;
        let found = values.len() - before;
        if found < n_channels {
            let end = *scanner;
            scanner.skip_space();
            if scanner.peek().is_some() {
                return Err(too_short(end, n_channels, found));
            }
            values.truncate(before);
            let line = start.line_and_column().0;
            remarks.push(Remark::CutOff { line, found, expected: n_channels });
        }
    }
}

/// The numbers of one line, at most one per channel, appended to `values`.
fn read_line(scanner: &mut Scanner, n_channels: usize, values: &mut Vec<f64>) -> Result<()> {
    let most = values.len() + n_channels;
    while !scanner.line_is_over() {
        if values.len() == most {
            let expected = format!("the end of the line after {n_channels} values");
            return Err(scanner.error(expected, "each frame has one line with one value per channel"));
        }
        let before = *scanner;
        match scanner.number() {
            Ok(value) => values.push(value),
            Err(_) if before.is_cut_off_number() => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A frame in the middle of the file that lacks values; `end` is where its line ends.
fn too_short(end: Scanner, n_channels: usize, found: usize) -> Error {
    let (line, column) = end.line_and_column();
    Error::Bvh {
        line,
        column,
        expected: format!("{n_channels} values in the line of a frame"),
        found: format!("{found}"),
        hint: "each frame has one line with one value per channel",
    }
}
