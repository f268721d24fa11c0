//! Fields of messages as domain values.

use std::net::SocketAddr;
use std::time::Duration;

use super::error::MessageError;
use super::message_kind::MessageKind;
use crate::domain::{MonitorType, Timestamp};

/// The message and field that a value comes from, for errors.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldOf(pub(super) MessageKind, pub(super) &'static str);

impl FieldOf {
    pub(super) fn missing(self) -> MessageError {
        MessageError::MissingField { kind: self.0, field: self.1 }
    }

    pub(super) fn invalid(self, reason: impl Into<String>) -> MessageError {
        MessageError::InvalidField { kind: self.0, field: self.1, reason: reason.into() }
    }

    /// Returns the value with the number `number` of `all`, whose first has the number 1.
    pub(super) fn numbered<T: Copy>(self, all: &[T], number: u32) -> Result<T, MessageError> {
        let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        index
            .and_then(|index| all.get(index).copied())
            .ok_or_else(|| self.invalid(format!("{number} is none of its {} values", all.len())))
    }

    pub(super) fn narrow<N: TryFrom<u32>>(self, number: u32) -> Result<N, MessageError> {
        N::try_from(number).map_err(|_| self.invalid(format!("{number} is too large")))
    }

    pub(super) fn monitor_type(self, name: &str) -> Result<MonitorType, MessageError> {
        MonitorType::from_name(name).ok_or_else(|| self.invalid(format!("`{name}` is not a monitor type")))
    }

    pub(super) fn address(self, text: &str) -> Result<SocketAddr, MessageError> {
        text.parse().map_err(|_| self.invalid(format!("`{text}` is not an address with a port")))
    }
}

/// Returns the number of `value` in `all`, from 1; 0, which no reader accepts, when it is not in it.
pub(super) fn number_in<T: PartialEq>(all: &[T], value: &T) -> u32 {
    let index = all.iter().position(|one| one == value);
    index.and_then(|index| u32::try_from(index + 1).ok()).unwrap_or(0)
}

pub(super) fn micros(at: Timestamp) -> i64 {
    at.as_micros()
}

pub(super) fn timestamp(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

pub(super) fn duration_us(duration: Duration) -> u64 {
    crate::domain::duration_micros(duration)
}
