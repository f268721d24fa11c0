//! TLS over any stream: cold sessions, shared trust, facts kept even of what was refused.

mod facts;
mod fault;
#[cfg(feature = "legacy-tls")]
mod legacy;
mod quic;
mod session;
mod stream;
mod trust;
mod verify;

use std::collections::BTreeMap;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};

#[cfg(feature = "legacy-tls")]
pub use legacy::OldVersion;
pub(super) use quic::QuicSession;
pub use session::{TlsSession, was_resumed};
pub use stream::TlsStream;
pub(super) use trust::Trusted;
pub use trust::{Pem, Roots, Trust};

use super::{Deadline, Net, NetError, Trace};
use crate::domain::{Failure, FailureKind, Phase};
use session::Way;
use verify::Recorder;

/// Sessions that a [`TlsSession`] keeps: of one server, which hands out a few tickets at a time.
const SESSIONS: usize = 8;

/// Versions of TLS that a handshake offers (interface.md 2.2 `use_ssl_version`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsVersions {
    /// TLS 1.3 and 1.2, the best that both sides speak.
    #[default]
    Best,
    /// TLS 1.2 alone.
    Only12,
    /// One of before TLS 1.2, alone.
    #[cfg(feature = "legacy-tls")]
    Old(OldVersion),
    /// A version of this name, which takes the cargo feature `legacy-tls` that this build is without. Every
    /// handshake is [`FailureKind::TlsUnsupported`].
    NotBuilt(&'static str),
    /// A version of this name, which no build speaks. Every handshake is [`FailureKind::TlsUnsupported`].
    Unsupported(&'static str),
}

impl TlsVersions {
    /// The versions that the field's value stands for: empty, `2`, `3`, `10`, `11` or `12`.
    #[must_use]
    #[cfg(feature = "legacy-tls")]
    pub fn of_field(value: &str) -> Self {
        match value {
            "3" => Self::Old(OldVersion::Ssl3),
            "10" => Self::Old(OldVersion::Tls10),
            "11" => Self::Old(OldVersion::Tls11),
            other => Self::of_any_build(other),
        }
    }

    /// The versions that the field's value stands for: empty, `2`, `3`, `10`, `11` or `12`.
    #[must_use]
    #[cfg(not(feature = "legacy-tls"))]
    pub fn of_field(value: &str) -> Self {
        match value {
            "3" => Self::NotBuilt("SSL 3.0"),
            "10" => Self::NotBuilt("TLS 1.0"),
            "11" => Self::NotBuilt("TLS 1.1"),
            other => Self::of_any_build(other),
        }
    }

    fn of_any_build(value: &str) -> Self {
        match value {
            "" => Self::Best,
            "12" => Self::Only12,
            "2" => Self::Unsupported("SSL 2.0"),
            _ => Self::Unsupported("an unlisted version"),
        }
    }

    /// Whether this build can speak them.
    #[must_use]
    pub const fn is_spoken(self) -> bool {
        !matches!(self, Self::NotBuilt(_) | Self::Unsupported(_))
    }
}

/// What one handshake asks for.
#[derive(Clone, Debug)]
pub struct TlsOptions {
    /// Versions to offer.
    pub versions: TlsVersions,
    /// Application protocols to offer (RFC 7301), the preferred one first; none = no ALPN.
    pub alpn: &'static [&'static [u8]],
    /// Whether the certificate must be valid. Its facts are kept either way.
    pub verify: bool,
    /// Id of a CA that is trusted beside those of the location (fields.md 2 `ca_cert_id`).
    pub ca: Option<i64>,
    /// Id of the client certificate to show when the server asks for one (`ssl_cert_id`).
    pub client_certificate: Option<i64>,
}

impl Default for TlsOptions {
    fn default() -> Self {
        Self { versions: TlsVersions::Best, alpn: &[], verify: true, ca: None, client_certificate: None }
    }
}

/// The trust of a location, ready to use: parsing some hundred root certificates costs more than a
/// handshake, so it is done once.
#[derive(Debug)]
pub(super) struct Tls {
    trusted: Trusted,
    best: ClientConfig,
    only12: ClientConfig,
}

impl Tls {
    pub(super) fn new(trust: &Trust) -> Result<Self, NetError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let trusted = Trusted::new(trust, &provider)?;
        let best = template(&provider, &trusted, &[&rustls::version::TLS13, &rustls::version::TLS12])?;
        let only12 = template(&provider, &trusted, &[&rustls::version::TLS12])?;
        Ok(Self { trusted, best, only12 })
    }

    /// A configuration of its own for one handshake: nothing of an earlier session is in it.
    fn config(&self, options: &TlsOptions, recorder: Arc<Recorder>) -> Result<ClientConfig, Failure> {
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
    fn way(&self, options: &TlsOptions, recorder: &Arc<Recorder>, resumes: bool) -> Result<Way, Failure> {
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

impl Net {
    /// Takes certificates that come and go while it runs, instead of those that it took before: authorities
    /// (`ca_cert_id`) and client certificates with their keys (`ssl_cert_id`), by id. Those of the settings
    /// stay, and win where an id is in both. One that cannot be used is left out; answers why. Handshakes
    /// that began go on with what there was.
    pub fn bring_certificates(
        &self,
        authorities: BTreeMap<i64, Pem>,
        clients: BTreeMap<i64, Pem>,
    ) -> Vec<(i64, NetError)> {
        self.tls.trusted.bring(authorities, clients)
    }

    /// Speaks TLS over `stream` with the server called `server_name`, a host name (sent as SNI) or an
    /// address. `trace.tls` is filled as far as the handshake came, also when the certificate was refused.
    pub async fn handshake<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
        server_name: &str,
        options: &TlsOptions,
        deadline: Deadline,
        trace: &mut Trace,
    ) -> Result<TlsStream<S>, Failure> {
        self.tls_session(server_name, options, false)?.handshake(stream, deadline, trace).await
    }

    /// What the handshakes of several connections to the server called `server_name` share. With `resumes`
    /// the later ones take up the session of the first, as FTP servers demand of data connections; nothing
    /// is ever taken up from another [`TlsSession`], and nothing in versions before TLS 1.2.
    pub fn tls_session(
        &self,
        server_name: &str,
        options: &TlsOptions,
        resumes: bool,
    ) -> Result<TlsSession, Failure> {
        let name = named(server_name)?;
        let recorder = Arc::new(Recorder::new(self.tls.trusted.with_ca(options.ca)?, options.verify));
        let way = self.tls.way(options, &recorder, resumes)?;
        Ok(TlsSession { name, server_name: server_name.into(), way, recorder })
    }
}

fn named(server_name: &str) -> Result<ServerName<'static>, Failure> {
    let bare = server_name.strip_suffix('.').unwrap_or(server_name);
    ServerName::try_from(bare.to_owned()).map_err(|_| {
        let detail = format!("`{server_name}` is no name that a certificate can be for");
        Failure::new(Phase::Tls, FailureKind::CertificateName, detail)
    })
}

/// Draws the first random number and makes the first key of the process. Left to the first handshake,
/// that would add some 26 ms to it, which would look like the target's.
pub fn warm_up() {
    let provider = aws_lc_rs::default_provider();
    let mut seed = [0; 32];
    // A failure shows again, with its reason, in the first handshake.
    let _ = provider.secure_random.fill(&mut seed);
    for group in &provider.kx_groups {
        let _ = group.start();
    }
}
