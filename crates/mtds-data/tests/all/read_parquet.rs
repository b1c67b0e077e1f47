//! Parquet, good and bad: every type of column, and what is refused with place and advice.

#![cfg(feature = "parquet")]

use std::path::Path;
use std::sync::Arc;

use mtds_data::{
    Column, Error, Format, Problem, ReadFamily, ReadOptions, Result, Step, Table, TimeKind, read_family_from,
    write_table_to,
};
use parquet::basic::Compression;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, FixedLenByteArray, FixedLenByteArrayType, FloatType,
    Int32Type, Int64Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

fn read(bytes: impl AsRef<[u8]>) -> Result<ReadFamily> {
    read_family_from(bytes.as_ref(), Format::Parquet, Path::new("a"), &ReadOptions::default())
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

fn parquet_bytes(table: &Table) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_table_to(&mut bytes, Format::Parquet, Path::new("a"), table).unwrap();
    bytes
}

fn small_table() -> Table {
    Table::new()
        .with("series", Column::Text(vec!["a".into(), "a".into(), "b".into()]))
        .with("t", Column::Integer(vec![1, 2, 1]))
        .with("speed", Column::Number(vec![0.5, f64::NAN, 2.0]))
        .with("note", Column::Text(vec![String::new(), "x".into(), String::new()]))
}

#[test]
fn a_parquet_table_becomes_a_family() {
    let read = read(parquet_bytes(&small_table())).unwrap();
    assert_eq!((read.family.n_seq(), read.family.n_observed()), (2, 2));
    assert_eq!(read.family.output_names(), ["speed"]);
    assert_eq!(read.time.kind, TimeKind::Integer);
}

#[test]
fn a_truncated_parquet_file_is_refused() {
    let bytes = parquet_bytes(&small_table());
    for cut in [0, 3, bytes.len() / 2, bytes.len() - 1] {
        let problem = refused(read(&bytes[..cut]), "a: expected a Parquet file");
        assert!(matches!(problem, Problem::Damaged { .. }));
    }
    refused(read("series,t,y\na,1,1\n"), "a: expected a Parquet file");
}

#[test]
fn rows_of_parquet_are_named_from_1() {
    let mut table = small_table();
    table.columns[1].1 = Column::Integer(vec![1, 1, 1]);
    refused(read(parquet_bytes(&table)), "a, row 2, column `t`: expected each time");
    table.columns[1].1 = Column::Text(vec!["1".into(), String::new(), "3".into()]);
    refused(read(parquet_bytes(&table)), "a, row 2, column `t`: expected a time");
    table.columns[2].1 = Column::Number(vec![1.0, f64::INFINITY, 1.0]);
    table.columns[1].1 = Column::Integer(vec![1, 2, 1]);
    refused(read(parquet_bytes(&table)), "a, row 2, column `speed`: expected a finite number");
}

#[test]
fn a_parquet_file_without_rows_is_refused() {
    let table = Table::new()
        .with("series", Column::Text(vec![]))
        .with("t", Column::Integer(vec![]))
        .with("y", Column::Number(vec![]));
    refused(read(parquet_bytes(&table)), "a: expected rows of data");
}

