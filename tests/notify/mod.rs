//! Messages on their way out: the delivery over an outbox, and each channel against a receiver that checks what
//! it gets.

mod alertmanager;
mod delivery;
mod heartbeat;
mod kept;
mod kit;
mod mail;
mod outbox;
mod receiver;
mod shapes;
mod traps;
mod webhooks;
mod words;
