//! A way over the ground, as words or as a table of points.
//!
//! ```text
//! walk 4, left 90, walk 3        metres and degrees; it begins at the origin and faces +Z, unless a turn comes first
//! x,z[,t]                        a table of points in metres; with times in seconds, or at one speed
//! ```

use csv::{ReaderBuilder, StringRecord, Trim};

use crate::frame::{Placement, wrapped};
use crate::{Error, Result};

/// Longest leg of a way, in metres.
const LONGEST: f64 = 10_000.0;
/// Shortest leg of a way, in metres: points that are nearer are one.
const SHORTEST: f64 = 1e-3;
/// What a person may try.
const EXAMPLE: &str = "walk 4, left 90, walk 3";

/// Straight legs, one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Way {
    /// Corners `[x, z]`, both ends included, in metres; at least two.
    corners: Vec<[f64; 2]>,
    /// For each leg, which way it goes, unwrapped, in radians from +Z to the left.
    headings_rad: Vec<f64>,
    /// For each corner, when it is passed, in seconds from the first; none where nobody said.
    secs: Option<Vec<f64>>,
}

impl Way {
    /// The way that words say.
    ///
    /// # Errors
    /// [`Error::Words`] for words that are none, with their place.
    pub fn parse(text: &str) -> Result<Self> {
        let (mut corners, mut headings_rad) = (vec![[0.0; 2]], Vec::new());
        let (mut heading, mut turned_at) = (0.0f64, None);
        let mut at = 0;
        for part in text.split(',') {
            let start = at + part.len() - part.trim_start().len();
            at += part.len() + 1;
            let (verb, number) = command(text, start, part.trim())?;
            match verb {
                Verb::Walk => {
                    let [x, z] = corners[corners.len() - 1];
                    corners.push([x + number * heading.sin(), z + number * heading.cos()]);
                    headings_rad.push(heading);
                    turned_at = None;
                }
                Verb::Left => (heading, turned_at) = (heading + number.to_radians(), Some(start)),
                Verb::Right => (heading, turned_at) = (heading - number.to_radians(), Some(start)),
            }
        }
        match turned_at {
            Some(start) => Err(words(text, start, "`walk` after a turn", "the end of the path".into())),
            None => Ok(Self { corners, headings_rad, secs: None }),
        }
    }

    /// So many metres straight on.
    #[must_use]
    pub fn straight(metres: f64) -> Self {
        Self { corners: vec![[0.0; 2], [0.0, metres.max(SHORTEST)]], headings_rad: vec![0.0], secs: None }
    }

