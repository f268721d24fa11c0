//! TLS 1.1, TLS 1.0 and SSL 3.0 through OpenSSL, for monitors that pin one of them (`use_ssl_version`).
//!
//! Only the record layer and the key exchange are OpenSSL's. Whether the certificate is good is judged by
//! the same code as for newer versions, so a key or a signature that is too weak for that is refused here too.

use std::io;
use std::pin::Pin;
use std::sync::LazyLock;

use openssl::error::ErrorStack;
use openssl::pkey::PKey;
use openssl::provider::Provider;
use openssl::ssl::{
    Ssl, SslCipherRef, SslContext, SslContextBuilder, SslMethod, SslOptions, SslRef, SslVerifyMode,
    SslVersion,
};
use openssl::x509::X509;
use rustls::client::danger::ServerCertVerifier;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_openssl::SslStream;

use super::legacy_stream::{LegacyTlsStream, error_reason, to_io_error};
use super::stream::{HandshakeOutcome, TlsStream};
use super::trust::Pem;
use super::verifier::RecordingVerifier;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::deadline::Deadline;

/// Every cipher that keeps something secret and names its server, however weak.
const CIPHER_LIST: &str = "ALL:!aNULL:!eNULL:@SECLEVEL=0";

/// A version that is spoken by its monitors' wish only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LegacyTlsVersion {
    /// SSL 3.0 (RFC 6101).
    Ssl3,
    /// TLS 1.0 (RFC 2246).
    Tls10,
    /// TLS 1.1 (RFC 4346).
    Tls11,
}

/// RC4 and single DES live there. The providers are never unloaded.
static PROVIDERS: LazyLock<Result<[Provider; 2], ErrorStack>> =
    LazyLock::new(|| Ok([Provider::load(None, "default")?, Provider::load(None, "legacy")?]));

static SSL3: LazyLock<Result<SslContext, ErrorStack>> = LazyLock::new(|| context(SslVersion::SSL3));
static TLS10: LazyLock<Result<SslContext, ErrorStack>> = LazyLock::new(|| context(SslVersion::TLS1));
static TLS11: LazyLock<Result<SslContext, ErrorStack>> = LazyLock::new(|| context(SslVersion::TLS1_1));

impl LegacyTlsVersion {
    fn context(self) -> Result<&'static SslContext, Failure> {
        let context = match self {
            Self::Ssl3 => &SSL3,
            Self::Tls10 => &TLS10,
            Self::Tls11 => &TLS11,
        };
        context.as_ref().map_err(openssl_failure)
    }
}

/// One that offers `version` alone. Certificates are looked at after the handshake, by [`verify_peer`].
fn context(version: SslVersion) -> Result<SslContext, ErrorStack> {
    PROVIDERS.as_ref().map_err(Clone::clone)?;
    let mut builder = SslContextBuilder::new(SslMethod::tls_client())?;
    builder.set_security_level(0);
    builder.clear_options(SslOptions::NO_SSLV3 | SslOptions::NO_TLSV1 | SslOptions::NO_TLSV1_1);
    builder.set_min_proto_version(Some(version))?;
    builder.set_max_proto_version(Some(version))?;
    builder.set_cipher_list(CIPHER_LIST)?;
    builder.set_verify(SslVerifyMode::NONE);
    Ok(builder.build())
}

/// What one handshake needs: SNI, where the server has a name, and the certificate to show when it asks.
pub(super) fn new_ssl(
    version: LegacyTlsVersion,
    name: &ServerName<'_>,
    client: Option<&Pem>,
) -> Result<Ssl, Failure> {
    let mut ssl = Ssl::new(version.context()?).map_err(|error| openssl_failure(&error))?;
    if let ServerName::DnsName(name) = name {
        ssl.set_hostname(name.as_ref()).map_err(|error| openssl_failure(&error))?;
    }
    if let Some(pem) = client {
        set_client_certificate(&mut ssl, pem).map_err(|error| openssl_failure(&error))?;
    }
    Ok(ssl)
}

fn set_client_certificate(ssl: &mut SslRef, pem: &Pem) -> Result<(), ErrorStack> {
    let mut chain = X509::stack_from_pem(&pem.text)?.into_iter();
    if let Some(leaf) = chain.next() {
        ssl.set_certificate(&leaf)?;
    }
    for above in chain {
        ssl.add_chain_cert(above)?;
    }
    ssl.set_private_key(&*PKey::private_key_from_pem(&pem.text)?)
}

/// Speaks with the server and lets `recorder` judge what it showed, before anything else is said.
pub(super) async fn handshake<S: AsyncRead + AsyncWrite + Unpin>(
    ssl: Ssl,
    stream: S,
    name: &ServerName<'_>,
    recorder: &RecordingVerifier,
    deadline: Deadline,
) -> Result<HandshakeOutcome<S>, Failure> {
    let mut stream = SslStream::new(ssl, stream).map_err(|error| openssl_failure(&error))?;
    let shaken = deadline.enforce(Phase::Tls, Pin::new(&mut stream).connect()).await;
    // Also when it failed: a server that misses a certificate of ours closes after it has shown its own.
    let judged = verify_peer(stream.ssl(), name, recorder);
    let (mut version, mut cipher) = (None, None);
    let outcome = shaken.map(|done| {
        done.map_err(to_io_error).and(judged)?;
        version = Some(version_name(stream.ssl().version_str()));
        cipher = stream.ssl().current_cipher().and_then(SslCipherRef::standard_name).map(str::to_owned);
        Ok(TlsStream::Legacy(LegacyTlsStream(stream)))
    });
    Ok(HandshakeOutcome { outcome, version, cipher })
}

/// As facts call a version: with its second number, as those of newer ones are.
fn version_name(version: &str) -> String {
    if version == "TLSv1" { "TLSv1.0".to_owned() } else { version.to_owned() }
}

fn verify_peer(ssl: &SslRef, name: &ServerName<'_>, recorder: &RecordingVerifier) -> io::Result<()> {
    let shown: Vec<CertificateDer<'static>> = ssl.peer_cert_chain().map_or_else(Vec::new, |chain| {
        chain.iter().filter_map(|one| one.to_der().ok()).map(CertificateDer::from).collect()
    });
    let Some((leaf, above)) = shown.split_first() else {
        return Err(io::Error::other("the target showed no certificate"));
    };
    recorder
        .verify_server_cert(leaf, above, name, &[], UnixTime::now())
        .map(drop)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The library itself refuses.
fn openssl_failure(error: &ErrorStack) -> Failure {
    Failure::new(Phase::Tls, FailureKind::Internal, format!("OpenSSL: {}", error_reason(error)))
}
