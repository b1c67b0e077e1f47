//! The NPY format: a header with type, order and shape, then the bare values.
//!
//! Layout after the NumPy enhancement proposal 1: `\x93NUMPY`, two bytes of version, the length of the
//! header (two bytes in version 1, four later), the header as a Python dictionary, the values.

use std::io::{self, Read, Write};

/// First bytes of every array.
const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Longest header that is read; NumPy itself writes a few hundred bytes.
const MOST_HEADER: usize = 1 << 16;

/// An array of numbers or of text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Array {
    /// Length along each axis.
    pub shape: Vec<usize>,
    /// The values, last axis fastest.
    pub content: Content,
}

/// The values of an array.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    /// Numbers of any type, as f64.
    Numbers(Vec<f64>),
    /// Text.
    Texts(Vec<String>),
}

/// The header of an array.
struct Header {
    descr: String,
    is_fortran: bool,
    shape: Vec<usize>,
}

/// Reads an array; what was found instead, where it is none that can be used.
pub(super) fn read(mut source: impl Read) -> Result<Array, String> {
    let header = read_header(&mut source)?;
    let n_values = header.shape.iter().try_fold(1usize, |product, &n| product.checked_mul(n));
    let (kind, size, is_big) = element(&header.descr)?;
    let n_bytes = n_values.and_then(|n| n.checked_mul(size)).ok_or("a shape beyond all memory")?;
    let mut bytes = Vec::new();
    source.take(n_bytes as u64).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() != n_bytes {
        return Err(format!("{} of {n_bytes} bytes", bytes.len()));
    }
    let mut content = match kind {
        'U' => Content::Texts(bytes.chunks_exact(size.max(1)).map(|value| text(value, is_big)).collect()),
        _ => Content::Numbers(bytes.chunks_exact(size).map(|value| number(kind, value, is_big)).collect()),
    };
    if header.is_fortran {
        content = match content {
            Content::Numbers(values) => Content::Numbers(last_axis_fastest(&header.shape, values)),
            Content::Texts(values) => Content::Texts(last_axis_fastest(&header.shape, values)),
        };
    }
    Ok(Array { shape: header.shape, content })
}

fn read_header(source: &mut impl Read) -> Result<Header, String> {
    let cut = |error: io::Error| format!("a header that ends early ({error})");
    let mut start = [0; 8];
    source.read_exact(&mut start).map_err(cut)?;
    if &start[..6] != MAGIC {
        return Err("something that is no NPY array".into());
    }
    let mut length = [0; 4];
    let n_length = if start[6] == 1 { 2 } else { 4 };
    source.read_exact(&mut length[..n_length]).map_err(cut)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST_HEADER {
        return Err(format!("a header of {length} bytes"));
    }
    let mut header = vec![0; length];
    source.read_exact(&mut header).map_err(cut)?;
    let header = String::from_utf8(header).map_err(|_| "a header that is not text")?;
    parse_header(&header).ok_or_else(|| format!("the header `{}`", header.trim().escape_debug()))
}

/// The three entries of the dictionary; None if one is not as NumPy writes it.
fn parse_header(header: &str) -> Option<Header> {
    let entry = |name: &str| {
        let (_, rest) = header.split_once(&format!("'{name}'"))?;
        rest.trim_start().strip_prefix(':').map(str::trim_start)
    };
    let descr = entry("descr")?.strip_prefix('\'')?.split_once('\'')?.0.to_string();
    let is_fortran = entry("fortran_order")?.starts_with("True");
    let shape = entry("shape")?.strip_prefix('(')?.split_once(')')?.0;
    let lengths = shape.split(',').map(str::trim).filter(|length| !length.is_empty());
    let shape = lengths.map(|length| length.parse().ok()).collect::<Option<Vec<usize>>>()?;
    Some(Header { descr, is_fortran, shape })
}

/// Kind, bytes per value and whether the high byte comes first.
fn element(descr: &str) -> Result<(char, usize, bool), String> {
    let unusable = || format!("values of type `{descr}`");
    let mut letters = descr.chars();
    let (order, kind) = (letters.next().ok_or_else(unusable)?, letters.next().ok_or_else(unusable)?);
    let size: usize = letters.as_str().parse().map_err(|_| unusable())?;
    let is_known = match kind {
        'f' => [4, 8].contains(&size),
        'i' | 'u' => [1, 2, 4, 8].contains(&size),
        'b' => size == 1,
        'U' => size < 1 << 20,
        _ => false,
    };
    if !is_known || !"<>|=".contains(order) {
        return Err(unusable());
    }
    Ok((kind, if kind == 'U' { 4 * size } else { size }, order == '>'))
}

/// A number of at most eight bytes.
fn number(kind: char, bytes: &[u8], is_big: bool) -> f64 {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    if is_big {
        wide[..bytes.len()].reverse();
    }
    let raw = u64::from_le_bytes(wide);
    let unused = 64 - 8 * bytes.len() as u32;
    match (kind, bytes.len()) {
        ('f', 8) => f64::from_bits(raw),
        ('f', _) => f64::from(f32::from_bits(raw as u32)),
        // Shifted up and down again, the sign fills what was not there.
        ('i', _) => ((raw << unused) as i64 >> unused) as f64,
        _ => raw as f64,
    }
}

