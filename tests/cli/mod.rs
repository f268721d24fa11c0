//! The built binary on the command line, and the texts that it renders.

mod apply;
mod check;
mod config;
mod load;
mod nagios;
mod nagios_core;
mod project;
mod queries;
mod render;
mod security_scan;
mod self_command;
mod suite;
mod support;
mod traceroute;
