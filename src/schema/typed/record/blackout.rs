//! Blackouts of monitors and recipients.

use serde::Deserialize;

/// A blackout.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct BlackoutSettings<'a> {
    /// What the blackout suppresses.
    #[serde(rename = "type")]
    pub kind: BlackoutKind,
    /// Whether it recurs each week.
    #[serde(rename = "persistent")]
    pub recurs_weekly: bool,
    /// Day of the week on which it starts; 1 is Sunday.
    pub start_day: Option<u8>,
    /// Start, `hh:mm`.
    pub start_time: Option<&'a str>,
    /// Day of the week on which it ends; 1 is Sunday.
    pub end_day: Option<u8>,
    /// End, `hh:mm`.
    pub end_time: Option<&'a str>,
    /// Start of a one-time blackout.
    pub from_date: Option<&'a str>,
    /// End of a one-time blackout.
    pub thru_date: Option<&'a str>,
}

/// What a blackout suppresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum BlackoutKind {
    /// Runs of a monitor.
    #[serde(rename = "Monitor")]
    MonitorRuns,
    /// Alerts of a monitor.
    #[serde(rename = "Alert")]
    MonitorAlerts,
    /// Notifications to a recipient.
    #[serde(rename = "Notifier")]
    RecipientNotifications,
}
