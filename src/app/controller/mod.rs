//! `vigie controller`: one of several control planes over one database and one NATS. One of them leads and works; the
//! others hand requests on to it and take over when it is gone.

mod entry;
mod forwarded_request;
mod forwarder;
mod leader_election;
mod lease_validity;
mod run;

pub use run::{ControllerOptions, run_controller};
