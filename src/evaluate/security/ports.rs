//! Judges which ports of a host are open.

use std::collections::BTreeSet;

use super::finding_collector::FindingCollector;
use super::finding_table::{PORT_CLOSED, PORT_UNEXPECTED, PORTS_ALL_OPEN, VERSION_BANNER};
use super::headers::has_version;
use super::usual_ports::USUAL_PORTS;
use crate::domain::Severity;

/// A host with more unexpected open ports than this answers on nearly every port: that is one finding.
pub const MAX_PLAUSIBLE_PORTS: usize = 50;

/// What the scan of ports saw.
#[derive(Debug, Default)]
pub struct PortScan {
    /// Ports that accepted a connection.
    pub open: BTreeSet<u16>,
    /// Ports that refused it or did not answer; a port that could not be tried is in neither.
    pub closed: BTreeSet<u16>,
}

/// Returns the ports to try: the usual ones and those that are expected, in order.
#[must_use]
pub fn ports_to_scan(expected: &BTreeSet<u16>) -> BTreeSet<u16> {
    USUAL_PORTS.iter().map(|port| port.number).chain(expected.iter().copied()).collect()
}

/// Judges `scan` by the ports that are expected to be open. Of several, one is enough when the monitor names none
/// (`is_default`): a site may be on 80 or 443 alone.
pub fn judge_ports(
    scan: &PortScan,
    expected: &BTreeSet<u16>,
    is_default: bool,
    findings: &mut FindingCollector,
) {
    let unexpected: Vec<u16> = scan.open.difference(expected).copied().collect();
    if unexpected.len() > MAX_PLAUSIBLE_PORTS {
        let tried = scan.open.len() + scan.closed.len();
        findings.add(&PORTS_ALL_OPEN, format!("{} of {tried} ports accept connections", scan.open.len()));
    } else {
        for port in unexpected {
            let usual = USUAL_PORTS.iter().find(|usual| usual.number == port);
            let (service, severity) =
                usual.map_or(("unknown service", Severity::Low), |usual| (usual.service, usual.severity));
            let evidence = format!("port {port} accepts connections; usually {service}");
            findings.add_with_severity(&PORT_UNEXPECTED, severity, Some(&port.to_string()), evidence);
        }
    }
    if is_default && expected.iter().any(|port| scan.open.contains(port)) {
        return;
    }
    for port in expected.intersection(&scan.closed) {
        findings.add_about(&PORT_CLOSED, &port.to_string(), format!("port {port} accepts no connection"));
    }
}

/// Judges the greeting of a service, such as `SSH-2.0-OpenSSH_9.2p1`.
pub fn judge_greeting(port: u16, greeting: &str, findings: &mut FindingCollector) {
    // The version of the protocol is no secret.
    let software = greeting.strip_prefix("SSH-2.0-").unwrap_or(greeting);
    if has_version(software) {
        findings.add_about(&VERSION_BANNER, &format!("port {port}"), format!("`{greeting}`"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(open: &[u16], closed: &[u16], expected: &[u16], is_default: bool) -> Vec<(String, Severity)> {
        let set = |ports: &[u16]| ports.iter().copied().collect::<BTreeSet<u16>>();
        let mut findings = FindingCollector::default();
        let scan = PortScan { open: set(open), closed: set(closed) };
        judge_ports(&scan, &set(expected), is_default, &mut findings);
        findings.into_findings().0.into_iter().map(|finding| (finding.label(), finding.severity)).collect()
    }

    #[test]
    fn open_ports_are_findings_unless_expected() {
        assert_eq!(found(&[80, 443], &[], &[80, 443], true), []);
        assert_eq!(
            found(&[22, 443, 3306, 8099], &[], &[443], false),
            [
                ("port-unexpected (3306)".into(), Severity::High),
                ("port-unexpected (22)".into(), Severity::Low),
                ("port-unexpected (8099)".into(), Severity::Low),
            ]
        );
        assert_eq!(found(&[22, 443], &[], &[22, 443], false), []);
    }

    #[test]
    fn expected_ports_must_be_open_and_one_default_is_enough() {
        assert_eq!(found(&[443], &[80], &[80, 443], true), []);
        assert_eq!(
            found(&[443], &[80], &[80, 443], false),
            [("port-expected-closed (80)".into(), Severity::Medium)]
        );
        assert_eq!(found(&[], &[80, 443], &[80, 443], true).len(), 2);
        assert_eq!(found(&[443], &[], &[80, 443], false), [], "a port that was not tried is unknown");
    }

    #[test]
    fn a_host_that_answers_everywhere_is_one_finding() {
        let all: Vec<u16> = USUAL_PORTS.iter().map(|port| port.number).collect();
        assert_eq!(found(&all, &[], &[80, 443], true), [("ports-all-open".into(), Severity::Medium)]);
        let some: Vec<u16> =
            all.iter().copied().filter(|port| *port != 80).take(MAX_PLAUSIBLE_PORTS).collect();
        assert_eq!(found(&some, &[], &[80], false).len(), MAX_PLAUSIBLE_PORTS);
    }

    #[test]
    fn expected_ports_are_tried_too() {
        let ports = ports_to_scan(&[443, 50_000].into());
        assert_eq!((ports.len(), ports.contains(&50_000)), (101, true));
    }

    #[test]
    fn greetings_tell_versions() {
        let discloses = |greeting: &str| {
            let mut findings = FindingCollector::default();
            judge_greeting(22, greeting, &mut findings);
            !findings.into_findings().0.is_empty()
        };
        assert!(discloses("SSH-2.0-OpenSSH_9.2p1 Debian-2") && discloses("220 (vsFTPd 3.0.3)"));
        assert!(!discloses("SSH-2.0-OpenSSH") && !discloses("220 mail.a.test ESMTP Postfix"));
    }
}
