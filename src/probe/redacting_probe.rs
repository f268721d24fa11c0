//! Masks the secrets of a monitor in what its probe observed, before anything else sees it, and in what is logged
//! meanwhile.

use std::sync::Arc;
use std::time::Duration;

use super::probe_trait::{AttemptFuture, Probe, ProbeContext};
use crate::domain::{FailureKind, Observation};
use crate::redaction::redactor::{Redactor, SharedRedactor};
use crate::redaction::scope::RedactionScope;

/// A probe whose observations have the secrets of its monitor masked.
pub(super) struct RedactingProbe {
    /// The probe whose observations are masked.
    pub(super) probe: Arc<dyn Probe>,
    /// Masks the secrets of the monitor.
    pub(super) redactor: Redactor,
    /// Masks the secrets of the settings.
    pub(super) settings_redactor: Arc<SharedRedactor>,
}

impl RedactingProbe {
    /// Attempts, and once more with weak cipher suites where only those may be missing.
    async fn attempt_and_retry_with_weak_suites(&self, cx: ProbeContext<'_>) -> Observation {
        let observation = self.probe.attempt(cx).await;
        if !observation.may_need_weak_suites {
            return observation;
        }
        let net = cx.net.with_weak_suites();
        let second_observation = self.probe.attempt(ProbeContext { net: &net, ..cx }).await;
        let failure_kind = second_observation.failure.as_ref().map(|failure| failure.kind);
        // A server that refuses weak suites too has another reason, which the first attempt tells.
        let explains_failure =
            second_observation.facts.tls.is_some() || failure_kind == Some(FailureKind::TargetUnsupported);
        if explains_failure { second_observation } else { observation }
    }
}

impl Probe for RedactingProbe {
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(async move {
            let settings_redactor = self.settings_redactor.current();
            let scope = RedactionScope::new([self.redactor.clone(), settings_redactor.as_ref().clone()]);
            let mut observation = scope.wrap(Box::pin(self.attempt_and_retry_with_weak_suites(cx))).await;
            self.redactor.redact_observation(&mut observation);
            if !settings_redactor.is_empty() {
                settings_redactor.redact_observation(&mut observation);
            }
            observation
        })
    }

    fn target_host(&self) -> Option<&str> {
        self.probe.target_host()
    }

    fn time_limit(&self, timeout: Duration) -> Duration {
        self.probe.time_limit(timeout)
    }
}
