//! The bus over NATS JetStream, for agents on other hosts: its subjects, and the keys and tokens that limit who may use
//! them. Assignments are in a key-value bucket with a snapshot in an object store, results in streams; orders are
//! requests, presence is heartbeats.

mod agent;
mod connection;
mod control;
pub mod subjects;

pub use agent::{AgentBus, AgentBusDependencies, AgentIdentity, NatsResultTransport};
pub use connection::{NatsConnection, NatsError};
pub use control::{NatsBus, NatsBusDependencies, NatsBusTask, RegisteredAgent, RemoteLocation};
