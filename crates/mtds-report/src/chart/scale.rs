//! From data to drawing units: ranges, linear and logarithmic scales, round ticks.

/// Beyond this magnitude a value cannot be drawn beside others and is treated as a gap.
const DRAWABLE: f64 = 1e100;

/// An interval of data, `low < high`, both finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Range {
    /// The smallest range that holds every drawable value; `None` if there is none. Constant data get some
    /// room on both sides, so that they lie in the middle.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut ends: Option<(f64, f64)> = None;
        for value in values.into_iter().filter(|v| is_drawable(*v)) {
            let (low, high) = ends.unwrap_or((value, value));
            ends = Some((low.min(value), high.max(value)));
        }
        let (low, high) = ends?;
        let magnitude = low.abs().max(high.abs());
        if high - low > 1e-9 * magnitude {
            return Some(Self { low, high });
        }
        let room = if magnitude > 0.0 { 0.5 * magnitude } else { 1.0 };
        Some(Self { low: low - room, high: high + room })
    }

    /// The range with a share of its span added on both sides.
    pub fn padded(self, share: f64) -> Self {
        let room = share * self.span();
        Self { low: self.low - room, high: self.high + room }
    }

    /// Length of the range.
    pub fn span(self) -> f64 {
        self.high - self.low
    }

    /// The range with the same middle and this span.
    pub fn with_span(self, span: f64) -> Self {
        let middle = 0.5 * (self.low + self.high);
        Self { low: middle - 0.5 * span, high: middle + 0.5 * span }
    }
}

/// Ranges of both coordinates over the points that are drawable as a whole; `None` if there is none.
pub fn ranges(points: impl IntoIterator<Item = (f64, f64)>) -> Option<(Range, Range)> {
    let whole: Vec<_> = points.into_iter().filter(|p| is_drawable(p.0) && is_drawable(p.1)).collect();
    Some((Range::of(whole.iter().map(|p| p.0))?, Range::of(whole.iter().map(|p| p.1))?))
}

/// Whether a value has a place in a picture.
pub fn is_drawable(value: f64) -> bool {
    value.is_finite() && value.abs() < DRAWABLE
}

/// How values are spaced along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spacing {
    /// Equal differences, equal distances.
    #[default]
    Linear,
    /// Equal ratios, equal distances; values ≤ 0 have no place.
    Log,
}

/// A mark on an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Where, in data units.
    pub value: f64,
    /// What it says.
    pub label: String,
}

/// A map from data to drawing units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    data: Range,
    /// Drawing positions of the ends of `data`; the first is larger on a vertical axis.
    ends: (f64, f64),
    spacing: Spacing,
}

impl Scale {
    /// Equal differences become equal distances.
    pub fn linear(data: Range, ends: (f64, f64)) -> Self {
        Self { data, ends, spacing: Spacing::Linear }
    }

    /// Equal ratios become equal distances. A range that is not positive is cut to its positive part; if it
    /// has none, the scale is linear after all.
    pub fn log(data: Range, ends: (f64, f64)) -> Self {
        if data.high <= 0.0 {
            return Self::linear(data, ends);
        }
        let low = if data.low > 0.0 { data.low } else { data.high * 1e-3 };
        Self { data: Range { low, high: data.high }, ends, spacing: Spacing::Log }
    }

    /// The scale with this spacing.
    pub fn spaced(spacing: Spacing, data: Range, ends: (f64, f64)) -> Self {
        match spacing {
            Spacing::Linear => Self::linear(data, ends),
            Spacing::Log => Self::log(data, ends),
        }
    }

    /// Drawing position of a value; `None` if it has no place in a picture. Values outside the range get a
    /// position outside the frame, kept within a few frames' distance.
    pub fn at(&self, value: f64) -> Option<f64> {
        if !is_drawable(value) || (self.spacing == Spacing::Log && value <= 0.0) {
            return None;
        }
        let share = match self.spacing {
            Spacing::Linear => (value - self.data.low) / self.data.span(),
            Spacing::Log => (value / self.data.low).ln() / (self.data.high / self.data.low).ln(),
        };
        Some(self.ends.0 + share.clamp(-8.0, 9.0) * (self.ends.1 - self.ends.0))
    }

