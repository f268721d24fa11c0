//! Agents on other hosts, on a real NATS server: how they enrol, what they may do, how they lose it.

mod credential;
mod enrolment;
mod forged;
mod hostile;
mod hosts;
mod init;
mod kit;
mod modes;
pub mod network;
mod overview;
mod permissions;
mod revocation;
mod sharing;
