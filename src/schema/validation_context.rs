//! What validation must know besides the document: ids, plans and properties of the account.

use std::collections::BTreeMap;

use crate::domain::{MonitorId, MonitorType};

/// What the rules must know besides the document. The default knows nothing: whatever could be
/// checked only with this knowledge is accepted.
#[derive(Clone, Copy, Debug, Default)]
pub struct ValidationContext<'a> {
    /// Ids of the locations that the account may use; `None` when they are not known.
    pub location_ids: Option<&'a [i64]>,
    /// Whether locations that were made through the API are not among [`Self::location_ids`]; their ids are accepted then.
    pub stored_locations_are_unknown: bool,
    /// The account's default locations, for monitors without their own; the first is the default home.
    pub default_location_ids: &'a [i64],
    /// Ids of client certificates; `None` when they are not known.
    pub client_certificate_ids: Option<&'a [i64]>,
    /// Ids of certificate authorities; `None` when they are not known.
    pub certificate_authority_ids: Option<&'a [i64]>,
    /// The account's properties, by id; `None` when they are not known.
    pub properties: Option<&'a BTreeMap<i64, PropertyDefinition>>,
    /// Names of the hosts that report metrics, by id; `None` when they are not known.
    pub hosts: Option<&'a BTreeMap<i64, String>>,
    /// Ids of proxies; `None` when they are not known.
    pub proxy_ids: Option<&'a [i64]>,
    /// Ids of the profiles for `subtype`; `None` when they are not known.
    pub device_profile_ids: Option<&'a [i64]>,
    /// Number of names for `name_to_resolve_id`; `None` when it is not known.
    pub dns_name_count: Option<usize>,
    /// Billing plans of the settings; `None` when there are none, and any code is accepted.
    pub billing_plans: Option<&'a [BillingPlan]>,
    /// Types that this build can probe; `None` when they are not known.
    pub supported_types: Option<&'a [MonitorType]>,
    /// Values of `use_ssl_version` that this build supports; `None` when they are not known.
    pub supported_tls_versions: Option<&'a [&'a str]>,
    /// The browsers of the locations; `None` when they are not known.
    pub browsers: Option<&'a dyn BrowserLookup>,
    /// What security scans may scan; `None` when it is not known, or does not matter.
    pub security_targets: Option<&'a dyn SecurityTargetLookup>,
    /// The other monitors of the account; `None` when they are not known.
    pub monitors: Option<&'a dyn MonitorLookup>,
    /// Id of the monitor; `None` for a new one.
    pub monitor_id: Option<MonitorId>,
    /// Whether mobile monitors must name the host of their provider, since the settings name none.
    pub requires_provider_host: bool,
    /// Whether the author is not an admin: only admins set `transaction_steps_allowed`.
    pub author_is_not_admin: bool,
}

/// Knows which browsers the locations have.
pub trait BrowserLookup: std::fmt::Debug + Send + Sync {
    /// Returns why no location has the browser called `name`, and what to do, without a full stop; `None` when one has.
    fn missing_reason(&self, name: &str) -> Option<String>;
}

/// Knows what security scans may scan.
pub trait SecurityTargetLookup: std::fmt::Debug + Send + Sync {
    /// Returns why `host`, a name or an address, may not be scanned, without a full stop; `None` when it may, or when
    /// that depends on its addresses.
    fn refusal_reason(&self, host: &str) -> Option<String>;
}

/// Knows the monitors of an account.
pub trait MonitorLookup: std::fmt::Debug + Send + Sync {
    /// Returns the monitors that `id` depends on; `None` when the account has no monitor of this id.
    fn parents_of(&self, id: MonitorId) -> Option<Vec<MonitorId>>;
}

/// A property of an account with its values, by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyDefinition {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: BTreeMap<i64, String>,
}

/// Limits of a billing plan (fields.md 3, `billing_plancode`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BillingPlan {
    /// Code of the plan in monitors.
    pub code: String,
    /// Types that it covers; empty for all.
    pub monitor_types: Vec<MonitorType>,
    /// Minimum interval in minutes.
    pub min_interval_minutes: i64,
    /// Maximum number of monitors; `None` for no limit.
    pub max_monitors: Option<usize>,
    /// Current number of monitors.
    pub monitor_count: usize,
    /// Maximum number of locations of one monitor; `None` for no limit.
    pub max_locations: Option<usize>,
}
