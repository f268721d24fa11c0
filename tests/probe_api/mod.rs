//! Tests API steps against a service on loopback that derives each response from the request.

pub mod check;
mod evaluation;
mod flow;
mod logins;
mod requests;
pub mod service;
mod tls;
mod variables;
