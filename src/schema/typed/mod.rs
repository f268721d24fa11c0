//! Typed settings: the fields of monitors and records as structs whose field names are those of the field table, with
//! enums for choices. They are read once, when a monitor is loaded or its probe is built. An invalid value is an error
//! with its field, its value and what is allowed.

pub mod alerting;
pub mod api_steps;
pub mod browser;
pub mod collection;
pub mod connection;
mod deserializer;
pub mod ftp;
pub mod host_agent;
mod invalid_settings;
pub mod keyword;
pub mod mail;
pub mod monitor;
pub mod name_server;
pub mod ping;
pub mod project;
pub mod record;
pub mod request;
pub mod schedule;
pub mod security_scan;
pub mod tcp;
pub mod time_window;
mod value_types;
pub mod website;

pub(super) use deserializer::deserialize_fields;
pub use invalid_settings::InvalidFieldValue;
pub(super) use value_types::find_mistyped_value;
