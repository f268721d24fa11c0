//! Messages leave the process: what is due in the outbox is written out, handed to a channel, and how that
//! ended is noted (behaviour.md 6 "Delivery").
//!
//! Each recipient has a lane of its own: one message at a time, in their order, so that a slow or broken
//! receiver holds up nobody else. A lane that fails waits, longer each time; one that had its share of a minute
//! holds the rest back, and tells of them in one digest.

mod attachments;
mod backoff;
mod dead_letter_event;
mod delivery_task;
mod destination;
mod digest;
mod recipient_queue;
mod recipient_queues;
mod settings;
pub(crate) mod template;
mod worker;

pub use delivery_task::DeliveryTask;
pub use destination::{AccountDestinations, Destination, DestinationLookup};
pub use settings::{DeliveryDependencies, DeliverySettings};
