//! Changes of many monitors at once, copies, conversions and `vigie apply`, over a real store.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod apply;
mod copies;
mod fields;
#[allow(dead_code)]
#[path = "../fleet/kit.rs"]
mod kit;
mod many;
mod passwords;
mod scripts;
mod support;
