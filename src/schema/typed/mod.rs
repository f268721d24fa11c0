//! Typed settings: the fields of monitors and records as structs whose names are those of the field table, and whose
//! choices are enums. They are filled once, when a monitor is loaded or its probe is built; a value that does not fit
//! is an error with its field, its value and what is allowed.

pub mod alerting;
pub mod api_steps;
pub mod browser;
pub mod connection;
mod deserializer;
pub mod ftp;
mod invalid_settings;
pub mod keyword;
pub mod mail;
pub mod monitor;
pub mod name_server;
pub mod ping;
pub mod record;
pub mod request;
pub mod schedule;
pub mod tcp;
pub mod time_window;
mod type_check;
pub mod website;

pub(super) use deserializer::deserialize_fields;
pub use invalid_settings::InvalidSettings;
pub(super) use type_check::find_type_error;
