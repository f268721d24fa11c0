//! The field table: every field of every monitor type and sub-object, declared once (architecture.md 4).
//! Parsing, printing, messages, schema and reference page derive from it.

pub mod account;
pub mod alerting;
pub mod browser;
pub mod ftp;
pub mod ids;
pub mod mail;
pub mod mobile;
pub mod network;
mod of_type;
pub mod orders;
pub mod parts;
pub mod projects;
pub mod records;
pub mod shared;
pub mod steps;
pub mod web;

pub use of_type::for_type;

pub use super::field::FieldTable;
