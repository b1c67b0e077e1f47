//! The reader and the writer: what files of the wild look like, what is refused and where, round trips.

use mtds_mocap::bvh::{Channel, Hierarchy, Motion, Node, Remark, read, write};
use mtds_mocap::rotation::Axis;
use mtds_mocap::{Error, Result};
use proptest::prelude::*;

const SMALL: &str = "HIERARCHY
ROOT Hips
{
  OFFSET 0 1 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Chest
  {
    OFFSET 0 5.5 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 2 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.0333333
1 2 3 4 5 6 7 8 9
1.5 2.5 3.5 4.5 5.5 6.5 7.5 8.5 9.5
";

fn small_with(from: &str, to: &str) -> Result<mtds_mocap::bvh::Reading> {
    assert!(SMALL.contains(from), "{from}");
    read(SMALL.replacen(from, to, 1).as_bytes())
}

fn motion_with(from: &str, to: &str) -> Motion {
    small_with(from, to).unwrap().motion
}

/// Line, column and whole text of the error that a change to the small file makes.
fn refusal(from: &str, to: &str) -> (usize, usize, String) {
    let error = small_with(from, to).unwrap_err();
    let text = error.to_string();
    match error {
        Error::Bvh { line, column, .. } => (line, column, text),
        other => panic!("{other}"),
    }
}

#[test]
fn a_small_file_is_read_as_it_stands() {
    let reading = read(SMALL.as_bytes()).unwrap();
    let motion = &reading.motion;
    assert_eq!(reading.remarks, vec![]);
    assert_eq!((motion.n_frames(), motion.frame_time(), motion.fps()), (2, 0.0333333, 30.0));
    let [hips, chest] = motion.hierarchy().nodes() else { panic!("two joints") };
    assert_eq!((hips.name.as_str(), hips.parent, hips.offset), ("Hips", None, [0.0, 1.0, 0.0]));
    assert_eq!(
        (chest.name.as_str(), chest.parent, &chest.end_sites),
        ("Chest", Some(0), &vec![[0.0, 2.0, 0.0]])
    );
    assert_eq!(chest.rotation_axes().collect::<Vec<_>>(), [Axis::Z, Axis::X, Axis::Y]);
    assert_eq!(motion.hierarchy().values_of(1, motion.frame(1)), [7.5, 8.5, 9.5]);
}

#[test]
fn carriage_returns_end_lines() {
    let expected = read(SMALL.as_bytes()).unwrap();
    assert_eq!(read(SMALL.replace('\n', "\r\n").as_bytes()).unwrap(), expected);
    assert_eq!(read(SMALL.replace('\n', "\r").as_bytes()).unwrap(), expected);
}

#[test]
fn tabs_trailing_blanks_blank_lines_and_no_last_line_end_change_nothing() {
    let expected = read(SMALL.as_bytes()).unwrap();
    for text in [
        SMALL.replace("  ", "\t"),
        SMALL.replace('\n', " \t\n"),
        SMALL.replace('\n', "\n\n"),
        SMALL.replace(' ', "  "),
        SMALL.replace("\n{", " {"),
        SMALL.trim_end().to_string(),
        format!("\u{feff}{SMALL}\n \n"),
    ] {
        assert_eq!(read(text.as_bytes()).unwrap(), expected, "{text:?}");
    }
}

#[test]
fn header_with_a_tab_or_nothing_after_the_colon() {
    for line in ["Frames:\t2", "Frames:2", "Frames : 2", "FRAMES: 2", "frames:  2 "] {
        assert_eq!(motion_with("Frames: 2", line).n_frames(), 2, "{line}");
    }
    for line in
        ["Frame Time:\t.0083333", "Frame Time:.0083333", "frame time : .0083333", "Frame  Time: 8.3333e-3"]
    {
        assert_eq!(motion_with("Frame Time: 0.0333333", line).fps(), 120.0, "{line}");
    }
}

#[test]
fn rates_are_whole_only_where_the_file_means_it() {
    assert_eq!(motion_with("0.0333333", "0.016667").fps(), 60.0);
    assert_eq!(motion_with("0.0333333", "0.04").fps(), 25.0);
    let broadcast = motion_with("0.0333333", "0.0333667").fps();
    assert!((broadcast - 29.97).abs() < 1e-3, "{broadcast}");
}

#[test]
fn missing_leading_zeros_and_exponents_in_frames_and_offsets() {
    let motion = motion_with("1 2 3 4 5 6 7 8 9", ".5 -.5 1e-3 1.87007e-05 -2E2 +6 7. -0 .0");
    assert_eq!(motion.frame(0), [0.5, -0.5, 1e-3, 1.87007e-5, -200.0, 6.0, 7.0, 0.0, 0.0]);
    let motion = motion_with("OFFSET 0 5.5 0", "OFFSET -.25 5.5e0 1.5E-5");
    assert_eq!(motion.hierarchy().nodes()[1].offset, [-0.25, 5.5, 1.5e-5]);
}

#[test]
fn names_may_hold_blanks_colons_and_other_alphabets() {
    for name in ["mixamorig:Left Arm", "Bip01 L Thigh", "左腕", "a\tb", "End", "JOINT", "1.5"] {
        assert_eq!(motion_with("Chest", name).hierarchy().nodes()[1].name, name);
    }
    let mut bytes = SMALL.as_bytes().to_vec();
    let place = SMALL.find("Chest").unwrap();
    bytes[place] = 0xe9;
    let reading = read(&bytes).unwrap();
    assert_eq!(reading.motion.hierarchy().nodes()[1].name, "éhest");
    assert!(matches!(&reading.remarks[..], [Remark::Name { node: 1, .. }]));
}

#[test]
fn lower_case_keywords_are_read() {
    assert_eq!(read(SMALL.to_lowercase().as_bytes()).unwrap().motion.n_frames(), 2);
    assert_eq!(read(SMALL.to_uppercase().as_bytes()).unwrap().motion.n_frames(), 2);
}

#[test]
fn any_channels_in_any_number_and_order() {
    let list = "6 Xposition Yposition Zposition Zrotation Yrotation Xrotation";
    let motion = motion_with(list, "6 Yrotation Zposition Xrotation Xposition Yposition Yrotation");
    assert_eq!(motion.hierarchy().nodes()[0].channels[1], Channel::Position(Axis::Z));
    let motion = motion_with(
        "CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n",
        "CHANNELS 6 Zrotation Xrotation Zrotation Zrotation Yrotation Xrotation\n",
    );
    assert_eq!(motion.hierarchy().n_channels(), 9);
    // A joint that does not move at all.
    let text = SMALL.replace("    CHANNELS 3 Zrotation Xrotation Yrotation\n", "");
    let text = text.replace(" 7 8 9", "").replace(" 7.5 8.5 9.5", "");
    assert_eq!(read(text.as_bytes()).unwrap().motion.hierarchy().n_channels(), 6);
}

#[test]
fn positions_on_every_joint() {
    let text = SMALL.replace("3 Zrotation Xrotation", "6 Xposition Yposition Zposition Zrotation Xrotation");
    let text = text.replace(" 7 8 9", " 0 0 0 7 8 9").replace(" 7.5 8.5 9.5", " 0 0 0 7.5 8.5 9.5");
    let motion = read(text.as_bytes()).unwrap().motion;
    assert!(motion.hierarchy().nodes()[1].has_position());
}

#[test]
fn end_sites_of_length_zero_several_or_none() {
    assert_eq!(motion_with("OFFSET 0 2 0", "OFFSET 0 0 0").hierarchy().nodes()[1].end_sites, [[0.0; 3]]);
    let two = "End Site { OFFSET 1 0 0 } End Site";
    assert_eq!(motion_with("End Site", two).hierarchy().nodes()[1].end_sites.len(), 2);
    let none = SMALL.replace("    End Site\n    {\n      OFFSET 0 2 0\n    }\n", "");
    assert!(read(none.as_bytes()).unwrap().motion.hierarchy().nodes()[1].end_sites.is_empty());
    assert!(small_with("OFFSET 0 2 0", "OFFSET 0 2 0\nCHANNELS 0").is_ok());
}

#[test]
fn several_roots_are_kept_and_remarked() {
    let text = SMALL.replace("MOTION", "ROOT Prop { OFFSET 1 1 1 CHANNELS 1 Xrotation }\nMOTION");
    let text = text.replace("7 8 9", "7 8 9 10").replace("8.5 9.5", "8.5 9.5 10.5");
    let reading = read(text.as_bytes()).unwrap();
    assert_eq!(reading.remarks, [Remark::Roots(2)]);
    assert_eq!(reading.motion.hierarchy().nodes()[2].parent, None);
    assert_eq!(read(&write(&reading.motion)).unwrap(), reading);
}

#[test]
fn another_number_of_frames_than_announced_is_remarked() {
    let reading = small_with("Frames: 2", "Frames: 3").unwrap();
    assert_eq!(reading.remarks, [Remark::FrameCount { declared: 3, found: 2 }]);
    let reading = small_with("Frames: 2", "Frames: 1").unwrap();
    assert_eq!((reading.motion.n_frames(), reading.remarks.len()), (2, 1));
}

#[test]
fn a_last_frame_that_is_cut_off_is_dropped_and_remarked() {
    let reading = small_with(" 7.5 8.5 9.5\n", " 7.").unwrap();
    assert_eq!(reading.motion.n_frames(), 1);
    let cut = Remark::CutOff { line: 20, found: 7, expected: 9 };
    assert_eq!(reading.remarks, [cut, Remark::FrameCount { declared: 2, found: 1 }]);
    // Cut off within a number: what is left of it is none.
    for rest in [" -", " 7.5 8.5 9.5e-", " 7.5 8.5 ."] {
        let reading = small_with(" 7.5 8.5 9.5\n", rest).unwrap();
        assert_eq!((reading.motion.n_frames(), reading.remarks.len()), (1, 2), "{rest}");
    }
    assert!(small_with(" 7.5 8.5 9.5\n", " nan").is_err());
}

#[test]
fn a_file_without_frames_is_read() {
    let text = SMALL.split("1 2 3").next().unwrap().replace("Frames: 2", "Frames: 0");
    let motion = read(text.as_bytes()).unwrap().motion;
    assert_eq!(motion.n_frames(), 0);
    assert_eq!(read(&write(&motion)).unwrap().motion, motion);
}

#[test]
fn refusals_say_where_what_was_expected_and_what_to_try() {
    for (from, to, line, column, words) in [
        ("HIERARCHY", "solid cube", 1, 1, "expected `HIERARCHY`, found `solid`; is this a BVH file?"),
        ("ROOT Hips", "JOINT Hips", 2, 1, "expected `ROOT`, found `JOINT`"),
        ("ROOT Hips", "ROOT ", 3, 1, "expected the name of the joint, found `{`"),
        ("OFFSET 0 5.5 0", "OFFSET 0 5,5 0", 8, 14, "found `5,5`; write decimals with a point"),
        ("CHANNELS 3", "CHANNELS three", 9, 14, "the number of channels, found `three`"),
        ("CHANNELS 3", "CHANNELS 4", 10, 5, "expected 4 channels"),
        ("CHANNELS 3", "CHANNELS 2", 9, 36, "found `Yrotation`"),
        ("3 Zrotation", "3 Zscale", 9, 16, "found `Zscale`"),
        ("6 Xposition Y", "6 Yposition Y", 5, 12, "Yposition once"),
        ("    OFFSET 0 5.5 0\n", "", 13, 3, "expected OFFSET before the end of the joint"),
        ("OFFSET 0 1 0", "OFFSET 0 1 0 OFFSET 0 1 0", 4, 16, "one OFFSET per joint"),
        ("}\nMOTION", "MOTION", 15, 1, "check the braces above"),
        ("MOTION", "}\nMOTION", 16, 1, "expected `MOTION`, found `}`"),
        ("Frames: 2", "Frames: two", 17, 9, "the number of frames, found `two`"),
        ("Frames: 2", "Frames: -2", 17, 9, "the number of frames, found `-2`"),
        ("Frame Time: 0.0333333", "Frame Time: 0", 18, 13, "seconds above 0, found `0`"),
        ("Frame Time: 0.0333333", "Frame Time: -0.1", 18, 13, "seconds above 0"),
        ("Frame Time: 0.0333333", "", 19, 1, "`Frame Time:` and seconds"),
        ("1 2 3 4", "1 2 nan 4", 19, 5, "found `nan`; the exporter wrote a value that is not finite"),
        ("1 2 3 4", "1 2 -1.#IND 4", 19, 5, "not finite"),
        ("1 2 3 4", "1 2 1e999 4", 19, 5, "expected a finite number, found `1e999`"),
        ("7 8 9\n", "7 8\n", 19, 16, "expected 9 values in the line of a frame, found 8"),
        ("7 8 9\n", "7 8 9 10\n", 19, 19, "the end of the line after 9 values, found `10`"),
    ] {
        let (found_line, found_column, text) = refusal(from, to);
        assert!(text.contains(words), "{to:?}: {text}");
        assert_eq!((found_line, found_column), (line, column), "{to:?}: {text}");
    }
}

#[test]
fn every_cut_of_a_file_is_refused_or_read_but_never_panics() {
    for end in 0..SMALL.len() {
        if let Ok(reading) = read(&SMALL.as_bytes()[..end]) {
            assert_eq!(read(&write(&reading.motion)).unwrap().motion, reading.motion);
        }
    }
}

#[test]
fn a_hierarchy_without_channels_is_refused() {
    let text = "HIERARCHY ROOT a\n{ OFFSET 0 0 0 } MOTION Frames: 9 Frame Time: 1\n";
    assert!(read(text.as_bytes()).unwrap_err().to_string().contains("without channels nothing moves"));
}

#[test]
fn depth_is_no_danger() {
    let depth = 50_000;
    let open = "JOINT a\n{ OFFSET 0 0 0\n".repeat(depth);
    let text = format!(
        "HIERARCHY\nROOT r\n{{ OFFSET 0 0 0 CHANNELS 1 Xrotation\n{open}{}}}\nMOTION\nFrames: 1\nFrame Time: 1\n5\n",
        "}".repeat(depth)
    );
    let reading = read(text.as_bytes()).unwrap();
    assert_eq!(reading.motion.hierarchy().nodes().len(), depth + 1);
    assert_eq!(read(&write(&reading.motion)).unwrap(), reading);
}

#[test]
fn hierarchies_and_motions_that_no_file_could_hold_are_refused() {
    let node = |name: &str, parent| Node { name: name.into(), parent, ..Node::default() };
    assert!(
        Hierarchy::new(vec![node("a", None), node("b", Some(0)), node("c", Some(0)), node("d", Some(1))])
            .is_err()
    );
    assert!(Hierarchy::new(vec![node("a", Some(0))]).is_err());
    for name in ["", " a", "a{b", "a\nb", "a}", "a\u{b}"] {
        assert!(Hierarchy::new(vec![node(name, None)]).is_err(), "{name:?}");
    }
    let infinite = Node { offset: [f64::INFINITY, 0.0, 0.0], ..node("a", None) };
    assert!(Hierarchy::new(vec![infinite]).is_err());
    let one = Node { channels: vec![Channel::Rotation(Axis::X)], ..node("a", None) };
    let one = Hierarchy::new(vec![one]).unwrap();
    assert!(Motion::new(one.clone(), 0.0, vec![]).is_err());
    assert!(Motion::new(one.clone(), 1.0, vec![f64::NAN]).is_err());
    assert!(Motion::new(Hierarchy::new(vec![node("a", None)]).unwrap(), 1.0, vec![]).is_err());
    assert!(Motion::new(one, 1.0, vec![1.0, 2.0]).is_ok());
}

fn names() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9:_.é腕-]([a-zA-Z0-9:_. \té腕-]{0,8}[a-zA-Z0-9:_.é腕-])?"
}

