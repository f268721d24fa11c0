//! Why a spool cannot be used.

use std::io;
use std::path::{Path, PathBuf};

/// A file operation of the spool failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} `{}`: {source}", .path.display())]
pub struct SpoolError {
    action: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl SpoolError {
    /// Returns a function that adds what was done with which file.
    pub(super) fn for_operation(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self { action, path, source }
    }

    /// Whether there is no space left.
    pub(super) fn is_disk_full(&self) -> bool {
        matches!(
            self.source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        )
    }

    /// Whether a record is damaged, rather than its file unreadable.
    pub(super) fn is_damage(&self) -> bool {
        matches!(self.source.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof)
    }
}