    /// The way through the points of a table: columns `x` and `z` in metres, and `t` in seconds where there is one, in
    /// any order, separated by commas.
    ///
    /// # Errors
    /// [`Error::Unusable`] for what is no such table, with its line.
    pub fn of_table(text: &str) -> Result<Self> {
        let hint =
            "give a line `x,z` or `t,x,z` and below it one line of numbers per point, in metres and seconds";
        let wrong =
            |expected: &str, found: String| Error::Unusable { expected: expected.into(), found, hint };
        let mut table = ReaderBuilder::new()
            .flexible(true)
            .trim(Trim::All)
            .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
        let unreadable = |error: csv::Error| wrong("a table", error.to_string());
        let header = table.headers().map_err(unreadable)?.clone();
        let column = |name: &str| header.iter().position(|found| found.eq_ignore_ascii_case(name));
        let (Some(x), Some(z)) = (column("x"), column("z")) else {
            let found = header.iter().collect::<Vec<_>>().join(",");
            return Err(wrong("a table with the columns x and z", format!("`{found}`")));
        };
        let mut rows: Vec<([f64; 2], f64)> = Vec::new();
        for record in table.records() {
            let record = record.map_err(unreadable)?;
            if record.iter().all(str::is_empty) && record.len() == 1 {
                continue;
            }
            let line = line_of(text, &record);
            let number = |column: usize| -> Result<f64> {
                let cell = record.get(column).unwrap_or("");
                let number = cell.parse().ok().filter(|number: &f64| number.is_finite());
                number.ok_or_else(|| wrong("a number in every column", format!("`{cell}` in line {line}")))
            };
            let time = column("t").map(number).transpose()?;
            if let (Some(time), Some((_, before))) = (time, rows.last())
                && time <= *before
            {
                return Err(wrong("times that rise", format!("{time} after {before} in line {line}")));
            }
            rows.push(([number(x)?, number(z)?], time.unwrap_or(0.0)));
        }
        let is_timed = column("t").is_some();
        // Somebody who stands still moves in time: with times, points in one place are corners of their own.
        let far = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]) > SHORTEST;
        rows.dedup_by(|next, last| !is_timed && !far(next.0, last.0));
        if !rows.windows(2).any(|pair| far(pair[0].0, pair[1].0)) {
            return Err(wrong(
                "at least two points that are apart",
                format!("{} lines of numbers", rows.len()),
            ));
        }
        let corners: Vec<[f64; 2]> = rows.iter().map(|row| row.0).collect();
        let secs = is_timed.then(|| rows.iter().map(|row| row.1 - rows[0].1).collect());
        Ok(Self { headings_rad: headings(&corners), corners, secs })
    }

    /// Metres from its beginning to its end.
    #[must_use]
    pub fn length(&self) -> f64 {
        self.leg_lengths().sum()
    }

    /// Where it ends, and which way its last leg goes.
    #[must_use]
    pub fn end(&self) -> Placement {
        let ([x, z], facing_rad) =
            (self.corners[self.corners.len() - 1], self.headings_rad[self.headings_rad.len() - 1]);
        Placement { x, z, facing_rad }
    }

    /// When each corner is passed, in seconds: its own times, or at one speed.
    pub(super) fn secs(&self, speed: f64) -> Vec<f64> {
        let passed = self.leg_lengths().scan(0.0, |passed, length| {
            *passed += length / speed;
            Some(*passed)
        });
        self.secs.clone().unwrap_or_else(|| std::iter::once(0.0).chain(passed).collect())
    }

    /// Metres a second on average, if it says when its points are passed.
    #[must_use]
    pub fn mean_speed(&self) -> Option<f64> {
        self.secs.as_ref().map(|secs| self.length() / secs[secs.len() - 1])
    }

    /// Whether it says itself when its points are passed.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.secs.is_some()
    }

    /// `[x, z, heading]` at the time `secs` when corners are passed at `passed`; beyond both ends straight on.
    pub(super) fn at(&self, secs: f64, passed: &[f64]) -> [f64; 3] {
        let last = self.headings_rad.len() - 1;
        let leg = passed[1..=last].partition_point(|&corner| corner <= secs);
        let ([x0, z0], [x1, z1]) = (self.corners[leg], self.corners[leg + 1]);
        let share = (secs - passed[leg]) / (passed[leg + 1] - passed[leg]);
        [x0 + share * (x1 - x0), z0 + share * (z1 - z0), self.headings_rad[leg]]
    }

    fn leg_lengths(&self) -> impl Iterator<Item = f64> + '_ {
        self.corners.windows(2).map(|pair| (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1]))
    }
}

/// The line of a table, counted from 1, that a record stands in: its place is told from the end of the one before, empty lines included.
fn line_of(text: &str, record: &StringRecord) -> u64 {
    let text = text.trim_start_matches('\u{feff}');
    record.position().map_or(0, |place| {
        let rest = text.as_bytes().get(place.byte() as usize..).unwrap_or_default();
        let empty = rest.iter().take_while(|byte| byte.is_ascii_whitespace());
        place.line() + empty.filter(|byte| **byte == b'\n').count() as u64
    })
}

/// Directions of the legs, each by the shorter way from the one before; who stands still faces as before, or as after.
fn headings(corners: &[[f64; 2]]) -> Vec<f64> {
    let direction = |pair: &[[f64; 2]]| {
        let (x, z) = (pair[1][0] - pair[0][0], pair[1][1] - pair[0][1]);
        (x.hypot(z) > SHORTEST).then(|| x.atan2(z))
    };
    let found: Vec<Option<f64>> = corners.windows(2).map(direction).collect();
    let mut last = found.iter().flatten().next().copied().unwrap_or(0.0);
    found
        .into_iter()
        .map(|heading| {
            last += heading.map_or(0.0, |heading| wrapped(heading - last));
            last
        })
        .collect()
}

/// What a person says.
enum Verb {
    Walk,
    Left,
    Right,
}

/// A verb and its number.
fn command(text: &str, start: usize, part: &str) -> Result<(Verb, f64)> {
    let (word, rest) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
    let rest = rest.trim();
    let (verb, unit, most) = match word.to_lowercase().as_str() {
        "walk" => (Verb::Walk, "metres above 0", LONGEST),
        "left" => (Verb::Left, "degrees above 0 and up to 360", 360.0),
        "right" => (Verb::Right, "degrees above 0 and up to 360", 360.0),
        _ => {
            let found = if word.is_empty() { "nothing".into() } else { format!("`{word}`") };
            return Err(words(text, start, "walk, left or right", found));
        }
    };
    let at = start + part.len() - rest.len();
    let number = rest.parse().ok().filter(|number: &f64| *number > 0.0 && *number <= most);
    let found = if rest.is_empty() { "nothing".into() } else { format!("`{rest}`") };
    number.map(|number| (verb, number)).ok_or_else(|| words(text, at, unit, found))
}

