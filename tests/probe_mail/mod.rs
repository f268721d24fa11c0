//! The probes of mail servers: loopback servers that do what a script says, and the real daemons.

mod houses;
mod imap;
mod kit;
mod office;
mod pop;
mod smtp;
mod table;
mod trip;
