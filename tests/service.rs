//! Tests of rules, documents, the store and both APIs. A folder per capability, in one binary, since each binary links
//! the whole library. Most of them are CPU-bound.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod accounts;
mod alert;
mod alerts;
mod api_fields;
mod api_v3;
mod bulk;
mod evaluate;
mod fixture;
mod legacy;
mod manual;
mod model;
mod monitors;
/// Shared with the fuzz targets, whose crates include the file under the same module name.
#[path = "fuzz/play.rs"]
mod play;
mod replay;
mod resources;
mod schedule;
mod script;
mod store;
#[allow(dead_code, reason = "other tests use the rest of it")]
mod support;
