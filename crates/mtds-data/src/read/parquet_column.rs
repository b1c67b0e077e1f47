//! One column of a Parquet row group, decoded batch by batch into numbers, text or moments.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::RowGroupReader;
use parquet::schema::types::ColumnDescriptor;

use super::cell::Cell;
use crate::time::calendar::DAY;
use crate::time::{Time, TimeKind};

/// How the stored integers are meant.
#[derive(Clone, Copy)]
enum Meaning {
    /// As they are.
    Integer,
    /// Without a sign.
    Unsigned,
    /// Moments: `value · numerator / denominator` microseconds.
    Moment { kind: TimeKind, numerator: i64, denominator: i64 },
    /// Decimals, to be divided by this.
    Decimal(f64),
    /// Floating-point numbers of two bytes.
    Half,
}

/// A column, and the batch of it that was decoded last.
pub(super) struct ColumnBatches {
    reader: ColumnReader,
    meaning: Meaning,
    is_optional: bool,
    levels: Vec<i16>,
    batch: Batch,
}

/// Values of a batch; None where there is nothing.
enum Batch {
    Integers(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<ByteArray>>),
    /// Something that is neither number nor text.
    Other,
}

impl ColumnBatches {
    /// The column with number `leaf`.
    pub fn new(group: &dyn RowGroupReader, leaf: usize) -> Result<Self> {
        let chunk = group.metadata().column(leaf);
        let offsets =
            [chunk.data_page_offset(), chunk.dictionary_page_offset().unwrap_or(0), chunk.compressed_size()];
        // The crate takes this for granted.
        if offsets.iter().any(|&offset| offset < 0) {
            return Err(ParquetError::General("a column before the start of the file".into()));
        }
        let descriptor = chunk.column_descr();
        let (meaning, is_optional) = (meaning(descriptor), descriptor.max_def_level() > 0);
        let reader = group.get_column_reader(leaf)?;
        Ok(Self { reader, meaning, is_optional, levels: Vec::new(), batch: Batch::Other })
    }

    /// Decodes the next rows; how many there were.
    pub fn read(&mut self, wanted: usize) -> Result<usize> {
        let (levels, optional, meaning) = (&mut self.levels, self.is_optional, self.meaning);
        let unsigned = matches!(meaning, Meaning::Unsigned);
        let (batch, n_read) = match &mut self.reader {
            ColumnReader::BoolColumnReader(r) => {
                integers(decode(r, wanted, optional, levels)?, |value| i64::from(*value))
            }
            ColumnReader::Int32ColumnReader(r) => integers(decode(r, wanted, optional, levels)?, |&value| {
                if unsigned { i64::from(value as u32) } else { i64::from(value) }
            }),
            ColumnReader::Int64ColumnReader(r) => {
                integers(decode(r, wanted, optional, levels)?, |value| *value)
            }
            ColumnReader::Int96ColumnReader(r) => {
                integers(decode(r, wanted, optional, levels)?, |value| value.to_micros())
            }
            ColumnReader::FloatColumnReader(r) => {
                numbers(decode(r, wanted, optional, levels)?, |value| f64::from(*value))
            }
            ColumnReader::DoubleColumnReader(r) => {
                numbers(decode(r, wanted, optional, levels)?, |value| *value)
            }
            ColumnReader::ByteArrayColumnReader(r) => {
                let texts = decode(r, wanted, optional, levels)?;
                match meaning {
                    Meaning::Decimal(divisor) => numbers(texts, |bytes| whole_number(bytes.data()) / divisor),
                    _ => {
                        let n_read = texts.len();
                        (Batch::Texts(texts), n_read)
                    }
                }
            }
            ColumnReader::FixedLenByteArrayColumnReader(r) => {
                let rows = decode(r, wanted, optional, levels)?;
                match meaning {
                    Meaning::Decimal(divisor) => numbers(rows, |bytes| whole_number(bytes.data()) / divisor),
                    Meaning::Half => numbers(rows, |bytes| half_number(bytes.data())),
                    _ => (Batch::Other, rows.len()),
                }
            }
        };
        self.batch = batch;
        Ok(n_read)
    }

    /// The value of a row of the batch; what was found instead where text is not UTF-8.
    pub fn cell(&self, index: usize) -> std::result::Result<Cell<'_>, String> {
        Ok(match &self.batch {
            Batch::Integers(values) => values[index].map_or(Cell::Empty, |value| self.meaning.cell(value)),
            Batch::Numbers(values) => values[index].map_or(Cell::Empty, Cell::Number),
            Batch::Texts(values) => match &values[index] {
                None => Cell::Empty,
                Some(bytes) => Cell::Text(bytes.as_utf8().map_err(|error| error.to_string())?),
            },
            Batch::Other => Cell::Other("bytes of fixed length"),
        })
    }
}

