//! Text files, good and bad: what is read, what is noted, and what is refused with place and advice.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use mtds::Inputs;
use mtds_data::{
    Error, Format, Moves, Note, Problem, ReadFamily, ReadOptions, Resample, ResampleMethod, Result, Step,
    TimeKind, read_family, read_family_from,
};

fn read_with(text: impl AsRef<[u8]>, options: &ReadOptions) -> Result<ReadFamily> {
    read_family_from(text.as_ref(), Format::Csv, Path::new("a.csv"), options)
}

fn read(text: impl AsRef<[u8]>) -> Result<ReadFamily> {
    read_with(text, &ReadOptions::default())
}

/// The values of a sequence of one output.
fn outputs(read: &ReadFamily, i: usize) -> &[f64] {
    read.family.sequence(i).outputs().values()
}

/// The problem, after a look at the beginning of the message.
fn refused(result: Result<ReadFamily>, begins: &str) -> Problem {
    let error = result.expect_err(begins);
    let text = error.to_string();
    assert!(text.starts_with(begins), "{text}");
    match error {
        Error::Data(data) => data.problem,
        other => panic!("{other:?}"),
    }
}

fn resampled(step: &str, method: ResampleMethod) -> ReadOptions {
    ReadOptions { resample: Some(Resample { step: step.parse().unwrap(), method }), ..ReadOptions::default() }
}

#[test]
fn a_long_table_becomes_a_family() {
    let read = read("series,t,y1,y2,u,label\na,1,0.5,,1,x\na,2,1.5,2,0,x\nb,5,NaN,3,2,\n").unwrap();
    let family = &read.family;
    assert_eq!((family.n_seq(), family.d_obs(), family.d_input(), family.n_observed()), (2, 2, 1, 4));
    assert_eq!(family.labels().collect::<Vec<_>>(), [Some("x"), None]);
    assert_eq!(family.output_names(), ["y1", "y2"]);
    assert_eq!(*family.inputs(), Inputs::Own);
    assert_eq!((read.time.kind, read.time.step), (TimeKind::Integer, Step::Integer(1)));
    assert_eq!((read.time.format(0, 2), read.time.format(1, 0)), ("3".into(), "5".into()));
    assert!(read.notes.is_empty(), "{:?}", read.notes);
}

#[test]
fn rows_may_come_in_any_order() {
    let read = read("series,t,y\nb,2,22\na,3,13\nb,1,21\na,1,11\na,2,12\n").unwrap();
    assert_eq!((outputs(&read, 0), outputs(&read, 1)), (&[21.0, 22.0][..], &[11.0, 12.0, 13.0][..]));
    assert_eq!(read.family.sequence(0).id(), "b");
    assert_eq!(read.notes[0], Note::Unsorted { series: "b".into(), row: 4 });
}

#[test]
fn a_byte_order_mark_crlf_quotes_blank_lines_and_spaces_do_not_matter() {
    let plain = read("series,t,y\na,1,1.5\na,2,2.5\n").unwrap();
    for text in [
        "\u{feff}series,t,y\r\na,1,1.5\r\na,2,2.5\r\n",
        "\"series\",\"t\",\"y\"\n\"a\",\"1\",\"1.5\"\n\"a\",2,2.5",
        "\n\nseries,t,y\n\na,1,1.5\n\n\na,2,2.5\n\n",
        "series, t, y\na, 1, 1.5\na, 2, 2.5\n",
        "series;t;y\na;1;1.5\na;2;2.5\n",
        "series\tt\ty\na\t1\t1.5\na\t2\t2.5\n",
    ] {
        assert_eq!(read(text).unwrap(), plain, "{text}");
    }
    let quoted = read("series,t,y\n\"a, \"\"b\"\"\nc\",1,1\n\"a, \"\"b\"\"\nc\",2,x\n");
    refused(quoted, "a.csv, row 4, column `y`: expected a number");
}

#[test]
fn without_a_prefix_all_numeric_columns_are_outputs() {
    let read = read("series,t,speed,name,empty,height\na,1,,Jo,,3\na,2,2,7,,\n").unwrap();
    assert_eq!(read.family.output_names(), ["speed", "height"]);
    let ignored = |name: &str, why: &str| Note::IgnoredColumn { name: name.into(), why: why.into() };
    assert_eq!(read.notes, [ignored("name", "row 2 holds no number"), ignored("empty", "it is empty")]);
}

