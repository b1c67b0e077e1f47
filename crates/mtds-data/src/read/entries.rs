//! Where entries come from: rows of the file and sequences, in few words where one entry follows the other.

/// The row of the file that each entry comes from.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    first: u64,
    n: usize,
    /// All rows, once there is one that does not follow the one before.
    listed: Vec<u64>,
}

impl Rows {
    /// Adds the row of the next entry.
    pub fn push(&mut self, row: u64) {
        if self.n == 0 {
            self.first = row;
        }
        let follows = self.first + self.n as u64;
        if self.listed.is_empty() && row != follows {
            self.listed.extend(self.first..follows);
        }
        if !self.listed.is_empty() {
            self.listed.push(row);
        }
        self.n += 1;
    }

    /// Adds `n` rows that follow each other.
    #[cfg_attr(not(feature = "arrow"), allow(dead_code))]
    pub fn extend(&mut self, first: u64, n: usize) {
        match self.listed.is_empty() && (self.n == 0 || first == self.first + self.n as u64) {
            true => {
                self.first = if self.n == 0 { first } else { self.first };
                self.n += n;
            }
            false => (first..first + n as u64).for_each(|row| self.push(row)),
        }
    }

    /// The row of an entry.
    pub fn get(&self, entry: usize) -> u64 {
        if self.listed.is_empty() { self.first + entry as u64 } else { self.listed[entry] }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }
}

/// The sequence of each entry: runs of entries of one sequence.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    /// Number of the sequence, and the first entry of the run.
    runs: Vec<(u32, u32)>,
    n: usize,
}

impl Runs {
    /// Adds `n` entries of a sequence.
    pub fn push(&mut self, series: u32, n: usize) {
        if self.last() != Some(series) {
            self.runs.push((series, self.n as u32));
        }
        self.n += n;
    }

    /// The sequence of the last entry.
    pub fn last(&self) -> Option<u32> {
        self.runs.last().map(|run| run.0)
    }

    /// The sequence of an entry.
    pub fn get(&self, entry: usize) -> usize {
        let after = self.runs.partition_point(|run| run.1 as usize <= entry);
        self.runs[after - 1].0 as usize
    }

    /// The sequence of every entry, in order.
    pub fn each(&self) -> impl Iterator<Item = usize> + '_ {
        self.runs().flat_map(|(series, entries)| entries.map(move |_| series))
    }

    /// Every run: its sequence and its entries.
    pub fn runs(&self) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> + '_ {
        let ends = self.runs.iter().skip(1).map(|run| run.1 as usize).chain([self.n]);
        self.runs.iter().zip(ends).map(|(run, end)| (run.0 as usize, run.1 as usize..end))
    }

    /// Number of runs: that of the sequences, where each is in one piece.
    pub fn n_runs(&self) -> usize {
        self.runs.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_that_were_added() {
        let all = [3, 4, 5, 9, 10, 2, 3];
        let mut one_by_one = Rows::default();
        all.iter().for_each(|&row| one_by_one.push(row));
        let mut at_once = Rows::default();
        for (first, n) in [(3, 2), (5, 1), (9, 2), (2, 2)] {
            at_once.extend(first, n);
        }
        for rows in [one_by_one, at_once] {
            assert_eq!((0..rows.len()).map(|entry| rows.get(entry)).collect::<Vec<_>>(), all);
        }
        assert!(Rows::default().is_empty());
    }

    #[test]
    fn sequences_are_those_that_were_added() {
        let all = [0, 0, 1, 2, 2, 2, 0];
        let mut runs = Runs::default();
        all.iter().for_each(|&series| runs.push(series, 1));
        assert_eq!(runs.each().collect::<Vec<_>>(), [0, 0, 1, 2, 2, 2, 0]);
        assert_eq!((0..7).map(|entry| runs.get(entry)).collect::<Vec<_>>(), [0, 0, 1, 2, 2, 2, 0]);
        assert_eq!(runs.runs().collect::<Vec<_>>(), [(0, 0..2), (1, 2..3), (2, 3..6), (0, 6..7)]);
        assert_eq!((runs.n_runs(), runs.last()), (4, Some(0)));
    }
}
