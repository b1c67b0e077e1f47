//! Numbers in JSON, which knows none that is not finite: they are written as `null` and read as NaN.

use serde::{Deserialize, Deserializer, Serializer};

/// Writes a number.
///
/// # Errors
/// Those of the serializer.
pub(crate) fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match number.is_finite() {
        true => serializer.serialize_f64(*number),
        false => serializer.serialize_none(),
    }
}

/// Reads a number.
///
/// # Errors
/// Anything but a number or `null`.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// A list of numbers.
pub(crate) mod list {
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the numbers.
    ///
    /// # Errors
    /// Those of the serializer.
    pub(crate) fn serialize<S: Serializer>(numbers: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(numbers.iter().map(|number| number.is_finite().then_some(*number)))
    }

    /// Reads the numbers.
    ///
    /// # Errors
    /// Anything but a list of numbers and `null`.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        let numbers = Vec::<Option<f64>>::deserialize(deserializer)?;
        Ok(numbers.into_iter().map(|number| number.unwrap_or(f64::NAN)).collect())
    }
}
