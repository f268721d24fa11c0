//! The scan of a TLS server: its questions in order.

use super::certificates::find_certificates;
use super::connector::Connector;
use super::features::{find_compression, find_fallback_refusal};
use super::groups::{find_dh_prime_bits, find_groups, newest_old_version};
use super::options::TlsScanOptions;
use super::suites::find_suites;
use crate::domain::{Failure, ScannedTlsVersion, TlsScan};
use crate::net::{ConnectionPacer, ConnectionTrace, Deadline, Endpoint, Net};

/// Finds out what the TLS server at `endpoint` offers, over many short connections, each after a permit of `pacer`.
///
/// `server_name` is the name that is asked for (SNI); for an address none is sent. `trace` gets the phases and the
/// address of the first connection; all others go to the same address.
///
/// Fails when not even the first connection is established. What goes wrong later, the end of the time included, is in
/// [`TlsScan::open_questions`].
pub async fn scan_tls(
    net: &Net,
    endpoint: &Endpoint,
    server_name: &str,
    pacer: &ConnectionPacer,
    options: TlsScanOptions,
    deadline: Deadline,
    trace: &mut ConnectionTrace,
) -> Result<TlsScan, Failure> {
    let mut connector = Connector::open(net, endpoint, server_name, pacer, options, deadline, trace).await?;
    let mut versions = Vec::new();
    // The newest first: what servers have today shows at once whether there is anything.
    for version in ScannedTlsVersion::ALL.into_iter().rev() {
        versions.extend(find_suites(&mut connector, version).await);
    }
    versions.reverse();
    if versions.is_empty() && !connector.is_stopped {
        connector.questions.add("the scan", "the server refused every version and cipher suite of TLS");
    }
    let mut scan = TlsScan::default();
    if let Some(version) = newest_old_version(&versions) {
        scan.has_secure_renegotiation = Some(version.hello.has_renegotiation_info);
        scan.has_extended_master_secret = Some(version.hello.has_extended_master_secret);
    }
    if !versions.is_empty() {
        find_certificates(&mut connector, &versions, &mut scan).await;
        scan.groups = find_groups(&mut connector, &versions).await;
        scan.dh_prime_bits = find_dh_prime_bits(&mut connector, &versions).await;
        scan.has_compression = find_compression(&mut connector, &versions).await;
        scan.refuses_fallback = find_fallback_refusal(&mut connector, &versions).await;
    }
    scan.versions = versions.into_iter().map(|version| version.offered).collect();
    scan.open_questions = connector.questions.into_texts();
    Ok(scan)
}
