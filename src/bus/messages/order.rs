//! Orders to a location.

use std::net::IpAddr;
use std::time::Duration;

use prost::Message;

use super::assigned_monitor::AssignedMonitorMessage;
use super::encoded_message::BusMessage;
use super::error::MessageError;
use super::field::{FieldOf, duration_us, micros, timestamp};
use super::message_kind::MessageKind;
use super::sealer::Sealer;
use crate::bus::contract::{CheckOrder, FirstCheckOrder, TracerouteOrder};
use crate::domain::MonitorId;

/// Longest time that an order may take: a longer one is not an order of ours.
const MAX_TIMEOUT: Duration = Duration::from_hours(48);

/// An order of a check.
#[derive(Clone, PartialEq, Message)]
pub struct CheckOrderMessage {
    /// The monitor.
    #[prost(message, optional, tag = "1")]
    pub monitor: Option<AssignedMonitorMessage>,
    /// How long after its arrival the order is given up.
    #[prost(uint64, tag = "2")]
    pub timeout_us: u64,
}

/// An order of the first check of a planned monitor.
#[derive(Clone, PartialEq, Message)]
pub struct FirstCheckOrderMessage {
    /// Id of the monitor.
    #[prost(int64, tag = "1")]
    pub monitor_id: i64,
    /// Time of the change that causes it.
    #[prost(sfixed64, tag = "2")]
    pub planned_at_us: i64,
    /// How long after its arrival the order is given up.
    #[prost(uint64, tag = "3")]
    pub timeout_us: u64,
    /// The revision of the assignments that the agent has to apply first; 0 for any.
    #[prost(uint64, tag = "4")]
    pub assignment_revision: u64,
}

/// An order of a traceroute.
#[derive(Clone, PartialEq, Message)]
pub struct TracerouteOrderMessage {
    /// The monitor.
    #[prost(message, optional, tag = "1")]
    pub monitor: Option<AssignedMonitorMessage>,
    /// IP address of the failed check, traced instead of an address of the target.
    #[prost(string, optional, tag = "2")]
    pub address: Option<String>,
    /// Longest that the traceroute may take.
    #[prost(uint64, tag = "3")]
    pub timeout_us: u64,
}

impl BusMessage for CheckOrderMessage {
    const KIND: MessageKind = MessageKind::CheckOrder;
}

impl BusMessage for FirstCheckOrderMessage {
    const KIND: MessageKind = MessageKind::FirstCheckOrder;
}

impl BusMessage for TracerouteOrderMessage {
    const KIND: MessageKind = MessageKind::TracerouteOrder;
}

fn timeout(kind: MessageKind, timeout_us: u64) -> Result<Duration, MessageError> {
    let timeout = Duration::from_micros(timeout_us);
    if timeout.is_zero() || timeout > MAX_TIMEOUT {
        let reason = format!("{timeout_us} is not between 1 and {}", MAX_TIMEOUT.as_micros());
        return Err(FieldOf(kind, "timeout_us").invalid(reason));
    }
    Ok(timeout)
}

fn required(
    kind: MessageKind,
    monitor: Option<AssignedMonitorMessage>,
) -> Result<AssignedMonitorMessage, MessageError> {
    monitor.ok_or_else(|| FieldOf(kind, "monitor").missing())
}

impl CheckOrderMessage {
    /// Creates the message of `order`; `sealer` seals its secrets.
    #[must_use]
    pub fn from_order(order: &CheckOrder, sealer: &dyn Sealer) -> Self {
        Self {
            monitor: Some(AssignedMonitorMessage::from_assigned(&order.monitor, sealer)),
            timeout_us: duration_us(order.timeout),
        }
    }

    /// Returns the order.
    ///
    /// # Errors
    /// Fails for a value that cannot be used, and for secrets that `sealer` cannot open.
    pub fn into_order(self, sealer: &dyn Sealer) -> Result<CheckOrder, MessageError> {
        Ok(CheckOrder {
            monitor: required(Self::KIND, self.monitor)?.into_assigned(Self::KIND, sealer)?,
            timeout: timeout(Self::KIND, self.timeout_us)?,
        })
    }
}

impl FirstCheckOrderMessage {
    /// Creates the message of `order`.
    #[must_use]
    pub fn from_order(order: &FirstCheckOrder) -> Self {
        Self {
            monitor_id: order.monitor_id.0,
            planned_at_us: micros(order.planned_at),
            timeout_us: duration_us(order.timeout),
            assignment_revision: 0,
        }
    }

    /// Returns the order.
    ///
    /// # Errors
    /// Fails for a timeout that cannot be used.
    pub fn into_order(self) -> Result<FirstCheckOrder, MessageError> {
        Ok(FirstCheckOrder {
            monitor_id: MonitorId(self.monitor_id),
            planned_at: timestamp(self.planned_at_us),
            timeout: timeout(Self::KIND, self.timeout_us)?,
        })
    }
}

impl TracerouteOrderMessage {
    /// Creates the message of `order`; `sealer` seals its secrets.
    #[must_use]
    pub fn from_order(order: &TracerouteOrder, sealer: &dyn Sealer) -> Self {
        Self {
            monitor: Some(AssignedMonitorMessage::from_assigned(&order.monitor, sealer)),
            address: order.address.map(|address| address.to_string()),
            timeout_us: duration_us(order.timeout),
        }
    }

    /// Returns the order.
    ///
    /// # Errors
    /// Fails for a value that cannot be used, and for secrets that `sealer` cannot open.
    pub fn into_order(self, sealer: &dyn Sealer) -> Result<TracerouteOrder, MessageError> {
        let parse = |text: String| {
            let field = FieldOf(Self::KIND, "address");
            text.parse::<IpAddr>().map_err(|_| field.invalid(format!("`{text}` is not an IP address")))
        };
        Ok(TracerouteOrder {
            monitor: required(Self::KIND, self.monitor)?.into_assigned(Self::KIND, sealer)?,
            address: self.address.map(parse).transpose()?,
            timeout: timeout(Self::KIND, self.timeout_us)?,
        })
    }
}