#[test]
fn columns_can_be_named() {
    let options = ReadOptions {
        series: Some("who".into()),
        time: Some("when".into()),
        outputs: vec!["b".into(), "a".into()],
        inputs: vec!["dose".into()],
        ..ReadOptions::default()
    };
    let read = read_with("who,when,a,b,dose,y\n1,0,1,2,3,4\n", &options).unwrap();
    assert_eq!(read.family.output_names(), ["b", "a"]);
    assert_eq!(outputs(&read, 0), [2.0, 1.0]);
    assert_eq!((read.family.sequence(0).id(), read.columns.inputs.len()), ("1", 1));
    assert!(matches!(&read.notes[0], Note::IgnoredColumn { name, .. } if name == "y"));
}

#[test]
fn a_gap_of_whole_steps_is_missing_and_noted() {
    let read = read("series,t,y\na,0.5,1\na,1.0,2\na,2.5,5\na,3.0,6\n").unwrap();
    assert_eq!(read.time.step, Step::Number(0.5));
    assert_eq!(outputs(&read, 0)[..2], [1.0, 2.0]);
    assert!(outputs(&read, 0)[2..4].iter().all(|value| value.is_nan()));
    assert_eq!(
        read.notes,
        [Note::Gaps { series: "a".into(), n_gaps: 1, n_steps: 2, before_row: 3, after_row: 4 }]
    );
}

#[test]
fn dates_step_by_days_months_or_moments() {
    for (times, step, next) in [
        (["2024-01-01", "2024-01-02", "2024-01-03"], "1d", "2024-01-04"),
        (["2024-01-31", "2024-02-29", "2024-03-31"], "1mo", "2024-04-30"),
        (["2024-01-15", "2024-02-15", "2024-03-15"], "1mo", "2024-04-15"),
        (["2020-03-01", "2021-03-01", "2022-03-01"], "1y", "2023-03-01"),
        (["2024-01", "2024-04", "2024-07"], "3mo", "2024-10-01"),
        (["2024-01-01T00:00", "2024-01-01T00:15", "2024-01-01T00:30"], "15min", "2024-01-01T00:45:00"),
        (["2024-01-01T01:00+01:00", "2024-01-01T06:00Z", "2024-01-01T12:00Z"], "6h", "2024-01-01T18:00:00Z"),
        (["2024-01-01", "2024-01-01T12:00", "2024-01-02"], "12h", "2024-01-02T12:00:00"),
    ] {
        let text = format!("series,t,y\na,{},1\na,{},2\na,{},3\n", times[0], times[1], times[2]);
        let read = read(text).unwrap();
        assert_eq!((read.time.step.to_string().as_str(), read.time.format(0, 3).as_str()), (step, next));
    }
}

/// The last day of a month that is as long as others, beside days that every month has.
#[test]
fn months_are_found_where_some_lack_the_day() {
    let dates =
        ["a,1970-01-01", "a,1970-02-01", "b,1988-01-31", "b,1988-02-29", "b,1988-03-31", "b,1988-04-30"];
    let rows: String = dates.iter().map(|date| format!("{date},1\n")).collect();
    let read = read(format!("series,t,y\n{rows}")).unwrap();
    assert_eq!(read.time.step, Step::Months(1));
    assert_eq!(
        (read.time.format(0, 2).as_str(), read.time.format(1, 1).as_str()),
        ("1970-03-01", "1988-02-29")
    );
}

#[test]
fn times_rounded_by_an_instrument_are_steps() {
    let times = ["0", "0.017", "0.033", "0.05", "0.067", "0.083", "0.1", "0.167"];
    let rows: String = times.iter().map(|t| format!("a,{t},1\n")).collect();
    let read = read(format!("series,t,y\n{rows}")).unwrap();
    assert_eq!(read.family.max_time(), 11);
    assert!(matches!(read.time.step, Step::Number(step) if (step - 1.0 / 60.0).abs() < 2e-4));
    assert!(matches!(read.notes[0], Note::Jitter { .. }));
}

