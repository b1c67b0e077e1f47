//! Numbers that change with the step: learning rates, momenta, prior means, particle counts.
//!
//! ```text
//! between the points (s₀, v₀) and (s₁, v₁), with r = (s − s₀) / (s₁ − s₀):
//!   step     v₀
//!   linear   v₀ + r (v₁ − v₀)
//!   cosine   v₁ + ½ (1 + cos πr) (v₀ − v₁)
//!   log      v₀ (v₁ / v₀)^r                     all values positive
//! before the first point its value holds, after the last point its value holds
//! ```
//!
//! In JSON a schedule is a number, or `{"interpolation": "linear", "points": [[1, -1.0], [200, -1.3]]}`.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// How a schedule goes from one point to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interpolation {
    /// The value of the last point passed.
    Step,
    /// A straight line.
    Linear,
    /// Half a cosine wave: level at both ends.
    Cosine,
    /// A straight line in the logarithm: constant relative decay. Values must be positive.
    Log,
}

/// A finite number for every step, given by points in between which it interpolates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Form", into = "Form")]
pub struct Schedule {
    interpolation: Interpolation,
    points: Vec<(u64, f64)>,
}

/// The two ways to write a schedule down.
#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a schedule is a number or {\"interpolation\": \"step\"|\"linear\"|\"cosine\"|\"log\", \"points\": [[step, value], …]}"
)]
enum Form {
    Constant(f64),
    Points { interpolation: Interpolation, points: Vec<(u64, f64)> },
}

impl Schedule {
    /// The same value at every step.
    ///
    /// # Errors
    /// [`Error::Setting`] when the value is not finite.
    pub fn constant(value: f64) -> Result<Self> {
        Self::new(Interpolation::Step, vec![(0, value)])
    }

    /// A schedule through `points`, pairs of step and value.
    ///
    /// # Errors
    /// [`Error::Setting`] when there are no points, their steps do not increase, a value is not finite, or
    /// a value is not positive under [`Interpolation::Log`].
    pub fn new(interpolation: Interpolation, points: Vec<(u64, f64)>) -> Result<Self> {
        let fail = |why: String| Err(Error::setting("schedule", why));
        if points.is_empty() {
            return fail("found no points; expected at least one pair [step, value]".into());
        }
        if let Some(pair) = points.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return fail(format!(
                "found step {} after step {}; sort the points by step",
                pair[1].0, pair[0].0
            ));
        }
        let positive = interpolation == Interpolation::Log;
        match points.iter().find(|(_, value)| !value.is_finite() || (positive && *value <= 0.0)) {
            Some((step, value)) if positive => fail(format!(
                "found {value} at step {step}; expected finite numbers above 0 between logarithms"
            )),
            Some((step, value)) => fail(format!("found {value} at step {step}; expected finite numbers")),
            None => Ok(Self { interpolation, points }),
        }
    }

    /// The value at `step`.
    #[must_use]
    pub fn value_at(&self, step: u64) -> f64 {
        let passed = self.points.partition_point(|&(at, _)| at <= step);
        if passed == 0 {
            return self.points[0].1;
        }
        let (s0, v0) = self.points[passed - 1];
        let Some(&(s1, v1)) = self.points.get(passed) else { return v0 };
        let r = (step - s0) as f64 / (s1 - s0) as f64;
        let value = match self.interpolation {
            Interpolation::Step => v0,
            Interpolation::Linear => v0 * (1.0 - r) + v1 * r,
            Interpolation::Cosine => {
                let share = 0.5 * (1.0 + (std::f64::consts::PI * r).cos());
                v0 * share + v1 * (1.0 - share)
            }
            Interpolation::Log => (v0.ln() * (1.0 - r) + v1.ln() * r).exp(),
        };
        value.clamp(v0.min(v1), v0.max(v1))
    }

    /// The value at `step` as a count: rounded to the nearest whole number, at least 1.
    #[must_use]
    pub fn count_at(&self, step: u64) -> usize {
        self.value_at(step).round().max(1.0) as usize
    }

    /// The smallest and the largest value that the schedule ever takes.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        let values = self.points.iter().map(|&(_, value)| value);
        values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    }
}

impl TryFrom<Form> for Schedule {
    type Error = Error;

