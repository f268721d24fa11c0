//! Notices changes of the settings file and the monitor files.

use std::path::PathBuf;
use std::time::Duration;

use super::monitor_files::{Fingerprint, fingerprint};

/// Time between two looks.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Compares what is there with what was taken. A change counts once two looks in a row see the same: a file
/// that is being written, or renamed by an editor, is left to come to rest.
#[derive(Debug, Default)]
pub(super) struct FileWatch {
    accepted: Fingerprint,
    seen: Fingerprint,
}

impl FileWatch {
    /// Notes that `now` is what was taken, or refused, so that it is not taken again.
    pub(super) fn accept(&mut self, now: Fingerprint) {
        self.seen.clone_from(&now);
        self.accepted = now;
    }

    /// Whether `now` is a change that came to rest.
    pub(super) fn has_settled_change(&mut self, now: Fingerprint) -> bool {
        let rests = now == self.seen;
        let differs = now != self.accepted;
        self.seen = now;
        rests && differs
    }
}

/// The fingerprint, made on a thread that may block.
pub(super) async fn current_fingerprint(
    config: Option<PathBuf>,
    monitors: Vec<PathBuf>,
    secrets: Vec<PathBuf>,
) -> Fingerprint {
    let looking = tokio::task::spawn_blocking(move || fingerprint(config.as_deref(), &monitors, &secrets));
    // Fails only when the runtime goes down.
    looking.await.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_counts_when_it_came_to_rest_and_only_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.yaml");
        let now = || fingerprint(None, &[folder.path().to_owned()], &[]);
        let mut watch = FileWatch::default();
        watch.accept(now());
        assert!(!watch.has_settled_change(now()));
        std::fs::write(&file, "half").unwrap();
        assert!(!watch.has_settled_change(now()), "just changed");
        std::fs::write(&file, "half and the rest").unwrap();
        assert!(!watch.has_settled_change(now()), "still changing");
        assert!(watch.has_settled_change(now()), "at rest");
        watch.accept(now());
        assert!(!watch.has_settled_change(now()), "taken");
    }
}
