//! What members did as a file, and how forecasts are put together: what is written is read, everything else is refused.

use std::sync::Arc;

use super::*;
use crate::evaluate::Baseline;
use crate::model::{Blend, Levels, Remembered, WaysBySeen, Widths};
use crate::{Family, Sequence, Signal};

/// A model that remembers three members of two outputs, with a gap.
fn remembering() -> Model {
    let value = |i: usize, t: usize, c: usize| match (i, t, c) {
        (1, 2, 0) => f64::NAN,
        _ => (i + 2 * t) as f64 / 3.0 - c as f64,
    };
    let member = |i: usize| {
        let rows = (0..4 + i).map(|t| vec![value(i, t, 0), value(i, t, 1)]).collect();
        Sequence::new(i.to_string(), Signal::from_rows(rows).unwrap()).unwrap()
    };
    let members = Arc::new(Family::new((0..3).map(member).collect()).unwrap());
    let ways = vec![(Baseline::Nearest, 0.5), (Baseline::Ridge, 0.125)];
    let levels = Levels { at: vec![-1.0, 3.0], factors: vec![0.25, 1.0] };
    let levels = vec![levels; bundle().system.base().d_obs()];
    let widths = Widths { seen: vec![2, 5], factors: vec![0.5, 2.0], levels };
    let by_seen = WaysBySeen { seen: vec![2, 6], weights: vec![vec![0.75, 0.0], vec![0.25, 0.25]] };
    let remembered = Some(Remembered::new(members, ways, by_seen));
    Model { blend: Blend { remembered, widths }, ..bundle() }
}

fn files() -> Files {
    remembering().to_files().unwrap()
}

fn with_blend(change: impl FnOnce(&mut Value)) -> Files {
    let mut files = files();
    let mut config: Value = serde_json::from_slice(&files[0].1).unwrap();
    change(&mut config["blend"]);
    files[0].1 = serde_json::to_vec(&config).unwrap();
    files
}

fn with_members(change: impl FnOnce(&mut Vec<u8>)) -> Files {
    let mut files = files();
    let (_, bytes) = files.iter_mut().find(|(name, _)| name == MEMBERS_FILE).unwrap();
    change(bytes);
    files
}

#[test]
fn what_is_written_is_read_with_all_its_digits() {
    let read = load(&files()).unwrap();
    assert!(read.to_files().unwrap() == files());
    let (ours, theirs) = (remembering().blend, read.blend);
    assert_eq!(ours.widths, theirs.widths);
    let (ours, theirs) = (ours.remembered.unwrap(), theirs.remembered.unwrap());
    assert_eq!((ours.ways, ours.by_seen), (theirs.ways, theirs.by_seen));
    for (a, b) in ours.members.sequences().iter().zip(theirs.members.sequences()) {
        let bits = |one: &Sequence| one.outputs().values().iter().map(|y| y.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(a), bits(b));
    }
    // A model that remembers nothing has no such file.
    assert!(!super::files().iter().any(|(name, _)| name == MEMBERS_FILE));
}

#[test]
fn factors_lie_between_those_that_were_found() {
    let widths = remembering().blend.widths;
    assert_eq!([0, 2, 5, 90].map(|seen| widths.at(seen)), [0.5, 0.5, 2.0, 2.0]);
    assert!((widths.at(3) - 0.5f64.powf(1.0 / 3.0)).abs() < 1e-12);
    assert_eq!(Widths::default().at(7), 1.0);
}

#[test]
fn ways_count_by_steps_seen_and_always_the_same_in_models_that_do_not_say() {
    let by_seen = remembering().blend.remembered.unwrap().by_seen;
    let found = [0, 2, 3, 6, 90].map(|seen| by_seen.at(seen).unwrap());
    assert_eq!(found.map(|weights| weights[0]), [0.75, 0.75, 0.625, 0.25, 0.25]);
    let old = with_blend(|blend| drop(blend.as_object_mut().unwrap().remove("by_seen").unwrap()));
    let remembered = load(&old).unwrap().blend.remembered.unwrap();
    assert_eq!((remembered.by_seen.at(3), &remembered.by_seen), (None, &WaysBySeen::default()));
    assert_eq!(remembered.ways, remembering().blend.remembered.unwrap().ways);
}

