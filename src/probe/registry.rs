//! The table of probes: a new kind needs one entry here.

use std::sync::Arc;

use super::contract::{AttemptFuture, BuildProbe, MonitorTypes, Probe, ProbeContext, Weight};
use super::settings::ProbeSettings;
use super::{api_steps, browser, dns, ftp, http, mail, ping, tcp};
use crate::domain::{Failure, FailureKind, MonitorType, Observation, Phase};
use crate::schema::MonitorDocument;

/// How to run the probe of a kind.
#[derive(Clone, Copy)]
pub struct ProbeDescriptor {
    /// The monitor types that it serves.
    pub kinds: MonitorTypes,
    /// How much of the host one check takes.
    pub weight: Weight,
    /// Builds a probe from a validated document.
    pub build: BuildProbe,
}

/// All kinds that this build can probe.
pub static REGISTRY: &[ProbeDescriptor] = &[
    ProbeDescriptor {
        kinds: &[MonitorType::Website, MonitorType::WebsiteSsl],
        weight: Weight::Light,
        build: http::build,
    },
    ProbeDescriptor {
        kinds: &[MonitorType::WebsiteApi, MonitorType::WebsiteSslApi],
        weight: Weight::Light,
        build: api_steps::build,
    },
    ProbeDescriptor { kinds: &[MonitorType::BrowserScript], weight: Weight::Heavy, build: browser::build },
    ProbeDescriptor { kinds: &[MonitorType::NameServer], weight: Weight::Light, build: dns::build },
    ProbeDescriptor { kinds: &[MonitorType::EmailPop], weight: Weight::Light, build: mail::pop },
    ProbeDescriptor { kinds: &[MonitorType::EmailRoundTrip], weight: Weight::Light, build: mail::round_trip },
    ProbeDescriptor { kinds: &[MonitorType::Ping], weight: Weight::Light, build: ping::build },
    ProbeDescriptor { kinds: &[MonitorType::EmailSmtp], weight: Weight::Light, build: mail::smtp },
    ProbeDescriptor { kinds: &[MonitorType::EmailImap], weight: Weight::Light, build: mail::imap },
    ProbeDescriptor {
        kinds: &[MonitorType::Ftp, MonitorType::FtpSsl],
        weight: Weight::Light,
        build: ftp::build,
    },
    ProbeDescriptor { kinds: &[MonitorType::Tcp], weight: Weight::Light, build: tcp::build },
];

/// Returns the descriptor of `kind`; `None` when this build has no probe for it.
#[must_use]
pub fn descriptor(kind: MonitorType) -> Option<&'static ProbeDescriptor> {
    REGISTRY.iter().find(|descriptor| descriptor.kinds.contains(&kind))
}

/// Builds the probe of `document`, and returns it with its weight. For a kind without a probe in this build, checks
/// have the outcome unknown, status 95 (behaviour.md 4).
#[must_use]
pub fn build(document: &MonitorDocument, settings: &ProbeSettings) -> (Arc<dyn Probe>, Weight) {
    match descriptor(document.monitor_type()) {
        Some(descriptor) => ((descriptor.build)(document, settings), descriptor.weight),
        None => (Arc::new(UnsupportedProbe(document.monitor_type())), Weight::Light),
    }
}

struct UnsupportedProbe(MonitorType);

impl Probe for UnsupportedProbe {
    fn attempt<'a>(&'a self, _: ProbeContext<'a>) -> AttemptFuture<'a> {
        let failure =
            Failure::new(Phase::Prepare, FailureKind::Unsupported, format!("no probe for type `{}`", self.0));
        Box::pin(std::future::ready(Observation::from_failure(failure)))
    }

    fn target(&self) -> Option<&str> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_in_one_entry_only() {
        let mut kinds: Vec<&str> =
            REGISTRY.iter().flat_map(|line| line.kinds).map(|kind| kind.name()).collect();
        let lines = kinds.len();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), lines, "{kinds:?}");
    }
}
