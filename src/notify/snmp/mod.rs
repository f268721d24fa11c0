//! SNMP traps, version 1 (RFC 1157 4.1.6) and 2c (RFC 3416 4.2.6). They are sent once, since traps have no reply.
//!
//! Objects under the enterprise of the settings: `1.1` subject, `1.2` kind, `1.3` monitor id, `1.4` monitor name,
//! `1.5` status, `1.6` status text, `1.7` location, `1.8` time, `1.9` consecutive failures, `1.10` target, `1.11`
//! key, `1.12` the key that an error and its clear share. The specific trap is the position of the kind in
//! [`crate::domain::NotificationKind::ALL`], from 1.

mod ber;
mod trap;

pub(super) use trap::TrapChannel;
pub use trap::parse_object_identifier;