#[test]
fn rows_beyond_the_outputs_are_inputs_known_ahead() {
    let read = read("series,t,y,u\na,1,1,5\na,2,,6\na,3,,7\nb,1,2,5\nb,2,3,6\n").unwrap();
    assert_eq!((read.family.sequence(0).n_time(), read.family.sequence(1).n_time()), (1, 2));
    assert_eq!(read.family.inputs_of(1).unwrap().values(), [5.0, 6.0, 7.0]);
    assert_eq!(read.notes, [Note::InputsAhead { n_seq: 1, n_steps: 2 }, Note::CommonInputs]);
}

#[test]
fn a_series_with_one_row_is_a_sequence() {
    let single = read("series,t,y\na,2024-05-01,1\n").unwrap();
    assert_eq!((single.family.max_time(), single.time.format(0, 1)), (1, "2024-05-02".into()));
    assert!(matches!(single.notes[..], [Note::GuessedStep { .. }]));
    let mixed = read("series,t,y\na,1,1\nb,1,1\nb,3,2\n").unwrap();
    assert_eq!(mixed.time.step, Step::Integer(2));
}

#[test]
fn gzip_is_recognised_by_its_bytes() {
    let text = "series,t,y\na,1,1\na,2,2\n";
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    let bytes = encoder.finish().unwrap();
    assert_eq!(read(&bytes).unwrap(), read(text).unwrap());
    let twice = [bytes.clone(), bytes.clone()].concat();
    refused(read(twice), "a.csv, row 4, column `t`: expected a time, found `t`");
    for cut in [3, bytes.len() / 2, bytes.len() - 1] {
        let problem = refused(read(&bytes[..cut]), "a.csv: expected a complete gzip file");
        assert!(matches!(problem, Problem::Damaged { .. }));
    }
}

#[test]
fn resampling_by_mean_bins_rows() {
    let text = "series,t,y\na,0,1\na,0.4,3\na,1.1,5\na,3.9,7\na,3.9,9\n";
    let read = read_with(text, &resampled("1", ResampleMethod::Mean)).unwrap();
    assert_eq!(outputs(&read, 0)[..2], [2.0, 5.0]);
    assert!(outputs(&read, 0)[2].is_nan());
    assert_eq!((outputs(&read, 0)[3], read.time.step), (8.0, Step::Number(1.0)));
    assert!(matches!(read.notes[0], Note::Duplicates { n_rows: 1, first_row: 5, second_row: 6, .. }));
    assert!(matches!(read.notes[1], Note::Resampled { n_rows: 5, n_steps: 4, .. }));
}

#[test]
fn resampling_linearly_follows_the_line_and_leaves_gaps() {
    let text = "series,t,y,u\na,0,0,0\na,1.5,3,1\na,2.5,5,1\na,10,20,2\na,11,22,2\n";
    let read = read_with(text, &resampled("1", ResampleMethod::Linear)).unwrap();
    let values = outputs(&read, 0);
    assert_eq!((values[..3].to_vec(), &values[10..]), (vec![0.0, 2.0, 4.0], &[20.0, 22.0][..]));
    assert!(values[3..10].iter().all(|value| value.is_nan()));
    let inputs = read.family.inputs_of(0).unwrap().values();
    assert!(inputs.iter().all(|value| value.is_finite()) && inputs.len() == 12);
}

#[test]
fn dates_can_be_resampled_by_calendar() {
    let text = "series,t,y\na,2024-01-05,1\na,2024-01-25,3\na,2024-02-29,5\na,2024-04-01,7\n";
    let read = read_with(text, &resampled("1mo", ResampleMethod::Mean)).unwrap();
    assert_eq!((outputs(&read, 0)[..2].to_vec(), outputs(&read, 0)[3]), (vec![2.0, 5.0], 7.0));
    assert_eq!((read.time.format(0, 0), read.time.format(0, 4)), ("2024-01-01".into(), "2024-05-01".into()));
    let halves =
        read_with("series,t,y\na,2024-01-01,1\na,2024-01-02,2\n", &resampled("12h", ResampleMethod::Linear));
    assert_eq!(halves.unwrap().time.format(0, 1), "2024-01-01T12:00:00");
}

