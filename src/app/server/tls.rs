//! Certificate and key of the server: loaded at the start, reloaded when their files change or on SIGHUP. An invalid
//! new pair leaves the current one in force.

use crate::sync::RwLock;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use aws_lc_rs::digest;
use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::signal::unix::{SignalKind, signal};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::app::file_watch::{self, FileWatch};

/// Time between two polls of the files.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The current certificate and key.
pub(in crate::app) struct ServerTls {
    certificate_and_key_files: (PathBuf, PathBuf),
    loaded: RwLock<LoadedCertificate>,
}

/// A certificate with its TLS configuration.
struct LoadedCertificate {
    config: Arc<ServerConfig>,
    certificate_sha256: [u8; 32],
}

impl ServerTls {
    /// Loads certificate (with its chain) and key, both PEM.
    pub(in crate::app) fn load(certificate: &Path, key: &Path) -> anyhow::Result<Self> {
        let loaded = RwLock::new(read_certificate(certificate, key)?);
        Ok(Self { certificate_and_key_files: (certificate.to_owned(), key.to_owned()), loaded })
    }

    /// Returns the SHA-256 of the current certificate.
    pub(in crate::app) fn certificate_sha256(&self) -> [u8; 32] {
        self.loaded.read().certificate_sha256
    }

    /// Returns the acceptor for new connections.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        Arc::clone(&self.loaded.read().config).into()
    }

    /// Reloads the files when a change has settled, and on SIGHUP, until `stop`; calls `on_reload` after each
    /// successful reload.
    pub(in crate::app) async fn watch_files(
        &self,
        stop: CancellationToken,
        on_reload: impl Fn(&Self),
    ) -> std::io::Result<()> {
        let mut hangup = signal(SignalKind::hangup())?;
        let files_fingerprint = || {
            file_watch::current_fingerprint(
                None,
                Vec::new(),
                vec![self.certificate_and_key_files.0.clone(), self.certificate_and_key_files.1.clone()],
            )
        };
        let mut watch = FileWatch::default();
        watch.accept(files_fingerprint().await);
        loop {
            let is_reload_requested = tokio::select! {
                () = stop.cancelled() => return Ok(()),
                _ = hangup.recv() => true,
                () = tokio::time::sleep(POLL_INTERVAL) => false,
            };
            let current = files_fingerprint().await;
            if watch.detect_settled_change(current.clone()) || is_reload_requested {
                watch.accept(current);
                if self.reload() {
                    on_reload(self);
                    // Logged last, so that everything is in place when someone reads it.
                    tracing::info!(file = %self.certificate_and_key_files.0.display(), "server certificate reloaded");
                }
            }
        }
    }

    /// Reloads the files; returns whether they are valid.
    fn reload(&self) -> bool {
        match read_certificate(&self.certificate_and_key_files.0, &self.certificate_and_key_files.1) {
            Ok(loaded) => {
                *self.loaded.write() = loaded;
                true
            }
            Err(error) => {
                tracing::error!(
                    file = %self.certificate_and_key_files.0.display(),
                    error = format!("{error:#}"),
                    "failed to load the server certificate; the previous one stays in force"
                );
                false
            }
        }
    }
}

fn read_certificate(certificate: &Path, key: &Path) -> anyhow::Result<LoadedCertificate> {
    let unreadable_message = |file: &Path| format!("the file `{}` cannot be read", file.display());
    let chain = CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.with_context(|| unreadable_message(certificate))?;
    let empty_message = || format!("the file `{}` contains no certificate", certificate.display());
    let certificate_sha256 = sha256(chain.first().with_context(empty_message)?);
    let key = PrivateKeyDer::from_pem_file(key).with_context(|| unreadable_message(key))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let versions = [&rustls::version::TLS13, &rustls::version::TLS12];
    let builder = ServerConfig::builder_with_provider(provider).with_protocol_versions(&versions)?;
    let config = builder.with_no_client_auth().with_single_cert(chain, key);
    let mut config = config.context("certificate and key cannot be used together")?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(LoadedCertificate { config: Arc::new(config), certificate_sha256 })
}

fn sha256(certificate: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest::digest(&digest::SHA256, certificate).as_ref());
    hash
}
