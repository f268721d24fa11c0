//! Masks the secrets of a monitor in what its probe observed, before anything else sees it, and in what is logged
//! meanwhile.

use std::sync::Arc;
use std::time::Duration;

use super::probe_trait::{AttemptFuture, Probe, ProbeContext};
use crate::redaction::redactor::{Redactor, SharedRedactor};
use crate::redaction::scope::RedactionScope;

/// A probe whose observations have the secrets of its monitor masked.
pub(super) struct RedactingProbe {
    /// The probe.
    pub(super) probe: Arc<dyn Probe>,
    /// Masks the secrets of the monitor.
    pub(super) redactor: Redactor,
    /// Masks the secrets of the settings.
    pub(super) settings_redactor: Arc<SharedRedactor>,
}

impl Probe for RedactingProbe {
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(async move {
            let settings_redactor = self.settings_redactor.current();
            let scope = RedactionScope::new([self.redactor.clone(), settings_redactor.as_ref().clone()]);
            let mut observation = scope.wrap(self.probe.attempt(cx)).await;
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
