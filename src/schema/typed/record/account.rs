//! Accounts, their users, locations, properties, tests and events.

use serde::Deserialize;

use crate::domain::Role;
use crate::schema::typed::invalid_settings::InvalidFieldValue;
use crate::schema::typed::schedule::LocationReference;

/// An account.
#[derive(Clone, Debug, Deserialize)]
pub struct AccountSettings<'a> {
    /// Display name.
    pub name: Option<&'a str>,
    /// Time zone of the local times of blackouts and operating periods.
    pub time_zone: &'a str,
    /// Locations of monitors that list no locations themselves; the first one is the home location.
    pub default_locations: Vec<LocationReference>,
    /// Number of locations that must fail before a monitor of mode SLA (MultiPOP) alerts.
    pub multipop_threshold: MultiPopThreshold,
    /// Name at the start of alerts.
    pub brand: &'a str,
    /// Language of built-in messages.
    pub language: &'a str,
    /// Days before the expiry of a certificate at which warnings start; `None` for the setting of the server.
    #[serde(rename = "certificate_days")]
    pub certificate_warning_days: Option<u32>,
}

/// The name of an account.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct AccountNameSettings<'a> {
    /// Display name.
    #[serde(default)]
    pub name: &'a str,
}

/// Number of locations that must fail before an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum MultiPopThreshold {
    /// One.
    #[serde(rename = "1")]
    One,
    /// Two.
    #[serde(rename = "2")]
    Two,
    /// Three.
    #[serde(rename = "3")]
    Three,
    /// All.
    #[serde(rename = "all")]
    All,
}

/// A user.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct UserSettings<'a> {
    /// Login name.
    pub login: &'a str,
    /// Display name.
    pub name: &'a str,
    /// Name of the role.
    #[serde(rename = "role")]
    pub role_name: &'a str,
    /// Whether the user may log in.
    pub enabled: bool,
    /// Whether an admin locked the user.
    pub locked: bool,
}

impl UserSettings<'_> {
    /// Returns the role.
    ///
    /// # Errors
    /// A role that this build does not know.
    pub fn role(&self) -> Result<Role, InvalidFieldValue> {
        let expected = || format!("it must be one of `{}`", Role::NAMES.join("`, `"));
        Role::from_name(self.role_name)
            .ok_or_else(|| InvalidFieldValue::new("role", Some(self.role_name), &expected()))
    }

    /// Whether the user may log in now.
    #[must_use]
    pub fn can_log_in(&self) -> bool {
        self.enabled && !self.locked
    }
}

/// A host that reports metrics.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct HostSettings<'a> {
    /// Its name.
    pub name: &'a str,
    /// What is pinged when it is silent.
    pub address: Option<&'a str>,
    /// Seconds between two reports.
    #[serde(rename = "report_seconds")]
    pub report_interval_s: u32,
    /// Page of its metrics.
    pub metrics_url: Option<&'a str>,
}

/// A monitoring location.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct LocationSettings<'a> {
    /// Display name.
    pub name: &'a str,
    /// Code of its region.
    pub region: i64,
    /// Whether only its own account may use it.
    pub private: bool,
    /// Whether it verifies failures of monitors that do not run there. Records of earlier versions lack it.
    #[serde(default)]
    pub verifies: bool,
}

/// An agent on another host.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct AgentSettings<'a> {
    /// Display name.
    pub name: &'a str,
    /// Its key of NATS.
    pub public_key: &'a str,
    /// Its X25519 key.
    pub exchange_key: &'a str,
    /// Version of its program.
    pub version: &'a str,
    /// Number of the newest data key that it reported.
    pub data_key: i64,
    /// When it was revoked.
    pub revoked_at: Option<&'a str>,
}

/// A data key of a location.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct LocationKeySettings {
    /// Its number in the location.
    pub number: i64,
}

/// A custom property with its values.
#[derive(Clone, Debug, Deserialize)]
pub struct PropertySettings<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its values.
    #[serde(borrow)]
    pub values: Vec<PropertyValueSettings<'a>>,
}

/// A value of a property.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct PropertyValueSettings<'a> {
    /// Id; `None` for a new value.
    pub id: Option<i64>,
    /// Its text.
    pub value: &'a str,
}

/// A test on demand.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct TestSettings {
    /// 1 running, 2 succeeded, 3 failed.
    pub progress: u8,
}

/// A share of a result.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ShareSettings<'a> {
    /// Id of the result.
    pub result_id: &'a str,
    /// Name of the monitor in the result.
    pub monitor_name: &'a str,
    /// When the link ends.
    pub expires_at: &'a str,
}

/// An event.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ReportedEvent<'a> {
    /// Its type.
    #[serde(rename = "event")]
    pub event_type: &'a str,
}

/// A saved view of the list of monitors.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ViewSettings<'a> {
    /// Display name.
    pub name: &'a str,
    /// As in the address of the list, behind the `?`.
    pub query: &'a str,
    /// Whether everybody of the account sees it.
    pub shared: bool,
}
