//! The probe of security scans.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::options::ScanOptions;
use super::scan::Scan;
use crate::domain::{Failure, FailureKind, Observation};
use crate::evaluate::security::{DnsScan, ScanArea, judge_dns};
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::cancellation::until_cancelled;
use crate::probe::invalid_probe::InvalidProbe;
use crate::probe::probe_trait::{AttemptFuture, Probe, ProbeContext};
use crate::schema::MonitorDocument;
use crate::schema::typed::security_scan::SECURITY_SCAN_TIME_LIMIT;

/// Builds the probe of a `security-scan` monitor.
#[must_use]
pub fn build(document: &MonitorDocument, context: &ProbeBuildContext) -> Arc<dyn Probe> {
    match ScanOptions::from_document(document, context) {
        Ok(options) => Arc::new(SecurityScanProbe { options }),
        Err(error) => Arc::new(InvalidProbe::from(error)),
    }
}

struct SecurityScanProbe {
    options: ScanOptions,
}

impl SecurityScanProbe {
    async fn scan_target(&self, cx: ProbeContext<'_>) -> Observation {
        let started = Instant::now();
        let mut scan = Scan::new(&self.options, cx);
        let cancelled = until_cancelled(cx, pin!(scan.run())).await;
        match cancelled {
            Ok(result) => scan.into_observation(result, started.elapsed()),
            // Half a scan would make findings look gone.
            Err(failure) => Observation { duration: started.elapsed(), ..Observation::from_failure(failure) },
        }
    }
}

impl Scan<'_> {
    /// Runs the parts of the scan, one after the other.
    ///
    /// # Errors
    /// When the target may not be scanned, or cannot be reached at all.
    async fn run(&mut self) -> Result<(), Failure> {
        if let Err(failure) = self.resolve_target().await {
            self.judge_unresolved(&failure).await;
            return Err(failure);
        }
        self.scan_ports().await?;
        let site_url = self.site_url();
        let tls_port = match &site_url {
            Some(url) if url.scheme() == "https" => url.port_or_known_default(),
            _ => Some(443).filter(|port| self.facts.open_ports.contains(port)),
        };
        if let Some(port) = tls_port {
            let is_required = site_url.as_ref().is_some_and(|url| url.scheme() == "https");
            self.scan_tls_port(port, is_required).await;
            self.verify_certificate(port).await;
        }
        if let Some(url) = site_url {
            self.scan_site(&url).await;
        }
        if let Some(name) = self.options.dns_name() {
            self.scan_dns(name).await;
        }
        Ok(())
    }

    /// Finds out whether a name that does not resolve is an alias of one that is gone, which anybody may register.
    async fn judge_unresolved(&mut self, failure: &Failure) {
        if !matches!(failure.kind, FailureKind::NameNotFound | FailureKind::NameWithoutAddress) {
            return;
        }
        let Some(name) = self.options.dns_name() else { return };
        if let Some(target) = self.find_dangling_target(name).await {
            let scan = DnsScan {
                name: name.to_owned(),
                domain: name.to_owned(),
                dangling_target: Some(target),
                ..DnsScan::default()
            };
            judge_dns(&scan, &mut self.findings);
            // Nothing else was looked at, so nothing else is gone.
            for area in [ScanArea::Ports, ScanArea::Tls, ScanArea::Web] {
                self.add_question(area, "the name does not resolve");
            }
        }
    }
}

impl Probe for SecurityScanProbe {
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(self.scan_target(cx))
    }

    fn target_host(&self) -> Option<&str> {
        Some(&self.options.host)
    }

    fn time_limit(&self, _: Duration) -> Duration {
        SECURITY_SCAN_TIME_LIMIT
    }
}
