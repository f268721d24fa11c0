//! Agents on other hosts: the keys of NATS, enrolment, renewal and revocation, and the data keys of their locations.

mod agent_service;
mod data_keys;
mod enrolment;
mod enrolment_secrets;
mod live_agent;
mod nats_server_files;
mod nats_trust;
mod remote_locations;
mod renewal;
mod revocation;
mod stored_agent;
mod trust_file;

pub use agent_service::{AgentService, AgentServiceDependencies, RevocationObserver};
pub(in crate::service) use enrolment_secrets::EnrolmentSecrets;
pub use live_agent::{LiveAgent, LiveAgentLookup, LiveAgents};
pub use nats_server_files::{
    NatsServerFile, NatsServerOptions, create_nats_installation, renew_nats_certificate,
};
pub use nats_trust::{AGENT_TOKEN_LIFETIME, NatsTrust};
pub use remote_locations::RemoteLocationRecord;
pub use renewal::RenewalProof;
pub use trust_file::{TrustFile, TrustFileError};
