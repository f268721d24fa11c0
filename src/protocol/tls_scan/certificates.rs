//! Gets the certificates of a server, with what else it sends next to them.

use super::alert_name::NO_APPLICATION_PROTOCOL;
use super::answer_parser::AnswerExtent;
use super::client_hello::ClientHello;
use super::connector::{Connector, Exchange};
use super::groups::newest_old_version;
use super::hello_template::{groups_for, hello};
use super::server_flight::ServerFlight;
use super::suites::AcceptedVersion;
use crate::domain::{KeyExchange, SuiteAuthentication, TlsScan, find_suite};
use crate::net::{IdentityRequest, PresentedIdentity};

const SUBJECT: &str = "certificate";
/// Kinds of keys that a server may have a certificate for each of.
const KEY_KINDS: [SuiteAuthentication; 4] = [
    SuiteAuthentication::Rsa,
    SuiteAuthentication::Ecdsa,
    SuiteAuthentication::Dsa,
    SuiteAuthentication::Gost,
];

/// Finds the certificates and what comes along with them, and puts all into `scan`.
pub(super) async fn find_certificates(
    connector: &mut Connector<'_>,
    versions: &[AcceptedVersion],
    scan: &mut TlsScan,
) {
    let Some(version) = newest_old_version(versions) else {
        find_in_tls13(connector, scan).await;
        return;
    };
    let suites = &version.offered.cipher_suites;
    let Some(main) = fetch_flight(connector, version, suites, connector.server_name).await else { return };
    let main_suite = main.hello.suite;
    scan.alpn_protocol = main.hello.alpn_protocol.map(|name| String::from_utf8_lossy(&name).into_owned());
    scan.certificate_chain = main.certificate_chain;
    scan.ocsp_response = main.ocsp_response;
    scan.signature_scheme = main.key_exchange.signature_scheme;
    if scan.signature_scheme.is_none() {
        scan.signature_scheme = find_signature_scheme(connector, version).await;
    }
    for kind in KEY_KINDS {
        let of_kind: Vec<u16> = suites.iter().copied().filter(|&suite| has_key_of(suite, kind)).collect();
        if of_kind.is_empty() || has_key_of(main_suite, kind) {
            continue;
        }
        if let Some(flight) = fetch_flight(connector, version, &of_kind, connector.server_name).await {
            add_other_chain(scan, flight.certificate_chain);
        }
    }
    if connector.server_name.is_some()
        && let Some(flight) = fetch_flight(connector, version, suites, None).await
        && flight.certificate_chain != scan.certificate_chain
    {
        scan.default_certificate_chain = flight.certificate_chain;
    }
}

/// Whether the server shows a certificate with a key of this kind for the suite.
fn has_key_of(suite: u16, kind: SuiteAuthentication) -> bool {
    find_suite(suite).is_some_and(|suite| suite.authentication() == kind)
}

fn add_other_chain(scan: &mut TlsScan, chain: Vec<Vec<u8>>) {
    let is_new = chain.first() != scan.certificate_chain.first()
        && !scan.other_certificate_chains.iter().any(|other| other.first() == chain.first());
    if is_new && !chain.is_empty() {
        scan.other_certificate_chains.push(chain);
    }
}

/// Returns the answer with certificates; tried again without ALPN where the server serves none of its protocols.
async fn fetch_flight(
    connector: &mut Connector<'_>,
    version: &AcceptedVersion,
    suites: &[u16],
    server_name: Option<&str>,
) -> Option<ServerFlight> {
    let groups = groups_for(version.offered.version);
    for offers_alpn in [true, false] {
        let hello = ClientHello {
            offers_alpn,
            requests_ocsp: true,
            ..hello(version.offered.version, server_name, suites, &groups)
        };
        match connector.exchange(&hello, AnswerExtent::Flight, SUBJECT).await {
            Exchange::Accepted(flight) => return Some(*flight),
            Exchange::Alert(NO_APPLICATION_PROTOCOL) => {}
            _ => return None,
        }
    }
    None
}

/// Returns the scheme of the signature of a key exchange, for servers that prefer suites without one.
async fn find_signature_scheme(connector: &mut Connector<'_>, version: &AcceptedVersion) -> Option<u16> {
    let is_signed = |number: &u16| {
        find_suite(*number).is_some_and(|suite| {
            matches!(suite.key_exchange(), KeyExchange::Dhe | KeyExchange::Ecdhe) && !suite.is_anonymous()
        })
    };
    let suites: Vec<u16> = version.offered.cipher_suites.iter().copied().filter(is_signed).collect();
    if suites.is_empty() || version.offered.cipher_suites.iter().all(is_signed) {
        return None;
    }
    let flight = fetch_flight(connector, version, &suites, connector.server_name).await?;
    flight.key_exchange.signature_scheme
}

/// Gets the certificates of a server that speaks TLS 1.3 only, where they are encrypted.
async fn find_in_tls13(connector: &mut Connector<'_>, scan: &mut TlsScan) {
    let request = IdentityRequest { server_name: connector.server_name, ..IdentityRequest::default() };
    let Some(main) = fetch_identity(connector, request).await else { return };
    scan.certificate_chain = main.chain;
    scan.ocsp_response = main.ocsp_response;
    scan.signature_scheme = main.signature_scheme;
    scan.alpn_protocol = main.alpn_protocol.map(|name| String::from_utf8_lossy(&name).into_owned());
    for accepts_rsa in [true, false] {
        let request = IdentityRequest { accepts_rsa, accepts_others: !accepts_rsa, ..request };
        if let Some(other) = fetch_identity_silently(connector, request).await {
            add_other_chain(scan, other.chain);
        }
    }
    if connector.server_name.is_some() {
        let request = IdentityRequest { server_name: None, ..request };
        if let Some(unnamed) = fetch_identity_silently(connector, request).await
            && unnamed.chain != scan.certificate_chain
        {
            scan.default_certificate_chain = unnamed.chain;
        }
    }
}

async fn fetch_identity(
    connector: &mut Connector<'_>,
    request: IdentityRequest<'_>,
) -> Option<PresentedIdentity> {
    let (stream, deadline) = connector.open_stream(SUBJECT).await?;
    let fetched = connector.net.fetch_tls13_identity(stream, request, deadline).await;
    fetched.map_err(|failure| connector.questions.add(SUBJECT, &failure.to_string())).ok()
}

/// Like [`fetch_identity`], where a refusal is an answer.
async fn fetch_identity_silently(
    connector: &mut Connector<'_>,
    request: IdentityRequest<'_>,
) -> Option<PresentedIdentity> {
    let (stream, deadline) = connector.open_stream(SUBJECT).await?;
    connector.net.fetch_tls13_identity(stream, request, deadline).await.ok()
}
