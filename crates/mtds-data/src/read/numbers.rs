//! A column of numbers, an entry after the other: in pieces that were taken in, or that somebody else holds and need not be copied.
//! What others hold may be narrower, have gaps or be of another type, and becomes numbers where it is looked at.

use std::ops::Range;

/// Numbers that somebody else holds.
type Shared<T> = Box<dyn AsRef<[T]> + Send + Sync>;

/// Numbers in a form of their own, which somebody else holds.
pub(crate) trait Foreign<T>: Send + Sync {
    /// How many.
    fn len(&self) -> usize;
    /// One of them.
    fn get(&self, at: usize) -> T;
    /// Writes some of them into `to`, to the first of every `width` places.
    fn write(&self, range: Range<usize>, to: &mut [T], width: usize);
}

/// A column of numbers.
pub(crate) struct Numbers<T, N = T> {
    pieces: Vec<Piece<T, N>>,
    /// The first entry of each piece.
    starts: Vec<usize>,
    n: usize,
}

enum Piece<T, N> {
    Own(Vec<T>),
    Shared(Shared<T>),
    Narrow(Shared<N>),
    Foreign(Box<dyn Foreign<T>>),
}

/// Some numbers of one piece.
enum Slice<'a, T, N> {
    Wide(&'a [T]),
    Narrow(&'a [N]),
    Foreign(&'a dyn Foreign<T>, usize, usize),
}

impl<T, N> Clone for Slice<'_, T, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, N> Copy for Slice<'_, T, N> {}

impl<T, N> Default for Numbers<T, N> {
    fn default() -> Self {
        Self { pieces: vec![], starts: vec![], n: 0 }
    }
}

impl<T: Copy, N: Copy> Piece<T, N> {
    fn values(&self) -> Slice<'_, T, N> {
        match self {
            Self::Own(values) => Slice::Wide(values),
            Self::Shared(values) => Slice::Wide((**values).as_ref()),
            Self::Narrow(values) => Slice::Narrow((**values).as_ref()),
            Self::Foreign(values) => Slice::Foreign(&**values, 0, values.len()),
        }
    }
}

impl<'a, T: Copy, N: Copy + Into<T>> Slice<'a, T, N> {
    fn len(self) -> usize {
        match self {
            Self::Wide(values) => values.len(),
            Self::Narrow(values) => values.len(),
            Self::Foreign(_, start, end) => end - start,
        }
    }

    fn get(self, at: usize) -> T {
        match self {
            Self::Wide(values) => values[at],
            Self::Narrow(values) => values[at].into(),
            Self::Foreign(values, start, _) => values.get(start + at),
        }
    }

    fn slice(self, range: Range<usize>) -> Self {
        match self {
            Self::Wide(values) => Self::Wide(&values[range]),
            Self::Narrow(values) => Self::Narrow(&values[range]),
            Self::Foreign(values, start, _) => Self::Foreign(values, start + range.start, start + range.end),
        }
    }

    fn iter(self) -> impl Iterator<Item = T> + 'a {
        (0..self.len()).map(move |at| self.get(at))
    }

    /// Whether `is_wanted` holds for every two neighbours.
    fn all_pairs(self, is_wanted: impl Fn(T, T) -> bool) -> bool {
        // Without a way out in the middle, so that it takes many at once.
        match self {
            Self::Wide(values) => values.windows(2).fold(true, |all, pair| all & is_wanted(pair[0], pair[1])),
            Self::Narrow(values) => {
                values.windows(2).fold(true, |all, pair| all & is_wanted(pair[0].into(), pair[1].into()))
            }
            Self::Foreign(values, start, end) => {
                (start + 1..end).all(|at| is_wanted(values.get(at - 1), values.get(at)))
            }
        }
    }
}

