//! The settings of `security-scan`.

use std::num::NonZeroU16;
use std::time::Duration;

use serde::Deserialize;

use crate::domain::Severity;

/// The longest that one scan may take; `timeout` bounds each of its connections.
pub const SECURITY_SCAN_TIME_LIMIT: Duration = Duration::from_mins(10);

/// A scan of a host or site.
#[derive(Clone, Debug, Deserialize)]
pub struct SecurityScanFields<'a> {
    /// The host that is scanned, unless `url` is set.
    pub hostname: Option<&'a str>,
    /// The site that is scanned.
    pub url: Option<&'a str>,
    /// Ports that should be open; empty for the default.
    pub expected_ports: Vec<NonZeroU16>,
    /// Least severity of a finding that is an error.
    pub fail_severity: Severity,
}

impl SecurityScanFields<'_> {
    /// Returns the host that is scanned: that of `url`, or else `hostname`; without brackets.
    #[must_use]
    pub fn host(&self) -> Option<String> {
        let of_url = self
            .url
            .and_then(|url| url::Url::parse(url).ok())
            .and_then(|url| url.host_str().map(str::to_owned));
        of_url
            .or_else(|| self.hostname.map(str::to_owned))
            .map(|host| host.trim().trim_matches(['[', ']']).to_owned())
    }
}
