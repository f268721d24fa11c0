//! What a location needs of an account: the blackouts of its monitors.

use std::sync::Arc;

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use prost::Message;

use super::error::MessageError;
use super::field::FieldOf;
use super::message_kind::MessageKind;
use crate::bus::contract::AssignedAccount;
use crate::domain::{CustomerId, MonitorId};
use crate::schedule::{BlackoutCalendar, BlackoutTarget, BlackoutWindow, TimeWindow};

/// An account.
#[derive(Clone, PartialEq, Message)]
pub struct AccountMessage {
    /// Id of the account.
    #[prost(int64, tag = "1")]
    pub customer_id: i64,
    /// IANA name of its time zone, for the times of its blackouts.
    #[prost(string, tag = "2")]
    pub time_zone: String,
    /// The blackouts of its monitors.
    #[prost(message, repeated, tag = "3")]
    pub blackouts: Vec<BlackoutMessage>,
}

/// A blackout of a monitor.
#[derive(Clone, PartialEq, Message)]
pub struct BlackoutMessage {
    /// Id of the blackout.
    #[prost(int64, tag = "1")]
    pub id: i64,
    /// The monitor.
    #[prost(int64, tag = "2")]
    pub monitor_id: i64,
    /// Day of the week of the start, 1 is Sunday; 0 for a blackout that occurs once.
    #[prost(uint32, tag = "3")]
    pub start_day: u32,
    /// Local start: date and time, or the time of a weekly one.
    #[prost(string, tag = "4")]
    pub start: String,
    /// Day of the week of the end; 0 for a blackout that occurs once.
    #[prost(uint32, tag = "5")]
    pub end_day: u32,
    /// Local end, as the start.
    #[prost(string, tag = "6")]
    pub end: String,
}

const fn field(name: &'static str) -> FieldOf {
    FieldOf(MessageKind::Assignments, name)
}

impl AccountMessage {
    /// Creates the message of `account`. Blackouts of alerts and recipients stay with the control plane.
    ///
    /// # Errors
    /// Fails for a time zone without a name.
    pub fn from_account(account: &AssignedAccount) -> Result<Self, MessageError> {
        let calendar = &account.blackout_calendar;
        let time_zone = calendar.time_zone().iana_name();
        let time_zone = time_zone.ok_or_else(|| field("account.time_zone").invalid("it has no IANA name"))?;
        let mut blackouts: Vec<_> = calendar.windows().filter_map(BlackoutMessage::from_window).collect();
        blackouts.sort_by_key(|blackout| (blackout.monitor_id, blackout.id));
        Ok(Self { customer_id: account.customer_id.0, time_zone: time_zone.to_owned(), blackouts })
    }

    /// Returns the account.
    ///
    /// # Errors
    /// Fails for a time zone that this build does not know, and for times that are none.
    pub fn into_account(self) -> Result<AssignedAccount, MessageError> {
        let time_zone = TimeZone::get(&self.time_zone)
            .map_err(|error| field("account.time_zone").invalid(error.to_string()))?;
        let windows = self.blackouts.into_iter().map(BlackoutMessage::into_window);
        let windows = windows.collect::<Result<Vec<_>, _>>()?;
        Ok(AssignedAccount {
            customer_id: CustomerId(self.customer_id),
            blackout_calendar: Arc::new(BlackoutCalendar::new(time_zone, windows)),
        })
    }
}

impl BlackoutMessage {
    fn from_window(window: &BlackoutWindow) -> Option<Self> {
        let BlackoutTarget::Monitor(monitor_id) = window.target else { return None };
        let (start_day, start, end_day, end) = match window.time_window {
            TimeWindow::Once { start, end } => (0, start.to_string(), 0, end.to_string()),
            TimeWindow::Weekly { start_day, start, end_day, end } => {
                (start_day.into(), start.to_string(), end_day.into(), end.to_string())
            }
        };
        Some(Self { id: window.id, monitor_id: monitor_id.0, start_day, start, end_day, end })
    }

    fn into_window(self) -> Result<BlackoutWindow, MessageError> {
        let time_window = if self.start_day == 0 && self.end_day == 0 {
            TimeWindow::Once {
                start: parse::<DateTime>("account.blackouts.start", &self.start)?,
                end: parse::<DateTime>("account.blackouts.end", &self.end)?,
            }
        } else {
            TimeWindow::Weekly {
                start_day: week_day("account.blackouts.start_day", self.start_day)?,
                start: parse::<Time>("account.blackouts.start", &self.start)?,
                end_day: week_day("account.blackouts.end_day", self.end_day)?,
                end: parse::<Time>("account.blackouts.end", &self.end)?,
            }
        };
        let target = BlackoutTarget::Monitor(MonitorId(self.monitor_id));
        Ok(BlackoutWindow { id: self.id, target, time_window })
    }
}

fn week_day(name: &'static str, number: u32) -> Result<u8, MessageError> {
    let day = u8::try_from(number).ok().filter(|day| (1..=7).contains(day));
    day.ok_or_else(|| field(name).invalid(format!("{number} is none of 1 to 7")))
}

fn parse<T: std::str::FromStr<Err = jiff::Error>>(name: &'static str, text: &str) -> Result<T, MessageError> {
    text.parse().map_err(|error: jiff::Error| field(name).invalid(error.to_string()))
}
