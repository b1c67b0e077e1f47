//! Tests whether two samples differ: Welch's t-test, the Mann–Whitney U-test, and the t-test of pairs, all two-sided.

mod mann_whitney;
mod paired;
mod welch;

pub use mann_whitney::{MannWhitney, NullDistribution, mann_whitney};
pub use paired::{Paired, paired};
pub use welch::{Welch, welch};

use mtds::{Error, Result};

/// # Errors
/// [`Error::Shape`] for fewer than `least` values; [`Error::NotFinite`] for one that is not finite.
fn check_sample(values: &[f64], least: usize) -> Result<()> {
    if values.len() < least {
        return Err(Error::Shape {
            what: "sample of a significance test".into(),
            expected: format!("at least {least} values"),
            found: values.len().to_string(),
        });
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(i) => {
            let what = format!("value {i} of a significance test");
            Err(Error::NotFinite { what, value: values[i], hint: "; leave it out" })
        }
        None => Ok(()),
    }
}
