//! Converts PEM and PKCS#12 to one PEM text: the certificate, its chain, and the matching key.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::RootCertStore;
use rustls::crypto::aws_lc_rs;
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use zeroize::Zeroizing;

use super::pkcs12;

/// Maximum number of certificates in one upload.
const MAX_CERTIFICATES: usize = 100;

/// An uploaded certificate.
pub(super) enum CertificateInput {
    Pem(Zeroizing<String>),
    Pkcs12 { bytes: Vec<u8>, password: Zeroizing<String> },
}

impl CertificateInput {
    /// Returns the name of the format in responses.
    pub(super) const fn format(&self) -> &'static str {
        match self {
            Self::Pem(_) => "PEM",
            Self::Pkcs12 { .. } => "PKCS#12",
        }
    }
}

/// A parsed certificate.
pub(super) struct ParsedCertificate {
    /// The certificate itself, the first of its chain, as DER.
    pub(super) leaf_der: Vec<u8>,
    /// Number of certificates.
    pub(super) certificate_count: usize,
    /// All of it as PEM, the key last.
    pub(super) pem: Zeroizing<Vec<u8>>,
}

/// Certificates and keys of one text.
struct ChainAndKeys {
    chain: Vec<CertificateDer<'static>>,
    keys: Vec<PrivateKeyDer<'static>>,
}

/// Parses `input`. The error text starts in lower case and has no full stop.
pub(super) fn parse(
    input: &CertificateInput,
    is_client_certificate: bool,
) -> Result<ParsedCertificate, String> {
    let ChainAndKeys { mut chain, mut keys } = match input {
        CertificateInput::Pem(text) => read_pem(text)?,
        CertificateInput::Pkcs12 { bytes: archive, password } => read_pkcs12(archive, password)?,
    };
    if chain.is_empty() {
        return Err("it contains no certificate".to_owned());
    }
    if chain.len() > MAX_CERTIFICATES {
        return Err(format!(
            "it contains {} certificates; at most {MAX_CERTIFICATES} are allowed",
            chain.len()
        ));
    }
    let (_, unparsable_count) = RootCertStore::empty().add_parsable_certificates(chain.iter().cloned());
    if unparsable_count > 0 {
        return Err(format!("{unparsable_count} of its {} certificates cannot be read", chain.len()));
    }
    let key = match (is_client_certificate, keys.pop()) {
        (true, None) => return Err("it contains no private key".to_owned()),
        (true, Some(_)) if !keys.is_empty() => return Err("it contains several private keys".to_owned()),
        (true, Some(key)) => {
            let leaf_index = index_of_matching_certificate(&chain, &key)?;
            chain.swap(0, leaf_index);
            Some(key)
        }
        (false, Some(_)) => {
            return Err(
                "it contains a private key, which an authority does not need; leave it out".to_owned()
            );
        }
        (false, None) => None,
    };
    let pem = to_pem(&chain, key.as_ref());
    Ok(ParsedCertificate {
        leaf_der: chain.first().map(|leaf| leaf.to_vec()).unwrap_or_default(),
        certificate_count: chain.len(),
        pem,
    })
}

fn read_pem(text: &str) -> Result<ChainAndKeys, String> {
    let bytes = text.as_bytes();
    let chain = CertificateDer::pem_slice_iter(bytes).collect::<Result<_, _>>().map_err(|e| e.to_string())?;
    if text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED") {
        return Err("its private key is encrypted; send it without encryption, or as PKCS#12".to_owned());
    }
    // The parser's error may contain parts of the key.
    let keys = PrivateKeyDer::pem_slice_iter(bytes)
        .collect::<Result<_, _>>()
        .map_err(|_| "its private key cannot be read".to_owned())?;
    Ok(ChainAndKeys { chain, keys })
}

fn read_pkcs12(archive: &[u8], password: &str) -> Result<ChainAndKeys, String> {
    let contents = pkcs12::open_archive(archive, password)
        .ok_or_else(|| "it is not PKCS#12, or `password` is wrong".to_owned())?;
    let chain = contents.certificates.into_iter().map(CertificateDer::from).collect();
    let keys = contents.keys.iter().map(|key| PrivatePkcs8KeyDer::from(key.to_vec()).into()).collect();
    Ok(ChainAndKeys { chain, keys })
}

/// Returns the position of the certificate that matches `key`.
fn index_of_matching_certificate(
    chain: &[CertificateDer<'static>],
    key: &PrivateKeyDer<'static>,
) -> Result<usize, String> {
    let provider = aws_lc_rs::default_provider();
    let signing_key = provider
        .key_provider
        .load_private_key(key.clone_key())
        .map_err(|_| "its private key cannot be used".to_owned())?;
    let matches_key = |certificate: &CertificateDer<'static>| {
        CertifiedKey::new(vec![certificate.clone()], signing_key.clone()).keys_match().is_ok()
    };
    chain
        .iter()
        .position(matches_key)
        .ok_or_else(|| "its private key does not match its certificate".to_owned())
}

fn to_pem(chain: &[CertificateDer<'static>], key: Option<&PrivateKeyDer<'static>>) -> Zeroizing<Vec<u8>> {
    let mut text = Zeroizing::new(String::new());
    for certificate in chain {
        push_pem_block(&mut text, "CERTIFICATE", certificate);
    }
    match key {
        Some(PrivateKeyDer::Pkcs8(key)) => push_pem_block(&mut text, "PRIVATE KEY", key.secret_pkcs8_der()),
        Some(PrivateKeyDer::Pkcs1(key)) => {
            push_pem_block(&mut text, "RSA PRIVATE KEY", key.secret_pkcs1_der());
        }
        Some(PrivateKeyDer::Sec1(key)) => push_pem_block(&mut text, "EC PRIVATE KEY", key.secret_sec1_der()),
        _ => {}
    }
    Zeroizing::new(text.as_bytes().to_vec())
}

/// Appends a PEM block (RFC 7468): lines of 64 characters.
fn push_pem_block(text: &mut String, label: &str, der: &[u8]) {
    let encoded = Zeroizing::new(STANDARD.encode(der));
    let _ = writeln!(text, "-----BEGIN {label}-----");
    for line in encoded.as_bytes().chunks(64) {
        text.push_str(&String::from_utf8_lossy(line));
        text.push('\n');
    }
    let _ = writeln!(text, "-----END {label}-----");
}
