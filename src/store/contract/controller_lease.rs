//! The lease of the controller that leads.

use std::time::Duration;

/// How long a lease lasts without a renewal, by the clock of the database.
pub const LEASE_DURATION: Duration = Duration::from_secs(5);

/// A controller, as the others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerAddress {
    /// Its name.
    pub name: String,
    /// The base URL at which the other controllers reach it.
    pub url: String,
    /// SHA-256 of its certificate; `None` when it serves plain HTTP.
    pub certificate_sha256: Option<[u8; 32]>,
}

/// The controller that led last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leader {
    /// Counts the leaders.
    pub epoch: i64,
    /// The controller.
    pub address: ControllerAddress,
    /// Whether its lease has ended, so that another one may lead.
    pub is_expired: bool,
}
