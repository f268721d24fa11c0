//! `email-round-trip`: a message goes out by SMTP and has to show up in a POP3 mailbox (behaviour.md 4). It is
//! deleted then, with its forgotten forerunners; nothing else is touched.

mod mailbox_poll;
mod message;
mod message_search;
mod poll_schedule;
mod probe;
mod report;
mod send;
mod token;

pub(in crate::probe) use probe::build;
