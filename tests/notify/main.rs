//! Messages on their way out: the delivery over an outbox, and each channel against a receiver that checks what
//! it gets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod delivery;
mod kit;
mod outbox;
mod receiver;
mod webhooks;