    /// Round ticks within the range, about `count` of them.
    pub fn ticks(&self, count: usize) -> Vec<Tick> {
        match self.spacing {
            Spacing::Linear => linear_ticks(self.data, count.max(1)),
            Spacing::Log => log_ticks(self.data, count.max(1)),
        }
    }
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear_ticks(range: Range, count: usize) -> Vec<Tick> {
    let step = round_step(range.span() / count as f64);
    let first = (range.low / step - 1e-6).ceil();
    let last = (range.high / step + 1e-6).floor();
    let largest = range.low.abs().max(range.high.abs());
    (0..=(last - first).clamp(0.0, 50.0) as usize)
        .map(|i| (first + i as f64) * step)
        .filter(|value| *value <= range.high + 1e-6 * step)
        .map(|value| Tick { value, label: tick_label(value, step, largest) })
        .collect()
}

/// The smallest of 1, 2, 5 × 10ⁿ that is not below `step`.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|f| f * power >= step * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// Powers of ten, thinned; where there are few of them, 1, 2 and 5 times powers of ten, and over less than a
/// factor of five linear ticks, which read better.
fn log_ticks(range: Range, count: usize) -> Vec<Tick> {
    let (first, last) =
        ((range.low.log10() - 1e-9).ceil() as i32, (range.high.log10() + 1e-9).floor() as i32);
    if range.high < 5.0 * range.low {
        return linear_ticks(range, count);
    }
    if last - first < 2 {
        return one_two_five(range, first - 1..=last);
    }
    let every = ((last - first) as usize / count + 1).max(1);
    (first..=last)
        .step_by(every)
        .map(|power| Tick { value: 10f64.powi(power), label: power_label(power) })
        .collect()
}

/// 1, 2 and 5 times these powers of ten, as far as they lie in the range.
fn one_two_five(range: Range, powers: std::ops::RangeInclusive<i32>) -> Vec<Tick> {
    let tick = |factor: i32, power: i32| {
        let value = f64::from(factor) * 10f64.powi(power);
        let plain = (-4..=3).contains(&power);
        let label = if plain { short_number(value, (-power).max(0) as usize) } else { format!("{value:e}") };
        Tick { value, label: label.replace('-', "−") }
    };
    let within =
        |tick: &Tick| tick.value >= range.low * (1.0 - 1e-9) && tick.value <= range.high * (1.0 + 1e-9);
    powers.flat_map(|power| [1, 2, 5].map(|factor| tick(factor, power))).filter(within).collect()
}

fn power_label(power: i32) -> String {
    match power {
        -3..=3 => short_number(10f64.powi(power), (-power).max(0) as usize),
        4..=5 => format!("{}k", 10i32.pow(power as u32 - 3)),
        _ => format!("1e{}", short_number(f64::from(power), 0)),
    }
}

/// `largest` is the larger end of the axis, so that all its labels have one form.
fn tick_label(value: f64, step: f64, largest: f64) -> String {
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    if largest >= 1e6 || decimals > 5 {
        return scientific(value, step);
    }
    if step >= 1000.0 && value != 0.0 {
        return format!("{}k", short_number(value / 1000.0, if step % 1000.0 == 0.0 { 0 } else { 1 }));
    }
    short_number(value, decimals)
}

/// A number for a reader: true minus sign, no negative zero.
pub fn short_number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|b| b == b'0' || b == b'.') => rest.into(),
        Some(rest) => format!("−{rest}"),
        None => text,
    }
}

/// Mantissa and power of ten, with as many digits as neighbours `step` apart need to differ.
fn scientific(value: f64, step: f64) -> String {
    if value.abs() < 1e-9 * step {
        return "0".into();
    }
    let digits = (value.abs().log10().floor() - step.log10().floor()).clamp(0.0, 15.0) as usize;
    let text = format!("{value:.digits$e}");
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    format!("{mantissa}e{power}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, count: usize) -> Vec<String> {
        Scale::linear(Range { low, high }, (0.0, 1.0)).ticks(count).into_iter().map(|t| t.label).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(-1.1, 1.2, 5), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(labels(0.0, 80.0, 4), ["0", "20", "40", "60", "80"]);
        assert_eq!(labels(0.0, 0.0007, 4), ["0.0000", "0.0002", "0.0004", "0.0006"]);
        assert_eq!(labels(0.0, 5000.0, 5), ["0", "1k", "2k", "3k", "4k", "5k"]);
        assert_eq!(labels(0.0, 4e9, 4), ["0", "1e9", "2e9", "3e9", "4e9"]);
        assert_eq!(labels(-2e-9, 0.0, 2), ["−2e−9", "−1e−9", "0"]);
    }

    #[test]
    fn ticks_lie_within_the_range_and_differ() {
        for (low, high) in
            [(0.1, 0.7), (-3e-5, 2e7), (1e-12, 3e-12), (999.0, 1001.0), (1e6, 1e6 + 1.0), (-1e90, 1e90)]
        {
            let scale = Scale::linear(Range { low, high }, (0.0, 300.0));
            let ticks = scale.ticks(5);
            assert!((2..=12).contains(&ticks.len()), "{low} {high}: {ticks:?}");
            assert!(ticks.windows(2).all(|w| w[0].label != w[1].label), "{ticks:?}");
            for tick in ticks {
                let at = scale.at(tick.value).expect("ticks are drawable");
                assert!((-0.01..=300.01).contains(&at), "{tick:?} at {at}");
            }
        }
    }

    #[test]
    fn log_ticks_are_powers_of_ten() {
        let scale = Scale::log(Range { low: 1.0, high: 1e4 }, (0.0, 400.0));
        let labels: Vec<_> = scale.ticks(6).into_iter().map(|t| t.label).collect();
        assert_eq!(labels, ["1", "10", "100", "1000", "10k"]);
        assert_eq!(scale.at(100.0), Some(200.0));
        assert_eq!(scale.at(0.0), None);
        assert_eq!(scale.at(-1.0), None);
    }

    #[test]
    fn short_log_axes_have_ticks_between_the_powers() {
        let labels = |low, high| -> Vec<String> {
            Scale::log(Range { low, high }, (0.0, 400.0)).ticks(6).into_iter().map(|t| t.label).collect()
        };
        assert_eq!(labels(0.04, 1.2), ["0.05", "0.1", "0.2", "0.5", "1"]);
        assert_eq!(labels(2.1, 90.0), ["5", "10", "20", "50"]);
        assert_eq!(labels(1.0, 3.0), ["1.0", "1.5", "2.0", "2.5", "3.0"]);
    }

    #[test]
    fn odd_data_still_give_a_range() {
        assert_eq!(Range::of([]), None);
        assert_eq!(Range::of([f64::NAN, f64::INFINITY, 1e200]), None);
        assert_eq!(Range::of([3.0, f64::NAN]), Some(Range { low: 1.5, high: 4.5 }));
        assert_eq!(Range::of([0.0, 0.0]), Some(Range { low: -1.0, high: 1.0 }));
    }

    #[test]
    fn far_values_stay_near_the_frame() {
        let scale = Scale::linear(Range { low: 0.0, high: 1.0 }, (0.0, 100.0));
        assert_eq!(scale.at(1e60), Some(900.0));
        assert_eq!(scale.at(f64::NAN), None);
    }
}
