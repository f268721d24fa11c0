//! What fills a disk.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file that takes all the space of its disk until it is dropped.
pub struct Ballast(PathBuf);

impl Ballast {
    /// Fills the disk of `folder`.
    pub fn fill(folder: &Path) -> Self {
        let path = folder.join("ballast");
        let mut file = File::create(&path).unwrap();
        for size in [1 << 20, 1 << 12, 1] {
            let bytes = vec![0; size];
            while file.write_all(&bytes).is_ok() {}
        }
        Self(path)
    }
}

impl Drop for Ballast {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
