//! Settings for alerts of a monitor.

use serde::Deserialize;

use crate::evaluate::certificate::ExpiryRule;
use crate::evaluate::page_comparison::PageComparisonRule;

/// Alerts of a failing check: for every type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct AlertingSettings {
    /// Whether errors, clears, missing data and traceroutes alert.
    pub notify_on_error: bool,
    /// Whether a traceroute runs when the target cannot be reached.
    pub traceroute_on_error: bool,
}

/// Loading and comparison of full pages: for types that load pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct FullPageSettings {
    /// Minutes between two full pages; negative for never.
    #[serde(rename = "interval_fullpage")]
    pub interval_minutes: i16,
    /// Seconds that one object of the page may take.
    #[serde(rename = "fullpage_object_timeout")]
    pub object_timeout_seconds: u16,
    /// Whether a change of the set of objects is checked.
    pub check_fullpage_missing_objects: bool,
    /// Whether a change of the sizes of objects is checked.
    pub check_fullpage_object_sizes: bool,
    /// Whether problems of the full page are errors and not warnings.
    pub notify_on_fullpage_errors: bool,
    /// Whether a change of the page alerts.
    pub notify_on_content_change: bool,
}

impl FullPageSettings {
    /// Returns the rule for comparing full pages; `None` when nothing is compared.
    #[must_use]
    pub fn comparison_rule(&self, tolerance_percent: u32) -> Option<PageComparisonRule> {
        let (objects, sizes) = (self.check_fullpage_missing_objects, self.check_fullpage_object_sizes);
        let changes_are_errors = self.notify_on_fullpage_errors;
        (objects || sizes).then_some(PageComparisonRule {
            reports_missing_and_new: objects,
            reports_changed_sizes: sizes,
            tolerance_percent,
            changes_are_errors,
        })
    }
}

/// Checks of certificate dates: for websites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct CertificateDateSettings {
    /// Which dates of certificates are checked.
    pub check_ssl_expiration_dates: CertificateDateCheck,
    /// Days before it expires at which a certificate is expiring; `None` for those of the account.
    pub certificate_days: Option<u32>,
}

impl CertificateDateSettings {
    /// Returns the rule; the account's `warning_days` count unless the monitor has its own.
    #[must_use]
    pub fn expiry_rule(&self, warning_days: u32) -> ExpiryRule {
        self.check_ssl_expiration_dates.expiry_rule(self.certificate_days.unwrap_or(warning_days))
    }
}

/// Which dates of certificates are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum CertificateDateCheck {
    /// None.
    #[default]
    Disabled,
    /// Expiry dates in the past.
    Expired,
    /// Expiry dates in the past or near future.
    Expiring,
}

impl CertificateDateCheck {
    /// Returns the rule; a date is near when it is at most `warning_days` away.
    #[must_use]
    const fn expiry_rule(self, warning_days: u32) -> ExpiryRule {
        match self {
            Self::Disabled => ExpiryRule::Disabled,
            Self::Expired => ExpiryRule::Expired,
            Self::Expiring => ExpiryRule::Expiring { days: warning_days },
        }
    }
}
