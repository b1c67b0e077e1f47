//! Pictures as PNG, and several of one size as an animated PNG, which shows the first where animation is unknown.
//!
//! W3C, "Portable Network Graphics (PNG) Specification (Third Edition)".

use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

use super::canvas::Canvas;

/// Eight bits a channel, red, green, blue.
const DEPTH_AND_COLOUR: [u8; 2] = [8, 2];
/// Every row is stored as its difference from the one above.
const FILTER_UP: u8 = 2;

/// One picture, or several of the size of the first, each shown for `delay` (numerator and denominator of seconds).
pub(super) fn png(pictures: &[Canvas], delay: [u16; 2]) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let Some(first) = pictures.first() else { return file };
    let size = [first.width as u32, first.height as u32].map(u32::to_be_bytes).concat();
    chunk(&mut file, b"IHDR", &[&size[..], &DEPTH_AND_COLOUR, &[0, 0, 0]].concat());
    let is_animated = pictures.len() > 1;
    if is_animated {
        let count = (pictures.len() as u32).to_be_bytes();
        chunk(&mut file, b"acTL", &[count, [0; 4]].concat());
    }
    // Control and data chunks of an animation are numbered together.
    let mut number = 0u32;
    for (place, picture) in pictures.iter().enumerate() {
        if is_animated {
            let delay = delay.map(u16::to_be_bytes).concat();
            let control = [&number.to_be_bytes()[..], &size, &[0; 8], &delay, &[0, 0]].concat();
            chunk(&mut file, b"fcTL", &control);
            number += 1;
        }
        let data = compressed(picture);
        if place == 0 {
            chunk(&mut file, b"IDAT", &data);
        } else {
            chunk(&mut file, b"fdAT", &[&number.to_be_bytes()[..], &data].concat());
            number += 1;
        }
    }
    chunk(&mut file, b"IEND", &[]);
    file
}

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    let mut sum = Crc::new();
    sum.update(kind);
    sum.update(data);
    file.extend((data.len() as u32).to_be_bytes());
    file.extend(kind);
    file.extend(data);
    file.extend(sum.sum().to_be_bytes());
}

fn compressed(picture: &Canvas) -> Vec<u8> {
    let row = 3 * picture.width;
    let mut filtered = Vec::with_capacity((row + 1) * picture.height);
    let mut above = vec![0u8; row];
    for pixels in picture.pixels.chunks_exact(row.max(1)) {
        filtered.push(FILTER_UP);
        filtered.extend(pixels.iter().zip(&above).map(|(now, above)| now.wrapping_sub(*above)));
        above.copy_from_slice(pixels);
    }
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // A vector takes all that is written to it.
    encoder.write_all(&filtered).and_then(|()| encoder.finish()).unwrap_or_default()
}
