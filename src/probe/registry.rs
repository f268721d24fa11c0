//! The table of probes: a new kind needs one entry here.

use std::sync::Arc;

use super::build_context::ProbeBuildContext;
use super::probe_trait::{
    AttemptFuture, ConcurrencyClass, MonitorTypes, Probe, ProbeConstructor, ProbeContext,
};
use super::redacting_probe::RedactingProbe;
use super::{
    api_steps, browser, collection, dns, ftp, host_agent, http, mail, ping, project, security_scan, tcp,
};
use crate::domain::{Failure, FailureKind, MonitorType, Observation, Phase};
use crate::schema::MonitorDocument;

/// How to run the probe of a kind.
#[derive(Clone, Copy)]
pub struct ProbeDescriptor {
    /// The monitor types that it serves.
    pub monitor_types: MonitorTypes,
    /// How much of the host one check takes.
    pub concurrency_class: ConcurrencyClass,
    /// Builds a probe from a validated document.
    pub constructor: ProbeConstructor,
}

/// All kinds that this build can probe.
pub static PROBE_DESCRIPTORS: &[ProbeDescriptor] = &[
    ProbeDescriptor {
        monitor_types: &[MonitorType::Website, MonitorType::WebsiteSsl],
        concurrency_class: ConcurrencyClass::Light,
        constructor: http::build,
    },
    ProbeDescriptor {
        monitor_types: &[MonitorType::WebsiteApi, MonitorType::WebsiteSslApi],
        concurrency_class: ConcurrencyClass::Light,
        constructor: api_steps::build,
    },
    ProbeDescriptor {
        monitor_types: &[MonitorType::CollectionApi],
        concurrency_class: ConcurrencyClass::Light,
        constructor: collection::build,
    },
    ProbeDescriptor {
        monitor_types: &[MonitorType::BrowserScript],
        concurrency_class: ConcurrencyClass::Heavy,
        constructor: browser::build,
    },
    ProbeDescriptor {
        monitor_types: &[MonitorType::NameServer],
        concurrency_class: ConcurrencyClass::Light,
        constructor: dns::build,
    },
    ProbeDescriptor {
        monitor_types: &[MonitorType::EmailPop],
        concurrency_class: ConcurrencyClass::Light,
        constructor: mail::pop,
    },
    ProbeDescriptor {
        monitor_types: &[MonitorType::EmailRoundTrip],
        concurrency_class: ConcurrencyClass::Light,
        constructor: mail::round_trip,
    },
    ProbeDescriptor {
        monitor_types: &[MonitorType::Ping],
        concurrency_class: ConcurrencyClass::Light,
        constructor: ping::build,
    },
    ProbeDescriptor {
        monitor_types: &[MonitorType::EmailSmtp],
        concurrency_class: ConcurrencyClass::Light,
        constructor: mail::smtp,
    },
    ProbeDescriptor {
        monitor_types: &[MonitorType::EmailImap],
        concurrency_class: ConcurrencyClass::Light,
        constructor: mail::imap,
    },
    ProbeDescriptor {
        monitor_types: &[MonitorType::Ftp, MonitorType::FtpSsl],
        concurrency_class: ConcurrencyClass::Light,
        constructor: ftp::build,
    },
    ProbeDescriptor {
        monitor_types: &[MonitorType::Tcp],
        concurrency_class: ConcurrencyClass::Light,
        constructor: tcp::build,
    },
    ProbeDescriptor {
        monitor_types: &[MonitorType::HostAgent],
        concurrency_class: ConcurrencyClass::Light,
        constructor: host_agent::build,
    },
    ProbeDescriptor {
        monitor_types: &[MonitorType::ApiProject],
        concurrency_class: ConcurrencyClass::Light,
        constructor: project::build,
    },
    ProbeDescriptor {
        monitor_types: &[MonitorType::SecurityScan],
        concurrency_class: ConcurrencyClass::Light,
        constructor: security_scan::build,
    },
];

/// Returns the descriptor of `monitor_type`; `None` when this build has no probe for it.
#[must_use]
pub fn find_descriptor(monitor_type: MonitorType) -> Option<&'static ProbeDescriptor> {
    PROBE_DESCRIPTORS.iter().find(|descriptor| descriptor.monitor_types.contains(&monitor_type))
}

/// Builds the probe of `document`, and returns it with its class. What it observes has the secrets of the document
/// masked. For a kind without a probe in this build, checks
/// have the outcome unknown, status 95 (behaviour.md 4).
#[must_use]
pub fn build_probe(
    document: &MonitorDocument,
    context: &ProbeBuildContext,
) -> (Arc<dyn Probe>, ConcurrencyClass) {
    match find_descriptor(document.monitor_type()) {
        Some(descriptor) => {
            let redacting_probe = RedactingProbe {
                probe: (descriptor.constructor)(document, context),
                redactor: document.secrets_to_mask().into_redactor(),
                settings_redactor: Arc::clone(&context.settings_redactor),
            };
            (Arc::new(redacting_probe), descriptor.concurrency_class)
        }
        None => (Arc::new(UnsupportedProbe(document.monitor_type())), ConcurrencyClass::Light),
    }
}

struct UnsupportedProbe(MonitorType);

impl Probe for UnsupportedProbe {
    fn attempt<'a>(&'a self, _: ProbeContext<'a>) -> AttemptFuture<'a> {
        let failure = Failure::new(
            Phase::Prepare,
            FailureKind::ProbeUnsupported,
            format!("no probe for type `{}`", self.0),
        );
        Box::pin(std::future::ready(Observation::from_failure(failure)))
    }

    fn target_host(&self) -> Option<&str> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_in_one_entry_only() {
        let mut type_names: Vec<&str> = PROBE_DESCRIPTORS
            .iter()
            .flat_map(|descriptor| descriptor.monitor_types)
            .map(|kind| kind.name())
            .collect();
        let type_count = type_names.len();
        type_names.sort_unstable();
        type_names.dedup();
        assert_eq!(type_names.len(), type_count, "{type_names:?}");
    }
}
