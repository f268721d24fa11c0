//! Tests the probes of mail servers against scripted loopback servers and the real daemons.

mod daemons;
mod imap;
mod mail_server;
mod pop;
mod round_trip;
mod scripted_server;
mod smtp;
mod table;
