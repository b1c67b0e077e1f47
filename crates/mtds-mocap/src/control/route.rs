//! A route: where a body is to be and at which phase of its gait, in every frame, with some before and some ahead.
//!
//! ```text
//! frames      −LEAD … −1        before the beginning, straight on backwards, where a model finds its state
//!              0 … n − 1        the motion
//!              n … n + HORIZON  ahead, as inputs look a second ahead
//!
//! from words  corners are rounded over two strides by the spline that smooths the paths that models learn from, so that a
//!             quarter turn takes about a second
//! steps/s     2.16 (v / 1.75 m)^0.57       v: speed in m/s; adults walking as they like (Grieve & Gear 1966)
//! ```

use std::f64::consts::{PI, TAU};

use mtds::Signal;

use super::way::Way;
use crate::clip::Clip;
use crate::features::{HORIZON, MotionPlan};
use crate::frame::Placement;
use crate::gait::outside_turns;
use crate::path::Spline;
use crate::signal::FPS;
use crate::{Error, Result};

/// Frames before the beginning: a model that begins with an empty state needs some to find it.
pub(super) const LEAD: usize = 45;
/// Strides between control points: twice those of a captured path, whose facing has no steps.
const CONTROL_STRIDES: f64 = 0.5;
/// Steps a second of a walk at one body height a second, and how they grow with speed.
const STEPS: [f64; 2] = [2.16, 0.57];
/// Height of a body, in metres.
const HEIGHT: f64 = 1.75;
/// Most frames of a route: an hour.
const MOST_FRAMES: f64 = 3600.0 * FPS;
/// Speeds and steps a second that somebody can mean.
const SPEEDS: [f64; 2] = [0.05, 15.0];
const STEP_RATES: [f64; 2] = [0.1, 10.0];

/// How fast, and with how many steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Metres a second.
    pub speed: f64,
    /// Steps a second, of both feet together.
    pub steps_per_second: f64,
}

impl Pace {
    /// A speed with the steps that adults usually take at it.
    #[must_use]
    pub fn usual(speed: f64) -> Self {
        Self { speed, steps_per_second: STEPS[0] * (speed / HEIGHT).powf(STEPS[1]) }
    }

    fn check(&self) -> Result<()> {
        for (name, value, [least, most]) in
            [("speed", self.speed, SPEEDS), ("steps_per_second", self.steps_per_second, STEP_RATES)]
        {
            if !(least..=most).contains(&value) {
                return Err(Error::setting(
                    name,
                    format!("found {value}; give a number from {least} to {most}"),
                ));
            }
        }
        Ok(())
    }
}

/// Where a body is to be, and at which phase of its gait.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// Places in every frame from `−LEAD` to `n_frames + HORIZON`, exclusive.
    path: Vec<Placement>,
    /// Phase in every frame from `−LEAD` to `n_frames`, exclusive.
    phase_rad: Vec<f64>,
    /// Frames for a whole cycle.
    stride_frames: f64,
    /// Where the hips are in frame 0, if somebody says.
    start: Option<Placement>,
}

impl Route {
    /// The route of a clip: its own smooth path and phase, from where its hips begin.
    ///
    /// # Errors
    /// [`Error::Unusable`] for a clip without a gait.
    pub fn of_clip(clip: &Clip) -> Result<Self> {
        let (phase, n_frames) = (&clip.features.phase, clip.track.n_frames());
        let stride_frames = stride_of(clip)?;
        let place = |frame: isize| clip.features.path.at(frame as f64);
        let lead = LEAD as isize;
        let path = (-lead..(n_frames + HORIZON) as isize).map(place).collect();
        // Before the first frame the phase goes on as it does over the first stride.
        let span = (stride_frames.round() as usize).clamp(1, n_frames - 1);
        let rate = (phase.rad[span] - phase.rad[0]) / span as f64;
        let before = (1..=LEAD).rev().map(|ago| phase.rad[0] - ago as f64 * rate);
        let phase_rad = before.chain(phase.rad.iter().copied()).collect();
        let start = Some(clip.features.outputs.start);
        Ok(Self { path, phase_rad, stride_frames, start })
    }

    /// A way at a pace; the left foot lands in the first frame. A way with times of its own takes the steps alone.
    ///
    /// # Errors
    /// [`Error::Setting`] for a pace that nobody can mean, or a way that takes more than an hour.
    pub fn along(way: &Way, pace: Pace) -> Result<Self> {
        pace.check()?;
        let passed = way.secs(pace.speed);
        let secs = passed[passed.len() - 1];
        if secs * FPS > MOST_FRAMES {
            return Err(Error::setting(
                "path",
                format!("found one that takes {:.0} minutes; give an hour at most", secs / 60.0),
            ));
        }
        // A whole number of frames, so that the last one is at the end of the way.
        let n_steps = (secs * FPS).round().max(1.0);
        let per_frame = secs / n_steps;
        let stride_frames = 2.0 * FPS / pace.steps_per_second;
        let lead = LEAD as f64;
        let spline = Spline::along(
            |frame| way.at((frame - lead) * per_frame, &passed),
            CONTROL_STRIDES * stride_frames,
            lead + n_steps + HORIZON as f64,
        );
        let n_frames = n_steps as usize + 1;
        let place = |frame: usize| {
            let [x, z, facing_rad] = spline.at(frame as f64);
            Placement { x, z, facing_rad }
        };
        let phase = |frame: usize| (frame as f64 - lead) * PI * pace.steps_per_second / FPS;
        Ok(Self {
            path: (0..LEAD + n_frames + HORIZON).map(place).collect(),
            phase_rad: (0..LEAD + n_frames).map(phase).collect(),
            stride_frames,
            start: None,
        })
    }

