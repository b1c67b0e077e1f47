//! The model that comes with the program: styles of walking of the CMU database, in the program itself, for who has no model yet.
//!
//! `crates/mtds-mocap/starter/make` makes it again from the recordings; its card says from which, how, and how good it is.

use mtds::Model;

use crate::Result;

/// Where a model directory is expected, this names the model that comes with the program.
pub const NAME: &str = "starter";

/// Whose recordings it was learned from, as their publisher asks to be told.
pub const ACKNOWLEDGEMENT: &str =
    "learned from data of mocap.cs.cmu.edu; the database was created with funding from NSF EIA-0196217";

/// Its directory, as `mtds fit` wrote it.
const FILES: [(&str, &[u8]); 3] = [
    ("config.json", include_bytes!("../starter/model/config.json")),
    ("model.safetensors", include_bytes!("../starter/model/model.safetensors")),
    ("segments.safetensors", include_bytes!("../starter/model/segments.safetensors")),
];

/// The model.
///
/// # Errors
/// None for the files that it is built from; a test reads them.
pub fn model() -> Result<Model> {
    Ok(Model::from_files(&FILES)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::MotionModel;

    /// Styles are the folders of the recordings that are for learning.
    #[test]
    fn it_makes_motions_in_eleven_styles() {
        let model = model().unwrap();
        let styles = [
            "childlike",
            "depressed",
            "lavish",
            "marching",
            "neutral",
            "old",
            "proud",
            "sexy",
            "stern",
            "strutting",
            "zombie",
        ];
        assert_eq!(MotionModel::of(&model).unwrap().styles(), styles);
    }

    #[test]
    fn it_is_small() {
        let bytes: usize = FILES.iter().map(|(_, bytes)| bytes.len()).sum();
        assert!(bytes < 8 << 20, "{bytes} bytes");
    }
}
