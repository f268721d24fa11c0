//! Messages on their way out: the delivery over an outbox, and each channel against a receiver that checks what
//! it gets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod alertmanager;
#[path = "../support/daemon.rs"]
mod daemon;
mod delivery;
mod heartbeat;
mod kept;
mod kit;
#[path = "../support/lacking.rs"]
mod lacking;
mod mail;
#[path = "../support/mail_house.rs"]
mod mail_house;
mod outbox;
mod receiver;
mod shapes;
mod traps;
mod webhooks;
mod words;
