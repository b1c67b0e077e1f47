//! The formats of files, and how a name tells them.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::problem::{Place, Problem};
use crate::{Error, Result};

/// The endings that name a format, for messages.
const ENDINGS: &str = ".csv, .tsv, .parquet, .jsonl, .ndjson or .npz, each also with .gz";

/// How a family or a table is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text with separators; commas, semicolons and tabs are told apart by the header.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// One JSON object per line.
    JsonLines,
    /// Arrays of NumPy in a ZIP archive; families only.
    Npz,
}

impl Format {
    /// The format that the name of a file tells, its `.gz` left aside.
    ///
    /// # Errors
    /// [`Problem::UnknownFormat`] if it tells none.
    pub fn of(path: &Path) -> Result<Self> {
        let whole = path.file_name().unwrap_or_default().to_string_lossy();
        let lower = whole.to_ascii_lowercase();
        let name = lower.strip_suffix(".gz").unwrap_or(&lower);
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        ending.parse().map_err(|()| {
            let problem = Problem::UnknownFormat { expected: ENDINGS, found: whole.into_owned() };
            Error::data(path, Place::default(), problem)
        })
    }
}

/// Whether the name asks for compression by gzip.
pub(crate) fn is_gzip_name(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"))
}

/// The separator that the name of a text file asks for.
pub(crate) fn separator_of(path: &Path) -> u8 {
    let name = path.to_string_lossy().to_ascii_lowercase();
    if name.ends_with(".tsv") || name.ends_with(".tsv.gz") { b'\t' } else { b',' }
}

impl FromStr for Format {
    type Err = ();

    /// From the ending of a file name, without the dot.
    fn from_str(ending: &str) -> std::result::Result<Self, ()> {
        Ok(match ending.to_ascii_lowercase().as_str() {
            "csv" | "tsv" => Self::Csv,
            "parquet" | "pq" => Self::Parquet,
            "jsonl" | "ndjson" => Self::JsonLines,
            "npz" => Self::Npz,
            _ => return Err(()),
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Csv => "CSV",
            Self::Parquet => "Parquet",
            Self::JsonLines => "JSON lines",
            Self::Npz => "NPZ",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_the_format() {
        for (name, format) in [
            ("a.csv", Format::Csv),
            ("A.CSV.GZ", Format::Csv),
            ("a.b.tsv", Format::Csv),
            ("a.parquet", Format::Parquet),
            ("a.ndjson.gz", Format::JsonLines),
            ("a.npz", Format::Npz),
        ] {
            assert_eq!(Format::of(Path::new(name)).unwrap(), format, "{name}");
        }
        assert_eq!((separator_of(Path::new("a.tsv.gz")), separator_of(Path::new("a.csv"))), (b'\t', b','));
    }

    #[test]
    fn an_unknown_ending_is_refused() {
        for name in ["a", "a.xlsx", "csv", ".gz", "a.csv.zip", ""] {
            let error = Format::of(Path::new(name)).unwrap_err();
            assert!(
                matches!(&error, Error::Data(data) if matches!(data.problem, Problem::UnknownFormat { .. }))
            );
            assert!(error.to_string().contains(".csv"), "{error}");
        }
    }
}
