//! TLS 1.1, TLS 1.0 and SSL 3.0 through OpenSSL, for monitors that require one of them (`use_ssl_version`).
//!
//! OpenSSL provides only the record layer and the key exchange. The certificate is verified by the same code as for
//! newer versions, so keys and signatures that are too weak for that are refused here too.

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

use super::legacy_stream::{LegacyTlsStream, first_error_reason, openssl_to_io_error};
use super::stream::{HandshakeResult, TlsStream};
use super::trust::Pem;
use super::verifier::RecordingVerifier;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::deadline::Deadline;

/// All ciphers with encryption and server authentication, however weak.
const CIPHER_LIST: &str = "ALL:!aNULL:!eNULL:@SECLEVEL=0";

/// A version that is only used when a monitor requires it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LegacyTlsVersion {
    /// SSL 3.0 (RFC 6101).
    Ssl3,
    /// TLS 1.0 (RFC 2246).
    Tls10,
    /// TLS 1.1 (RFC 4346).
    Tls11,
    /// TLS 1.2 with the cipher suites that rustls lacks, for servers that know no others.
    Tls12WeakSuites,
}

/// RC4 and single DES are in the legacy provider. The providers are never unloaded.
static OPENSSL_PROVIDERS: LazyLock<Result<[Provider; 2], ErrorStack>> =
    LazyLock::new(|| Ok([Provider::load(None, "default")?, Provider::load(None, "legacy")?]));

static SSL3_CONTEXT: LazyLock<Result<SslContext, ErrorStack>> =
    LazyLock::new(|| build_ssl_context(SslVersion::SSL3));
static TLS10_CONTEXT: LazyLock<Result<SslContext, ErrorStack>> =
    LazyLock::new(|| build_ssl_context(SslVersion::TLS1));
static TLS11_CONTEXT: LazyLock<Result<SslContext, ErrorStack>> =
    LazyLock::new(|| build_ssl_context(SslVersion::TLS1_1));
static TLS12_CONTEXT: LazyLock<Result<SslContext, ErrorStack>> =
    LazyLock::new(|| build_ssl_context(SslVersion::TLS1_2));

impl LegacyTlsVersion {
    fn ssl_context(self) -> Result<&'static SslContext, Failure> {
        let context = match self {
            Self::Ssl3 => &SSL3_CONTEXT,
            Self::Tls10 => &TLS10_CONTEXT,
            Self::Tls11 => &TLS11_CONTEXT,
            Self::Tls12WeakSuites => &TLS12_CONTEXT,
        };
        context.as_ref().map_err(openssl_failure)
    }
}

/// Creates a context that offers `version` only. Certificates are verified after the handshake, by
/// [`verify_peer_certificate`].
fn build_ssl_context(version: SslVersion) -> Result<SslContext, ErrorStack> {
    OPENSSL_PROVIDERS.as_ref().map_err(Clone::clone)?;
    let mut builder = SslContextBuilder::new(SslMethod::tls_client())?;
    builder.set_security_level(0);
    builder.clear_options(SslOptions::NO_SSLV3 | SslOptions::NO_TLSV1 | SslOptions::NO_TLSV1_1);
    builder.set_min_proto_version(Some(version))?;
    builder.set_max_proto_version(Some(version))?;
    builder.set_cipher_list(CIPHER_LIST)?;
    builder.set_verify(SslVerifyMode::NONE);
    Ok(builder.build())
}

/// Creates the state of one handshake: SNI if the server has a name, and the certificate to present on request.
pub(super) fn new_ssl(
    version: LegacyTlsVersion,
    server_name: &ServerName<'_>,
    client_certificate: Option<&Pem>,
) -> Result<Ssl, Failure> {
    let mut ssl = Ssl::new(version.ssl_context()?).map_err(|error| openssl_failure(&error))?;
    if let ServerName::DnsName(server_name) = server_name {
        ssl.set_hostname(server_name.as_ref()).map_err(|error| openssl_failure(&error))?;
    }
    if let Some(pem) = client_certificate {
        set_client_certificate(&mut ssl, pem).map_err(|error| openssl_failure(&error))?;
    }
    Ok(ssl)
}

fn set_client_certificate(ssl: &mut SslRef, pem: &Pem) -> Result<(), ErrorStack> {
    let mut chain = X509::stack_from_pem(&pem.text)?.into_iter();
    if let Some(leaf) = chain.next() {
        ssl.set_certificate(&leaf)?;
    }
    for intermediate in chain {
        ssl.add_chain_cert(intermediate)?;
    }
    ssl.set_private_key(&*PKey::private_key_from_pem(&pem.text)?)
}

/// Runs the handshake and lets `verifier` verify the certificate before any other data is exchanged.
pub(super) async fn handshake<S: AsyncRead + AsyncWrite + Unpin>(
    ssl: Ssl,
    stream: S,
    server_name: &ServerName<'_>,
    verifier: &RecordingVerifier,
    deadline: Deadline,
) -> Result<HandshakeResult<S>, Failure> {
    let mut stream = SslStream::new(ssl, stream).map_err(|error| openssl_failure(&error))?;
    let connect_result = deadline.enforce(Phase::Tls, Pin::new(&mut stream).connect()).await;
    // Also on failure: a server that requires a client certificate closes after it sent its own.
    let verify_result = verify_peer_certificate(stream.ssl(), server_name, verifier);
    let (mut version, mut cipher) = (None, None);
    let connection_result = connect_result.map(|result| {
        result.map_err(openssl_to_io_error).and(verify_result)?;
        version = Some(version_name(stream.ssl().version_str()));
        cipher = stream.ssl().current_cipher().and_then(SslCipherRef::standard_name).map(str::to_owned);
        Ok(TlsStream::Legacy(LegacyTlsStream(stream)))
    });
    Ok(HandshakeResult { result: connection_result, tls_version: version, tls_cipher: cipher })
}

/// Returns the version as in facts: with the minor version, like those of newer ones.
fn version_name(version: &str) -> String {
    if version == "TLSv1" { "TLSv1.0".to_owned() } else { version.to_owned() }
}

/// Lets `verifier` verify the chain that the server sent, also after a failed handshake.
fn verify_peer_certificate(
    ssl: &SslRef,
    server_name: &ServerName<'_>,
    verifier: &RecordingVerifier,
) -> io::Result<()> {
    let chain: Vec<CertificateDer<'static>> = ssl.peer_cert_chain().map_or_else(Vec::new, |certificates| {
        certificates
            .iter()
            .filter_map(|certificate| certificate.to_der().ok())
            .map(CertificateDer::from)
            .collect()
    });
    let Some((leaf, intermediates)) = chain.split_first() else {
        return Err(io::Error::other("the target sent no certificate"));
    };
    verifier
        .verify_server_cert(leaf, intermediates, server_name, &[], UnixTime::now())
        .map(drop)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Returns the failure of an error of the library itself.
fn openssl_failure(error: &ErrorStack) -> Failure {
    Failure::new(Phase::Tls, FailureKind::Internal, format!("OpenSSL: {}", first_error_reason(error)))
}
