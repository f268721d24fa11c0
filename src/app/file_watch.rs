//! Detects changes of watched files: settings, monitors, secrets, the certificate of the server.

use std::path::PathBuf;
use std::time::Duration;

use super::monitor_files::{Fingerprint, fingerprint};

/// Time between two polls.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Compares the files with the accepted state. A change counts once two consecutive polls see the same state, so that
/// a file being written, or renamed by an editor, is not read too early.
#[derive(Debug, Default)]
pub(super) struct FileWatch {
    accepted: Fingerprint,
    last_polled: Fingerprint,
}

impl FileWatch {
    /// Records that `fingerprint` was applied or rejected, so that it is not reported again.
    pub(super) fn accept(&mut self, fingerprint: Fingerprint) {
        self.last_polled.clone_from(&fingerprint);
        self.accepted = fingerprint;
    }

    /// Records the `fingerprint` of a poll; returns whether it is a change that has settled.
    pub(super) fn detect_settled_change(&mut self, fingerprint: Fingerprint) -> bool {
        let is_settled = fingerprint == self.last_polled;
        let differs = fingerprint != self.accepted;
        self.last_polled = fingerprint;
        is_settled && differs
    }
}

/// Returns the fingerprint, computed on a blocking thread.
pub(super) async fn current_fingerprint(
    settings_file: Option<PathBuf>,
    monitor_paths: Vec<PathBuf>,
    secret_files: Vec<PathBuf>,
) -> Fingerprint {
    let task = tokio::task::spawn_blocking(move || {
        fingerprint(settings_file.as_deref(), &monitor_paths, &secret_files)
    });
    // Fails only when the runtime shuts down.
    task.await.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_counts_once_when_it_has_settled() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.yaml");
        let scan_files = || fingerprint(None, &[folder.path().to_owned()], &[]);
        let mut watch = FileWatch::default();
        watch.accept(scan_files());
        assert!(!watch.detect_settled_change(scan_files()));
        std::fs::write(&file, "half").unwrap();
        assert!(!watch.detect_settled_change(scan_files()), "just changed");
        std::fs::write(&file, "half and the rest").unwrap();
        assert!(!watch.detect_settled_change(scan_files()), "still changing");
        assert!(watch.detect_settled_change(scan_files()), "at rest");
        watch.accept(scan_files());
        assert!(!watch.detect_settled_change(scan_files()), "taken");
    }
}
