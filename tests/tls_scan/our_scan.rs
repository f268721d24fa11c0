//! Runs our scan and reduces it to a record.

use std::num::NonZeroU32;
use std::time::Duration;

use vigie::domain::{ScannedTlsVersion, TlsGroupKind, TlsScan, find_suite, find_tls_group};
use vigie::net::{
    ConnectionPacer, ConnectionTrace, Deadline, Endpoint, Net, NetConfig, PublicRoots, TrustConfig,
};
use vigie::protocol::tls_scan::{TlsScanOptions, scan_tls};
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::public_key::PublicKey;
use x509_parser::time::ASN1Time;

use super::certificates::NAME;
use super::record::{CertificateRecord, Record};

/// A network without the roots of the system.
pub fn net() -> Net {
    let trust_config = TrustConfig { public_roots: PublicRoots::None, ..TrustConfig::default() };
    Net::new(&NetConfig { trust_config, ..NetConfig::default() }).unwrap()
}

/// A pacer that does not wait.
pub fn fast_pacer() -> ConnectionPacer {
    ConnectionPacer::new(NonZeroU32::new(1_000_000).unwrap())
}

/// Scans the server at `port` of loopback, which is asked for the name of the certificates.
pub async fn scan(port: u16) -> TlsScan {
    let mut trace = ConnectionTrace::default();
    let endpoint = Endpoint::new("127.0.0.1", port);
    let deadline = Deadline::within(Duration::from_secs(60));
    let options = TlsScanOptions { connection_timeout: Duration::from_secs(20) };
    scan_tls(&net(), &endpoint, NAME, &fast_pacer(), options, deadline, &mut trace).await.unwrap()
}

/// Reduces a scan to what is compared.
pub fn reduce(scan: &TlsScan) -> Record {
    let mut record = Record {
        dh_prime_bits: scan.dh_prime_bits,
        alpn: scan.alpn_protocol.clone(),
        secure_renegotiation: scan.has_secure_renegotiation,
        compression: scan.has_compression,
        refuses_fallback: scan.refuses_fallback,
        extended_master_secret: scan.has_extended_master_secret,
        ocsp_stapling: scan.ocsp_response.is_some(),
        ..Record::default()
    };
    for version in &scan.versions {
        let name = version.version.name().to_owned();
        let suite_name = |number: &u16| find_suite(*number).unwrap().name.to_owned();
        let suites = version.cipher_suites.iter().map(suite_name).collect();
        record.protocols.insert(name.clone());
        record.cipher_suites.insert(name, suites);
    }
    // testssl.sh has one word for all versions: that of those before TLS 1.3, if there are any.
    let mut orders = scan.versions.iter().filter(|version| version.version < ScannedTlsVersion::Tls13);
    let order = orders.find_map(|version| version.has_server_order);
    let order = order.or_else(|| scan.versions.last().and_then(|version| version.has_server_order));
    record.cipher_order = order.map(|by_server| if by_server { "server" } else { "client" }.to_owned());
    record.curves = scan.groups.iter().filter_map(|number| openssl_curve_name(*number)).collect();
    let chains = [&scan.certificate_chain].into_iter().chain(&scan.other_certificate_chains);
    record.certificates = chains.filter(|chain| !chain.is_empty()).map(|chain| certificate(chain)).collect();
    let unnamed = if scan.default_certificate_chain.is_empty() {
        &scan.certificate_chain
    } else {
        &scan.default_certificate_chain
    };
    record.common_name_without_sni = unnamed.first().map(|der| common_name(&parse(der)));
    record
}

fn openssl_curve_name(number: u16) -> Option<String> {
    let group = find_tls_group(number)?;
    let name = match number {
        19 => "prime192v1",
        23 => "prime256v1",
        29 => "X25519",
        30 => "X448",
        _ if matches!(group.kind, TlsGroupKind::FiniteField) => return None,
        _ => group.name,
    };
    Some(name.to_owned())
}

fn parse(der: &[u8]) -> X509Certificate<'_> {
    X509Certificate::from_der(der).unwrap().1
}

fn common_name(certificate: &X509Certificate<'_>) -> String {
    certificate
        .subject()
        .iter_common_name()
        .next()
        .map(|name| name.as_str().unwrap().to_owned())
        .unwrap_or_default()
}

fn certificate(chain: &[Vec<u8>]) -> CertificateRecord {
    let parsed: Vec<_> = chain.iter().map(|der| parse(der)).collect();
    let own = &parsed[0];
    let key = match own.public_key().parsed() {
        Ok(PublicKey::RSA(key)) => format!("RSA {} bits", key.key_size()),
        Ok(PublicKey::EC(point)) => format!("EC {} bits", point.key_size()),
        _ => "EdDSA 253 bits".to_owned(),
    };
    let signature_algorithm = match own.signature_algorithm.algorithm.to_id_string().as_str() {
        "1.2.840.113549.1.1.11" => "SHA256 with RSA",
        "1.2.840.10045.4.3.2" => "ECDSA with SHA256",
        other => panic!("signature algorithm {other}"),
    };
    CertificateRecord {
        common_name: common_name(own),
        key,
        signature_algorithm: signature_algorithm.to_owned(),
        is_expired: own.validity().not_after < ASN1Time::now(),
        is_self_signed: chain.len() == 1 && own.issuer() == own.subject(),
        chain_length: chain.len(),
        is_disordered: parsed.windows(2).any(|pair| pair[0].issuer() != pair[1].subject()),
    }
}