impl<T: Copy, N: Copy + Into<T>> Numbers<T, N> {
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
        self.add(Piece::Shared(Box::new(values)));
    }

    /// Adds the numbers of the next entries, which stay where and as narrow as they are.
    #[cfg_attr(not(feature = "arrow"), allow(dead_code))]
    pub fn share_narrow(&mut self, values: impl AsRef<[N]> + Send + Sync + 'static) {
        self.add(Piece::Narrow(Box::new(values)));
    }

    /// Adds the numbers of the next entries, which stay where and what they are.
    #[cfg_attr(not(feature = "arrow"), allow(dead_code))]
    pub fn share_foreign(&mut self, values: impl Foreign<T> + 'static) {
        self.add(Piece::Foreign(Box::new(values)));
    }

    fn add(&mut self, piece: Piece<T, N>) {
        let n = piece.values().len();
        // Only an own one may have nothing yet.
        if n > 0 || matches!(piece, Piece::Own(_)) {
            self.starts.push(self.n);
            self.n += n;
            self.pieces.push(piece);
        }
    }

    /// The number of an entry.
    #[inline]
    pub fn get(&self, entry: usize) -> T {
        if let [piece] = &self.pieces[..] {
            return piece.values().get(entry);
        }
        let at = self.starts.partition_point(|&start| start <= entry) - 1;
        self.pieces[at].values().get(entry - self.starts[at])
    }

    /// The numbers of some entries, piece by piece.
    fn slices(&self, entries: Range<usize>) -> impl Iterator<Item = Slice<'_, T, N>> {
        let first = self.starts.partition_point(|&start| start <= entries.start).saturating_sub(1);
        let pieces = self.pieces[first..].iter().zip(&self.starts[first..]);
        pieces.take_while(move |(_, start)| **start < entries.end).map(move |(piece, &start)| {
            let values = piece.values();
            values.slice(entries.start.saturating_sub(start)..values.len().min(entries.end - start))
        })
    }

    /// All numbers.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.slices(0..self.n).flat_map(Slice::iter)
    }

    /// Writes the numbers of some entries into `to`, to the first of every `width` places.
    pub fn write(&self, entries: Range<usize>, to: &mut [T], width: usize) {
        let mut rows = 0;
        for slice in self.slices(entries) {
            let to = to.get_mut(rows * width..).unwrap_or_default();
            match slice {
                Slice::Wide(found) => spread(found, to, width, |value| value),
                Slice::Narrow(found) => spread(found, to, width, N::into),
                Slice::Foreign(found, start, end) => found.write(start..end, to, width),
            }
            rows += slice.len();
        }
    }

    /// Whether `is_wanted` holds for every two neighbours among some entries.
    pub fn all_pairs(&self, entries: Range<usize>, is_wanted: impl Fn(T, T) -> bool) -> bool {
        let mut before = None;
        self.slices(entries).filter(|slice| slice.len() > 0).all(|slice| {
            let (first, last) = (slice.get(0), slice.get(slice.len() - 1));
            let seam = before.is_none_or(|before| is_wanted(before, first));
            before = Some(last);
            seam && slice.all_pairs(&is_wanted)
        })
    }
}

/// Writes numbers to the first of every `width` places.
pub(crate) fn spread<N: Copy, T>(found: &[N], to: &mut [T], width: usize, of: impl Fn(N) -> T) {
    match width {
        1 => to.iter_mut().zip(found).for_each(|(to, &value)| *to = of(value)),
        _ => found.iter().enumerate().for_each(|(row, &value)| to[row * width] = of(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in halves.
    struct Halves(Vec<i64>);

    impl Foreign<i64> for Halves {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn get(&self, at: usize) -> i64 {
            self.0[at] / 2
        }

        fn write(&self, range: Range<usize>, to: &mut [i64], width: usize) {
            spread(&self.0[range], to, width, |value| value / 2);
        }
    }

    #[test]
    fn pieces_are_one_column() {
        let mut numbers = Numbers::<i64, i32>::default();
        numbers.push(0);
        numbers.push(1);
        numbers.share(vec![2, 3, 4]);
        numbers.share(vec![]);
        numbers.extend([]);
        numbers.share_narrow(vec![5, 6]);
        numbers.share_narrow(vec![]);
        numbers.share_foreign(Halves(vec![14, 16, 18]));
        numbers.share_foreign(Halves(vec![]));
        numbers.extend([10, 11]);
        assert_eq!(numbers.n, 12);
        assert_eq!(numbers.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        for start in 0..12 {
            assert_eq!(numbers.get(start), start as i64);
            for end in start..=12 {
                let expected: Vec<_> = (start as i64..end as i64).collect();
                for width in 1..4 {
                    // The last place of a table is not the first of its row where the column is not the first.
                    let mut table = vec![-1; (expected.len() * width).max(width)];
                    numbers.write(start..end, &mut table[width - 1..], width);
                    let written: Vec<_> = table.iter().copied().filter(|value| *value >= 0).collect();
                    assert_eq!(written, expected, "{start} {end} {width}");
                    assert!(
                        expected.iter().enumerate().all(|(i, value)| table[(i + 1) * width - 1] == *value)
                    );
                }
                assert!(numbers.all_pairs(start..end, |a, b| a + 1 == b));
                // Whichever pair it is, within a piece or across a seam, it is found.
                for odd in expected.iter().skip(1) {
                    assert!(!numbers.all_pairs(start..end, |_, b| b != *odd), "{start} {end} {odd}");
                }
            }
        }
    }

    #[test]
    fn nothing_has_no_numbers() {
        let none = Numbers::<f64>::default();
        assert_eq!((none.n, none.iter().count()), (0, 0));
        assert!(none.all_pairs(0..0, |_, _| false));
    }
}
