//! The built-in gait data: several walkers of every style, each a little different, on routes of their own.

use mtds::random::{Stream, stream};
use rand::RngExt;
use rand_distr::StandardNormal;

use super::{GaitParameters, Style, Walk, Walker};
use crate::{Error, Result};

/// What to draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cast {
    /// Walks of every style; 4.
    pub n_per_style: usize,
    /// Frames of a walk; 600.
    pub n_frames: usize,
    /// Frames per second; 30.
    pub fps: f64,
    /// Standard deviation of every parameter between walkers of a style, relative to its range; 0.02.
    pub variation: f64,
}

/// One walk of the cast.
#[derive(Debug, Clone, PartialEq)]
pub struct CastWalk {
    /// Its name, e.g. `old_02`.
    pub id: String,
    /// Its style.
    pub style: Style,
    /// The gait that was drawn.
    pub gait: GaitParameters,
    /// The walk.
    pub walk: Walk,
}

impl Default for Cast {
    fn default() -> Self {
        Self { n_per_style: 4, n_frames: 600, fps: crate::signal::FPS, variation: 0.02 }
    }
}

impl Cast {
    /// All walks, style by style; walk number `i` does not depend on how many there are.
    ///
    /// # Errors
    /// [`Error::Setting`] if the variation is not in [0, 0.1] or the rate not positive; [`Error::Shape`] without frames.
    pub fn walks(&self, seed: u64) -> Result<Vec<CastWalk>> {
        if !(0.0..=0.1).contains(&self.variation) {
            let why = format!("found {}; give a number from 0 to 0.1", self.variation);
            return Err(Error::setting("variation", why));
        }
        let all = Style::ALL.into_iter().flat_map(|style| (0..self.n_per_style).map(move |i| (style, i)));
        all.map(|(style, i)| self.one(style, i, seed)).collect()
    }

    fn one(&self, style: Style, number: usize, seed: u64) -> Result<CastWalk> {
        let place = ((style as u64) << 24) + number as u64;
        let mut random = stream(seed, Stream::Walk(place));
        let gait = style.parameters().shifted(|| self.variation * random.sample::<f64, _>(StandardNormal));
        let walker = Walker { fps: self.fps, ..Walker::new(gait) };
        let walk = walker.walk(self.n_frames, &mut random)?;
        Ok(CastWalk { id: format!("{}_{:02}", style.name(), number + 1), style, gait, walk })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_style_comes_and_more_walks_leave_the_first_alone() {
        let cast = |n_per_style| Cast { n_per_style, n_frames: 40, ..Cast::default() }.walks(3).unwrap();
        let (few, many) = (cast(1), cast(3));
        assert_eq!((few.len(), many.len()), (8, 24));
        assert_eq!(few[1], many[3]);
        assert_ne!(many[3].gait, many[4].gait);
        assert_eq!((many[4].id.as_str(), many[4].style), ("childlike_02", Style::Childlike));
    }

    #[test]
    fn many_seeds_can_walk_and_wild_variation_is_refused() {
        let cast = Cast { n_per_style: 3, n_frames: 150, ..Cast::default() };
        (0..10).for_each(|seed| assert_eq!(cast.walks(seed).unwrap().len(), 24));
        assert!(matches!(Cast { variation: 2.0, ..cast }.walks(0), Err(Error::Setting { .. })));
        assert!(Cast { variation: 0.0, n_frames: 0, ..cast }.walks(0).is_err());
    }
}
