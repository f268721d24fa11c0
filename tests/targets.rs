//! Tests of everything with sockets, processes and time: probes, notifications, the agent, the running daemon. One
//! folder per capability, in one binary, since each binary links the whole library. Most tests wait, and many run
//! concurrently.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod agent;
mod agents;
mod bus;
mod cli;
mod cluster;
mod collection;
mod controllers;
mod daemon;
mod endurance;
mod hostagent;
mod nats_bus;
mod net;
mod notify;
mod otlp;
mod packages;
mod page;
mod probe_api;
mod probe_ftp;
mod probe_host;
mod probe_http;
mod probe_mail;
mod probe_net;
mod probe_project;
mod prometheus;
mod push_run;
mod responder;
mod security;
mod security_scan;
#[allow(dead_code, reason = "other tests use the rest of it")]
mod support;
mod tls_scan;
