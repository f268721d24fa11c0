//! Asks for compression, and whether a marked downgrade is refused.

use super::alert_name::{INAPPROPRIATE_FALLBACK, alert_name};
use super::answer_parser::AnswerExtent;
use super::client_hello::ClientHello;
use super::connector::{Connector, Exchange};
use super::groups::newest_old_version;
use super::hello_template::{groups_for, hello};
use super::suites::AcceptedVersion;

/// Returns whether the server compresses records when a client offers that.
pub(super) async fn find_compression(connector: &mut Connector<'_>, versions: &[AcceptedVersion]) -> bool {
    let Some(version) = newest_old_version(versions) else { return false };
    let groups = groups_for(version.offered.version);
    let suites = &version.offered.cipher_suites;
    let hello = ClientHello {
        offers_compression: true,
        ..hello(version.offered.version, connector.server_name, suites, &groups)
    };
    let exchange = connector.exchange(&hello, AnswerExtent::Hello, "compression").await;
    matches!(exchange, Exchange::Accepted(flight) if flight.hello.compression != 0)
}

/// Returns whether the server refuses its second newest version from a client that says that it knows a newer one
/// (RFC 7507); `None` with one version.
pub(super) async fn find_fallback_refusal(
    connector: &mut Connector<'_>,
    versions: &[AcceptedVersion],
) -> Option<bool> {
    const SUBJECT: &str = "refusal of a marked downgrade";
    let [.., version, _] = versions else { return None };
    let groups = groups_for(version.offered.version);
    let suites = &version.offered.cipher_suites;
    let hello = ClientHello {
        is_fallback: true,
        ..hello(version.offered.version, connector.server_name, suites, &groups)
    };
    match connector.exchange(&hello, AnswerExtent::Hello, SUBJECT).await {
        Exchange::Accepted(_) => Some(false),
        Exchange::Alert(INAPPROPRIATE_FALLBACK) => Some(true),
        Exchange::Alert(alert) => {
            let reason = format!("the server answers with {}", alert_name(alert));
            connector.questions.add(SUBJECT, &reason);
            None
        }
        Exchange::Closed => {
            connector.questions.add(SUBJECT, "the server closes the connection without an alert");
            None
        }
        Exchange::Unknown => None,
    }
}
