//! `email-round-trip`: a message goes out by SMTP and has to show up in a POP3 mailbox (behaviour.md 4). It is
//! deleted then, with its forgotten forerunners; nothing else is touched.

mod message;
mod patience;
mod probe;
mod report;
mod search;
mod send;
mod token;
mod visit;

pub(in crate::probe) use probe::build;
