//! Typed settings: the fields of monitors and records as structs whose names are those of the field table, and whose
//! choices are enums. They are filled once, when a monitor is loaded or its probe is built; a value that does not fit
//! is an error with its field, its value and what is allowed.

pub mod alerting;
pub mod api_steps;
pub mod browser;
pub mod connection;
mod fits;
pub mod ftp;
mod invalid;
pub mod keyword;
pub mod mail;
pub mod monitor;
pub mod name_server;
pub mod ping;
mod reader;
pub mod record;
pub mod request;
pub mod schedule;
pub mod tcp;
pub mod website;
pub mod window;

pub(super) use fits::find_type_error;
pub use invalid::InvalidSettings;
pub(super) use reader::deserialize_fields;