fn numbers() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |x| x.is_finite()),
        -500.0..500.0f64,
        Just(0.0),
        Just(-0.0),
    ]
}

/// Nodes in depth-first order: each hangs on one of those still open.
fn hierarchies() -> impl Strategy<Value = Hierarchy> {
    let channel = prop::sample::select(Channel::ALL.to_vec());
    let node = (
        names(),
        any::<prop::sample::Index>(),
        prop::array::uniform3(numbers()),
        prop::collection::vec(channel, 0..7),
        prop::collection::vec(prop::array::uniform3(numbers()), 0..3),
    );
    prop::collection::vec(node, 1..12).prop_map(|parts| {
        let mut open: Vec<usize> = Vec::new();
        let mut nodes: Vec<Node> = Vec::new();
        for (name, place, offset, mut channels, end_sites) in parts {
            open.truncate(place.index(open.len() + 1));
            let mut kept = Vec::new();
            channels.retain(|channel| {
                let fine = matches!(channel, Channel::Rotation(_)) || !kept.contains(channel);
                kept.push(*channel);
                fine
            });
            nodes.push(Node { name, parent: open.last().copied(), offset, channels, end_sites });
            open.push(nodes.len() - 1);
        }
        nodes[0].channels.push(Channel::Rotation(Axis::Y));
        Hierarchy::new(nodes).unwrap()
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_to_the_last_bit(
        hierarchy in hierarchies(),
        frame_time in 1e-9..1e9f64,
        pool in prop::collection::vec(numbers(), 1..200),
        n_frames in 0..4usize,
    ) {
        let n = n_frames * hierarchy.n_channels();
        let values: Vec<f64> = pool.iter().copied().cycle().take(n).collect();
        let motion = Motion::new(hierarchy, frame_time, values).unwrap();
        let reading = read(&write(&motion)).unwrap();
        prop_assert_eq!(&reading.motion, &motion);
        let bits = |motion: &Motion| motion.values().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&reading.motion), bits(&motion));
    }
}
