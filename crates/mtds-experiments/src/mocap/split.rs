//! What is forecast and what is learned from: starts in a style that was left out, shares of the clips of all styles.

use super::material::{Material, Part, Stretch};

/// Rows between starts that are looked at.
const STEP: usize = 4;
/// Nested parts of a style that a share is taken from, each from its beginning.
const QUARTERS: usize = 4;

/// Starts of forecasts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Starts {
    /// Rows that are seen and rows that are forecast, together as long as there are rows, from each start.
    pub windows: Vec<Stretch>,
}

impl Starts {
    /// So many starts in stretches, spread evenly over all that have `seen` rows and the longest possible of `ahead` behind them.
    ///
    /// A window has at most the longest of `ahead`. Where fewer than half of the clips are long enough for it, the next
    /// shorter of `ahead` is what a start must have behind it, and rows beyond are forecast where they are there.
    #[must_use]
    pub fn spread(stretches: &[Stretch], seen: usize, ahead: &[usize], n: usize) -> Self {
        let longest = ahead.iter().copied().max().unwrap_or(0);
        let has = |need: usize| stretches.iter().filter(|one| one.n_time >= seen + need).count();
        let mut needs: Vec<usize> = ahead.to_vec();
        needs.sort_unstable_by(|a, b| b.cmp(a));
        let usual = needs.iter().copied().find(|&need| 2 * has(need) >= stretches.len());
        let need = usual.or_else(|| needs.iter().copied().find(|&need| has(need) > 0)).unwrap_or(longest);
        let starts = stretches.iter().flat_map(|one| {
            let last = one.n_time.checked_sub(seen + need);
            last.into_iter().flat_map(|last| (0..=last).step_by(STEP)).map(move |start| Stretch {
                clip: one.clip,
                start: one.start + start,
                n_time: (one.n_time - start).min(seen + longest),
            })
        });
        Self { windows: evenly(&starts.collect::<Vec<_>>(), n) }
    }
}

/// So many of some things, the first and the last among them, evenly spread.
#[must_use]
pub fn evenly<T: Clone>(all: &[T], n: usize) -> Vec<T> {
    let n = n.min(all.len());
    let place = |k: usize| if n == 1 { all.len() / 2 } else { k * (all.len() - 1) / (n - 1) };
    (0..n).map(|k| all[place(k)].clone()).collect()
}

/// A share 1/`divisor` of what there is to learn from, in every style: of each quarter of its rows the first ones, at least `least` where
/// they are there, so that smaller shares are parts of larger ones.
#[must_use]
pub fn share(material: &Material, divisor: usize, least: usize) -> Vec<Stretch> {
    let mut taken = vec![];
    for style in material.styles() {
        let clips = material.whole(|clip| clip.part == Part::Train && clip.style == *style);
        if divisor == 1 {
            taken.extend(clips);
            continue;
        }
        let all: usize = clips.iter().map(|clip| clip.n_time).sum();
        for k in 0..QUARTERS {
            let (from, to) = (k * all / QUARTERS, (k + 1) * all / QUARTERS);
            let wanted = ((to - from).div_ceil(divisor)).max(least).min(to - from);
            taken.extend(first_rows(&clips, from..to, wanted, least));
        }
    }
    taken
}

/// The first `wanted` rows of a range of clips that stand one behind the other; stretches of fewer than `least` rows are left out.
fn first_rows(
    clips: &[Stretch],
    range: std::ops::Range<usize>,
    mut wanted: usize,
    least: usize,
) -> Vec<Stretch> {
    let (mut found, mut before) = (vec![], 0);
    for clip in clips {
        let (from, to) = (range.start.max(before), range.end.min(before + clip.n_time));
        let start = from - before.min(from);
        before += clip.n_time;
        let n_time = to.saturating_sub(from).min(wanted);
        if to > from && n_time >= least.min(wanted) && n_time > 0 {
            found.push(Stretch { clip: clip.clip, start, n_time });
            wanted -= n_time;
        }
    }
    found.retain(|one| one.n_time >= least.min(range.len()));
    found
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::material;
    use super::*;

    fn stretch(clip: usize, n_time: usize) -> Stretch {
        Stretch { clip, start: 0, n_time }
    }

    #[test]
    fn starts_are_spread_over_what_is_long_enough() {
        let clips = [stretch(0, 264), stretch(1, 300), stretch(2, 90)];
        let starts = Starts::spread(&clips, 64, &[5, 200], 5);
        assert_eq!(starts.windows.len(), 5);
        assert_eq!(starts.windows[0], Stretch { clip: 0, start: 0, n_time: 264 });
        assert_eq!(starts.windows[4], Stretch { clip: 1, start: 36, n_time: 264 });
        // Most clips are short: starts need 20 rows ahead, and have more where there are more.
        let short = [stretch(0, 100), stretch(1, 90), stretch(2, 400)];
        let starts = Starts::spread(&short, 64, &[5, 20, 200], 400);
        assert!(starts.windows.iter().all(|window| (84..=264).contains(&window.n_time)));
        assert!(starts.windows.iter().any(|window| window.clip == 1 && window.n_time == 90));
        assert!(Starts::spread(&[stretch(0, 60)], 64, &[5], 3).windows.is_empty());
    }

    #[test]
    fn smaller_shares_are_parts_of_larger_ones_and_tests_are_in_none() {
        let material = material(3, 300);
        let rows = |divisor: usize| {
            let all = share(&material, divisor, 20).into_iter();
            all.flat_map(|one| (one.start..one.start + one.n_time).map(move |row| (one.clip, row)))
                .collect::<std::collections::BTreeSet<_>>()
        };
        let [all, half, eighth, least] = [1, 2, 8, 1000].map(rows);
        assert!(least.is_subset(&eighth) && eighth.is_subset(&half) && half.is_subset(&all));
        let n_styles = material.styles().len();
        // Two clips of three are learned from; a quarter of their rows is 150.
        assert_eq!((all.len(), half.len()), (n_styles * 600, n_styles * 300));
        assert_eq!((eighth.len(), least.len()), (n_styles * 4 * 20, n_styles * 4 * 20));
        assert!(all.iter().all(|(clip, _)| material.clips()[*clip].part == Part::Train));
    }

    #[test]
    fn a_quarter_over_the_end_of_a_clip_goes_on_in_the_next() {
        let clips = [stretch(3, 50), stretch(7, 100)];
        let found = first_rows(&clips, 30..120, 60, 10);
        let expected =
            [Stretch { clip: 3, start: 30, n_time: 20 }, Stretch { clip: 7, start: 0, n_time: 40 }];
        assert_eq!(found, expected);
        // A rest that is too short is left out.
        assert_eq!(first_rows(&clips, 45..120, 40, 10), [Stretch { clip: 7, start: 0, n_time: 40 }]);
    }
}
