//! The numbers of many sequences in one piece, on large pages.
//!
//! Memory is given page by page as it is first touched, which for pages of 4 KB takes several times as long as copying numbers into them. So the
//! system is asked for pages of 2 MB where it has them. Few numbers are not worth that, and lie in vectors of their own.

use std::ops::{Deref, Range};
use std::sync::Arc;

use mtds::Signal;

#[cfg(target_os = "linux")]
use memmap2::{Advice, MmapMut};

/// Numbers of a block, if sequences are short: two or more pages, few enough that all threads have some, and that a sequence which somebody
/// keeps does not keep much of its family.
pub(crate) const USUAL: usize = 1 << 19;
/// Bytes of a large page.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;

/// Memory for numbers, at first all zero.
#[cfg(target_os = "linux")]
pub(crate) struct Block {
    pages: MmapMut,
    n: usize,
}

#[cfg(target_os = "linux")]
impl Block {
    /// Room for `n` numbers, if they are many and the system has it.
    pub fn zeros(n: usize) -> Option<Self> {
        let bytes = n.checked_mul(size_of::<f64>()).filter(|&bytes| bytes >= PAGE)?;
        // Maps of whole large pages begin at one. The last may not be full, and what is not touched takes no memory; were it large, it would.
        let pages = MmapMut::map_anon(bytes.checked_next_multiple_of(PAGE)?).ok()?;
        // Systems without large pages refuse; small ones serve as well.
        let _ = pages.advise_range(Advice::HugePage, 0, bytes / PAGE * PAGE);
        Some(Self { pages, n })
    }

    /// All numbers.
    pub fn as_mut(&mut self) -> &mut [f64] {
        &mut bytemuck::cast_slice_mut(&mut self.pages)[..self.n]
    }
}

#[cfg(target_os = "linux")]
impl AsRef<[f64]> for Block {
    fn as_ref(&self) -> &[f64] {
        &bytemuck::cast_slice(&self.pages)[..self.n]
    }
}

/// Other systems decide on pages by themselves.
#[cfg(not(target_os = "linux"))]
pub(crate) enum Block {}

#[cfg(not(target_os = "linux"))]
impl Block {
    /// None.
    pub fn zeros(_: usize) -> Option<Self> {
        None
    }

    /// All numbers.
    pub fn as_mut(&mut self) -> &mut [f64] {
        match *self {}
    }
}

#[cfg(not(target_os = "linux"))]
impl AsRef<[f64]> for Block {
    fn as_ref(&self) -> &[f64] {
        match *self {}
    }
}

/// The numbers of one sequence, row by row.
pub(crate) enum Stretch {
    /// Its own.
    Own(Vec<f64>),
    /// Some of a block.
    Of(Arc<Block>, Range<usize>),
}

impl Stretch {
    /// Keeps the first `n`.
    pub fn truncate(&mut self, n: usize) {
        match self {
            Self::Own(values) => values.truncate(n),
            Self::Of(_, range) => range.end = range.end.min(range.start + n),
        }
    }

    /// A signal of these numbers.
    pub fn signal(self, n_time: usize, width: usize) -> mtds::Result<Signal> {
        match self {
            Self::Of(block, range) if n_time * width == range.len() => {
                Signal::shared(n_time, width, block, range.start)
            }
            Self::Own(values) => Signal::new(n_time, width, values),
            part => Signal::new(n_time, width, part.to_vec()),
        }
    }
}

impl Deref for Stretch {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match self {
            Self::Own(values) => values,
            Self::Of(block, range) => &(**block).as_ref()[range.clone()],
        }
    }
}

/// Stretches of these lengths; `write(i, to)` fills number `i`, which is zero before.
pub(crate) fn filled(lengths: &[usize], mut write: impl FnMut(usize, &mut [f64])) -> Vec<Stretch> {
    let Some(mut block) = Block::zeros(lengths.iter().sum()) else {
        let own = |(i, &length): (usize, &usize)| {
            let mut values = vec![0.0; length];
            write(i, &mut values);
            Stretch::Own(values)
        };
        return lengths.iter().enumerate().map(own).collect();
    };
    let mut left = block.as_mut();
    for (i, &length) in lengths.iter().enumerate() {
        let (now, later) = left.split_at_mut(length);
        write(i, now);
        left = later;
    }
    let (block, mut start) = (Arc::new(block), 0);
    let mut of = |&length: &usize| {
        start += length;
        Stretch::Of(block.clone(), start - length..start)
    };
    lengths.iter().map(&mut of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_hold_what_was_written_whether_few_or_many() {
        for scale in [1, USUAL] {
            let lengths = [3 * scale, 0, scale, 2];
            let found = filled(&lengths, |i, to| {
                to.iter_mut().enumerate().for_each(|(k, to)| *to += (10 * i + k % 7) as f64)
            });
            assert_eq!(found.iter().map(|stretch| stretch.len()).collect::<Vec<_>>(), lengths);
            for (i, mut stretch) in found.into_iter().enumerate() {
                assert!(
                    stretch.iter().enumerate().all(|(k, &value)| value == (10 * i + k % 7) as f64),
                    "{i}"
                );
                let kept = stretch.len().min(2);
                stretch.truncate(2);
                assert_eq!((stretch.len(), stretch.signal(kept, 1).unwrap().n_time()), (kept, kept));
            }
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn only_many_numbers_are_a_block() {
        assert!(
            Block::zeros(0).is_none()
                && Block::zeros(PAGE / 8 - 1).is_none()
                && Block::zeros(usize::MAX).is_none()
        );
        let mut block = Block::zeros(PAGE / 8 + 1).unwrap();
        block.as_mut().fill(2.0);
        assert_eq!((block.as_ref().len(), block.as_ref()[PAGE / 8]), (PAGE / 8 + 1, 2.0));
    }
}