#[test]
fn a_step_that_does_not_fit_the_times_is_refused() {
    let (dates, numbers) = ("series,t,y\na,2024-01-01,1\na,2024-01-09,1\n", "series,t,y\na,1,1\na,5,1\n");
    refused(
        read_with(dates, &resampled("1", ResampleMethod::Mean)),
        "a.csv: cannot resample to a step of 1: the times are dates",
    );
    refused(
        read_with(numbers, &resampled("1d", ResampleMethod::Mean)),
        "a.csv: cannot resample to a step of 1d: the times are num",
    );
    refused(
        read_with(numbers, &resampled("1e-9", ResampleMethod::Mean)),
        "a.csv: cannot resample to a step of 0.000000001: it would",
    );
}

#[test]
fn an_empty_file_is_refused() {
    for text in ["", "\n\n", "\u{feff}"] {
        refused(read(text), "a.csv: expected rows of data, found an empty file");
    }
}

#[test]
fn a_header_without_rows_is_refused() {
    refused(read("series,t,y\n"), "a.csv: expected rows of data, found only a header");
}

#[test]
fn a_row_of_wrong_width_is_refused() {
    let problem = refused(read("series,t,y\na,1,1\na,2\n"), "a.csv, row 3: expected 3 cells");
    assert!(matches!(problem, Problem::Width { expected: 3, found: 2 }));
    refused(read("series,t,y\na,1,1,9\n"), "a.csv, row 2: expected 3 cells as in the header, found 4");
    refused(read("series,t,y\na,\"1,1\na,2,2\n"), "a.csv, row 2: expected 3 cells");
}

#[test]
fn a_cell_that_is_no_number_is_refused() {
    refused(
        read("series,t,y\na,1,1\na,2,abc\n"),
        "a.csv, row 3, column `y`: expected a number, or nothing where it is missing, found `abc`",
    );
    refused(
        read("series;t;speed\na;1;1\na;2;1,5\n"),
        "a.csv, row 3, column `speed`: expected a number, or nothing where it is missing, found `1,5`; write a decimal point",
    );
}

#[test]
fn a_missing_column_is_refused() {
    refused(
        read("id,t,y\na,1,1\n"),
        "a.csv: expected a column `series` for the names of sequences, found `id`, `t`, `y`",
    );
    let options = ReadOptions { outputs: vec!["z".into()], ..ReadOptions::default() };
    refused(read_with("series,t,y\na,1,1\n", &options), "a.csv: expected a column `z` for an output");
}

#[test]
fn a_file_without_outputs_is_refused() {
    refused(read("series,t,name\na,1,x\n"), "a.csv: expected output columns");
    let all_missing = read("series,t,y\na,1,\na,2,NA\n").unwrap_err().to_string();
    assert!(all_missing.starts_with("a.csv: the family is empty"), "{all_missing}");
}

#[test]
fn header_names_must_differ() {
    refused(read("series,t,y,y\na,1,1,1\n"), "a.csv: expected column names that differ, found `y` twice");
}

#[test]
fn a_duplicate_time_is_refused_with_both_rows() {
    let problem = refused(
        read("series,t,y\na,1,1\nb,1,1\na,2,1\na,1,2\n"),
        "a.csv, row 5, column `t`: expected each time",
    );
    assert!(matches!(problem, Problem::DuplicateTime { first_row: 2, .. }));
    refused(
        read("series,t,y\na,1.0,1\na,1,1\n"),
        "a.csv, row 3, column `t`: expected each time of sequence `a` once, found 1 in",
    );
}

/// One sequence with these times, read as it is.
fn at_times(times: &[&str], options: &ReadOptions) -> Result<ReadFamily> {
    let rows: String = times.iter().enumerate().map(|(i, t)| format!("a,{t},{i}\n")).collect();
    read_with(format!("series,t,y\n{rows}"), options)
}

fn irregular(read: &ReadFamily) -> (String, Moves) {
    match read.notes.as_slice() {
        [Note::Irregular { step, moves }] => (step.to_string(), *moves),
        other => panic!("{other:?}"),
    }
}

