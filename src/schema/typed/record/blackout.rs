//! Blackouts of monitors and recipients.

use serde::Deserialize;

/// A blackout.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct BlackoutSettings<'a> {
    /// What rests.
    #[serde(rename = "type")]
    pub kind: BlackoutKind,
    /// Whether it comes back each week.
    pub persistent: bool,
    /// First day of the week, 1 is Sunday.
    pub start_day: Option<u8>,
    /// Start, `hh:mm`.
    pub start_time: Option<&'a str>,
    /// Last day of the week, 1 is Sunday.
    pub end_day: Option<u8>,
    /// End, `hh:mm`.
    pub end_time: Option<&'a str>,
    /// Start of one that comes once.
    pub from_date: Option<&'a str>,
    /// End of one that comes once.
    pub thru_date: Option<&'a str>,
}

/// What a blackout is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum BlackoutKind {
    /// A monitor does not run.
    Monitor,
    /// A monitor does not alert.
    Alert,
    /// A recipient gets nothing.
    Notifier,
}
