//! The table of kinds: adding a kind is one line here.

use std::sync::Arc;

use super::contract::{AttemptFuture, BuildProbe, MonitorTypes, Probe, ProbeContext, Weight};
use super::settings::ProbeSettings;
use super::{api_steps, browser, dns, ftp, http, mail, ping, tcp};
use crate::domain::{Failure, FailureKind, MonitorType, Observation, Phase};
use crate::schema::MonitorDocument;

/// What the engine has to know of a kind before it runs one.
#[derive(Clone, Copy)]
pub struct ProbeDescriptor {
    /// The monitor types that it serves.
    pub kinds: MonitorTypes,
    /// How much of the host one check takes.
    pub weight: Weight,
    /// Makes a probe of a validated document.
    pub build: BuildProbe,
}

/// Every kind that this build can probe.
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

/// The descriptor of `kind`; `None` when this build has no probe for it.
#[must_use]
pub fn descriptor(kind: MonitorType) -> Option<&'static ProbeDescriptor> {
    REGISTRY.iter().find(|descriptor| descriptor.kinds.contains(&kind))
}

/// The probe of `document`, with its weight. A kind without a probe in this build gets one whose
/// checks say so: outcome unknown, status 95 (behaviour.md 4).
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
    fn no_type_stands_in_two_lines_of_the_table() {
        let mut kinds: Vec<&str> =
            REGISTRY.iter().flat_map(|line| line.kinds).map(|kind| kind.name()).collect();
        let lines = kinds.len();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), lines, "{kinds:?}");
    }
}
