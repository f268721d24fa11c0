//! `email-round-trip`: a message is sent by SMTP and must arrive in a POP3 mailbox (behaviour.md 4). It is then
//! deleted, together with stale messages of earlier checks; no other message is changed.

mod mailbox_poll;
mod message;
mod message_search;
mod poll_schedule;
mod probe;
mod report;
mod send;
mod token;

pub(in crate::probe) use probe::build;
