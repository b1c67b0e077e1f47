//! The family: where its parameters come from, and what its members look like.
//!
//! ```text
//! p(ω_j) = 1/(ω_high − ω_low)                    p(ρ_j) = log 2 / ((ν_high − ν_low) ρ log² ρ)
//! ```
//!
//! The second follows from a uniform half-life ν with ρ = exp(−log 2 / ν).

use mtds_data::oscillators::{HALF_LIFE_RANGES, OMEGA_RANGES_RAD};
use std::f64::consts::LN_2;

use super::DhoReport;
use mtds_report::chart::{Densities, DensityCurve, Example, Picture, Range, Traces, Words};
use mtds_report::page::{Block, Figure, Section};

/// Points along a density.
const CURVE: usize = 120;

/// The section on the data.
pub(super) fn section(report: &DhoReport<'_>) -> Section {
    let examples = Figure {
        pictures: few(report),
        caption: "Sequences to learn from, and sequences to be forecast. All are members of one family: \
                  two damped oscillations added up, observed with a little noise. No two have the same \
                  frequencies or decay at the same rate, so none can be forecast by copying another."
            .into(),
    };
    let gallery = Figure {
        pictures: gallery(report),
        caption:
            "More members, all drawn to one scale. Some ring on to the end, others are over after a few \
                  steps; slow and fast oscillations mix in different proportions."
                .into(),
    };
    let parameters = Figure {
        pictures: vec![frequencies(), decays()],
        caption: "How the four numbers behind a sequence are drawn. Frequencies are uniform; the second \
                  component is the faster one, though not always. Half-lives are uniform too, which puts \
                  most decay factors close to 1: the slower the decay, the closer."
            .into(),
    };
    Section::new(
        "The family",
        format!(
            "Every sequence has {} steps and is made by four numbers of its own. A model never sees them: \
             it must find out from the sequences what the family has in common, and from the first steps \
             of a new one which member it is.",
            report.protocol.n_time
        ),
    )
    .with(Block::Figure(examples))
    .with(Block::Figure(gallery))
    .with(Block::Figure(parameters))
}

/// Training and test sequences side by side, in rows of equal height.
fn few(report: &DhoReport<'_>) -> Vec<Picture> {
    let (training, test) = (&report.examples.training, &report.examples.test);
    let range = Range::of(training.iter().chain(test).flatten().copied()).map(|r| r.padded(0.05));
    let picture = |heading: &str, sequences: &[Vec<f64>], columns: usize| {
        Traces {
            words: Words::new(heading, "step t", "")
                .describe(format!("{heading}: {} examples", sequences.len())),
            examples: numbered(sequences),
            columns,
            row_height: 84.0,
            y_range: range,
        }
        .draw()
    };
    vec![picture("Training sequences", training, 2), picture("Test sequences", test, 1)]
}

/// In two halves, so that they fill the page on a wide screen and stack on a narrow one.
fn gallery(report: &DhoReport<'_>) -> Vec<Picture> {
    let sequences = &report.examples.gallery;
    let range = Range::of(sequences.iter().flatten().copied()).map(|r| r.padded(0.05));
    let description = format!("Members of the family, {} in all", sequences.len());
    let picture = |half: &[Vec<f64>]| {
        let example = |values: &Vec<f64>| Example { label: String::new(), values: values.clone() };
        Traces {
            words: Words::new("", "step t", "").describe(&description),
            examples: half.iter().map(example).collect(),
            columns: 2,
            row_height: 56.0,
            y_range: range,
        }
        .draw()
    };
    let (left, right) = sequences.split_at(sequences.len().div_ceil(2));
    [left, right].into_iter().filter(|half| !half.is_empty() || sequences.is_empty()).map(picture).collect()
}

fn numbered(sequences: &[Vec<f64>]) -> Vec<Example> {
    let example =
        |(i, values): (usize, &Vec<f64>)| Example { label: format!("{}", i + 1), values: values.clone() };
    sequences.iter().enumerate().map(example).collect()
}

fn frequencies() -> Picture {
    let curve = |j: usize| {
        let [low, high] = OMEGA_RANGES_RAD[j];
        let density = 1.0 / (high - low);
        DensityCurve { label: component(j), points: vec![(low, density), (high, density)] }
    };
    Densities {
        words: Words::new("Frequency ω", "radians per step", "density")
            .describe("Densities of the two angular frequencies, both uniform"),
        curves: vec![curve(0), curve(1)],
    }
    .draw()
}

fn decays() -> Picture {
    Densities {
        words: Words::new("Decay factor ρ", "factor per step", "density")
            .describe("Densities of the two decay factors, rising towards 1"),
        curves: vec![decay_curve(0), decay_curve(1)],
    }
    .draw()
}

/// Evenly spaced half-lives put the points where the curve is steep.
fn decay_curve(j: usize) -> DensityCurve {
    let [shortest, longest] = HALF_LIFE_RANGES[j];
    let point = |i: usize| {
        let half_life = shortest + (longest - shortest) * i as f64 / (CURVE - 1) as f64;
        let rho = (-LN_2 / half_life).exp();
        (rho, decay_density(j, rho))
    };
    DensityCurve { label: component(j), points: (0..CURVE).map(point).collect() }
}

/// p(ρ_j) inside its support.
fn decay_density(j: usize, rho: f64) -> f64 {
    let [shortest, longest] = HALF_LIFE_RANGES[j];
    LN_2 / ((longest - shortest) * rho * rho.ln().powi(2))
}

fn component(j: usize) -> String {
    ["first component", "second component"][j].into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_integrate_to_one() {
        for j in 0..2 {
            let points = decay_curve(j).points;
            let area: f64 = points.windows(2).map(|w| 0.5 * (w[1].0 - w[0].0) * (w[0].1 + w[1].1)).sum();
            assert!((area - 1.0).abs() < 2e-3, "{area}");
        }
    }

    /// The supports that the paper states to four decimals.
    #[test]
    fn supports_are_the_papers() {
        let ends = |j: usize| {
            let points = decay_curve(j).points;
            [points[0].0, points[CURVE - 1].0].map(|rho| (1e4 * rho).round() / 1e4)
        };
        assert_eq!((ends(0), ends(1)), ([0.8409, 0.9914], [0.9170, 0.9885]));
    }
}
