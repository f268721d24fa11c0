//! Outgoing notifications: delivery from an outbox, and each channel against a receiver that checks what it gets.

mod alertmanager;
mod delivery;
mod delivery_from_store;
mod formats;
mod heartbeat;
mod mail;
mod outbox;
pub mod receiver;
mod samples;
mod templates;
mod traps;
mod webhooks;
