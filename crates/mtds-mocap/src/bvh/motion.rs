//! A hierarchy with its frames: what a BVH file says.

use super::Hierarchy;
use crate::{Error, Result};

/// A tree of joints and the values of its channels over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Motion {
    hierarchy: Hierarchy,
    frame_time: f64,
    values: Vec<f64>,
}

impl Motion {
    /// Channel values `n_frames × n_channels`, frame by frame, for a hierarchy; `frame_time` in seconds.
    ///
    /// # Errors
    /// A frame time that is not positive and finite, values that are not whole frames or not finite, a hierarchy
    /// without channels.
    pub fn new(hierarchy: Hierarchy, frame_time: f64, values: Vec<f64>) -> Result<Self> {
        if !(frame_time.is_finite() && frame_time > 0.0) {
            return Err(Error::setting("frame time", format!("found {frame_time}; give seconds above 0")));
        }
        let n_channels = hierarchy.n_channels();
        if n_channels == 0 {
            return Err(Error::shape("channels of the hierarchy", "at least one", "none"));
        }
        if !values.len().is_multiple_of(n_channels) {
            let expected = format!("a multiple of {n_channels} values");
            return Err(Error::shape("frames", expected, values.len()));
        }
        if let Some(place) = values.iter().position(|value| !value.is_finite()) {
            let what = format!("channel {} in frame {}", place % n_channels, place / n_channels);
            return Err(Error::NotFinite { what, value: values[place] });
        }
        Ok(Self { hierarchy, frame_time, values })
    }

    /// The tree of joints.
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// Seconds from frame to frame.
    pub fn frame_time(&self) -> f64 {
        self.frame_time
    }

    /// Frames per second; whole where the file's rounded frame time means a whole rate (`.0083333` is 120).
    pub fn fps(&self) -> f64 {
        let exact = 1.0 / self.frame_time;
        let whole = exact.round();
        // Files give the time with six or seven decimals: half a unit of the sixth decimal.
        let means_whole = whole >= 1.0 && (self.frame_time - 1.0 / whole).abs() <= 5e-7;
        if means_whole { whole } else { exact }
    }

    /// Number of frames, which may be zero.
    pub fn n_frames(&self) -> usize {
        self.values.len() / self.hierarchy.n_channels()
    }

    /// Channel values of frame `i`, in the order of the hierarchy.
    ///
    /// # Panics
    /// Where there is no such frame.
    pub fn frame(&self, i: usize) -> &[f64] {
        let n = self.hierarchy.n_channels();
        &self.values[i * n..(i + 1) * n]
    }

    /// All values, frame by frame.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}
