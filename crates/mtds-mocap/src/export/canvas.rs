//! A small picture in memory, and smooth lines on it.
//!
//! ```text
//! coverage of a pixel = clamp(width/2 + 1/2 − distance of its centre from the segment, 0, 1)
//! ```

/// A picture in red, green and blue.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Canvas {
    pub width: usize,
    pub height: usize,
    /// Row by row, three bytes a pixel.
    pub pixels: Vec<u8>,
}

impl Canvas {
    /// A picture of one colour.
    pub fn new(width: usize, height: usize, colour: [u8; 3]) -> Self {
        Self { width, height, pixels: colour.repeat(width * height) }
    }

    /// Draws a line with round ends, coordinates in pixels from the upper left corner; parts outside are left out.
    pub fn line(&mut self, [from, to]: [[f64; 2]; 2], width: f64, colour: [u8; 3]) {
        if ![from, to].iter().flatten().all(|value| value.is_finite()) {
            return;
        }
        let reach = width / 2.0 + 1.0;
        let span = |axis: usize, size: usize| {
            let low = (from[axis].min(to[axis]) - reach).floor().clamp(0.0, size as f64);
            let high = (from[axis].max(to[axis]) + reach).ceil().clamp(0.0, size as f64);
            low as usize..high as usize
        };
        let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
        // Of a slanting line only its own band: the box around it is mostly empty.
        let half = reach * dx.hypot(dy) / dy.abs();
        for y in span(1, self.height) {
            let (mut columns, centre) = (span(0, self.width), from[0] + (y as f64 + 0.5 - from[1]) * dx / dy);
            if centre.is_finite() && half.is_finite() {
                columns.start = columns.start.max((centre - half).floor().max(0.0) as usize);
                columns.end = columns.end.min((centre + half).ceil().max(0.0) as usize);
            }
            for x in columns {
                let distance = distance([x as f64 + 0.5, y as f64 + 0.5], from, to);
                self.mix([x, y], (width / 2.0 + 0.5 - distance).clamp(0.0, 1.0), colour);
            }
        }
    }

    fn mix(&mut self, [x, y]: [usize; 2], share: f64, colour: [u8; 3]) {
        let first = 3 * (y * self.width + x);
        for (old, new) in self.pixels[first..first + 3].iter_mut().zip(colour) {
            *old = (f64::from(*old) + share * (f64::from(new) - f64::from(*old))).round() as u8;
        }
    }
}

/// Distance of a point from a segment.
fn distance([x, y]: [f64; 2], from: [f64; 2], to: [f64; 2]) -> f64 {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let squared = dx * dx + dy * dy;
    let share = if squared > 0.0 { ((x - from[0]) * dx + (y - from[1]) * dy) / squared } else { 0.0 };
    let share = share.clamp(0.0, 1.0);
    (x - from[0] - share * dx).hypot(y - from[1] - share * dy)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHITE: [u8; 3] = [255; 3];

    fn darkness(canvas: &Canvas) -> f64 {
        canvas.pixels.chunks_exact(3).map(|pixel| 1.0 - f64::from(pixel[0]) / 255.0).sum()
    }

    #[test]
    fn a_line_covers_its_area_at_any_angle() {
        for angle in [0.0f64, 0.3, 0.8, 1.5] {
            let mut canvas = Canvas::new(100, 100, WHITE);
            let (sin, cos) = angle.sin_cos();
            canvas.line([[20.0, 10.0], [20.0 + 60.0 * cos, 10.0 + 60.0 * sin]], 3.0, [0; 3]);
            // Length times width, and two half discs.
            let area = 60.0 * 3.0 + std::f64::consts::PI * 1.5 * 1.5;
            assert!((darkness(&canvas) / area - 1.0).abs() < 0.03, "{angle}: {}", darkness(&canvas));
        }
    }

    #[test]
    fn what_is_outside_or_no_number_is_left_out() {
        let mut canvas = Canvas::new(4, 3, WHITE);
        canvas.line([[-50.0, -50.0], [-10.0, -10.0]], 2.0, [0; 3]);
        canvas.line([[f64::NAN, 0.0], [2.0, 2.0]], 2.0, [0; 3]);
        assert_eq!(canvas, Canvas::new(4, 3, WHITE));
        canvas.line([[-1e9, 1.5], [1e9, 1.5]], 1.0, [0; 3]);
        assert!((darkness(&canvas) - 4.0).abs() < 0.1);
    }
}
