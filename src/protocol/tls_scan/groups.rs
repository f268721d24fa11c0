//! Finds out the groups of the key exchange, and the size of primes.

use super::answer_parser::AnswerExtent;
use super::client_hello::ClientHello;
use super::connector::{Connector, Exchange};
use super::hello_template::{groups_for, hello};
use super::server_flight::ServerFlight;
use super::suites::AcceptedVersion;
use crate::domain::{KeyExchange, ScannedTlsVersion, SuiteAuthentication, find_suite};

const SUBJECT: &str = "groups of the key exchange";

/// Returns the groups that the server accepts in any of `versions`, those of TLS 1.3 first, in the order in which it
/// chose them.
pub(super) async fn find_groups(connector: &mut Connector<'_>, versions: &[AcceptedVersion]) -> Vec<u16> {
    let mut found = Vec::new();
    if let Some(version) = versions.iter().find(|version| version.offered.version == ScannedTlsVersion::Tls13)
    {
        let mut remaining = groups_for(ScannedTlsVersion::Tls13);
        take_chosen(connector, version, &version.offered.cipher_suites, &mut remaining, &mut found).await;
    }
    let Some(version) = newest_old_version(versions) else { return found };
    let suites = |authentication: Option<SuiteAuthentication>| -> Vec<u16> {
        let suites = version.offered.cipher_suites.iter().copied();
        suites.filter(|&number| is_ecdhe(number, authentication)).collect()
    };
    let all = suites(None);
    if all.is_empty() {
        return found;
    }
    // The certificate of an ECDSA suite has a curve of its own, which must be on offer too: without it nothing is
    // accepted, and with it that one may be chosen.
    let ecdsa = suites(Some(SuiteAuthentication::Ecdsa));
    let free: Vec<u16> = all.iter().copied().filter(|suite| !ecdsa.contains(suite)).collect();
    let mut remaining = groups_for(version.offered.version);
    if free.is_empty() {
        take_chosen(connector, version, &ecdsa, &mut remaining, &mut found).await;
        try_with_curve_of_certificate(connector, version, &ecdsa, &remaining, &mut found).await;
    } else {
        take_chosen(connector, version, &free, &mut remaining, &mut found).await;
    }
    found
}

/// Returns the newest version before TLS 1.3.
pub(super) fn newest_old_version(versions: &[AcceptedVersion]) -> Option<&AcceptedVersion> {
    versions.iter().rev().find(|version| version.offered.version != ScannedTlsVersion::Tls13)
}

/// Returns the bits of the smallest prime of finite-field Diffie-Hellman; `None` without such a suite.
pub(super) async fn find_dh_prime_bits(
    connector: &mut Connector<'_>,
    versions: &[AcceptedVersion],
) -> Option<u32> {
    let mut smallest = None;
    // Export suites have a prime of their own.
    for is_export in [false, true] {
        let is_wanted = |number: u16| {
            find_suite(number).is_some_and(|suite| {
                suite.key_exchange() == KeyExchange::Dhe && suite.is_export() == is_export
            })
        };
        let old_versions = versions.iter().rev();
        let mut old_versions =
            old_versions.filter(|version| version.offered.version != ScannedTlsVersion::Tls13);
        let Some(version) =
            old_versions.find(|version| version.offered.cipher_suites.iter().any(|&suite| is_wanted(suite)))
        else {
            continue;
        };
        let suites: Vec<u16> =
            version.offered.cipher_suites.iter().copied().filter(|&suite| is_wanted(suite)).collect();
        let subject = "prime of Diffie-Hellman";
        let groups = groups_for(version.offered.version);
        let hello = hello(version.offered.version, connector.server_name, &suites, &groups);
        if let Exchange::Accepted(flight) = connector.exchange(&hello, AnswerExtent::Flight, subject).await {
            let bits = flight.key_exchange.dh_prime_bits;
            smallest = smallest.into_iter().chain(bits).min();
        }
    }
    smallest
}

fn is_ecdhe(number: u16, authentication: Option<SuiteAuthentication>) -> bool {
    find_suite(number).is_some_and(|suite| {
        suite.key_exchange() == KeyExchange::Ecdhe
            && authentication.is_none_or(|wanted| suite.authentication() == wanted)
    })
}

/// Offers `remaining` again and again, without what was chosen, and moves that to `found`.
async fn take_chosen(
    connector: &mut Connector<'_>,
    version: &AcceptedVersion,
    suites: &[u16],
    remaining: &mut Vec<u16>,
    found: &mut Vec<u16>,
) {
    while !remaining.is_empty() {
        let Some(group) = choose(connector, version, suites, remaining).await else { return };
        let Some(index) = remaining.iter().position(|&offered| offered == group) else {
            let reason = format!("the server chose group {group}, which was not offered");
            connector.questions.add(SUBJECT, &reason);
            return;
        };
        remaining.remove(index);
        if !found.contains(&group) {
            found.push(group);
        }
    }
}

/// Offers each of `remaining` before the curve of the certificate, which is among `found`.
async fn try_with_curve_of_certificate(
    connector: &mut Connector<'_>,
    version: &AcceptedVersion,
    suites: &[u16],
    remaining: &[u16],
    found: &mut Vec<u16>,
) {
    const CURVES_OF_CERTIFICATES: [u16; 3] = [23, 24, 25];
    let curves: Vec<u16> = CURVES_OF_CERTIFICATES.into_iter().filter(|curve| found.contains(curve)).collect();
    for &candidate in remaining.iter().filter(|&&group| is_in_use(group)) {
        let offered = [&[candidate][..], &curves].concat();
        if choose(connector, version, suites, &offered).await == Some(candidate)
            && !found.contains(&candidate)
        {
            found.push(candidate);
        }
    }
}

/// Whether servers in use have this curve; the others are not worth a connection each.
const fn is_in_use(group: u16) -> bool {
    matches!(group, 22..=30)
}

/// Returns the group that the server chooses; `None` when it refuses, or none is named.
async fn choose(
    connector: &mut Connector<'_>,
    version: &AcceptedVersion,
    suites: &[u16],
    groups: &[u16],
) -> Option<u16> {
    let hello = ClientHello {
        has_key_shares: version.needs_key_shares,
        ..hello(version.offered.version, connector.server_name, suites, groups)
    };
    match connector.exchange(&hello, AnswerExtent::Flight, SUBJECT).await {
        Exchange::Accepted(flight) => {
            let ServerFlight { hello, key_exchange, .. } = *flight;
            hello.group.or(key_exchange.group)
        }
        _ => None,
    }
}
