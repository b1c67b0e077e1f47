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

use super::UsageError;
use mtds::learn::Wishes;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A file of settings; every key may be left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FitConfig {
    /// Seed of all randomness.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Which columns mean what.
    pub data: SourceConfig,
    /// How to learn.
    pub learn: Wishes,
}

/// Which columns mean what, and how times become steps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourceConfig {
    /// Column that tells sequences apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// Column of times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Column of labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Output columns; empty: by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
    /// Input columns; empty: by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// Length of a step to resample to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resample: Option<String>,
    /// `mean` or `linear`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resample_by: Option<String>,
}

impl SourceConfig {
    /// These settings, and for those left out the ones of `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let list = |mine: Vec<String>, other| if mine.is_empty() { other } else { mine };
        Self {
            series: self.series.or(other.series),
            time: self.time.or(other.time),
            label: self.label.or(other.label),
            outputs: list(self.outputs, other.outputs),
            inputs: list(self.inputs, other.inputs),
            resample: self.resample.or(other.resample),
            resample_by: self.resample_by.or(other.resample_by),
        }
    }
}

impl FitConfig {
    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read, is not TOML, or has a key that does not exist or a value of another kind; the
    /// message names the file, the line and the key.
    pub fn read(path: &Path) -> Result<Self, UsageError> {
        let wrong = |problem: String, hint: &str| UsageError::new("--config", problem, hint);
        let text = std::fs::read_to_string(path).map_err(|error| {
            wrong(format!("cannot read `{}`: {error}", path.display()), "name a TOML file that you may read")
        })?;
        toml::from_str(&text).map_err(|error| {
            let problem = format!("`{}`: {}", path.display(), error.to_string().trim_end());
            wrong(problem, "correct the line; fit.toml of any model shows all keys")
        })
    }

    /// The file as text.
    ///
    /// # Errors
    /// None in practice: all values have a form in TOML.
    pub fn to_text(&self) -> anyhow::Result<String> {
        let head =
            "# Settings of this model. The same data with --config and this file give the same bits.\n\n";
        Ok(format!("{head}{}", toml::to_string(self)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<FitConfig, UsageError> {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = folder.path().join("mine.toml");
        std::fs::write(&path, text).expect("written");
        FitConfig::read(&path)
    }

    #[test]
    fn what_is_written_is_read() {
        let mut config = FitConfig { seed: Some(7), ..FitConfig::default() };
        config.data.outputs = vec!["a b".into(), "c".into()];
        config.learn.learning_rate = Some(0.1 + 0.2);
        config.learn.hidden = Some(vec![]);
        assert_eq!(read(&config.to_text().expect("text")).expect("read"), config);
        assert_eq!(read("").expect("empty is fine"), FitConfig::default());
    }

    #[test]
    fn errors_name_file_line_and_key() {
        for (text, parts) in [
            ("seed = 1\n[learn]\ncodes = 3\n", ["mine.toml", "line 3", "codes"]),
            ("[learn]\ncode = \"three\"\n", ["mine.toml", "line 2", "code"]),
            ("[learn]\ncode = -3\n", ["mine.toml", "line 2", "code"]),
            ("[learn\n", ["mine.toml", "line 1", "learn"]),
            ("[data]\noutputs = \"y\"\n", ["mine.toml", "line 2", "outputs"]),
            ("[learn]\nstart = \"nowhere\"\n", ["mine.toml", "line 2", "nowhere"]),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{text}: {error}");
        }
        let error = FitConfig::read(Path::new("no/such.toml")).expect_err("missing").to_string();
        assert!(error.contains("no/such.toml"), "{error}");
    }
}
