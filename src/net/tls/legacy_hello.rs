//! Finds out whether a server that refused a handshake supports only weak cipher suites of TLS 1.2: a `ClientHello`
//! that offers those, and the `ServerHello` to it (RFC 5246 7.4.1). Nothing more is exchanged.

use aws_lc_rs::rand::{SecureRandom, SystemRandom};
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::weak_suites::describe_weak_suite;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::deadline::Deadline;

/// The suites: number and IANA name, the better ones first.
const WEAK_SUITES: &[(u16, &str)] = &[
    (0xc028, "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384"),
    (0xc024, "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384"),
    (0xc027, "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256"),
    (0xc023, "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256"),
    (0xc014, "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"),
    (0xc00a, "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA"),
    (0xc013, "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"),
    (0xc009, "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"),
    (0x009f, "TLS_DHE_RSA_WITH_AES_256_GCM_SHA384"),
    (0x009e, "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256"),
    (0xccaa, "TLS_DHE_RSA_WITH_CHACHA20_POLY1305_SHA256"),
    (0x006b, "TLS_DHE_RSA_WITH_AES_256_CBC_SHA256"),
    (0x0067, "TLS_DHE_RSA_WITH_AES_128_CBC_SHA256"),
    (0x0039, "TLS_DHE_RSA_WITH_AES_256_CBC_SHA"),
    (0x0033, "TLS_DHE_RSA_WITH_AES_128_CBC_SHA"),
    (0x009d, "TLS_RSA_WITH_AES_256_GCM_SHA384"),
    (0x009c, "TLS_RSA_WITH_AES_128_GCM_SHA256"),
    (0x003d, "TLS_RSA_WITH_AES_256_CBC_SHA256"),
    (0x003c, "TLS_RSA_WITH_AES_128_CBC_SHA256"),
    (0x0035, "TLS_RSA_WITH_AES_256_CBC_SHA"),
    (0x002f, "TLS_RSA_WITH_AES_128_CBC_SHA"),
    (0xc012, "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA"),
    (0x000a, "TLS_RSA_WITH_3DES_EDE_CBC_SHA"),
    (0xc011, "TLS_ECDHE_RSA_WITH_RC4_128_SHA"),
    (0x0005, "TLS_RSA_WITH_RC4_128_SHA"),
];

/// Type of a TLS record with a handshake message.
const HANDSHAKE_RECORD: u8 = 22;
/// Type of a handshake message.
const SERVER_HELLO: u8 = 2;
/// TLS 1.2.
const VERSION: [u8; 2] = [3, 3];
/// Longest record of TLS 1.2 that is read, in bytes.
const MAX_RECORD_BYTES: usize = 16 * 1024;

/// Offers the weak suites over `stream`, and returns the failure of the handshake that ends there: unknown with the
/// suite that the server chose, or an error of the target when it chose none.
pub(super) async fn weak_suites_failure<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    server_name: &ServerName<'_>,
    deadline: Deadline,
) -> Failure {
    match deadline.enforce(Phase::Tls, exchange_hellos(&mut stream, server_name)).await {
        Err(failure) => failure,
        Ok(Some(name)) => {
            let detail = format!(
                "the target accepts only cipher suites of TLS 1.2 that this build lacks, such as {}; a build with \
                 `--features legacy-tls` checks it, with a warning",
                describe_weak_suite(name)
            );
            Failure::new(Phase::Tls, FailureKind::TargetUnsupported, detail)
        }
        Ok(None) => Failure::new(
            Phase::Tls,
            FailureKind::TlsHandshakeFailed,
            "the target refused the TLS handshake, with weak cipher suites too",
        ),
    }
}

/// Returns the name of the suite that the server chose; `None` when it refuses, or sends something else.
async fn exchange_hellos<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    server_name: &ServerName<'_>,
) -> Option<&'static str> {
    stream.write_all(&client_hello(server_name)?).await.ok()?;
    stream.flush().await.ok()?;
    let mut header = [0; 5];
    stream.read_exact(&mut header).await.ok()?;
    let length = usize::from(u16::from_be_bytes([header[3], header[4]]));
    if header[0] != HANDSHAKE_RECORD || length > MAX_RECORD_BYTES {
        return None;
    }
    let mut record = vec![0; length];
    stream.read_exact(&mut record).await.ok()?;
    chosen_suite(&record)
}

/// Returns the name of the suite in the `ServerHello` at the start of `message`.
fn chosen_suite(message: &[u8]) -> Option<&'static str> {
    // Type, length, version, random.
    let (head, rest) = message.split_at_checked(4 + 2 + 32)?;
    if head[0] != SERVER_HELLO {
        return None;
    }
    let (&session_id_length, rest) = rest.split_first()?;
    let suite = rest.get(usize::from(session_id_length)..)?.get(..2)?;
    let number = u16::from_be_bytes([suite[0], suite[1]]);
    WEAK_SUITES.iter().find(|(suite_number, _)| *suite_number == number).map(|(_, name)| *name)
}

/// Returns the record with the `ClientHello`; `None` without random numbers.
fn client_hello(server_name: &ServerName<'_>) -> Option<Vec<u8>> {
    let mut random = [0; 32];
    SystemRandom::new().fill(&mut random).ok()?;
    let suites: Vec<u8> = WEAK_SUITES.iter().flat_map(|(number, _)| number.to_be_bytes()).collect();
    let mut extensions = Vec::new();
    if let ServerName::DnsName(name) = server_name {
        let name = [&[0][..], &prefix_with_u16_length(name.as_ref().as_bytes())].concat();
        extensions.extend(extension(0, &prefix_with_u16_length(&name)));
    }
    // Groups X25519, P-256, P-384, P-521; points uncompressed.
    extensions.extend(extension(10, &prefix_with_u16_length(&[0, 29, 0, 23, 0, 24, 0, 25])));
    extensions.extend(extension(11, &[1, 0]));
    // Signatures by ECDSA, RSA-PSS and RSA, with SHA-256 to SHA-512, and with SHA-1.
    let signatures = [4, 3, 5, 3, 6, 3, 8, 4, 8, 5, 8, 6, 4, 1, 5, 1, 6, 1, 2, 1, 2, 3];
    extensions.extend(extension(13, &prefix_with_u16_length(&signatures)));
    // Extended master secret (RFC 7627), renegotiation info (RFC 5746).
    extensions.extend(extension(23, &[]));
    extensions.extend(extension(0xff01, &[0]));
    let body = [
        &VERSION[..],
        &random,
        &[0],
        &prefix_with_u16_length(&suites),
        &[1, 0],
        &prefix_with_u16_length(&extensions),
    ];
    let body = body.concat();
    let length = u32::try_from(body.len()).ok()?.to_be_bytes();
    let message = [&[1], &length[1..], &body].concat();
    Some([&[HANDSHAKE_RECORD, 3, 1][..], &prefix_with_u16_length(&message)].concat())
}

fn extension(number: u16, content: &[u8]) -> Vec<u8> {
    [&number.to_be_bytes()[..], &prefix_with_u16_length(content)].concat()
}

/// Returns `bytes` after their length in two bytes.
fn prefix_with_u16_length(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    [&length.to_be_bytes()[..], bytes].concat()
}
