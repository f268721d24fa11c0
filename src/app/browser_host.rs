//! `vigie browser-host`: runs browsers for a server on the same host, behind a Unix socket.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener as StdUnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;

use super::signals::{SignalRequest, Signals};
use super::{browser_setup, systemd};
use crate::browser::BrowserHost;
use crate::settings::Settings;
use crate::telemetry::{init_logging, install_panic_hook};

/// Options of `vigie browser-host` on the command line.
#[derive(Clone, Debug, Default)]
pub struct BrowserHostOptions {
    /// Path of the socket to create; `None` takes the one that systemd passes (`vigie-webdriver.socket`).
    pub socket: Option<PathBuf>,
}

/// Runs the browser host with the settings of `browser` until a signal stops it.
///
/// # Errors
/// Fails when the socket cannot be used; the message says what to fix.
pub fn run_browser_host(settings: &Settings, options: BrowserHostOptions) -> anyhow::Result<()> {
    init_logging(&settings.log)?;
    install_panic_hook();
    let listener = match &options.socket {
        Some(path) => bind_private(path)
            .with_context(|| format!("the socket `{}` cannot be created", path.display()))?,
        None => inherited_listener()?,
    };
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(serve(settings, listener));
    if let Some(path) = &options.socket {
        // What is left is removed by the next start.
        let _ = fs::remove_file(path);
    }
    outcome
}

async fn serve(settings: &Settings, listener: StdUnixListener) -> anyhow::Result<()> {
    let (listener, mut signals) = (UnixListener::from_std(listener)?, Signals::install()?);
    let mut settings = settings.clone();
    // It runs the browsers itself.
    settings.browser_pool_config.remotes.clear();
    let pool = browser_setup::start_browser_pool(&settings).await;
    let stop = CancellationToken::new();
    let host = Arc::new(BrowserHost::new(Arc::clone(&pool)));
    let serving = tokio::spawn(host.serve(listener, stop.clone()));
    systemd::notify_ready("Waiting for sessions");
    tracing::info!(most = pool.capacity(), "browser host ready");
    loop {
        if let SignalRequest::Stop(signal) = signals.next().await {
            tracing::info!(signal, "stopping");
            break;
        }
        tracing::info!("SIGHUP ignored: restart the browser host to change its settings");
    }
    stop.cancel();
    serving.await?;
    browser_setup::wait_for_browsers_to_exit(&pool).await;
    Ok(())
}

/// Creates a socket that only this user, and root, can open. Replaces one that nobody listens on any more.
fn bind_private(path: &Path) -> io::Result<StdUnixListener> {
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.file_type().is_socket()) {
        if std::os::unix::net::UnixStream::connect(path).is_ok() {
            return Err(io::Error::new(io::ErrorKind::AddrInUse, "another process listens on it"));
        }
        fs::remove_file(path)?;
    }
    // A folder that nobody else can enter closes the moment between the creation and the change of its mode.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let private_folder = create_private_dir(folder)?;
    let private_path = private_folder.join("socket");
    let bound = StdUnixListener::bind(&private_path).and_then(|listener| {
        fs::set_permissions(&private_path, Permissions::from_mode(0o600))?;
        // Fails where something else has that name.
        fs::hard_link(&private_path, path)?;
        Ok(listener)
    });
    let _ = fs::remove_file(&private_path);
    fs::remove_dir(&private_folder)?;
    bound
}

/// Creates a folder in `folder` that only this user can enter.
fn create_private_dir(folder: &Path) -> io::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    let path = folder.join(format!(".vigie-{}", std::process::id()));
    fs::DirBuilder::new().mode(0o700).create(&path)?;
    Ok(path)
}

/// Returns the socket that systemd passes.
fn inherited_listener() -> anyhow::Result<StdUnixListener> {
    let listener = listenfd::ListenFd::from_env().take_unix_listener(0);
    let listener = listener.context("the socket that systemd passes cannot be used")?;
    listener.context("no socket: start it by vigie-webdriver.socket, or name one with `--socket PATH`")
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn only_its_user_can_open_the_socket() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("webdriver.sock");
        let first = bind_private(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(UnixStream::connect(&path).is_ok());
        assert_eq!(bind_private(&path).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        drop(first);
        let _second = bind_private(&path).unwrap();
        assert!(UnixStream::connect(&path).is_ok(), "a socket that nobody listens on is replaced");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
        let file = folder.path().join("file");
        fs::write(&file, "x").unwrap();
        let _third = bind_private(&file).unwrap_err();
        assert_eq!(fs::read_to_string(&file).unwrap(), "x", "a file is not replaced");
    }
}