    fn try_from(form: Form) -> Result<Self> {
        match form {
            Form::Constant(value) => Self::constant(value),
            Form::Points { interpolation, points } => Self::new(interpolation, points),
        }
    }
}

impl From<Schedule> for Form {
    fn from(schedule: Schedule) -> Self {
        match schedule.points[..] {
            [(0, value)] => Self::Constant(value),
            _ => Self::Points { interpolation: schedule.interpolation, points: schedule.points },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(interpolation: Interpolation, points: &[(u64, f64)]) -> Schedule {
        Schedule::new(interpolation, points.to_vec()).unwrap()
    }

    #[test]
    fn the_papers_dho_table_is_expressible() {
        let epochs = [1, 200, 600, 1000];
        let column = |interpolation, values: [f64; 4]| {
            Schedule::new(interpolation, epochs.into_iter().zip(values).collect()).unwrap()
        };
        let rate = column(Interpolation::Step, [8e-4, 8e-4, 4e-4, 2e-4]);
        let beta1 = column(Interpolation::Step, [0.9, 0.9, 0.9, 0.8]);
        let log_std_mean = column(Interpolation::Linear, [-1.0, -1.3, -1.5, -1.5]);
        let particles = column(Interpolation::Step, [1000.0, 1000.0, 2000.0, 4000.0]);
        assert_eq!([rate.value_at(1), rate.value_at(599), rate.value_at(600)], [8e-4, 8e-4, 4e-4]);
        assert_eq!([beta1.value_at(999), beta1.value_at(1000), beta1.value_at(9999)], [0.9, 0.8, 0.8]);
        assert!((log_std_mean.value_at(400) + 1.4).abs() < 1e-12);
        assert_eq!(log_std_mean.value_at(800), -1.5);
        assert_eq!(
            [particles.count_at(599), particles.count_at(600), particles.count_at(1000)],
            [1000, 2000, 4000]
        );
    }

    #[test]
    fn interpolations_meet_their_points_and_their_middles() {
        use Interpolation::{Cosine, Linear, Log, Step};
        for (interpolation, quarter) in
            [(Step, 4.0), (Linear, 3.25), (Cosine, 3.560_660_2), (Log, 2.828_427_1)]
        {
            let schedule = schedule(interpolation, &[(10, 4.0), (14, 1.0)]);
            assert_eq!([schedule.value_at(0), schedule.value_at(10), schedule.value_at(14)], [4.0, 4.0, 1.0]);
            assert!((schedule.value_at(11) - quarter).abs() < 1e-6, "{interpolation:?}");
            assert_eq!((schedule.value_at(99), schedule.range()), (1.0, (1.0, 4.0)));
        }
        let halving = schedule(Interpolation::Log, &[(0, 1.0), (20_000, 0.95 * 0.95)]);
        assert!((halving.value_at(10_000) - 0.95).abs() < 1e-12);
    }

    #[test]
    fn json_is_short_and_round_trips() {
        let constant = Schedule::constant(1e-3).unwrap();
        assert_eq!(serde_json::to_string(&constant).unwrap(), "0.001");
        let text = r#"{"interpolation":"linear","points":[[1,-1.0],[200,-1.3]]}"#;
        let line: Schedule = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&line).unwrap(), text);
        assert_eq!(serde_json::from_str::<Schedule>("2").unwrap().value_at(7), 2.0);
    }

    #[test]
    fn bad_points_are_refused_also_from_json() {
        for points in [vec![], vec![(5, 1.0), (5, 2.0)], vec![(5, 1.0), (2, 2.0)], vec![(0, f64::NAN)]] {
            assert!(matches!(Schedule::new(Interpolation::Step, points), Err(Error::Setting { .. })));
        }
        assert!(Schedule::new(Interpolation::Log, vec![(0, 1.0), (9, 0.0)]).is_err());
        let unsorted = r#"{"interpolation":"step","points":[[9,1.0],[2,1.0]]}"#;
        assert!(
            serde_json::from_str::<Schedule>(unsorted).unwrap_err().to_string().contains("sort the points")
        );
        let unknown = serde_json::from_str::<Schedule>(r#""fast""#).unwrap_err().to_string();
        assert!(unknown.contains("a schedule is a number or"), "{unknown}");
    }
}
