//! JSON lines and NPZ, good and bad: what is read, and what is refused with place and advice.

use std::io::{Cursor, Write};
use std::path::Path;

use mtds::Inputs;
use mtds_data::{
    Column, Error, Format, Problem, ReadFamily, ReadOptions, Result, Table, read_family_from, write_table,
};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn read_as(bytes: impl AsRef<[u8]>, format: Format) -> Result<ReadFamily> {
    read_family_from(bytes.as_ref(), format, Path::new("a"), &ReadOptions::default())
}

fn json(text: &str) -> Result<ReadFamily> {
    read_as(text, Format::JsonLines)
}

fn refused(result: Result<ReadFamily>, begins: &str) -> Problem {
    let error = result.expect_err(begins);
    let text = error.to_string();
    assert!(text.starts_with(begins), "{text}");
    match error {
        Error::Data(data) => data.problem,
        other => panic!("{other:?}"),
    }
}

#[test]
fn json_lines_become_a_family() {
    let text = "\u{feff}{\"t\": 1, \"series\": 7, \"y\": 0.5, \"u\": true, \"label\": null}\n\n\
                {\"series\": 7, \"y\": null, \"t\": 2, \"u\": false}\n{\"series\":7,\"t\":3,\"y\":\"2.5\",\"u\":1}";
    let read = json(text).unwrap();
    assert_eq!((read.family.sequence(0).id(), read.family.sequence(0).n_observed()), ("7", 2));
    assert_eq!(read.family.inputs_of(0).unwrap().values(), [1.0, 0.0, 1.0]);
    assert_eq!(read.family.sequence(0).label(), None);
}

#[test]
fn large_numbers_of_json_are_names_that_stay_apart() {
    let line = |id: u64| format!("{{\"series\":{id},\"t\":1,\"y\":1}}\n");
    let read = json(&[line(u64::MAX), line(u64::MAX - 1)].concat()).unwrap();
    let ids: Vec<_> = read.family.sequences().iter().map(|sequence| sequence.id()).collect();
    assert_eq!(ids, ["18446744073709551615", "18446744073709551614"]);
}

#[test]
fn columns_of_json_keep_the_order_of_the_first_line() {
    let read = json("{\"series\":\"a\",\"t\":1,\"y2\":2,\"y10\":10,\"y1\":1}\n").unwrap();
    assert_eq!(read.family.output_names(), ["y2", "y10", "y1"]);
}

#[test]
fn malformed_json_is_refused_with_its_line() {
    let good = "{\"series\":\"a\",\"t\":1,\"y\":1}\n";
    for (line, begins) in [
        ("{\"series\":\"a\",\"t\":2,\"y\":1", "a, row 2: expected one JSON object per line, such as"),
        ("[1, 2]", "a, row 2: expected one JSON object per line"),
        ("1", "a, row 2: expected one JSON object per line"),
        ("{\"series\":\"a\",\"t\":2,\"y\":[1]}", "a, row 2: expected one JSON object per line"),
        ("{\"series\":\"a\",\"t\":2,\"y\":NaN}", "a, row 2: expected one JSON object per line"),
        ("{\"series\":\"a\",\"t\":2,\"y\":1e999}", "a, row 2: expected one JSON object per line"),
        ("{\"series\":\"a\",\"t\":2,\"y\":1} {}", "a, row 2: expected one JSON object per line"),
        (
            "{\"series\":\"a\",\"t\":2,\"y\":1,\"z\":1}",
            "a, row 2, column `z`: expected one JSON object per line, all with the keys",
        ),
        (
            "{\"series\":\"a\",\"t\":2,\"y\":1,\"y\":2}",
            "a, row 2, column `y`: expected one JSON object per line, each key once",
        ),
    ] {
        let problem = refused(json(&format!("{good}{line}\n")), begins);
        assert!(matches!(problem, Problem::Json { .. }), "{line}");
    }
    refused(
        json(&format!("{good}{{\"series\":\"a\",\"t\":2,\"y\":\"x\"}}")),
        "a, row 2, column `y`: expected a number",
    );
    refused(json(&format!("{good}{{\"series\":\"a\",\"y\":1}}")), "a, row 2, column `t`: expected a time");
    refused(json("{\"series\":1,\"series\":2,\"t\":1,\"y\":1}"), "a: expected column names that differ");
}

#[test]
fn json_without_lines_or_of_other_bytes_is_refused() {
    refused(json("\n  \n"), "a: expected rows of data, found an empty file");
    refused(
        read_as(b"{\"series\":\"\xff\"}", Format::JsonLines),
        "a, row 1: expected UTF-8 text, found byte 0xff",
    );
}

