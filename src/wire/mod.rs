//! wire

pub mod http;
