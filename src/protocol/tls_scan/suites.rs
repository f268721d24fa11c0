//! Finds out the accepted cipher suites of a version: offers all, leaves out what the server chose, and repeats until it
//! refuses.

use super::alert_name::{PROTOCOL_VERSION, alert_name, is_plain_refusal};
use super::answer_parser::AnswerExtent;
use super::client_hello::ClientHello;
use super::connector::{Connector, Exchange};
use super::hello_template::{groups_for, hello};
use super::server_hello::ServerHello;
use super::suite_list::suite_portions;
use crate::domain::{BulkCipher, OfferedTlsVersion, ScannedTlsVersion, find_suite};

/// A version that the server accepts.
#[derive(Debug)]
pub(super) struct AcceptedVersion {
    pub(super) offered: OfferedTlsVersion,
    /// Its first answer.
    pub(super) hello: ServerHello,
    /// Whether it answers in TLS 1.3 only to a hello with keys.
    pub(super) needs_key_shares: bool,
}

/// Asks for the suites of one version.
struct SuiteSearch<'c, 'a> {
    connector: &'c mut Connector<'a>,
    version: ScannedTlsVersion,
    groups: Vec<u16>,
    has_key_shares: bool,
    subject: String,
}

/// How a portion of suites ended.
enum PortionEnd {
    /// The rest of the portion is refused.
    Refused,
    /// The version is refused as such.
    VersionRefused,
    /// No more is to be found out about this version.
    GivenUp,
}

/// Returns what the server accepts in `version`; `None` when it refuses that version, or does not answer.
pub(super) async fn find_suites(
    connector: &mut Connector<'_>,
    version: ScannedTlsVersion,
) -> Option<AcceptedVersion> {
    let subject = format!("cipher suites of {}", version.name());
    let groups = groups_for(version);
    let mut search = SuiteSearch { connector, version, groups, has_key_shares: false, subject };
    let mut accepted = search.find_all().await;
    if accepted.is_none() && version == ScannedTlsVersion::Tls13 && !search.connector.is_stopped {
        search.has_key_shares = true;
        accepted = search.find_all().await;
    }
    accepted
}

impl SuiteSearch<'_, '_> {
    async fn find_all(&mut self) -> Option<AcceptedVersion> {
        let mut accepted = Vec::new();
        let mut first_hello = None;
        let mut portions_with_accepted = 0;
        for portion in suite_portions(self.version) {
            let count_before = accepted.len();
            let end = self.find_in_portion(portion, &mut accepted, &mut first_hello).await;
            portions_with_accepted += usize::from(accepted.len() > count_before);
            match end {
                PortionEnd::Refused => {}
                PortionEnd::VersionRefused | PortionEnd::GivenUp => break,
            }
        }
        let first_hello = first_hello?;
        let has_server_order = self.find_order(&accepted).await;
        if has_server_order == Some(true) && portions_with_accepted > 1 {
            self.sort_by_server(&mut accepted).await;
        }
        let offered = OfferedTlsVersion { version: self.version, cipher_suites: accepted, has_server_order };
        Some(AcceptedVersion { offered, hello: first_hello, needs_key_shares: self.has_key_shares })
    }

    /// Offers `remaining` again and again, without what was chosen, and appends that to `accepted`.
    async fn find_in_portion(
        &mut self,
        mut remaining: Vec<u16>,
        accepted: &mut Vec<u16>,
        first_hello: &mut Option<ServerHello>,
    ) -> PortionEnd {
        while !remaining.is_empty() {
            let chosen = match self.offer(&remaining).await {
                Exchange::Accepted(flight) => flight.hello,
                Exchange::Alert(PROTOCOL_VERSION) if accepted.is_empty() => {
                    return PortionEnd::VersionRefused;
                }
                Exchange::Alert(alert) => {
                    if accepted.is_empty() && !is_plain_refusal(alert) {
                        let reason = format!("refused with {}", alert_name(alert));
                        self.connector.questions.add(&self.subject, &reason);
                    }
                    return PortionEnd::Refused;
                }
                Exchange::Closed => {
                    if accepted.is_empty() {
                        let reason =
                            "the server closes the connection without an alert, which counts as refused";
                        self.connector.questions.add(&self.subject, reason);
                    }
                    return PortionEnd::Refused;
                }
                Exchange::Unknown => return PortionEnd::GivenUp,
            };
            if chosen.version != self.version.wire_version() {
                // A server may answer with an older version; that one is asked for by itself.
                return if accepted.is_empty() { PortionEnd::VersionRefused } else { PortionEnd::GivenUp };
            }
            let Some(index) = remaining.iter().position(|&suite| suite == chosen.suite) else {
                let reason = format!("the server chose {:#06x}, which was not offered", chosen.suite);
                self.connector.questions.add(&self.subject, &reason);
                return PortionEnd::GivenUp;
            };
            accepted.push(remaining.remove(index));
            first_hello.get_or_insert(chosen);
        }
        PortionEnd::Refused
    }

    async fn offer(&mut self, suites: &[u16]) -> Exchange {
        let hello = ClientHello {
            has_key_shares: self.has_key_shares,
            ..hello(self.version, self.connector.server_name, suites, &self.groups)
        };
        self.connector.exchange(&hello, AnswerExtent::Hello, &self.subject).await
    }

    /// Returns the suite that is chosen among `suites`; `None` when that is not known.
    async fn choose(&mut self, suites: &[u16]) -> Option<u16> {
        match self.offer(suites).await {
            Exchange::Accepted(flight) => Some(flight.hello.suite).filter(|suite| suites.contains(suite)),
            _ => None,
        }
    }

    /// Returns whether the server chooses by its own order: whether it takes another than the first one of the reverse
    /// order.
    async fn find_order(&mut self, accepted: &[u16]) -> Option<bool> {
        if accepted.len() < 2 {
            return None;
        }
        let mut reversed: Vec<u16> = accepted.iter().rev().copied().collect();
        // Servers with an order of their own may still take ChaCha20 first from a client that has it first.
        if let Some(index) = reversed[..reversed.len() - 1].iter().position(|&suite| !is_chacha(suite)) {
            reversed.swap(0, index);
        }
        Some(self.choose(&reversed).await? != reversed[0])
    }

    /// Brings suites of several portions into the order of the server.
    async fn sort_by_server(&mut self, accepted: &mut Vec<u16>) {
        let mut remaining = accepted.clone();
        let mut sorted = Vec::with_capacity(remaining.len());
        while remaining.len() > 1 {
            let Some(chosen) = self.choose(&remaining).await else { return };
            remaining.retain(|&suite| suite != chosen);
            sorted.push(chosen);
        }
        sorted.append(&mut remaining);
        *accepted = sorted;
    }
}

fn is_chacha(number: u16) -> bool {
    find_suite(number).is_some_and(|suite| suite.cipher() == BulkCipher::ChaCha20)
}
