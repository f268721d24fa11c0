//! The table of kinds: adding a kind is one line here.

use std::sync::Arc;

use super::contract::{Attempting, Build, Context, Kinds, Probe, Weight};
use super::settings::ProbeSettings;
use super::{api_steps, browser, dns, ftp, http, mail, ping, tcp};
use crate::domain::{Failure, FailureKind, MonitorType, Observation, Phase};
use crate::schema::Document;

/// What the engine has to know of a kind before it runs one.
#[derive(Clone, Copy)]
pub struct Descriptor {
    /// The monitor types that it serves.
    pub kinds: Kinds,
    /// How much of the host one check takes.
    pub weight: Weight,
    /// Makes a probe of a validated document.
    pub build: Build,
}

/// Every kind that this build can probe.
pub static REGISTRY: &[Descriptor] = &[
    Descriptor {
        kinds: &[MonitorType::Website, MonitorType::WebsiteSsl],
        weight: Weight::Light,
        build: http::build,
    },
    Descriptor {
        kinds: &[MonitorType::WebsiteApi, MonitorType::WebsiteSslApi],
        weight: Weight::Light,
        build: api_steps::build,
    },
    Descriptor { kinds: &[MonitorType::BrowserScript], weight: Weight::Heavy, build: browser::build },
    Descriptor { kinds: &[MonitorType::NameServer], weight: Weight::Light, build: dns::build },
    Descriptor { kinds: &[MonitorType::EmailPop], weight: Weight::Light, build: mail::pop },
    Descriptor { kinds: &[MonitorType::EmailRoundTrip], weight: Weight::Light, build: mail::round_trip },
    Descriptor { kinds: &[MonitorType::Ping], weight: Weight::Light, build: ping::build },
    Descriptor { kinds: &[MonitorType::EmailSmtp], weight: Weight::Light, build: mail::smtp },
    Descriptor { kinds: &[MonitorType::EmailImap], weight: Weight::Light, build: mail::imap },
    Descriptor { kinds: &[MonitorType::Ftp, MonitorType::FtpSsl], weight: Weight::Light, build: ftp::build },
    Descriptor { kinds: &[MonitorType::Tcp], weight: Weight::Light, build: tcp::build },
];

/// The descriptor of `kind`; `None` when this build has no probe for it.
#[must_use]
pub fn descriptor(kind: MonitorType) -> Option<&'static Descriptor> {
    REGISTRY.iter().find(|descriptor| descriptor.kinds.contains(&kind))
}

/// The probe of `document`, with its weight. A kind without a probe in this build gets one whose
/// checks say so: outcome unknown, status 95 (behaviour.md 4).
#[must_use]
pub fn build(document: &Document, settings: &ProbeSettings) -> (Arc<dyn Probe>, Weight) {
    match descriptor(document.kind()) {
        Some(descriptor) => ((descriptor.build)(document, settings), descriptor.weight),
        None => (Arc::new(Absent(document.kind())), Weight::Light),
    }
}

struct Absent(MonitorType);

impl Probe for Absent {
    fn attempt<'a>(&'a self, _: Context<'a>) -> Attempting<'a> {
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
