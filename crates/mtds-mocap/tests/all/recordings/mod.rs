//! The shared recordings, where they are.

use std::path::{Path, PathBuf};

/// Where the recordings lie relative to the workspace, or beside a checkout one level further down.
pub fn recordings() -> Option<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    ["../shared/data/mocap", "../../shared/data/mocap"]
        .iter()
        .map(|way| workspace.join(way))
        .find(|path| path.is_dir())
}
