//! What the TLS side of the target offers, and whether its certificate is trusted.

use super::scan::Scan;
use crate::domain::{Failure, find_suite, find_tls_group};
use crate::evaluate::security::{ScanArea, TLS_NOT_SPOKEN, judge_certificates, judge_tls, judge_trust};
use crate::net::{ConnectionTrace, TlsOptions, set_reset_on_close};
use crate::protocol::tls_scan::{TlsScanOptions, scan_tls};

/// Maximum number of open questions of the scan of TLS that are kept.
const MAX_QUESTIONS: usize = 10;
/// Maximum number of certificate authorities and names that a stored chain may have.
const MAX_CERTIFICATES: usize = 5;

impl Scan<'_> {
    /// Scans the TLS server on `port`. `is_required` says whether the site is an https one.
    pub(super) async fn scan_tls_port(&mut self, port: u16, is_required: bool) {
        let mut trace = ConnectionTrace::default();
        let options = TlsScanOptions { connection_timeout: self.options.connection_timeout };
        let endpoint = self.endpoint(port);
        let host = self.options.host.clone();
        let scanned =
            scan_tls(self.cx.net, &endpoint, &host, &self.pacer, options, self.deadline, &mut trace);
        let scan = match Box::pin(scanned).await {
            Ok(scan) => scan,
            Err(failure) => return self.add_question(ScanArea::Tls, &failure.to_string()),
        };
        for question in scan.open_questions.iter().take(MAX_QUESTIONS) {
            self.add_question(ScanArea::Tls, question);
        }
        if scan.versions.is_empty() {
            if is_required && scan.open_questions.is_empty() {
                self.findings.add(&TLS_NOT_SPOKEN, format!("port {port} refuses every version of TLS"));
            }
            return;
        }
        self.facts.offered_tls_versions =
            scan.versions.iter().map(|offered| offered.version.name().to_owned()).collect();
        let mut suites: Vec<u16> =
            scan.versions.iter().flat_map(|offered| offered.cipher_suites.iter().copied()).collect();
        suites.sort_unstable();
        suites.dedup();
        self.facts.offered_tls_ciphers = suites
            .into_iter()
            .map(|number| {
                find_suite(number).map_or_else(|| format!("0x{number:04x}"), |suite| suite.name.to_owned())
            })
            .collect();
        self.facts.offered_tls_groups = scan
            .groups
            .iter()
            .map(|number| {
                find_tls_group(*number).map_or_else(|| number.to_string(), |group| group.name.to_owned())
            })
            .collect();
        judge_tls(&scan, &mut self.findings);
        let now = self.cx.clock.now();
        let ocsp_response = scan.ocsp_response.as_deref();
        judge_certificates(&scan.certificate_chain, ocsp_response, &host, now, &mut self.findings);
        for chain in &scan.other_certificate_chains {
            // The response is about the first certificate.
            judge_certificates(chain, ocsp_response, &host, now, &mut self.findings);
        }
    }

    /// Makes one verified handshake, as clients do.
    pub(super) async fn verify_certificate(&mut self, port: u16) {
        let mut trace = ConnectionTrace::default();
        let result = self.handshake(port, &mut trace).await;
        self.trace.phases.merge(&trace.phases);
        self.trace.tls_facts = trace.tls_facts.map(|mut facts| {
            facts.certificates.truncate(MAX_CERTIFICATES);
            facts
        });
        let Err(failure) = result else { return };
        if self.trace.tls_facts.is_none() {
            self.add_question(ScanArea::Tls, &failure.to_string());
        }
        judge_trust(&failure, &mut self.findings);
    }

    async fn handshake(&self, port: u16, trace: &mut ConnectionTrace) -> Result<(), Failure> {
        self.pacer.wait(self.deadline).await?;
        let deadline = self.connection_deadline();
        let stream = self.cx.net.connect(&self.endpoint(port), deadline, trace).await?;
        set_reset_on_close(&stream);
        let options = TlsOptions::default();
        let handshake = self.cx.net.tls_handshake(stream, &self.options.host, &options, deadline, trace);
        Box::pin(handshake).await.map(drop)
    }
}