/// Text of four bytes per character, filled up with zeros.
fn text(bytes: &[u8], is_big: bool) -> String {
    let code = |four: &[u8]| {
        let four = [four[0], four[1], four[2], four[3]];
        if is_big { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
    };
    let all: String =
        bytes.chunks_exact(4).map(|four| char::from_u32(code(four)).unwrap_or('\u{fffd}')).collect();
    all.trim_end_matches('\0').to_string()
}

/// Values that came first axis fastest, in the other order.
fn last_axis_fastest<T: Clone>(shape: &[usize], values: Vec<T>) -> Vec<T> {
    let mut strides = vec![1; shape.len()];
    for axis in 1..shape.len() {
        strides[axis] = strides[axis - 1] * shape[axis - 1];
    }
    let from = |mut index: usize| {
        let mut at = 0;
        for axis in (0..shape.len()).rev() {
            at += index % shape[axis] * strides[axis];
            index /= shape[axis];
        }
        at
    };
    (0..values.len()).map(|index| values[from(index)].clone()).collect()
}

/// Writes an array.
pub(super) fn write(mut to: impl Write, array: &Array) -> io::Result<()> {
    let longest = match &array.content {
        Content::Numbers(_) => 0,
        Content::Texts(texts) => texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1),
    };
    let descr = if longest == 0 { "<f8".to_string() } else { format!("<U{longest}") };
    let shape: String = array.shape.iter().map(|length| format!("{length},")).collect();
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Magic, version, length and header fill whole lines of 64 bytes; the header ends with a newline.
    let padded = (header.len() + 11).next_multiple_of(64) - 11;
    to.write_all(MAGIC)?;
    to.write_all(&[1, 0])?;
    to.write_all(&((padded + 1) as u16).to_le_bytes())?;
    writeln!(to, "{header:padded$}")?;
    match &array.content {
        Content::Numbers(values) => values.iter().try_for_each(|value| to.write_all(&value.to_le_bytes())),
        Content::Texts(texts) => texts.iter().try_for_each(|text| {
            let codes = text.chars().map(|c| c as u32).chain(std::iter::repeat(0)).take(longest);
            codes.map(u32::to_le_bytes).try_for_each(|code| to.write_all(&code))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(descr: &str, order: &str, shape: &str, values: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(values);
        bytes
    }

    fn numbers(bytes: &[u8]) -> Vec<f64> {
        match read(bytes).unwrap().content {
            Content::Numbers(values) => values,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn arrays_are_read_back() {
        let texts = ["", "a", "äß\u{1f600}"].map(String::from).to_vec();
        for array in [
            Array { shape: vec![2, 1, 2], content: Content::Numbers(vec![1.0, -2.5, 1e300, 4.0]) },
            Array { shape: vec![3], content: Content::Texts(texts) },
            Array { shape: vec![0, 2], content: Content::Numbers(vec![]) },
            Array { shape: vec![], content: Content::Numbers(vec![7.0]) },
        ] {
            let mut bytes = Vec::new();
            write(&mut bytes, &array).unwrap();
            assert_eq!(read(&bytes[..]).unwrap(), array);
        }
    }

    #[test]
    fn numbers_of_every_type_are_read() {
        assert_eq!(numbers(&stored("'|i1'", "False", "(2,)", &[255, 1])), [-1.0, 1.0]);
        assert_eq!(numbers(&stored("'|u1'", "False", "(2,)", &[255, 1])), [255.0, 1.0]);
        assert_eq!(numbers(&stored("'>i2'", "False", "(1,)", &[255, 0])), [-256.0]);
        assert_eq!(numbers(&stored("'<i8'", "False", "()", &(-5i64).to_le_bytes())), [-5.0]);
        assert_eq!(numbers(&stored("'>f4'", "False", "(1,)", &1.5f32.to_be_bytes())), [1.5]);
        assert_eq!(numbers(&stored("'|b1'", "False", "(2,)", &[1, 0])), [1.0, 0.0]);
    }

    #[test]
    fn fortran_order_is_turned() {
        let bytes = stored("'|u1'", "True", "(2, 3)", &[1, 4, 2, 5, 3, 6]);
        assert_eq!(numbers(&bytes), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let bytes = stored("'|u1'", "True", "(2, 0)", &[]);
        assert!(numbers(&bytes).is_empty());
    }

    #[test]
    fn arrays_that_cannot_be_used_are_refused() {
        for (bytes, found) in [
            (stored("'|O'", "False", "(1,)", &[0; 8]), "values of type `|O`"),
            (stored("'<f2'", "False", "(1,)", &[0; 2]), "values of type `<f2`"),
            (stored("[('a', '<f8')]", "False", "(1,)", &[0; 8]), "the header"),
            (stored("'<f8'", "False", "(2,)", &[0; 8]), "8 of 16 bytes"),
            (stored("'<f8'", "False", "(-2,)", &[0; 8]), "the header"),
            (stored("'<f8'", "False", "(9999999999, 9999999999)", &[0; 8]), "a shape beyond all memory"),
            (b"\x93NUMPY".to_vec(), "a header that ends early"),
            (b"PK345678abcdef".to_vec(), "something that is no NPY array"),
        ] {
            let error = read(&bytes[..]).unwrap_err();
            assert!(error.starts_with(found), "{error}");
        }
    }
}