#[test]
fn irregular_times_lie_on_the_longest_step_that_divides_all_gaps() {
    for (times, step, n_steps) in [
        (["0", "0.25", "0.5", "1", "2", "3.5", "5", "7", "9", "12", "24"].as_slice(), "0.25", 97),
        (&["0", "4", "8", "11", "15"], "1", 16),
        (&["0", "1", "3", "7", "15"], "1", 16),
        (&["0", "6", "15", "24"], "3", 9),
        (&["0.1", "0.3", "0.4", "0.8"], "0.1", 8),
        (&["0", "1", "2", "3", "3.4"], "0.2", 18),
        (
            &["2024-01-01T00:00:00", "2024-01-01T00:10:00", "2024-01-01T00:25:00", "2024-01-01T00:45:00"],
            "5min",
            10,
        ),
    ] {
        let read = at_times(times, &ReadOptions::default()).unwrap();
        let (found, moves) = irregular(&read);
        assert_eq!(
            (found.as_str(), moves.n_steps, moves.n_moved, moves.n_merged),
            (step, n_steps, 0, 0),
            "{times:?}"
        );
        assert_eq!(read.time.step.to_string(), step);
        let outputs = outputs(&read, 0);
        assert_eq!((outputs.len(), read.family.n_observed()), (n_steps, times.len()));
        // Every row is where its time says.
        for (i, time) in times.iter().enumerate() {
            let place = outputs.iter().position(|y| *y == i as f64).expect("kept");
            let (told, found) = (time.parse::<f64>(), read.time.format(0, place));
            assert!(told.map_or(found == *time, |told| found.parse() == Ok(told)), "{time}: {found}");
        }
    }
}

