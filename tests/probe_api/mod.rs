//! Tests API steps against a service on loopback that derives each response from the request.

mod check;
mod evaluation;
mod flow;
mod logins;
mod requests;
mod service;
mod tls;
mod variables;