#[test]
fn members_that_are_missing_damaged_or_too_many_are_refused() {
    let mut missing = files();
    missing.retain(|(name, _)| name != MEMBERS_FILE);
    assert_refused(&missing, MEMBERS_FILE, &["missing", "restore"]);
    assert_refused(&with_members(|bytes| bytes.truncate(30)), MEMBERS_FILE, &["cut short"]);
    let weights = files().remove(1).1;
    assert_refused(&with_members(|bytes| *bytes = weights), MEMBERS_FILE, &["outputs and steps"]);
    // One step more than there are outputs for.
    let more = with_members(|bytes| {
        let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let text = String::from_utf8(bytes[8..8 + header].to_vec()).unwrap();
        let places: Value = serde_json::from_str(&text).unwrap();
        let at = places["steps"]["data_offsets"][0].as_u64().unwrap() as usize;
        bytes[8 + header + at] += 1;
    });
    assert_refused(&more, MEMBERS_FILE, &["as many steps"]);
    let unused = with_blend(|blend| {
        blend["ways"] = json!([]);
        blend.as_object_mut().unwrap().remove("by_seen").unwrap();
    });
    assert_refused(&unused, CONFIG_FILE, &["no way that uses it"]);
}

#[test]
fn weights_and_factors_that_make_no_sense_are_refused() {
    for (key, value, says) in [
        ("weight", json!(0.9), "less than 1"),
        ("weight", json!(-0.1), "above 0"),
        ("way", json!("last_value"), "does not forecast from members"),
        ("way", json!("oracle"), "oracle"),
    ] {
        assert_refused(&with_blend(|blend| blend["ways"][0][key] = value), CONFIG_FILE, &[says]);
    }
    for by_seen in [
        json!({"seen": [2], "weights": [[0.5, 0.1], [0.5, 0.1]]}),
        json!({"seen": [5, 2], "weights": [[0.5, 0.1], [0.5, 0.1]]}),
        json!({"seen": [2], "weights": [[0.5]]}),
        json!({"seen": [2], "weights": [[0.5, 0.5]]}),
        json!({"seen": [2], "weights": [[-0.5, 0.5]]}),
    ] {
        let files = with_blend(|blend| blend["by_seen"] = by_seen);
        assert_refused(&files, CONFIG_FILE, &["a weight of each way"]);
    }
    for widths in [
        json!({"seen": [2], "factors": [0.5, 2.0]}),
        json!({"seen": [5, 2], "factors": [0.5, 2.0]}),
        json!({"seen": [2, 5], "factors": [0.0, 2.0]}),
    ] {
        assert_refused(&with_blend(|blend| blend["widths"] = widths), CONFIG_FILE, &["factor above 0"]);
    }
    for (levels, says) in [
        (json!([]), None),
        (json!(vec![json!({"at": [1.0], "factors": [1.0]}); 9]), Some("factors by level of 9 outputs")),
        (json!({"at": [1.0, 1.0], "factors": [1.0, 1.0]}), Some("for each level")),
        (json!({"at": [1.0], "factors": [-1.0]}), Some("for each level")),
    ] {
        let own =
            if levels.is_object() { json!(vec![levels; bundle().system.base().d_obs()]) } else { levels };
        let files = with_blend(|blend| blend["widths"]["levels"] = own);
        match says {
            Some(says) => assert_refused(&files, CONFIG_FILE, &[says]),
            None => assert!(Model::from_files(&files).is_ok()),
        }
    }
    assert_refused(&with_blend(|blend| blend["other"] = json!(1)), CONFIG_FILE, &["other"]);
}
