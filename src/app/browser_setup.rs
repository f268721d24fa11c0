//! The browsers of a server: where their profiles are, what an earlier process left, what there is.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::browser::{BrowserKind, BrowserPool, BrowserPoolConfig};
use crate::settings::Settings;

/// Folder of the profiles, in the data folder.
const FOLDER: &str = "browsers";
/// Bytes of the path of that folder at most: a browser binds a socket below it, whose path may have 107.
const MAX_FOLDER_BYTES: usize = 44;
/// How long the last browsers get to be gone.
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);

/// The browsers of the server that `settings` describe; nothing of an earlier process is left when this answers.
pub(super) async fn start_pool(settings: &Settings) -> Arc<BrowserPool> {
    let mut config = settings.browser.clone();
    config.folder = config.folder.take().or_else(|| default_folder(&settings.data_dir, &config));
    let pool = Arc::new(BrowserPool::new(config));
    let swept = Arc::clone(&pool);
    let orphaned = tokio::task::spawn_blocking(move || swept.reap_orphans()).await.unwrap_or_default();
    if orphaned > 0 {
        tracing::warn!(browsers = orphaned, "ended browsers that an earlier process had left");
    }
    let unguarded = settings.browser.user.is_none() && nix::unistd::geteuid().is_root();
    if unguarded && pool.check_available(BrowserKind::Chrome).is_ok() {
        tracing::warn!(
            "Chromium runs as root without its sandbox; set `browser.user` to run it as another user"
        );
    }
    for kind in BrowserKind::ALL {
        match pool.executable_or_endpoint(kind) {
            Ok(file) => tracing::info!(browser = kind.name(), file, most = pool.capacity(), "browser found"),
            // Who has no browser scripts needs none.
            Err(failure) => tracing::debug!(browser = kind.name(), "{failure}"),
        }
    }
    pool
}

/// Waits until the last browser is gone.
pub(super) async fn wait_for_exit(pool: &BrowserPool) {
    if !pool.wait_until_empty(EXIT_TIMEOUT).await {
        tracing::warn!("a browser process did not exit in time; the next start of Vigie ends it");
    }
}

/// `browsers` in the data folder, where that can be.
fn default_folder(data: &Path, config: &BrowserPoolConfig) -> Option<PathBuf> {
    let folder = std::path::absolute(data).ok()?.join(FOLDER);
    (config.user.is_none() && folder.as_os_str().len() <= MAX_FOLDER_BYTES).then_some(folder)
}