/// Arrays of f64 as `numpy.savez` stores them.
fn npz(arrays: &[(&str, &[usize], &[f64])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, shape, values) in arrays {
        writer.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}\n");
        writer.write_all(b"\x93NUMPY\x01\x00").unwrap();
        writer.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
        writer.write_all(header.as_bytes()).unwrap();
        values.iter().for_each(|value| writer.write_all(&value.to_le_bytes()).unwrap());
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn arrays_of_all_sequences_become_a_family() {
    let y = [1.0, 2.0, 3.0, f64::NAN];
    let read = read_as(npz(&[("Y", &[2, 2], &y), ("U", &[3, 1], &[5.0, 6.0, 7.0])]), Format::Npz).unwrap();
    assert_eq!((read.family.n_seq(), read.family.d_obs(), read.family.n_observed()), (2, 1, 3));
    assert!(matches!(read.family.inputs(), Inputs::Common(signal) if signal.n_time() == 3));
    let own = read_as(npz(&[("Y", &[2, 1, 2], &y), ("U", &[2, 2, 1], &y[..3].repeat(2)[..4])]), Format::Npz)
        .unwrap();
    assert_eq!((own.family.d_obs(), own.family.inputs()), (2, &Inputs::Own));
}

#[test]
fn arrays_of_each_sequence_are_taken_by_number() {
    let bytes = npz(&[("10", &[1, 2], &[5.0, 6.0]), ("2", &[2, 2], &[1.0, 2.0, 3.0, 4.0])]);
    let read = read_as(bytes, Format::Npz).unwrap();
    let ids: Vec<_> = read.family.sequences().iter().map(|sequence| sequence.id()).collect();
    assert_eq!((ids, read.family.d_obs(), read.family.max_time()), (vec!["2", "10"], 2, 2));
}

#[test]
fn inputs_may_lie_in_a_file_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("u.npz");
    std::fs::write(&path, npz(&[("2", &[1, 1], &[9.0]), ("1", &[2, 1], &[7.0, 8.0])])).unwrap();
    let options = ReadOptions { inputs_file: Some(path), ..ReadOptions::default() };
    let bytes = npz(&[("1", &[2], &[1.0, 2.0]), ("2", &[1], &[3.0])]);
    let read = read_family_from(&bytes[..], Format::Npz, Path::new("a"), &options).unwrap();
    assert_eq!(read.family.inputs_of(0).unwrap().values(), [7.0, 8.0]);
    let wrong = read_family_from("series".as_bytes(), Format::Csv, Path::new("a"), &options);
    refused(wrong, "a: a file of inputs beside this one is for NPZ files");
}

#[test]
fn arrays_of_wrong_ranks_or_sizes_are_refused() {
    for (bytes, begins) in [
        (
            npz(&[("Y", &[2], &[1.0, 2.0])]),
            "a, column `Y`: expected an array of sequences × time × columns, found one of shape [2]",
        ),
        (npz(&[("Y", &[1, 1, 1, 1], &[1.0])]), "a, column `Y`: expected an array of sequences"),
        (npz(&[("Y", &[1, 0, 1], &[])]), "a, column `Y`: expected at least one value"),
        (
            npz(&[("Y", &[3, 1], &[1.0])]),
            "a, column `Y`: expected an array of numbers or text, found 8 of 24 bytes",
        ),
        (npz(&[("1", &[1, 1, 1], &[1.0])]), "a, column `1`: expected an array of time × columns"),
        (
            npz(&[("1", &[1, 2], &[1.0; 2]), ("2", &[1, 1], &[1.0])]),
            "a: outputs of sequence `2`: expected 2 column(s)",
        ),
        (
            npz(&[("Y", &[1, 2, 1], &[1.0; 2]), ("U", &[2, 2, 1], &[1.0; 4])]),
            "a, column `U`: expected inputs of 1 sequences",
        ),
        (
            npz(&[("Y", &[1, 2, 1], &[1.0; 2]), ("U", &[1, 1, 1], &[1.0])]),
            "a: inputs of sequence `1`: expected at least 2 steps",
        ),
        (
            npz(&[("Y", &[1, 1, 1], &[1.0]), ("U", &[1, 1, 1], &[f64::NAN])]),
            "a: inputs of sequence `1`, input 1 at t = 1",
        ),
        (npz(&[("Y", &[1, 1, 1], &[f64::INFINITY])]), "a: output 1 of sequence `1` at t = 1: found inf"),
        (npz(&[("X", &[1], &[1.0])]), "a: expected a column `Y` for the outputs, found `X`"),
        (npz(&[]), "a: expected a column `Y` for the outputs, found no columns"),
        (npz(&[("Y", &[0, 2, 1], &[])]), "a: the family is empty"),
    ] {
        refused(read_as(bytes, Format::Npz), begins);
    }
}

#[test]
fn a_truncated_archive_is_refused() {
    let bytes = npz(&[("Y", &[1, 2, 1], &[1.0; 2])]);
    for cut in [0, 10, bytes.len() / 2, bytes.len() - 1] {
        refused(read_as(&bytes[..cut], Format::Npz), "a: expected an NPZ file");
    }
}

#[test]
fn tables_are_written_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let table = Table::new()
        .with("name", Column::Text(vec!["a, \"b\"".into(), String::new()]))
        .with("n", Column::Integer(vec![i64::MIN, 2]))
        .with("value", Column::Number(vec![1e-300, f64::NAN]));
    let text = |name: &str| {
        let path = folder.path().join(name);
        write_table(&path, &table).unwrap();
        std::fs::read_to_string(path).unwrap()
    };
    assert_eq!(text("a.csv"), "name,n,value\n\"a, \"\"b\"\"\",-9223372036854775808,1e-300\n,2,\n");
    assert_eq!(text("a.tsv").lines().next(), Some("name\tn\tvalue"));
    let lines = "{\"name\":\"a, \\\"b\\\"\",\"n\":-9223372036854775808,\"value\":1e-300}\n{\"name\":null,\"n\":2,\"value\":null}\n";
    assert_eq!(text("a.jsonl"), lines);
}

#[test]
fn tables_that_do_not_fit_are_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    let one = || Column::Integer(vec![1]);
    for (table, why) in [
        (Table::new(), "no columns"),
        (Table::new().with("a", one()).with("a", one()), "two columns are called `a`"),
        (Table::new().with("a", one()).with("b", Column::Text(vec![])), "column `b` has 0 rows"),
        (Table::new().with(" a", one()), "spaces"),
    ] {
        let error = write_table(&path, &table).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let good = Table::new().with("a", one());
    assert!(
        write_table(&folder.path().join("a.npz"), &good)
            .unwrap_err()
            .to_string()
            .contains("NPZ holds families")
    );
    assert!(write_table(&folder.path().join("a.txt"), &good).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