    /// The same with other steps.
    ///
    /// # Errors
    /// [`Error::Setting`] for steps that nobody can mean.
    pub fn with_steps(mut self, steps_per_second: f64) -> Result<Self> {
        Pace { speed: 1.0, steps_per_second }.check()?;
        let rate = PI * steps_per_second / FPS;
        let first = self.phase_rad[LEAD];
        let phase = |frame: usize| first + (frame as f64 - LEAD as f64) * rate;
        self.phase_rad = (0..self.phase_rad.len()).map(phase).collect();
        self.stride_frames = TAU / rate;
        Ok(self)
    }

    /// The same from where the hips are in the first frame.
    #[must_use]
    pub fn beginning(self, start: Placement) -> Self {
        Self { start: Some(start), ..self }
    }

    /// The route of a body that is `factor` times as large.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let scaled = |place: &Placement| Placement { x: factor * place.x, z: factor * place.z, ..*place };
        let (path, start) = (self.path.iter().map(scaled).collect(), self.start.as_ref().map(scaled));
        Self { path, start, phase_rad: self.phase_rad.clone(), stride_frames: self.stride_frames }
    }

    /// Frames of the motion.
    #[must_use]
    pub fn n_frames(&self) -> usize {
        self.phase_rad.len() - LEAD
    }

    /// Frames for a whole cycle of the gait.
    #[must_use]
    pub fn stride_frames(&self) -> f64 {
        self.stride_frames
    }

    /// Metres a second on average.
    #[must_use]
    pub fn mean_speed(&self) -> f64 {
        let places = &self.path[LEAD..LEAD + self.n_frames()];
        let way: f64 =
            places.windows(2).map(|pair| (pair[1].x - pair[0].x).hypot(pair[1].z - pair[0].z)).sum();
        way * FPS / (self.n_frames() - 1).max(1) as f64
    }

    /// Where the body is to be in frame `t` of the motion, and which way it faces.
    ///
    /// # Panics
    /// Beyond [`Route::n_frames`] and a second.
    #[must_use]
    pub fn place(&self, t: usize) -> Placement {
        self.path[LEAD + t]
    }

    /// Places from the first frame of the lead to the last of the motion.
    pub(super) fn places(&self) -> &[Placement] {
        &self.path[..self.phase_rad.len()]
    }

    /// Where the hips are in the first frame, if somebody says.
    pub(super) fn start(&self) -> Option<Placement> {
        self.start
    }

    /// All 32 inputs from the first frame of the lead on: row `t` leads from frame `t − LEAD` to the next.
    pub(super) fn inputs(&self) -> Result<Signal> {
        let outside = outside_turns(&self.path, FPS);
        MotionPlan { path: self.path.clone(), phase_rad: self.phase_rad.clone(), outside }.inputs()
    }
}

/// Frames of a stride of a clip that has a gait.
pub(super) fn stride_of(clip: &Clip) -> Result<f64> {
    clip.features.phase.stride_frames.ok_or_else(|| Error::Unusable {
        expected: "a gait: at least two steps that land within the clip".into(),
        found: format!("{} in {} frames", clip.features.phase.strikes.len(), clip.track.n_frames()),
        hint: "take a longer clip of somebody who walks",
    })
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;

    #[test]
    fn words_reach_their_end_at_their_pace() {
        let way = Way::parse("walk 4, left 90, walk 3").unwrap();
        let route = Route::along(&way, Pace { speed: 1.2, steps_per_second: 1.8 }).unwrap();
        let (first, last) = (route.place(0), route.place(route.n_frames() - 1));
        assert!(first.x.hypot(first.z) < 1e-9 && first.facing_rad.abs() < 1e-9);
        assert!(
            (last.x - 3.0).hypot(last.z - 4.0) < 1e-6 && (last.facing_rad - FRAC_PI_2).abs() < 1e-6,
            "{last:?}"
        );
        assert_eq!(route.n_frames(), 176);
        // Corners are cut, so the way is a little shorter.
        assert!((1.1..1.2).contains(&route.mean_speed()), "{}", route.mean_speed());
        let cycles = (route.phase_rad[route.phase_rad.len() - 1] - route.phase_rad[LEAD]) / TAU;
        assert!((cycles - 0.9 * 7.0 / 1.2).abs() < 0.02, "{cycles}");
        // Nobody spins: 150 degrees a second at most.
        let turning = |t: usize| (route.place(t + 1).facing_rad - route.place(t).facing_rad).abs() * FPS;
        assert!((0..route.n_frames() - 1).map(turning).fold(0.0, f64::max) < 2.6);
    }

    #[test]
    fn steps_grow_with_speed_as_those_of_adults_do() {
        // About 110 steps a minute at 1.3 m/s.
        assert!((Pace::usual(1.3).steps_per_second * 60.0 - 109.4).abs() < 1.0);
        assert!(Pace::usual(0.6).steps_per_second < Pace::usual(0.9).steps_per_second);
    }

    #[test]
    fn paces_that_nobody_means_are_refused() {
        let way = Way::parse("walk 4").unwrap();
        for pace in [
            Pace { speed: 0.0, steps_per_second: 1.8 },
            Pace { speed: f64::NAN, steps_per_second: 1.8 },
            Pace { speed: 1.0, steps_per_second: 40.0 },
        ] {
            assert!(matches!(Route::along(&way, pace), Err(Error::Setting { .. })), "{pace:?}");
        }
        let far = Way::parse("walk 9000").unwrap();
        assert!(Route::along(&far, Pace::usual(0.5)).unwrap_err().to_string().contains("minutes"));
    }
}
