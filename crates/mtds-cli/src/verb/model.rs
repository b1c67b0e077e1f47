//! Which model is meant: a directory, or by its name the one that comes with the program.

use crate::options::Common;
use anyhow::Result;
use mtds::Model;
use mtds_data::model::load_model;
use mtds_mocap::starter;
use std::path::Path;

/// Whether the model that comes with the program is meant: what is there under its name comes first.
pub(super) fn is_starter(place: &Path) -> bool {
    place == Path::new(starter::NAME) && !place.exists()
}

/// The model that is meant.
///
/// # Errors
/// A directory that is none of a model.
pub(super) fn model_at(place: &Path, common: &Common) -> Result<Model> {
    if is_starter(place) {
        return Ok(starter::model()?);
    }
    if place == Path::new(starter::NAME) {
        common.say(
            "note: `starter` is taken from here, not the model of that name that comes with the program",
        );
    }
    Ok(load_model(place)?)
}
