//! One scan in progress: its target, its pace, and what it found so far.

use std::net::IpAddr;
use std::time::Duration;

use super::options::ScanOptions;
use crate::domain::{Failure, FailureKind, Phase, SecurityScanFacts};
use crate::evaluate::security::{FindingCollector, ScanArea, open_question};
use crate::net::{AddressFamily, ConnectionPacer, ConnectionTrace, Deadline, Endpoint};
use crate::probe::probe_trait::ProbeContext;

/// Time that stays for the report when a scan reaches its limit.
const REPORT_TIME: Duration = Duration::from_secs(2);
/// Maximum number of open questions that are kept.
const MAX_OPEN_QUESTIONS: usize = 50;
/// Longest text of an open question, in characters.
const MAX_QUESTION_CHARS: usize = 300;

/// A scan in progress.
pub(super) struct Scan<'a> {
    pub(super) options: &'a ScanOptions,
    pub(super) cx: ProbeContext<'a>,
    pub(super) pacer: ConnectionPacer,
    /// When the scan ends, whatever is left.
    pub(super) deadline: Deadline,
    pub(super) findings: FindingCollector,
    /// Ports, TLS versions and open questions; the findings come last.
    pub(super) facts: SecurityScanFacts,
    /// The first connections, which give the phases and the address.
    pub(super) trace: ConnectionTrace,
    /// The address that is scanned; set once the target is resolved and allowed.
    pub(super) address: Option<IpAddr>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(options: &'a ScanOptions, cx: ProbeContext<'a>) -> Self {
        let at = cx.deadline.at.checked_sub(REPORT_TIME).unwrap_or(cx.deadline.at);
        Self {
            options,
            cx,
            pacer: ConnectionPacer::new(options.settings.connections_per_second),
            deadline: Deadline { at, timeout: cx.deadline.timeout },
            findings: FindingCollector::default(),
            facts: SecurityScanFacts::default(),
            trace: ConnectionTrace::default(),
            address: None,
        }
    }

    /// Returns the deadline of one connection.
    pub(super) fn connection_deadline(&self) -> Deadline {
        let timeout = self.options.connection_timeout;
        let deadline = Deadline::within(timeout);
        if deadline.at < self.deadline.at { deadline } else { self.deadline }
    }

    /// Returns the endpoint of `port` of the address that is scanned.
    pub(super) fn endpoint(&self, port: u16) -> Endpoint {
        let mut endpoint = Endpoint::new(&self.options.host, port);
        endpoint.pinned_address = self.address;
        endpoint.address_family = AddressFamily::Any;
        endpoint
    }

    /// Records what could not be found out.
    pub(super) fn add_question(&mut self, area: ScanArea, reason: &str) {
        let question = crate::domain::truncate(
            &crate::domain::replace_control_chars(&open_question(area, reason)),
            MAX_QUESTION_CHARS,
        );
        let questions = &mut self.facts.open_questions;
        if questions.len() < MAX_OPEN_QUESTIONS && !questions.contains(&question) {
            questions.push(question);
        }
    }

    /// Resolves the target, and checks name and addresses against what may be scanned, and the egress policy.
    pub(super) async fn resolve_target(&mut self) -> Result<(), Failure> {
        let host = &self.options.host;
        let not_allowed = |reason: String| Failure::new(Phase::Prepare, FailureKind::NotConfigured, reason);
        let allowed_targets = self.options.settings.allowed_targets.as_ref();
        if let Some(allowed_targets) = allowed_targets {
            allowed_targets.check_host(host).map_err(not_allowed)?;
        }
        let deadline = self.connection_deadline();
        let addresses = self.cx.net.resolve(&self.endpoint(80), deadline, &mut self.trace).await?;
        if let Some(allowed_targets) = allowed_targets {
            allowed_targets.check_addresses(host, &addresses).map_err(not_allowed)?;
        }
        let addresses = self.cx.net.allowed_addresses(&addresses, None, &mut self.trace)?;
        self.address = addresses.first().copied();
        Ok(())
    }
}
