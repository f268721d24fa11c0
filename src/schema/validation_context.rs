//! What validation has to know beside the document: ids, plans and properties of the account.

use std::collections::BTreeMap;

use crate::domain::MonitorType;

/// What the rules have to know of the world. The default knows nothing and so lets everything pass that
/// can't be judged without it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ValidationContext<'a> {
    /// Ids of the locations that the account may use; `None` when they are not known.
    pub locations: Option<&'a [i64]>,
    /// The account's default locations, for monitors without their own; the first is the default home.
    pub default_locations: &'a [i64],
    /// Ids of client certificates; `None` when they are not known.
    pub client_certificates: Option<&'a [i64]>,
    /// Ids of certificate authorities; `None` when they are not known.
    pub certificate_authorities: Option<&'a [i64]>,
    /// The account's properties, by id; `None` when they are not known.
    pub properties: Option<&'a BTreeMap<i64, PropertyDefinition>>,
    /// Ids of proxies; `None` when they are not known.
    pub proxies: Option<&'a [i64]>,
    /// The profiles that `subtype` can name; `None` when they are not known.
    pub profiles: Option<&'a [i64]>,
    /// How many names there are behind `name_to_resolve_id`; `None` when they are not known.
    pub dns_names: Option<usize>,
    /// The plans of the settings; `None` when there are none, and any code will do.
    pub plans: Option<&'a [BillingPlan]>,
    /// The types that this build can probe; `None` when that is not known.
    pub supported_types: Option<&'a [MonitorType]>,
    /// The values of `use_ssl_version` that this build can speak; `None` when that is not known.
    pub supported_tls_versions: Option<&'a [&'a str]>,
    /// Whether the author is no admin: `transaction_steps_allowed` is for admins only.
    pub author_is_not_admin: bool,
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
    /// What monitors name it by.
    pub code: String,
    /// Types that it is for; empty for all.
    pub types: Vec<MonitorType>,
    /// Least interval in minutes.
    pub min_interval_minutes: i64,
    /// Most monitors under it; `None` for any number.
    pub max_monitors: Option<usize>,
    /// Monitors that are under it now.
    pub monitor_count: usize,
    /// Most locations of one monitor; `None` for any number.
    pub max_locations: Option<usize>,
}
