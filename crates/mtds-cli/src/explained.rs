//! How much of each output the code explains, as the fit stores it in the settings of a model.

use mtds::predict::Explained;
use mtds::store::Model;

/// Key of the settings in a model under which the fit keeps it.
pub const EXPLAINED_KEY: &str = "explained";

/// What the fit stored; empty for a model that was not made by it.
pub fn explained_of(bundle: &Model) -> Vec<Explained> {
    let stored = bundle.provenance.settings.get(EXPLAINED_KEY).cloned().unwrap_or_default();
    serde_json::from_value(stored).unwrap_or_default()
}