impl Meaning {
    fn cell(self, value: i64) -> Cell<'static> {
        match self {
            Self::Integer | Self::Half => Cell::Integer(value),
            Self::Unsigned if value < 0 => Cell::Unsigned(value as u64),
            Self::Unsigned => Cell::Integer(value),
            Self::Decimal(divisor) => Cell::Number(value as f64 / divisor),
            Self::Moment { kind, numerator, denominator } => {
                Cell::Time(Time::Micros(value.saturating_mul(numerator).div_euclid(denominator)), kind)
            }
        }
    }
}

/// The next rows of a column, nothing where the level says so.
fn decode<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    wanted: usize,
    is_optional: bool,
    levels: &mut Vec<i16>,
) -> Result<Vec<Option<T::T>>> {
    let mut values = Vec::new();
    let mut rows = Vec::with_capacity(wanted);
    while rows.len() < wanted {
        levels.clear();
        values.clear();
        let (n_rows, _, _) = reader.read_records(
            wanted - rows.len(),
            is_optional.then_some(&mut *levels),
            None,
            &mut values,
        )?;
        if n_rows == 0 {
            break;
        }
        let mut values = values.drain(..);
        match is_optional {
            true => rows.extend(levels.iter().map(|&level| if level > 0 { values.next() } else { None })),
            false => rows.extend(values.map(Some)),
        }
    }
    Ok(rows)
}

fn integers<T>(rows: Vec<Option<T>>, convert: impl Fn(&T) -> i64) -> (Batch, usize) {
    let n_read = rows.len();
    (Batch::Integers(rows.iter().map(|value| value.as_ref().map(&convert)).collect()), n_read)
}

fn numbers<T>(rows: Vec<Option<T>>, convert: impl Fn(&T) -> f64) -> (Batch, usize) {
    let n_read = rows.len();
    (Batch::Numbers(rows.iter().map(|value| value.as_ref().map(&convert)).collect()), n_read)
}

/// Two's complement, the most significant byte first, of any length.
fn whole_number(bytes: &[u8]) -> f64 {
    let negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
    let (most, rest) = bytes.split_at(bytes.len().min(16));
    let start = if negative { -1 } else { 0 };
    let number = most.iter().fold(start, |number: i128, &byte| (number << 8) | i128::from(byte)) as f64;
    rest.iter().fold(number, |number, &byte| 256.0 * number + f64::from(byte))
}

fn half_number(bytes: &[u8]) -> f64 {
    let bytes: [u8; 2] = bytes.try_into().unwrap_or([0, 0x7e]); // NaN: a column of another width has no numbers
    half::f16::from_le_bytes(bytes).to_f64()
}

/// What the annotations of a column say about its integers, the older kind of annotation included.
fn meaning(descriptor: &ColumnDescriptor) -> Meaning {
    let moment = |kind, numerator, denominator| Meaning::Moment { kind, numerator, denominator };
    let decimal = |scale: i32| Meaning::Decimal(10f64.powi(scale));
    match descriptor.logical_type_ref() {
        Some(LogicalType::Date) => return moment(TimeKind::Date, DAY, 1),
        Some(LogicalType::Timestamp(stamp)) => {
            let kind = if stamp.is_adjusted_to_u_t_c { TimeKind::UtcDateTime } else { TimeKind::DateTime };
            return match stamp.unit {
                TimeUnit::MILLIS => moment(kind, 1000, 1),
                TimeUnit::MICROS => moment(kind, 1, 1),
                TimeUnit::NANOS => moment(kind, 1, 1000),
            };
        }
        Some(LogicalType::Integer(integer)) if !integer.is_signed => return Meaning::Unsigned,
        Some(LogicalType::Decimal(number)) => return decimal(number.scale),
        Some(LogicalType::Float16) => return Meaning::Half,
        _ => {}
    }
    match descriptor.converted_type() {
        ConvertedType::DATE => moment(TimeKind::Date, DAY, 1),
        ConvertedType::TIMESTAMP_MILLIS => moment(TimeKind::UtcDateTime, 1000, 1),
        ConvertedType::TIMESTAMP_MICROS => moment(TimeKind::UtcDateTime, 1, 1),
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64 => {
            Meaning::Unsigned
        }
        ConvertedType::DECIMAL => decimal(descriptor.type_scale()),
        _ if descriptor.physical_type() == parquet::basic::Type::INT96 => moment(TimeKind::DateTime, 1, 1),
        _ => Meaning::Integer,
    }
}
