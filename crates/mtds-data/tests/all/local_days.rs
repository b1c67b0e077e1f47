//! Days of a place where clocks change, told as moments.

use std::path::Path;

use mtds_data::{Error, Format, Note, Problem, ReadFamily, ReadOptions, Result, read_family_from};

/// One sequence with these times.
fn at_times<T: AsRef<str>>(times: &[T]) -> Result<ReadFamily> {
    let rows: String = times.iter().enumerate().map(|(i, t)| format!("a,{},{i}\n", t.as_ref())).collect();
    let text = format!("series,t,y\n{rows}");
    read_family_from(text.as_bytes(), Format::Csv, Path::new("a.csv"), &ReadOptions::default())
}

/// Midnights of days, by the offset that holds there.
fn days() -> Vec<String> {
    (20..=31)
        .map(|day| format!("2024-10-{day}T00:00{}", if day < 28 { "+02:00" } else { "+01:00" }))
        .collect()
}

fn weeks() -> Vec<String> {
    let offset = |date: &str| if ("2024-04-07".."2024-10-06").contains(&date) { "+10:30" } else { "+11:00" };
    let of = |(month, day): (u32, u32)| format!("2024-{month:02}-{day:02}");
    let sundays = [(3, 11), (3, 18), (3, 25), (4, 8), (4, 15), (4, 22), (9, 30), (10, 7)].map(of);
    sundays.iter().map(|date| format!("{date}T00:00{}", offset(date))).collect()
}

fn months() -> Vec<String> {
    (1..=12)
        .map(|month| {
            format!("2024-{month:02}-01T00:00{}", if (4..11).contains(&month) { "+02:00" } else { "+01:00" })
        })
        .collect()
}

#[test]
fn days_of_a_place_where_clocks_change_are_refused_with_advice() {
    for (times, place, said) in [
        (days(), "row 10", "but for 1h more between row 9 and this one"),
        (weeks(), "row 5", "but for 30min more between row 4 and this one"),
        (months(), "row 5", "but for 1h less between row 4 and this one"),
    ] {
        let Err(Error::Data(error)) = at_times(&times) else { panic!("{times:?} were read") };
        let text = error.to_string();
        assert!(matches!(error.problem, Problem::LocalDays { .. }), "{text}");
        assert!(text.starts_with(&format!("a.csv, {place}, column `t`: ")) && text.contains(said), "{text}");
        // Dates of the same days have a step.
        let dates: Vec<&str> = times.iter().map(|time| &time[..10]).collect();
        let notes = at_times(&dates).expect("dates").notes;
        assert!(notes.iter().all(|note| matches!(note, Note::Gaps { .. })), "{notes:?}");
    }
}

/// A clock that is read by the hour is off by one now and then, and not for months.
#[test]
fn hours_that_jitter_around_days_are_no_change_of_clocks() {
    let hours = [0, 24, 48, 73, 96, 120, 145, 168, 192, 216];
    let times: Vec<String> =
        hours.iter().map(|hour| format!("2024-10-{:02}T{:02}:00Z", 1 + hour / 24, hour % 24)).collect();
    let read = at_times(&times).expect("days that jitter");
    assert!(matches!(read.notes[..], [Note::Jitter { .. }]), "{:?}", read.notes);
}
