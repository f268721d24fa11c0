//! The folder of a load run, which is removed at its end.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// A folder, removed on drop.
pub(super) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Creates a folder for this process.
    pub(super) fn create() -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("vigie-load-{}", std::process::id()));
        DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .with_context(|| format!("the temporary folder `{}` cannot be created", path.display()))?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // If it fails, the leftovers are in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
