//! Settings of a fit as a TOML file: read from a person, written with every model, and read again to replay it.
//!
//! ```toml
//! seed = 1
//!
//! [data]                  # which columns mean what
//! outputs = ["height"]
//!
//! [learn]                 # what is left out is chosen from the data
//! code = 3
//! ```

use std::path::Path;

use mtds::parts::REST;
use mtds::{DataColumns, Model, Wishes};
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The file beside a model by which its fit is replayed.
pub const FIT_FILE: &str = "fit.toml";

/// How every file that was written with a model begins.
const HEAD: &str = "# Settings of this model. The same data with --config and this file give the same bits.";

/// A file of settings; every key may be left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FitFile {
    /// Seed of all randomness.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Which columns mean what.
    pub data: DataColumns,
    /// How to learn.
    pub learn: Wishes,
}

impl FitFile {
    /// The settings of a model that was learned by a fit.
    #[must_use]
    pub fn of(model: &Model) -> Option<Self> {
        let fit = model.fit.as_ref()?;
        let (seed, data) = (Some(model.provenance.seed), model.columns.clone());
        Some(Self { seed, data, learn: fit.settings.clone() })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::Io`] for a file that cannot be read; [`Error::Settings`] for one that is not TOML, or has a key that does not
    /// exist or a value of another kind: the message names the file, the line and the key. A file that 0.1.0 wrote with a
    /// model means what it meant then.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
        let wrong = |why: String| Error::Settings { path: path.to_path_buf(), why };
        let read: Self =
            toml::from_str(&text).map_err(|error| wrong(error.to_string().trim_end().to_owned()))?;
        match text.starts_with(HEAD) && read.is_of_0_1_0() {
            true => read.migrated().map_err(|why| wrong(why.to_owned())),
            false => Ok(read),
        }
    }

    /// Whether a file that was written with a model lacks all keys that came after 0.1.0, of which every later one has a value.
    fn is_of_0_1_0(&self) -> bool {
        let Wishes { fix, overlap, minibatch, .. } = &self.learn;
        fix.is_none() && overlap.is_none() && minibatch.is_none()
    }

    /// In 0.1.0 the lists of blocks were whole, and what neither named was held at a constant; now they move blocks.
    fn migrated(mut self) -> std::result::Result<Self, &'static str> {
        match (&self.learn.adapt, &self.learn.share) {
            (Some(_), Some(_)) => self.learn.fix = Some(vec![REST.to_owned()]),
            (None, None) => {}
            _ => {
                return Err(
                    "a file of version 0.1.0 with one of `adapt` and `share` alone, which this version reads in another \
                            way; give both or neither",
                );
            }
        }
        Ok(self)
    }

    /// The file as text.
    ///
    /// # Errors
    /// None in practice: all values have a form in TOML.
    pub fn to_text(&self) -> Result<String> {
        let text = toml::to_string(self)
            .map_err(|error| Error::Settings { path: FIT_FILE.into(), why: error.to_string() })?;
        Ok(format!("{HEAD}\n\n{text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<FitFile> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml");
        std::fs::write(&path, text).unwrap();
        FitFile::read(&path)
    }

    #[test]
    fn what_is_written_is_read() {
        let mut settings = FitFile { seed: Some(7), ..FitFile::default() };
        settings.data.outputs = vec!["a b".into(), "c".into()];
        settings.learn.learning_rate = Some(0.1 + 0.2);
        settings.learn.hidden = Some(vec![]);
        assert_eq!(read(&settings.to_text().unwrap()).unwrap(), settings);
        assert_eq!(read("").unwrap(), FitFile::default());
    }

    #[test]
    fn keys_that_do_not_exist_are_named_with_their_line() {
        for (text, named) in [
            ("[learn]\ncoed = 3\n", "coed"),
            ("[data]\nserie = \"a\"\n", "serie"),
            ("[learn]\ncode = \"three\"\n", "code"),
            ("seed = -1\n", "seed"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains("mine.toml") && error.contains(named), "{error}");
        }
    }
}