/// Times of a patient that were taken by hand; 0.01 divides all gaps and would leave 99 of 100 steps empty.
#[test]
fn times_without_a_sensible_divisor_go_to_their_nearest_steps() {
    let times = ["0", "0.25", "0.57", "1.12", "2.02", "3.82", "5.1", "7.03", "9.05", "12.12", "24.37"];
    let read = at_times(&times, &ReadOptions::default()).unwrap();
    let (step, moves) = irregular(&read);
    assert_eq!((step.as_str(), moves.n_rows, moves.n_steps, moves.n_merged), ("0.25", 11, 98, 0));
    assert_eq!((moves.n_moved, (moves.most * 0.25 * 100.0).round()), (9, 12.0));
    let kept: Vec<usize> = (0..98).filter(|&k| !outputs(&read, 0)[k].is_nan()).collect();
    assert_eq!(kept, [0, 1, 2, 4, 8, 15, 20, 28, 36, 48, 97]);
    let said = read.notes[0].to_string();
    for part in ["irregular", "98 step(s) of 0.25", "9 moved, by 0.07", "0.12 at most"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // One odd time among many regular ones leaves the others where they are.
    let mut many: Vec<String> = (0..40).map(|t| t.to_string()).collect();
    many[20] = "20.3141".into();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let (step, moves) = irregular(&at_times(&many, &ReadOptions::default()).unwrap());
    assert_eq!((step.as_str(), moves.n_moved, moves.n_steps), ("1", 1, 40));
}

#[test]
fn rows_that_fall_on_one_step_are_averaged_and_counted() {
    // One row in 151 is few enough for the step to stay as long as it is.
    let late = |t: u32| (f64::from(t) + 0.07 * (f64::from(t) * 7.3).sin()).to_string();
    let times: Vec<String> = (0..150).map(late).collect();
    let mut times: Vec<&str> = times.iter().map(String::as_str).collect();
    times.push("149.2");
    let read = at_times(&times, &ReadOptions::default()).unwrap();
    let (_, moves) = irregular(&read);
    assert_eq!((moves.n_merged, read.family.n_observed()), (1, 150));
    assert_eq!(outputs(&read, 0).last(), Some(&149.5));
    assert!(read.notes[0].to_string().contains("1 fell on a step with another"), "{}", read.notes[0]);
}

#[test]
fn times_of_a_model_are_its_steps_or_refused() {
    let at = |step: &str| ReadOptions { step: Some(step.parse().unwrap()), ..ReadOptions::default() };
    let places = |times: &[&str], step: &str| -> Vec<usize> {
        let read = at_times(times, &at(step)).unwrap();
        assert_eq!(read.time.step.to_string(), step);
        let outputs = outputs(&read, 0).to_vec();
        (0..outputs.len()).filter(|&k| !outputs[k].is_nan()).collect()
    };
    assert_eq!(places(&["0", "2", "4", "6"], "1"), [0, 2, 4, 6]);
    assert_eq!(places(&["0", "0.27", "0.58", "1.02"], "0.25"), [0, 1, 2, 4]);
    assert_eq!(places(&["3", "13.3", "23.6"], "1"), [0, 10, 21]);
    assert_eq!(places(&["5"], "0.5"), [0]);
    assert_eq!(places(&["2024-01-01", "2024-01-02"], "6h"), [0, 4]);
    assert_eq!(places(&["2024-01-01", "2024-04-01", "2024-07-01"], "1mo"), [0, 3, 6]);
    let moved = at_times(&["3", "13.3", "23.6"], &at("1")).unwrap();
    assert!(moved.notes[0].to_string().contains("2 moved, by 0.35 on average"), "{}", moved.notes[0]);
    for (times, found) in [
        (["0", "1.5", "3", "4.5"], "rows that lie 0.33 off its steps on average, where they are 1.5 apart"),
        (["0", "0.5", "1", "1.5"], "rows less than a step after the one before"),
    ] {
        let problem =
            refused(at_times(&times, &at("1")), "a.csv: expected steps of 1, as the model was learned with");
        assert!(
            matches!(problem, Problem::OffSteps { .. }) && problem.to_string().contains(found),
            "{problem}"
        );
    }
    // A step that says nothing about such times leaves them theirs.
    assert_eq!(at_times(&["2024-01-01", "2024-01-02"], &at("1")).unwrap().time.step.to_string(), "1d");
    assert_eq!(at_times(&["2024-01-01", "2024-01-02"], &at("1mo")).unwrap().time.step.to_string(), "1d");
}

#[test]
fn inputs_without_a_row_stay_as_they_were_and_pulses_are_over() {
    let text = "series,t,y,u_rate,u_dose\na,0,1,5,100\na,1,2,5,0\na,4,3,6,0\na,5,2,6,50\na,7,2,6,0\n";
    let read = read(text).unwrap();
    let inputs = read.family.inputs_of(0).unwrap();
    let column = |c: usize| inputs.values().iter().skip(c).step_by(2).copied().collect::<Vec<f64>>();
    assert_eq!(column(0), [5.0, 5.0, 5.0, 5.0, 6.0, 6.0, 6.0, 6.0]);
    assert_eq!(column(1), [100.0, 0.0, 0.0, 0.0, 0.0, 50.0, 0.0, 0.0]);
    assert_eq!(read.columns.pulses, ["u_dose"]);
    let said: Vec<String> = read.notes.iter().map(ToString::to_string).collect();
    assert!(
        said.iter()
            .any(|note| note.contains("3 step(s) without a row: `u_rate` as in the row before; `u_dose` 0")),
        "{said:?}"
    );
    // What a model knows of its inputs comes before what few rows look like.
    let told = ReadOptions { pulses: Some(vec![]), ..ReadOptions::default() };
    let held = read_with(text, &told).unwrap();
    assert_eq!(held.family.inputs_of(0).unwrap().values()[2 * 6 + 1], 50.0);
}

#[test]
fn messages_do_not_repeat_megabytes_of_zeros_nor_escapes_of_ids() {
    for content in [vec![0; 3 << 20], [b"series,t,y\na,1,".to_vec(), vec![0xff; 3 << 20]].concat()] {
        let error = read(content).unwrap_err().to_string();
        assert!(error.len() < 20_000 && !error.contains('\0'), "{}", error.len());
    }
    let id = "a\u{1b}[31m";
    let error = read(format!("series,t,y\n{id},1,1\n{id},1,2\n")).unwrap_err();
    assert!(error.to_string().contains("a\\u{1b}[31m") && !error.to_string().contains('\u{1b}'), "{error}");
    let notes = read(format!("series,t,y\n{id},1,1\n{id},2,1\n{id},3,1\n{id},5,2\n")).unwrap().notes;
    assert!(!notes.is_empty() && notes.iter().all(|note| !note.to_string().contains('\u{1b}')), "{notes:?}");
}

#[test]
fn times_that_no_grid_fits_are_refused_with_advice() {
    // Bursts an age apart: on every grid that could be learned from, rows of a burst would fall together.
    let bursts: Vec<String> = (0..30)
        .map(|i| format!("{}", f64::from(i / 10) * 1e6 + f64::from(i % 10).powi(2) * 0.0137))
        .collect();
    let bursts: Vec<&str> = bursts.iter().map(String::as_str).collect();
    for times in [bursts.as_slice(), &["-1e308", "1e308", "1.1e308", "1.2e308", "1.3e308"]] {
        let problem = refused(at_times(times, &ReadOptions::default()), "a.csv, row");
        assert!(matches!(&problem, Problem::Irregular { .. }), "{problem}");
        assert!(problem.to_string().contains("resample"), "{problem}");
    }
}

#[test]
fn a_huge_gap_is_refused() {
    let problem = refused(
        read("series,t,y\na,1,1\na,2,1\na,3,1\na,4000000000000,1\n"),
        "a.csv, row 5, column `t`: expected",
    );
    assert!(matches!(problem, Problem::HugeGap { before_row: 4, .. }), "{problem}");
    let far = read(format!("series,t,y\na,{},1\na,{},1\n", i64::MIN, i64::MAX));
    assert!(far.is_ok(), "two rows are one step, however long");
}

#[test]
fn mixed_kinds_of_time_are_refused() {
    let problem = refused(
        read("series,t,y\na,1,1\na,2024-01-01,1\n"),
        "a.csv, row 3, column `t`: expected an integer as in row 2, found a date, `2024-01-01`",
    );
    assert!(matches!(problem, Problem::MixedTimes { first_row: 2, .. }));
    refused(
        read("series,t,y\na,2024-01-01T00:00,1\na,2024-01-02T00:00Z,1\n"),
        "a.csv, row 3, column `t`: expected a date and time without",
    );
}

#[test]
fn a_time_that_is_none_is_refused() {
    for time in ["", "soon", "inf", "NaN", "31.01.2024", "2024-02-30"] {
        refused(
            read(format!("series,t,y\na,{time},1\n")),
            "a.csv, row 2, column `t`: expected a time, found",
        );
    }
}

#[test]
fn infinite_values_are_refused() {
    for value in ["inf", "-Infinity", "1e999"] {
        refused(
            read(format!("series,t,y\na,1,{value}\n")),
            "a.csv, row 2, column `y`: expected a finite number",
        );
    }
}

#[test]
fn a_missing_input_is_refused_with_its_row() {
    refused(
        read("series,t,y,u\na,1,1,1\na,2,1,\n"),
        "a.csv, row 3, column `u`: expected a number, found nothing; inputs",
    );
}

#[test]
fn a_row_without_a_series_is_refused() {
    refused(read("series,t,y\n,1,1\n"), "a.csv, row 2, column `series`: expected the name of a sequence");
}

#[test]
fn labels_that_differ_within_a_series_are_refused() {
    let problem = refused(
        read("series,t,y,label\na,1,1,\na,2,1,x\nb,1,1,z\na,3,1,y\n"),
        "a.csv, row 5, column `label`: expected label `x`",
    );
    assert!(matches!(problem, Problem::LabelDiffers { first_row: 3, .. }));
}

#[test]
fn text_must_be_utf8() {
    refused(read(b"series,t,y\na\xff,1,1\n"), "a.csv, row 2: expected UTF-8 text, found byte 0xff");
    refused(read(b"series,t,y\xe9\na,1,1\n"), "a.csv, row 1: expected UTF-8 text");
    refused(read(b"\xff\xfes\0e\0"), "a.csv: expected UTF-8 text, found UTF-16");
}

#[test]
fn the_name_of_a_file_tells_its_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.xlsx");
    let options = ReadOptions::default();
    let error = read_family(&path, &options).unwrap_err();
    assert!(
        matches!(&error, Error::Data(data) if matches!(data.problem, Problem::UnknownFormat { .. })),
        "{error}"
    );
    std::fs::write(&path, "series,t,y\na,1,1\n").unwrap();
    let named = ReadOptions { format: Some(Format::Csv), ..options.clone() };
    assert_eq!(read_family(&path, &named).unwrap().family.n_seq(), 1);
    let absent = read_family(&folder.path().join("b.csv"), &options).unwrap_err();
    assert!(matches!(absent, Error::Io { action: "open", .. }), "{absent}");
    let directory = folder.path().join("c.csv");
    std::fs::create_dir(&directory).unwrap();
    assert!(matches!(read_family(&directory, &options).unwrap_err(), Error::Io { .. }));
}
