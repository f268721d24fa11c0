//! The settings of a security scan, typed and checked.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::allowed_targets::SecurityScanSettings;
use crate::domain::Severity;
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::invalid_probe::invalid_setting;
use crate::protocol::http::client::{parse_request_url, remove_login_and_fragment};
use crate::schema::typed::security_scan::SecurityScanFields;
use crate::schema::{InvalidFieldValue, MonitorDocument};

/// Ports of a site without a URL.
const DEFAULT_PORTS: [u16; 2] = [80, 443];

/// The settings of a scan.
#[derive(Debug)]
pub(super) struct ScanOptions {
    /// Name or address of the target, without brackets.
    pub(super) host: String,
    /// The site, without credentials and fragment; `None` when only the host is known.
    pub(super) site_url: Option<Url>,
    /// Ports that should be open.
    pub(super) expected_ports: BTreeSet<u16>,
    /// Whether the monitor names none, so that these are the default.
    pub(super) has_default_ports: bool,
    /// Least severity of a finding that is an error.
    pub(super) fail_severity: Severity,
    /// Longest time of one connection.
    pub(super) connection_timeout: Duration,
    /// What may be scanned, and how fast.
    pub(super) settings: SecurityScanSettings,
    /// The `User-Agent` of requests.
    pub(super) user_agent: Arc<str>,
}

impl ScanOptions {
    pub(super) fn from_document(
        document: &MonitorDocument,
        context: &ProbeBuildContext,
    ) -> Result<Self, InvalidFieldValue> {
        let fields: SecurityScanFields<'_> = document.deserialize()?;
        let host = fields.host().ok_or_else(|| invalid_setting("hostname", "neither host nor URL is set"))?;
        let site_url = fields.url.map(parse_request_url).transpose();
        let mut site_url = site_url.map_err(|reason| invalid_setting("url", reason))?;
        if let Some(url) = &mut site_url {
            remove_login_and_fragment(url);
        }
        // Only a port that is not the usual one of the scheme: the usual sites have both.
        let port_of_url = site_url.as_ref().and_then(Url::port);
        let has_default_ports = fields.expected_ports.is_empty();
        let expected_ports = match port_of_url {
            Some(port) if has_default_ports => [port].into(),
            None if has_default_ports => DEFAULT_PORTS.into(),
            _ => fields.expected_ports.iter().copied().map(NonZeroU16::get).collect(),
        };
        Ok(Self {
            host,
            site_url,
            expected_ports,
            has_default_ports,
            fail_severity: fields.fail_severity,
            connection_timeout: Duration::from_secs(document.settings().schedule.timeout_seconds.into()),
            settings: context.security_scan.clone(),
            user_agent: Arc::clone(&context.user_agent),
        })
    }

    /// Returns the name of the target, if it has one that is in the DNS.
    pub(super) fn dns_name(&self) -> Option<&str> {
        let name = self.host.trim_end_matches('.');
        let is_name = name.parse::<IpAddr>().is_err() && name.contains('.');
        let is_local = name.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case("localhost"));
        (is_name && !is_local).then_some(name)
    }

    /// Returns the ports to try besides the usual ones: those that are expected, and that of the URL.
    pub(super) fn own_ports(&self) -> BTreeSet<u16> {
        let port_of_url = self.site_url.as_ref().and_then(Url::port_or_known_default);
        self.expected_ports.iter().copied().chain(port_of_url).collect()
    }
}
