//! Tests the probes of `ftp` and `ftp-ssl`: protocol cores, misbehaving servers, real daemons, golden results.

mod check;
mod daemons;
mod goldens;
mod logs;
mod opening;
mod server;
mod sessions;
mod table;
