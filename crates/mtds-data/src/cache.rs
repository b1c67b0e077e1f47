//! Where things are kept between runs that can be made again.

use std::path::PathBuf;

/// The folder of kernels that were compiled for a card: in the cache of the user, if there is one.
#[must_use]
pub fn kernel_cache() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let caches = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
    Some(caches?.join("mtds").join("kernels"))
}
