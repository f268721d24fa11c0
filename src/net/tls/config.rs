//! The TLS configurations of one location.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, aws_lc_rs};

use super::backend::TlsBackend;
use super::options::{TlsOptions, TlsVersions};
use super::trust::{TrustConfig, TrustStore};
use super::verifier::RecordingVerifier;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::error::NetConfigError;

/// Maximum number of sessions that a [`TlsClient`] keeps: those of one server, which issues a few tickets at a time.
const MAX_RESUMABLE_SESSIONS: usize = 8;

/// The TLS state of a location. Parsing some hundred root certificates costs more than a handshake, so it is done
/// once.
#[derive(Debug)]
pub(in crate::net) struct TlsContext {
    pub(super) trust_store: TrustStore,
    /// Offers TLS 1.3 and 1.2.
    default_config: ClientConfig,
    tls12_config: ClientConfig,
    tls13_config: ClientConfig,
}

impl TlsContext {
    pub(in crate::net) fn new(trust_config: &TrustConfig) -> Result<Self, NetConfigError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let trust_store = TrustStore::new(trust_config, &provider)?;
        let default_config =
            base_config(&provider, &trust_store, &[&rustls::version::TLS13, &rustls::version::TLS12])?;
        let tls12_config = base_config(&provider, &trust_store, &[&rustls::version::TLS12])?;
        let tls13_config = base_config(&provider, &trust_store, &[&rustls::version::TLS13])?;
        Ok(Self { trust_store, default_config, tls12_config, tls13_config })
    }

    /// Builds a separate configuration for one server, without earlier sessions.
    pub(super) fn build_client_config(
        &self,
        options: &TlsOptions,
        verifier: Arc<RecordingVerifier>,
    ) -> Result<ClientConfig, Failure> {
        let mut config = match options.versions {
            TlsVersions::Default => self.default_config.clone(),
            TlsVersions::Tls12Only => self.tls12_config.clone(),
            TlsVersions::Tls13Only => self.tls13_config.clone(),
            other => return Err(unsupported_version_failure(other)),
        };
        config.dangerous().set_certificate_verifier(verifier);
        config.alpn_protocols = options.alpn_protocols.iter().map(|name| name.to_vec()).collect();
        if let Some(id) = options.client_certificate_id {
            config.client_auth_cert_resolver = self.trust_store.client_certificate(id)?.resolver.clone();
        }
        Ok(config)
    }

    /// Returns the TLS backend for handshakes with `options`.
    pub(super) fn build_backend(
        &self,
        options: &TlsOptions,
        verifier: &Arc<RecordingVerifier>,
        allow_resumption: bool,
    ) -> Result<TlsBackend, Failure> {
        #[cfg(feature = "legacy-tls")]
        if let TlsVersions::Legacy(version) = options.versions {
            let client_certificate = options
                .client_certificate_id
                .map(|id| self.trust_store.client_certificate(id))
                .transpose()?;
            return Ok(TlsBackend::Legacy(version, client_certificate));
        }
        let mut config = self.build_client_config(options, verifier.clone())?;
        if allow_resumption {
            config.resumption = Resumption::in_memory_sessions(MAX_RESUMABLE_SESSIONS);
        }
        Ok(TlsBackend::Rustls(Arc::new(config)))
    }

    /// Returns the TLS backend for weak cipher suites of TLS 1.2.
    #[cfg(feature = "legacy-tls")]
    pub(super) fn build_weak_suite_backend(
        &self,
        options: &TlsOptions,
        verifier: &Arc<RecordingVerifier>,
    ) -> Result<TlsBackend, Failure> {
        let versions = TlsVersions::Legacy(super::legacy::LegacyTlsVersion::Tls12WeakSuites);
        self.build_backend(&TlsOptions { versions, ..options.clone() }, verifier, false)
    }

    /// Returns the TLS backend for weak cipher suites of TLS 1.2.
    #[cfg(not(feature = "legacy-tls"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "other builds need the certificates")]
    pub(super) fn build_weak_suite_backend(
        &self,
        _: &TlsOptions,
        _: &Arc<RecordingVerifier>,
    ) -> Result<TlsBackend, Failure> {
        Ok(TlsBackend::WeakSuiteDetection)
    }
}

/// Returns the failure for `versions` that this build does not support, and how to get a build that does.
fn unsupported_version_failure(versions: TlsVersions) -> Failure {
    let detail = match versions {
        TlsVersions::NotInThisBuild(version) => format!(
            "`use_ssl_version` requires {version}; this build supports TLS 1.2 and 1.3, a build with \
             `--features legacy-tls` also supports older versions"
        ),
        TlsVersions::Unsupported(version) => {
            format!("`use_ssl_version` requires {version}, which is not supported: no build speaks it")
        }
        supported => format!("{supported:?} is handled by another backend"),
    };
    Failure::new(Phase::Tls, FailureKind::TlsVersionUnsupported, detail)
}

const VERIFY_CERTIFICATE: bool = true;
/// Builds a configuration for `versions`; its verifier is replaced by one for each server.
fn base_config(
    provider: &Arc<CryptoProvider>,
    trust_store: &TrustStore,
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> Result<ClientConfig, NetConfigError> {
    let mut config = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions)
        .map_err(|error| NetConfigError::Tls(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(RecordingVerifier::new(
            trust_store.location_anchors(),
            VERIFY_CERTIFICATE,
        )))
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    Ok(config)
}
