//! Starts the browser pool of the server: profile directory, cleanup after an earlier process, available browsers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::browser::{BrowserKind, BrowserPool, BrowserPoolConfig};
use crate::settings::Settings;

/// Directory of the profiles, in the data directory.
const PROFILES_FOLDER: &str = "browsers";
/// Longest path of that directory in bytes: a browser binds a socket below it, whose path may have 107.
const MAX_PROFILES_PATH_BYTES: usize = 44;
/// How long to wait for the last browsers to exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);

/// Starts the browser pool of `settings`. Browsers left by an earlier process are removed before this returns.
pub(super) async fn start_browser_pool(settings: &Settings) -> Arc<BrowserPool> {
    let mut config = settings.browser_pool_config.clone();
    config.profiles_folder =
        config.profiles_folder.take().or_else(|| default_profiles_folder(&settings.data_dir, &config));
    let pool = Arc::new(BrowserPool::new(config));
    let prepared_pool = Arc::clone(&pool);
    let prepare = move || {
        prepared_pool.protect_remote_drivers();
        prepared_pool.reap_orphans()
    };
    let reaped = tokio::task::spawn_blocking(prepare).await.unwrap_or_default();
    if reaped > 0 {
        tracing::warn!(browsers = reaped, "ended browsers that an earlier process had left");
    }
    if pool.runs_as_root() && pool.check_available(BrowserKind::Chrome).is_ok() {
        tracing::warn!(
            "Chromium runs as root without its sandbox; set `browser.user` to run it as another user"
        );
    }
    for kind in BrowserKind::ALL {
        match pool.executable_or_endpoint(kind) {
            Ok(file) => tracing::info!(browser = kind.name(), file, most = pool.capacity(), "browser found"),
            // Not a warning: installations without browser scripts need no browser.
            Err(failure) => tracing::debug!(browser = kind.name(), "{failure}"),
        }
    }
    pool
}

/// Waits until the last browser has exited.
pub(super) async fn wait_for_browsers_to_exit(pool: &BrowserPool) {
    if !pool.wait_until_all_closed(EXIT_TIMEOUT).await {
        tracing::warn!("a browser process did not exit in time; the next start of Vigie ends it");
    }
}

/// Returns `browsers` in the data directory, where that is possible.
fn default_profiles_folder(data_dir: &Path, config: &BrowserPoolConfig) -> Option<PathBuf> {
    let folder = std::path::absolute(data_dir).ok()?.join(PROFILES_FOLDER);
    let runs_as_this_user = config.os_user.is_none() && !nix::unistd::geteuid().is_root();
    (runs_as_this_user && folder.as_os_str().len() <= MAX_PROFILES_PATH_BYTES).then_some(folder)
}
