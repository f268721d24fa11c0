//! The field table: every field of every monitor type and sub-object, declared once (architecture.md 4). Parsing,
//! serialization, messages, the JSON Schema and the reference page derive from it.

pub mod agents;
pub mod alerting;
pub mod api_steps;
pub mod browser;
mod checked_fields;
mod for_type;
pub mod ftp;
pub mod hosts;
pub mod ids;
pub mod mail;
pub mod mobile;
pub mod network;
pub mod operations;
pub mod records;
pub mod requests;
pub mod shared;
pub mod shares;
pub mod sub_objects;
pub mod test_projects;
pub mod views;
pub mod web;

pub use checked_fields::decides_check;
pub use for_type::for_type;

pub use super::field::FieldTable;
