//! How much of the code a model uses, as a fit by elbo or iwae stores it in the settings of a model.

use mtds::learn::CodeUsage;
use mtds::store::Model;

/// Key of the settings in a model under which the fit keeps it.
pub const USAGE_KEY: &str = "usage";

/// What the fit stored; `None` for a model that was learned in another way.
pub fn usage_of(bundle: &Model) -> Option<CodeUsage> {
    let stored = bundle.provenance.settings.get(USAGE_KEY)?;
    serde_json::from_value(stored.clone()).ok()
}
