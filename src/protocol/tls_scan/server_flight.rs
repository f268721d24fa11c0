//! Parses what follows the `ServerHello` up to TLS 1.2: certificates, OCSP response and key exchange.

use super::byte_reader::ByteReader;
use super::malformed::Malformed;
use super::server_hello::ServerHello;
use crate::domain::{KeyExchange, ScannedTlsVersion, SuiteAuthentication, find_suite};

/// Most certificates of a chain.
const MAX_CERTIFICATES: usize = 20;
/// Type of an OCSP response in `CertificateStatus`.
const OCSP: u8 = 1;
/// Kind of a curve with a number of its own (RFC 8422 5.4).
const NAMED_CURVE: u8 = 3;

/// The messages of a server until it waits for the client. In TLS 1.3 the first one is all that is readable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerFlight {
    /// What it chose.
    pub hello: ServerHello,
    /// The certificates in DER as sent.
    pub certificate_chain: Vec<Vec<u8>>,
    /// The stapled OCSP response in DER.
    pub ocsp_response: Option<Vec<u8>>,
    /// What it sent for the exchange of keys, as far as its kind is known.
    pub key_exchange: ServerKeyExchange,
}

/// The parameters of a `ServerKeyExchange`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerKeyExchange {
    /// Number of the curve.
    pub group: Option<u16>,
    /// Bits of the prime of finite-field Diffie-Hellman.
    pub dh_prime_bits: Option<u32>,
    /// Scheme of the signature (TLS 1.2).
    pub signature_scheme: Option<u16>,
}

/// Parses the body of `Certificate` (RFC 5246 7.4.2). Fails when it has more than [`MAX_CERTIFICATES`].
pub(super) fn parse_certificates(body: &[u8]) -> Result<Vec<Vec<u8>>, Malformed> {
    let mut reader = ByteReader(body);
    let list = reader.vector24().filter(|_| reader.is_empty()).ok_or(Malformed("Certificate"))?;
    let mut reader = ByteReader(list);
    let mut certificates = Vec::new();
    while !reader.is_empty() {
        let certificate = reader.vector24().ok_or(Malformed("a certificate"))?;
        if certificates.len() == MAX_CERTIFICATES {
            return Err(Malformed("the number of certificates (more than 20)"));
        }
        certificates.push(certificate.to_vec());
    }
    Ok(certificates)
}

/// Parses the body of `CertificateStatus` (RFC 6066 8); `None` for a response of another kind.
pub(super) fn parse_certificate_status(body: &[u8]) -> Result<Option<Vec<u8>>, Malformed> {
    let mut reader = ByteReader(body);
    match reader.u8() {
        Some(OCSP) => {}
        Some(_) => return Ok(None),
        None => return Err(Malformed("CertificateStatus")),
    }
    let response = reader.vector24().filter(|_| reader.is_empty()).ok_or(Malformed("CertificateStatus"))?;
    Ok((!response.is_empty()).then(|| response.to_vec()))
}

/// Parses the body of `ServerKeyExchange` for the suite that `hello` chose (RFC 5246 7.4.3, RFC 8422 5.4, RFC 4279).
/// That of a suite of another kind is left unread.
pub(super) fn parse_key_exchange(hello: &ServerHello, body: &[u8]) -> Result<ServerKeyExchange, Malformed> {
    let Some(suite) = find_suite(hello.suite) else { return Ok(ServerKeyExchange::default()) };
    let mut reader = ByteReader(body);
    let authentication = suite.authentication();
    let is_psk = authentication == SuiteAuthentication::SharedSecret;
    let parsed = match suite.key_exchange() {
        KeyExchange::Ecdhe => parse_curve(&mut reader, is_psk),
        KeyExchange::Dhe => parse_prime(&mut reader, is_psk),
        _ => return Ok(ServerKeyExchange::default()),
    };
    let mut parsed = parsed.ok_or(Malformed("ServerKeyExchange"))?;
    let is_signed = !is_psk && authentication != SuiteAuthentication::Anonymous;
    // After an explicit curve, of which nobody knows the length here, the rest is not read.
    let is_read = parsed.group.is_some() || parsed.dh_prime_bits.is_some();
    if is_signed && is_read && hello.version == ScannedTlsVersion::Tls12.wire_version() {
        let scheme = reader.u16().filter(|_| reader.vector16().is_some());
        parsed.signature_scheme = Some(scheme.ok_or(Malformed("the signature of ServerKeyExchange"))?);
    }
    Ok(parsed)
}

fn parse_curve(reader: &mut ByteReader<'_>, is_psk: bool) -> Option<ServerKeyExchange> {
    if is_psk {
        reader.vector16()?;
    }
    if reader.u8()? != NAMED_CURVE {
        return Some(ServerKeyExchange::default());
    }
    let group = reader.u16()?;
    reader.vector8()?;
    Some(ServerKeyExchange { group: Some(group), ..ServerKeyExchange::default() })
}

fn parse_prime(reader: &mut ByteReader<'_>, is_psk: bool) -> Option<ServerKeyExchange> {
    if is_psk {
        reader.vector16()?;
    }
    let prime = reader.vector16()?;
    reader.vector16()?;
    reader.vector16()?;
    Some(ServerKeyExchange { dh_prime_bits: Some(bit_length(prime)), ..ServerKeyExchange::default() })
}

/// Returns the number of bits of the number in `bytes`, the highest byte first.
fn bit_length(bytes: &[u8]) -> u32 {
    let Some(first) = bytes.iter().position(|&byte| byte != 0) else { return 0 };
    // At most 64 KiB, since its length has two bytes.
    let length = u32::try_from(bytes.len() - first).unwrap_or_default();
    length * 8 - bytes[first].leading_zeros()
}