/// A file of two rows of one sequence under a schema in the text form of Parquet.
fn typed(columns: &str, write: impl Fn(&mut SerializedRowGroupWriter<'_, Vec<u8>>)) -> Vec<u8> {
    compressed(Compression::LZ4_RAW, columns, write)
}

fn compressed(
    by: Compression,
    columns: &str,
    write: impl Fn(&mut SerializedRowGroupWriter<'_, Vec<u8>>),
) -> Vec<u8> {
    let schema =
        parse_message_type(&format!("message m {{ required binary series (UTF8); {columns} }}")).unwrap();
    let properties = WriterProperties::builder().set_compression(by).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    add::<ByteArrayType>(&mut group, &[ByteArray::from("a"), ByteArray::from("a")]);
    write(&mut group);
    group.close().unwrap();
    writer.into_inner().unwrap()
}

fn add<T: DataType>(group: &mut SerializedRowGroupWriter<'_, Vec<u8>>, values: &[T::T]) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, None, None).unwrap();
    column.close().unwrap();
}

#[test]
fn moments_of_every_unit_are_read() {
    let hour = 3_600_000i64;
    for (column, scale, kind, third) in [
        ("required int64 t (TIMESTAMP(MILLIS,true));", 1, TimeKind::UtcDateTime, "1970-01-01T03:00:00Z"),
        ("required int64 t (TIMESTAMP(MICROS,false));", 1000, TimeKind::DateTime, "1970-01-01T03:00:00"),
        ("required int64 t (TIMESTAMP(NANOS,false));", 1_000_000, TimeKind::DateTime, "1970-01-01T03:00:00"),
        ("required int64 t (TIMESTAMP_MILLIS);", 1, TimeKind::UtcDateTime, "1970-01-01T03:00:00Z"),
    ] {
        let bytes = typed(&format!("{column} required float y;"), |group| {
            add::<Int64Type>(group, &[hour * scale, 2 * hour * scale]);
            add::<FloatType>(group, &[0.5, 1.5]);
        });
        let read = read(bytes).unwrap();
        assert_eq!((read.time.kind, read.time.format(0, 2).as_str()), (kind, third), "{column}");
        assert_eq!(read.family.sequence(0).outputs().values(), [0.5, 1.5]);
    }
    let bytes = typed("required int32 t (DATE); required boolean y;", |group| {
        add::<Int32Type>(group, &[0, 7]);
        add::<BoolType>(group, &[false, true]);
    });
    let read = read(bytes).unwrap();
    assert_eq!((read.time.kind, read.time.step.to_string().as_str()), (TimeKind::Date, "1w"));
    assert_eq!(read.family.sequence(0).outputs().values(), [0.0, 1.0]);
}

#[test]
fn unsigned_numbers_decimals_and_bytes_are_told_apart() {
    let columns = "required int32 t (UINT_32); required int64 a (DECIMAL(10,2)); required int64 b (UINT_64); \
                   required fixed_len_byte_array(2) c;";
    let bytes = typed(columns, |group| {
        add::<Int32Type>(group, &[-2, -1]);
        add::<Int64Type>(group, &[150, -25]);
        add::<Int64Type>(group, &[1, -1]);
        let fixed = |bytes: [u8; 2]| FixedLenByteArray::from(bytes.to_vec());
        add::<FixedLenByteArrayType>(group, &[fixed([1, 2]), fixed([3, 4])]);
    });
    let read = read(bytes).unwrap();
    assert_eq!((read.time.format(0, 0), read.time.step), ("4294967294".into(), Step::Integer(1)));
    assert_eq!(read.family.output_names(), ["a", "b"]);
    assert_eq!(read.family.sequence(0).outputs().values(), [1.5, 1.0, -0.25, u64::MAX as f64]);
}

#[test]
fn labels_are_no_bytes_and_large_numbers_stay_apart() {
    let columns = "required int32 t; required float y; required";
    let with = |label: &str, add_labels: &dyn Fn(&mut SerializedRowGroupWriter<'_, Vec<u8>>)| {
        read(typed(&format!("{columns} {label};"), |group| {
            add::<Int32Type>(group, &[1, 2]);
            add::<FloatType>(group, &[0.5, 1.5]);
            add_labels(group);
        }))
    };
    let fixed = FixedLenByteArray::from(vec![1, 2]);
    let bytes = with("fixed_len_byte_array(2) label", &|group| {
        add::<FixedLenByteArrayType>(group, &[fixed.clone(), fixed.clone()]);
    });
    refused(bytes, "a, row 1, column `label`: expected a name, found bytes of fixed length; give text");
    // As numbers of double precision they would be one label.
    let numbers = with("int64 label (UINT_64)", &|group| add::<Int64Type>(group, &[-1, -2]));
    refused(numbers, "a, row 2, column `label`: expected");
}

#[test]
fn decimals_in_bytes_and_half_floats_are_numbers() {
    let columns = "required int32 t; required fixed_len_byte_array(3) a (DECIMAL(6,2)); \
                   required binary b (DECIMAL(40,1)); required fixed_len_byte_array(2) c (FLOAT16); \
                   required fixed_len_byte_array(20) d (DECIMAL(45,0));";
    let bytes = typed(columns, |group| {
        add::<Int32Type>(group, &[1, 2]);
        let fixed = |bytes: &[u8]| FixedLenByteArray::from(bytes.to_vec());
        add::<FixedLenByteArrayType>(group, &[fixed(&[0, 0, 150]), fixed(&[0xff, 0xff, 0xe7])]);
        add::<ByteArrayType>(group, &[ByteArray::from(vec![0x7f]), ByteArray::from(vec![0xff, 0x00])]);
        add::<FixedLenByteArrayType>(group, &[fixed(&[0x00, 0x3e]), fixed(&[0x00, 0xc0])]);
        let wide = |first: u8, last: u8| {
            let mut bytes = [first; 20];
            bytes[19] = last;
            fixed(&bytes)
        };
        add::<FixedLenByteArrayType>(group, &[wide(0, 9), wide(0xff, 0xff)]);
    });
    let read = read(bytes).unwrap();
    assert_eq!(read.family.output_names(), ["a", "b", "c", "d"]);
    assert_eq!(read.family.sequence(0).outputs().values(), [1.5, 12.7, 1.5, 9.0, -0.25, -25.6, -2.0, -1.0]);
}

#[test]
fn files_compressed_by_brotli_are_read() {
    let bytes =
        compressed(Compression::BROTLI(Default::default()), "required int32 t; required float y;", |group| {
            add::<Int32Type>(group, &[1, 2]);
            add::<FloatType>(group, &[0.5, 1.5]);
        });
    assert_eq!(read(bytes).unwrap().family.sequence(0).outputs().values(), [0.5, 1.5]);
}

/// What polars writes unless told otherwise.
#[cfg(feature = "zstd")]
#[test]
fn files_compressed_by_zstd_are_read() {
    let bytes =
        compressed(Compression::ZSTD(Default::default()), "required int32 t; required float y;", |group| {
            add::<Int32Type>(group, &[1, 2]);
            add::<FloatType>(group, &[0.5, 1.5]);
        });
    assert_eq!(read(&bytes).unwrap().family.sequence(0).outputs().values(), [0.5, 1.5]);
    refused(read(&bytes[..bytes.len() / 2]), "a: expected a Parquet file");
}

#[test]
fn columns_with_inner_structure_are_as_if_not_there() {
    let bytes = typed(
        "required int32 t; optional group list (LIST) { repeated group list { optional int32 e; } } required int32 y;",
        |group| {
            add::<Int32Type>(group, &[1, 2]);
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<Int32Type>().write_batch(&[5], Some(&[3, 0]), Some(&[0, 0])).unwrap();
            column.close().unwrap();
            add::<Int32Type>(group, &[3, 4]);
        },
    );
    assert_eq!(read(bytes).unwrap().family.sequence(0).outputs().values(), [3.0, 4.0]);
}