fn words(text: &str, at: usize, expected: &str, found: String) -> Error {
    let place = text[..at.min(text.len())].chars().count() + 1;
    Error::Words {
        what: "path",
        text: text.into(),
        place,
        expected: expected.into(),
        found,
        hint: EXAMPLE.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI};

    use super::*;

    #[test]
    fn words_lead_to_the_right_place_and_heading() {
        let end = |text: &str| Way::parse(text).unwrap().end();
        // Facing +Z, left is +X.
        for (text, x, z, facing_rad) in [
            ("walk 4", 0.0, 4.0, 0.0),
            ("walk 4, left 90, walk 3", 3.0, 4.0, FRAC_PI_2),
            ("Walk 4 ,right 90,walk 3", -3.0, 4.0, -FRAC_PI_2),
            ("left 90, walk 2, left 45, left 45, walk 1", 2.0, -1.0, PI),
            ("walk 1, left 360, walk 1.5", 0.0, 2.5, 2.0 * PI),
        ] {
            let found = end(text);
            let far = (found.x - x).hypot(found.z - z) + (found.facing_rad - facing_rad).abs();
            assert!(far < 1e-9, "{text}: {found:?}");
        }
        assert!((Way::parse("walk 4, left 90, walk 3").unwrap().length() - 7.0).abs() < 1e-12);
    }

    #[test]
    fn words_that_say_nothing_are_refused_with_their_place() {
        for (text, place, said) in [
            ("", 1, "found nothing"),
            ("run 4", 1, "found `run`"),
            ("walk", 5, "found nothing"),
            ("walk 4, left", 13, "degrees"),
            ("walk 4, left 90", 9, "the end of the path"),
            ("walk 4, left -90, walk 1", 14, "`-90`"),
            ("walk 4,, walk 1", 8, "walk, left or right"),
            ("walk x", 6, "metres"),
            ("walk 0", 6, "metres"),
            ("walk 4 m", 6, "`4 m`"),
        ] {
            let error = Way::parse(text).unwrap_err().to_string();
            let is_there = error.contains(&format!("character {place}:")) && error.contains(said);
            assert!(is_there && error.contains("try walk 4"), "{text}: {error}");
        }
    }

    #[test]
    fn tables_of_points_are_ways() {
        let way = Way::of_table("x,z\n0,0\n0,3\n0,3\n-2,3\n").unwrap();
        assert_eq!((way.length(), way.corners.len(), way.is_timed()), (5.0, 3, false));
        assert!((way.end().facing_rad + FRAC_PI_2).abs() < 1e-12);
        assert_eq!(way.secs(2.0), [0.0, 1.5, 2.5]);
        let timed = Way::of_table("t,z,x\n1,0,0\n3,4,0\n\n4,4,0\n5,4,1").unwrap();
        assert_eq!(timed.secs(9.0), [0.0, 2.0, 3.0, 4.0]);
        assert_eq!(timed.headings_rad, [0.0, 0.0, FRAC_PI_2], "who stands faces as before");
        assert_eq!(timed.at(1.0, &timed.secs(1.0)), [0.0, 2.0, 0.0]);
        let quoted = Way::of_table("\"x\",\"z\",\"note\"\n0,0,\"begin, here\"\n\"0\",3,\n").unwrap();
        assert_eq!(quoted.length(), 3.0);
        // A circle goes on turning and does not jump back by a whole turn.
        let circle: String = (0..30)
            .map(|i| format!("{},{}\n", (0.4 * f64::from(i)).cos(), (0.4 * f64::from(i)).sin()))
            .collect();
        let circle = Way::of_table(&format!("x,z\n{circle}")).unwrap();
        assert!(circle.headings_rad.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 0.5));
    }

    #[test]
    fn what_is_no_table_of_points_is_refused() {
        for (text, said) in [
            ("", "columns x and z"),
            ("a,b\n1,2\n", "found `a,b`"),
            ("x,z\n1,2\n1,q\n", "`q` in line 3"),
            ("x,z\n1\n", "`` in line 2"),
            ("\u{feff}x,z\r\n1,2\r\n\r\n \r\n1,q\r\n", "`q` in line 5"),
            ("x,z\n1,2\n1,2\n", "two points"),
            ("t,x,z\n1,0,0\n1,0,1\n", "times that rise"),
        ] {
            let error = Way::of_table(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
