//! Accounts, their users, locations, properties, tests and events.

use serde::Deserialize;

use crate::domain::Role;
use crate::schema::typed::invalid_settings::InvalidSettings;
use crate::schema::typed::schedule::LocationReference;

/// An account.
#[derive(Clone, Debug, Deserialize)]
pub struct AccountSettings<'a> {
    /// What people call it.
    pub name: Option<&'a str>,
    /// Zone of window times.
    pub time_zone: &'a str,
    /// Locations of monitors without their own, the home location first.
    pub default_locations: Vec<LocationReference>,
    /// Locations that have to fail before a monitor of mode SLA (MultiPOP) alerts.
    pub multipop_threshold: MultiPopThreshold,
    /// Name at the start of alerts.
    pub brand: &'a str,
    /// Days before the end of a certificate at which warnings begin; without it the server's setting.
    pub certificate_days: Option<u32>,
}

/// The name of an account.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct CustomerSettings<'a> {
    /// What people call it.
    #[serde(default)]
    pub name: &'a str,
}

/// How many locations have to fail.
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
    /// What the user logs in as.
    pub login: &'a str,
    /// What people call the user.
    pub name: &'a str,
    /// Name of what the user may do.
    pub role: &'a str,
    /// Whether the user may log in.
    pub enabled: bool,
    /// Whether an admin locked the user.
    pub locked: bool,
}

impl UserSettings<'_> {
    /// What the user may do.
    ///
    /// # Errors
    /// A role that this build does not know.
    pub fn role(&self) -> Result<Role, InvalidSettings> {
        let wanted = || format!("it must be one of `{}`", Role::NAMES.join("`, `"));
        Role::from_name(self.role).ok_or_else(|| InvalidSettings::new("role", Some(self.role), &wanted()))
    }

    /// Whether the user may log in now.
    #[must_use]
    pub fn can_log_in(&self) -> bool {
        self.enabled && !self.locked
    }
}

/// A monitoring location.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct LocationSettings<'a> {
    /// What people call it.
    pub name: &'a str,
    /// Code of its region.
    pub region: i64,
    /// Whether it is for its account alone.
    pub private: bool,
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
    /// Its id; a new one has none yet.
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

/// Something that happened.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct EventSettings<'a> {
    /// Its type.
    pub event: &'a str,
}
