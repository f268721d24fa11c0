//! What is decided, kept and answered: documents, rules, the store and both APIs. A folder per capability, in one binary,
//! since each binary links the whole library. Most of it keeps the processors busy.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod accounts;
mod alarms;
mod alert;
mod api_fields;
mod api_v3;
mod bulk;
mod evaluate;
mod fixture;
mod fleet;
mod legacy;
mod manual;
mod model;
/// Of the fuzz targets, whose crates have it at this place too.
#[path = "fuzz/play.rs"]
mod play;
mod replay;
mod resources;
mod schedule;
mod script;
mod store;
#[allow(dead_code, reason = "other tests use the rest of it")]
mod support;
