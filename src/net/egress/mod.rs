//! What connections may reach: the egress policy of a location, and the services of Vigie itself.

mod effective_address;
mod own_addresses;
mod policy;
mod protected_services;

pub use effective_address::effective_address;
pub use policy::{DENIED_BY_DEFAULT, EgressDenied, EgressPolicy};
pub(in crate::net) use protected_services::check_not_protected;
pub use protected_services::{ProtectedService, protect_address, protect_local_port};
