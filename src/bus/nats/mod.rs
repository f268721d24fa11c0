//! The bus over NATS JetStream, for agents on other hosts: its subjects, and the keys and tokens that limit who may use
//! them. Assignments are in a key-value bucket with a snapshot in an object store, results in streams; orders are
//! requests, presence is heartbeats.

mod account_push;
mod agent;
mod connection;
mod control;
mod credential;
mod grant;
pub mod jwt;
mod login;
mod read_to_end;
mod repeat;
mod snapshot_object;
pub mod subjects;

pub use account_push::{AccountPushError, push_account_jwt};
pub use agent::{
    AgentBus, AgentBusDependencies, AgentIdentity, NatsResultTransport, ask_reported_state,
    measure_clock_offset,
};
pub use connection::{NatsConnection, NatsError};
pub use control::{
    NatsBus, NatsBusDependencies, NatsBusTask, PublishPermission, RegisteredAgent, RemoteLocation,
};
pub use credential::{AgentCredential, CredentialError, NewCredential};
pub use grant::{AgentGrant, DataKeyId, RenewalRequest, WrappedDataKey, unwrap_data_keys, wrap_data_key};
pub use login::{NatsLogin, NatsLoginError, NatsServerTrust, TokenSource};
