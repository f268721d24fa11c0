//! The probes of `ftp` and `ftp-ssl`: cores on transcripts, servers that misbehave, real daemons, goldens.

mod check;
mod cores;
mod daemons;
mod goldens;
mod logs;
mod server;
mod sessions;
mod table;
