//! A column of numbers, an entry after the other: in pieces that were taken in, or that somebody else holds and need not be copied.

use std::ops::Range;

/// Numbers that somebody else holds.
type Shared<T> = Box<dyn AsRef<[T]> + Send + Sync>;

/// A column of numbers.
pub(crate) struct Numbers<T> {
    pieces: Vec<Piece<T>>,
    /// The first entry of each piece.
    starts: Vec<usize>,
    n: usize,
}

enum Piece<T> {
    Own(Vec<T>),
    Shared(Shared<T>),
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self { pieces: vec![], starts: vec![], n: 0 }
    }
}

impl<T> Piece<T> {
    fn values(&self) -> &[T] {
        match self {
            Self::Own(values) => values,
            Self::Shared(values) => (**values).as_ref(),
        }
    }
}

impl<T: Copy> Numbers<T> {
    /// Adds the number of the next entry.
    pub fn push(&mut self, value: T) {
        self.extend([value]);
    }

    /// Adds the numbers of the next entries.
    pub fn extend(&mut self, values: impl IntoIterator<Item = T>) {
        if !matches!(self.pieces.last(), Some(Piece::Own(_))) {
            self.add(Piece::Own(vec![]));
        }
        if let Some(Piece::Own(own)) = self.pieces.last_mut() {
            let before = own.len();
            own.extend(values);
            self.n += own.len() - before;
        }
    }

    /// Adds the numbers of the next entries, which stay where they are.
    #[cfg_attr(not(feature = "arrow"), allow(dead_code))]
    pub fn share(&mut self, values: impl AsRef<[T]> + Send + Sync + 'static) {
        if !values.as_ref().is_empty() {
            self.add(Piece::Shared(Box::new(values)));
        }
    }

    fn add(&mut self, piece: Piece<T>) {
        self.starts.push(self.n);
        self.n += piece.values().len();
        self.pieces.push(piece);
    }

    /// The number of an entry.
    #[inline]
    pub fn get(&self, entry: usize) -> T {
        if let [piece] = &self.pieces[..] {
            return piece.values()[entry];
        }
        let at = self.starts.partition_point(|&start| start <= entry) - 1;
        self.pieces[at].values()[entry - self.starts[at]]
    }

    /// The numbers of some entries, piece by piece.
    pub fn slices(&self, entries: Range<usize>) -> impl Iterator<Item = &[T]> {
        let first = self.starts.partition_point(|&start| start <= entries.start).saturating_sub(1);
        let pieces = self.pieces[first..].iter().zip(&self.starts[first..]);
        pieces.take_while(move |(_, start)| **start < entries.end).map(move |(piece, &start)| {
            let values = piece.values();
            &values[entries.start.saturating_sub(start)..values.len().min(entries.end - start)]
        })
    }

    /// All numbers.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.slices(0..self.n).flat_map(|slice| slice.iter().copied())
    }

    /// The numbers of some entries, in one piece.
    pub fn to_vec(&self, entries: Range<usize>) -> Vec<T> {
        let mut values = Vec::with_capacity(entries.len());
        self.slices(entries).for_each(|slice| values.extend_from_slice(slice));
        values
    }

    /// Whether `is_wanted` holds for every two neighbours among some entries.
    pub fn all_pairs(&self, entries: Range<usize>, is_wanted: impl Fn(T, T) -> bool) -> bool {
        let mut before = None;
        self.slices(entries).all(|slice| {
            let seam = before.zip(slice.first()).is_none_or(|(before, &first)| is_wanted(before, first));
            before = slice.last().copied().or(before);
            // Without a way out in the middle, so that it takes many at once.
            seam && slice.windows(2).fold(true, |all, pair| all & is_wanted(pair[0], pair[1]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_one_column() {
        let mut numbers = Numbers::default();
        numbers.push(0);
        numbers.push(1);
        numbers.share(vec![2, 3, 4]);
        numbers.share(vec![]);
        numbers.share(vec![5]);
        numbers.extend([6, 7]);
        assert_eq!(numbers.n, 8);
        assert_eq!(numbers.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
        for start in 0..8 {
            assert_eq!(numbers.get(start), start);
            for end in start..=8 {
                assert_eq!(numbers.to_vec(start..end), (start..end).collect::<Vec<_>>(), "{start} {end}");
                assert!(numbers.all_pairs(start..end, |a, b| a + 1 == b));
                // Whichever pair it is, within a piece or across a seam, it is found.
                for odd in start + 1..end {
                    assert!(!numbers.all_pairs(start..end, |_, b| b != odd), "{start} {end} {odd}");
                }
            }
        }
    }

    #[test]
    fn nothing_has_no_numbers() {
        let none = Numbers::<f64>::default();
        assert_eq!((none.n, none.iter().count(), none.to_vec(0..0).len()), (0, 0, 0));
        assert!(none.all_pairs(0..0, |_, _| false));
    }
}
