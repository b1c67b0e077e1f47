//! The binary part of a GLB file: numbers in 32 bits, each array with its view and accessor.

use serde_json::{Value, json};

/// Component type `FLOAT` of the format.
const FLOAT: u32 = 5126;
/// Target `ARRAY_BUFFER`, for numbers of a mesh.
pub(super) const ARRAY_BUFFER: u32 = 34962;

/// Bytes, and what the JSON part says about them.
#[derive(Default)]
pub(super) struct Buffer {
    pub bytes: Vec<u8>,
    pub views: Vec<Value>,
    pub accessors: Vec<Value>,
}

impl Buffer {
    /// Appends rows; returns the number of their accessor.
    pub fn push<const D: usize>(&mut self, rows: &[[f64; D]], target: Option<u32>) -> usize {
        let kind = ["SCALAR", "SCALAR", "VEC2", "VEC3", "VEC4"][D.min(4)];
        let offset = self.bytes.len();
        let (mut least, mut most) = ([f32::INFINITY; D], [f32::NEG_INFINITY; D]);
        for row in rows {
            for (column, &value) in row.iter().enumerate() {
                let value = value as f32;
                (least[column], most[column]) = (least[column].min(value), most[column].max(value));
                self.bytes.extend(value.to_le_bytes());
            }
        }
        let mut view = json!({"buffer": 0, "byteOffset": offset, "byteLength": self.bytes.len() - offset});
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.views.push(view);
        self.accessors.push(json!({
            "bufferView": self.views.len() - 1,
            "componentType": FLOAT,
            "count": rows.len(),
            "type": kind,
            "min": least.to_vec(),
            "max": most.to_vec(),
        }));
        self.accessors.len() - 1
    }
}

/// The file: header, JSON padded with spaces, bytes padded with zeros.
pub(super) fn container(json: &Value, mut binary: Vec<u8>) -> Vec<u8> {
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    binary.resize(binary.len().next_multiple_of(4), 0);
    let length = 12 + 8 + text.len() + 8 + binary.len();
    let mut file = Vec::with_capacity(length);
    file.extend(b"glTF");
    file.extend(2u32.to_le_bytes());
    file.extend((length as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", text), (b"BIN\0", binary)] {
        file.extend((chunk.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(chunk);
    }
    file
}
