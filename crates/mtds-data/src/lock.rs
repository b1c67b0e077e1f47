//! One writer at a time for what takes long to make: a lock file beside it, which the system lets go of when its holder dies.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::directory::resolve;
use crate::{Error, Result};

/// Held until dropped, or until the program ends in whatever way. The file `.NAME.lock` means nothing by itself: one that was left behind by a
/// program that was killed is locked by nobody.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Locks what is to be written as `path`, which need not exist yet.
    ///
    /// # Errors
    /// [`Error::Locked`] if somebody else holds it; [`Error::NoParent`] if there is nowhere to write; [`Error::Io`].
    pub fn take(path: &Path) -> Result<Self> {
        let target = resolve(path)?;
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let lock = target.with_file_name(format!(".{name}.lock"));
        loop {
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(&lock);
            let file = file.map_err(Error::io("lock", &lock))?;
            match file.try_lock() {
                // Whoever held it may have removed the file between the two calls: then this lock keeps nobody out.
                Ok(()) if !is_at(&file, &lock) => continue,
                Err(TryLockError::WouldBlock) => return Err(Error::Locked { path: path.into() }),
                Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => {
                    return Err(Error::io("lock", lock)(error));
                }
                // On a file system without locks work goes on without one.
                _ => return Ok(Self { path: lock, _file: file }),
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether an open file is the one at this path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |found: fs::Metadata| (found.dev(), found.ino());
    file.metadata().map(place).ok() == fs::metadata(path).map(place).ok()
}

/// Elsewhere there is no number of a file to compare.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_it_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model");
        let held = Lock::take(&model).unwrap();
        let error = Lock::take(&folder.path().join("./model")).unwrap_err();
        assert!(matches!(error, Error::Locked { .. }) && error.to_string().contains("wait"), "{error}");
        Lock::take(&folder.path().join("other")).unwrap();
        drop(held);
        Lock::take(&model).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn a_file_that_was_left_behind_holds_nobody_up() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".model.lock"), "").unwrap();
        Lock::take(&folder.path().join("model")).unwrap();
    }

    #[test]
    fn of_many_at_once_one_holds_it_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model");
        let holders = std::sync::atomic::AtomicUsize::new(0);
        let taken = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Ok(held) = Lock::take(&model) else { continue };
                        use std::sync::atomic::Ordering::SeqCst;
                        assert_eq!(holders.fetch_add(1, SeqCst), 0, "two hold it");
                        taken.fetch_add(1, SeqCst);
                        std::thread::yield_now();
                        holders.fetch_sub(1, SeqCst);
                        drop(held);
                    }
                });
            }
        });
        assert!(taken.into_inner() > 0);
    }
}
