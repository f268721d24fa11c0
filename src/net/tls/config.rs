//! The TLS configurations of one location.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, aws_lc_rs};

use super::options::{TlsOptions, TlsVersions};
use super::session::Way;
use super::trust::{Trust, Trusted};
use super::verify::Recorder;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::error::NetError;

/// Sessions that a [`TlsSession`] keeps: of one server, which hands out a few tickets at a time.
const SESSIONS: usize = 8;

/// The trust of a location, ready to use: parsing some hundred root certificates costs more than a
/// handshake, so it is done once.
#[derive(Debug)]
pub(in crate::net) struct Tls {
    pub(super) trusted: Trusted,
    best: ClientConfig,
    only12: ClientConfig,
}

impl Tls {
    pub(in crate::net) fn new(trust: &Trust) -> Result<Self, NetError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let trusted = Trusted::new(trust, &provider)?;
        let best = template(&provider, &trusted, &[&rustls::version::TLS13, &rustls::version::TLS12])?;
        let only12 = template(&provider, &trusted, &[&rustls::version::TLS12])?;
        Ok(Self { trusted, best, only12 })
    }

    /// A configuration of its own for one handshake: nothing of an earlier session is in it.
    pub(super) fn config(
        &self,
        options: &TlsOptions,
        recorder: Arc<Recorder>,
    ) -> Result<ClientConfig, Failure> {
        let mut config = match options.versions {
            TlsVersions::Best => self.best.clone(),
            TlsVersions::Only12 => self.only12.clone(),
            other => return Err(unspoken(other)),
        };
        config.dangerous().set_certificate_verifier(recorder);
        config.alpn_protocols = options.alpn.iter().map(|name| name.to_vec()).collect();
        if let Some(id) = options.client_certificate {
            config.client_auth_cert_resolver = self.trusted.client_certificate(id)?.resolver.clone();
        }
        Ok(config)
    }

    /// How handshakes with `options` are done.
    pub(super) fn way(
        &self,
        options: &TlsOptions,
        recorder: &Arc<Recorder>,
        resumes: bool,
    ) -> Result<Way, Failure> {
        #[cfg(feature = "legacy-tls")]
        if let TlsVersions::Old(version) = options.versions {
            let client =
                options.client_certificate.map(|id| self.trusted.client_certificate(id)).transpose()?;
            return Ok(Way::Old(version, client));
        }
        let mut config = self.config(options, recorder.clone())?;
        if resumes {
            config.resumption = Resumption::in_memory_sessions(SESSIONS);
        }
        Ok(Way::Rustls(Arc::new(config)))
    }
}

/// This build cannot speak `versions`; how to get one that can.
fn unspoken(versions: TlsVersions) -> Failure {
    let detail = match versions {
        TlsVersions::NotBuilt(version) => format!(
            "`use_ssl_version` asks for {version}; this build speaks TLS 1.2 and 1.3, one that is built with \
             `--features legacy-tls` speaks the older ones too"
        ),
        TlsVersions::Unsupported(version) => {
            format!("`use_ssl_version` asks for {version}, which no build of this program speaks")
        }
        spoken => format!("{spoken:?} is spoken elsewhere"),
    };
    Failure::new(Phase::Tls, FailureKind::TlsUnsupported, detail)
}

fn template(
    provider: &Arc<CryptoProvider>,
    trusted: &Trusted,
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> Result<ClientConfig, NetError> {
    let mut config = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions)
        .map_err(|error| NetError::Tls(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Recorder::new(trusted.of_location(), true)))
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    Ok(config)
}
