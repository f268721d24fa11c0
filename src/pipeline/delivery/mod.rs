//! Delivery: renders due notifications of the outbox, sends them through a channel and records the outcome
//! (behaviour.md 6 "Delivery").
//!
//! Each recipient has its own queue: one message at a time, in order, so that a slow or broken receiver does not
//! delay others. A failing queue waits, longer each time; a queue over its limit per minute holds the rest back and
//! reports them in one digest.

mod attachments;
mod backoff;
mod dead_letter_event;
mod delivery_task;
mod destination;
mod digest;
mod held_messages;
mod recipient_delivery_state;
mod recipient_delivery_states;
mod settings;
mod supervision;
pub(crate) mod template;
mod worker;

pub use delivery_task::DeliveryHandle;
pub use destination::{AccountDestinations, Destination, DestinationLookup};
pub use settings::{DeliveryDependencies, DeliverySettings};
pub use worker::DeliveryWorker;
