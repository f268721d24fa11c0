//! Builds the probes of the locations that this process hosts.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use crate::agent::ProbeBuilder;
use crate::domain::MonitorId;
use crate::probe::{self, ConcurrencyClass, Probe, ProbeBuildContext, ReportSource};
use crate::schema::{Monitor, MonitorDocument};
use crate::sync::{Mutex, RwLock};
use crate::vault::Keyring;

/// Builds probes with the settings that all checks share. The locations of this process share the probe of a monitor.
#[derive(Default)]
pub struct HostProbeBuilder {
    build_context: RwLock<ProbeBuildContext>,
    /// Whether there are several locations.
    shares_probes: AtomicBool,
    shared_probes: Mutex<SharedProbes>,
}

/// The probes that are in use, by monitor.
#[derive(Default)]
struct SharedProbes {
    by_monitor: HashMap<MonitorId, SharedProbe>,
    /// Number of entries at which those without a probe are removed.
    purge_at: usize,
}

/// A probe and what it was built from. The weak reference keeps the address of the document from being used again.
struct SharedProbe {
    document: Weak<MonitorDocument>,
    certificate_warning_days: Option<u32>,
    probe: Weak<dyn Probe>,
    concurrency_class: ConcurrencyClass,
}

/// Fewest entries at which those without a probe are removed.
const MIN_PURGE_ENTRIES: usize = 1024;

impl HostProbeBuilder {
    /// Creates a builder with these settings.
    #[must_use]
    pub fn new(build_context: ProbeBuildContext) -> Self {
        Self { build_context: RwLock::new(build_context), ..Self::default() }
    }

    /// Sets the keys, which stay the same from then on.
    pub(super) fn set_keyring(&self, keyring: Arc<Keyring>) {
        self.build_context.write().keyring = Some(keyring);
    }

    /// Sets what knows the reports of hosts, which stays the same from then on.
    pub(super) fn set_report_source(&self, report_source: Arc<dyn ReportSource>) {
        self.build_context.write().report_source = Some(report_source);
    }

    /// Sets the settings for the probes that are built from now on. Keys and what was
    /// remembered stay the same.
    pub(super) fn update(&self, build_context: ProbeBuildContext) {
        let mut current = self.build_context.write();
        // Probes that were built before share it.
        current.settings_redactor.replace_by(&build_context.settings_redactor);
        *current = ProbeBuildContext {
            keyring: current.keyring.take(),
            report_source: current.report_source.take(),
            series_memory: Arc::clone(&current.series_memory),
            pattern_caches: Arc::clone(&current.pattern_caches),
            settings_redactor: Arc::clone(&current.settings_redactor),
            ..build_context
        };
        *self.shared_probes.lock() = SharedProbes::default();
    }

    /// Sets how many locations this process hosts.
    pub(super) fn set_location_count(&self, count: usize) {
        self.shares_probes.store(count > 1, Ordering::Relaxed);
    }

    fn build_probe(
        &self,
        monitor: &Monitor,
        certificate_warning_days: Option<u32>,
    ) -> (Arc<dyn Probe>, ConcurrencyClass) {
        let build_context = {
            let shared = self.build_context.read();
            ProbeBuildContext {
                certificate_warning_days: certificate_warning_days.unwrap_or(shared.certificate_warning_days),
                monitor_id: monitor.id,
                customer_id: monitor.customer,
                ..shared.clone()
            }
        };
        probe::build_probe(&monitor.document, &build_context)
    }
}

impl ProbeBuilder for HostProbeBuilder {
    fn build(
        &self,
        monitor: &Monitor,
        certificate_warning_days: Option<u32>,
    ) -> (Arc<dyn Probe>, ConcurrencyClass) {
        if !self.shares_probes.load(Ordering::Relaxed) {
            return self.build_probe(monitor, certificate_warning_days);
        }
        let mut shared_probes = self.shared_probes.lock();
        if let Some(shared) = shared_probes.find(monitor, certificate_warning_days) {
            return shared;
        }
        let (probe, concurrency_class) = self.build_probe(monitor, certificate_warning_days);
        let shared = SharedProbe {
            document: Arc::downgrade(&monitor.document),
            certificate_warning_days,
            probe: Arc::downgrade(&probe),
            concurrency_class,
        };
        shared_probes.insert(monitor.id, shared);
        (probe, concurrency_class)
    }
}

impl SharedProbes {
    fn find(
        &self,
        monitor: &Monitor,
        certificate_warning_days: Option<u32>,
    ) -> Option<(Arc<dyn Probe>, ConcurrencyClass)> {
        let shared = self.by_monitor.get(&monitor.id)?;
        let is_same = shared.document.as_ptr() == Arc::as_ptr(&monitor.document)
            && shared.certificate_warning_days == certificate_warning_days;
        is_same.then(|| shared.probe.upgrade()).flatten().map(|probe| (probe, shared.concurrency_class))
    }

    fn insert(&mut self, monitor_id: MonitorId, shared: SharedProbe) {
        if self.by_monitor.len() >= self.purge_at {
            self.by_monitor.retain(|_, shared| shared.probe.strong_count() > 0);
            self.purge_at = (2 * self.by_monitor.len()).max(MIN_PURGE_ENTRIES);
        }
        self.by_monitor.insert(monitor_id, shared);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::{CustomerId, MonitorType, Revision, Timestamp};
    use crate::schema::Origin;

    fn monitor(id: i64) -> Monitor {
        let Value::Object(fields) = json!({"hostname": "127.0.0.1", "port": 9, "interval": 5}) else {
            unreachable!()
        };
        Monitor {
            id: MonitorId(id),
            customer: CustomerId(1),
            origin: Origin::Api,
            revision: Revision(1),
            modified_at: Timestamp::default(),
            document: Arc::new(MonitorDocument::new(MonitorType::Tcp, fields).unwrap()),
            metadata: Arc::default(),
        }
    }

    #[test]
    fn several_locations_share_a_probe_while_its_document_and_the_settings_are_the_same() {
        let builder = HostProbeBuilder::default();
        let (first, second) = (monitor(1), monitor(1));
        let is_shared = |one: &Monitor, other: &Monitor, days| {
            let (built, rebuilt) = (builder.build(one, Some(14)).0, builder.build(other, Some(days)).0);
            Arc::ptr_eq(&built, &rebuilt)
        };
        assert!(!is_shared(&first, &first, 14), "one location has nothing to share");
        builder.set_location_count(2);
        assert!(is_shared(&first, &first.clone(), 14));
        assert!(!is_shared(&first, &first, 15), "other days");
        assert!(!is_shared(&first, &second, 14), "another revision");
        let before = builder.build(&first, None).0;
        builder.update(ProbeBuildContext::default());
        assert!(!Arc::ptr_eq(&before, &builder.build(&first, None).0), "other settings");
    }

    #[test]
    fn entries_of_probes_that_are_gone_are_removed() {
        let builder = HostProbeBuilder::default();
        builder.set_location_count(2);
        let kept: Vec<_> = (0..10).map(|id| builder.build(&monitor(id), None).0).collect();
        for id in 10..5000 {
            let _ = builder.build(&monitor(id), None);
        }
        let entries = builder.shared_probes.lock().by_monitor.len();
        assert!((kept.len()..=MIN_PURGE_ENTRIES).contains(&entries), "{entries}");
    }
}
