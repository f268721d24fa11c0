//! The lock that keeps other processes out of a spool.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::error::SpoolError;

/// The locked file `lock` of a folder; unlocked when dropped.
#[derive(Debug)]
pub struct FolderLock(File);

impl FolderLock {
    /// Locks `folder`, which exists.
    ///
    /// # Errors
    /// Fails when another process has locked it, or the file cannot be created.
    pub fn acquire(folder: &Path) -> Result<Self, SpoolError> {
        let path = folder.join("lock");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(SpoolError::for_operation("open", &path))?;
        file.try_lock().map_err(|error| {
            let source = match error {
                TryLockError::WouldBlock => io::Error::other("another process uses the spool"),
                TryLockError::Error(source) => source,
            };
            SpoolError::for_operation("lock", &path)(source)
        })?;
        Ok(Self(file))
    }
}

impl Drop for FolderLock {
    /// Closing the file would not unlock it at once: a subprocess that is being started shares it with this process
    /// until its program runs.
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "the spool could not be unlocked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FolderLock;

    #[test]
    fn a_dropped_lock_is_free_though_a_subprocess_shares_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let lock = FolderLock::acquire(folder.path()).unwrap();
        let _shared = lock.0.try_clone().unwrap();
        let error = FolderLock::acquire(folder.path()).unwrap_err();
        assert!(error.to_string().contains("another process uses the spool"), "{error}");
        drop(lock);
        FolderLock::acquire(folder.path()).unwrap();
    }
}
