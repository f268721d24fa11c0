//! Certificate and key of the server: read at start, taken anew when their files change or on SIGHUP. A bad
//! new pair leaves the one in force as it is.

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

/// Time between two looks at the files.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The pair in force.
pub(in crate::app) struct ServerTls {
    files: (PathBuf, PathBuf),
    current: RwLock<LoadedCertificate>,
}

/// A certificate that is shown, and what shows it.
struct LoadedCertificate {
    config: Arc<ServerConfig>,
    fingerprint: [u8; 32],
}

impl ServerTls {
    /// Reads certificate (with its chain) and key, both PEM.
    pub(in crate::app) fn load(certificate: &Path, key: &Path) -> anyhow::Result<Self> {
        let pair = RwLock::new(read_certificate(certificate, key)?);
        Ok(Self { files: (certificate.to_owned(), key.to_owned()), current: pair })
    }

    /// SHA-256 of the certificate that is shown.
    pub(in crate::app) fn fingerprint(&self) -> [u8; 32] {
        self.current.read().fingerprint
    }

    /// What new connections shake hands with.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        Arc::clone(&self.current.read().config).into()
    }

    /// Takes the files anew when they changed and came to rest, and on SIGHUP, until `stop`; `taken` is called
    /// each time that they were good.
    pub(in crate::app) async fn watch_files(
        &self,
        stop: CancellationToken,
        taken: impl Fn(&Self),
    ) -> std::io::Result<()> {
        let mut hangup = signal(SignalKind::hangup())?;
        let look = || {
            file_watch::current_fingerprint(
                None,
                Vec::new(),
                vec![self.files.0.clone(), self.files.1.clone()],
            )
        };
        let mut watch = FileWatch::default();
        watch.accept(look().await);
        loop {
            let asked = tokio::select! {
                () = stop.cancelled() => return Ok(()),
                _ = hangup.recv() => true,
                () = tokio::time::sleep(POLL_INTERVAL) => false,
            };
            let now = look().await;
            if watch.has_settled_change(now.clone()) || asked {
                watch.accept(now);
                if self.reload() {
                    taken(self);
                    // Said last: who reads it finds everything in place.
                    tracing::info!(file = %self.files.0.display(), "server certificate reloaded");
                }
            }
        }
    }

    /// Whether the files were good.
    fn reload(&self) -> bool {
        match read_certificate(&self.files.0, &self.files.1) {
            Ok(pair) => {
                *self.current.write() = pair;
                true
            }
            Err(error) => {
                tracing::error!(
                    file = %self.files.0.display(),
                    error = format!("{error:#}"),
                    "failed to load the server certificate; the previous one stays in force"
                );
                false
            }
        }
    }
}

fn read_certificate(certificate: &Path, key: &Path) -> anyhow::Result<LoadedCertificate> {
    let unreadable = |file: &Path| format!("the file `{}` cannot be read", file.display());
    let chain = CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.with_context(|| unreadable(certificate))?;
    let empty = || format!("there is no certificate in the file `{}`", certificate.display());
    let fingerprint = sha256(chain.first().with_context(empty)?);
    let key = PrivateKeyDer::from_pem_file(key).with_context(|| unreadable(key))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let versions = [&rustls::version::TLS13, &rustls::version::TLS12];
    let builder = ServerConfig::builder_with_provider(provider).with_protocol_versions(&versions)?;
    let config = builder.with_no_client_auth().with_single_cert(chain, key);
    let mut config = config.context("certificate and key cannot be used together")?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(LoadedCertificate { config: Arc::new(config), fingerprint })
}

fn sha256(certificate: &[u8]) -> [u8; 32] {
    let mut sum = [0; 32];
    sum.copy_from_slice(digest::digest(&digest::SHA256, certificate).as_ref());
    sum
}
