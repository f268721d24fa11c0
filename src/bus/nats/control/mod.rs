//! The side of the control plane.

mod agent_registry;
mod assignment_bucket;
mod capture_consumer;
mod captures_by_agent;
mod committed_reports;
mod control_parts;
mod entry_key;
mod location_assignments;
mod nats_bus;
mod nats_bus_task;
mod order_client;
mod publish_permission;
mod published_entries;
mod requests;
mod result_consumer;
mod snapshot_store;
mod streams;
mod timeline;

pub use agent_registry::RegisteredAgent;
pub use control_parts::RemoteLocation;
pub use nats_bus::{NatsBus, NatsBusDependencies};
pub use nats_bus_task::NatsBusTask;
pub use publish_permission::PublishPermission;
