//! One check of each kind. A probe sees; it opens what it needs through [`Net`](crate::net::Net), asks `judge` for the
//! rules, and always comes back with an [`Observation`](crate::domain::Observation).

mod apart;
mod api_steps;
mod browser;
mod contract;
mod dns;
mod ftp;
mod full_page;
mod http;
mod mail;
mod ping;
mod random;
mod registry;
mod search;
mod settings;
mod target;
mod tcp;
mod unusable;
mod way;

pub use contract::{AttemptFuture, BuildProbe, MonitorTypes, Probe, ProbeContext, Weight};
pub use registry::{ProbeDescriptor, REGISTRY, build, descriptor};
pub use settings::{AuthoringOptions, ProbeSettings};
