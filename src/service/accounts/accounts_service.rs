//! Accounts, their users and tokens.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use super::failed_logins::FailedLogins;
use super::sessions::TokenHash;
use super::throttle::Throttle;
use crate::clock::Clock;
use crate::domain::{CustomerId, Role, Timestamp, UserId};
use crate::service::caller::{Caller, Via};
use crate::store::{ConfigStore, TokenStore};
use crate::sync::{Mutex, RwLock};

/// Accounts, users and what they are logged in with.
pub struct Accounts {
    pub(super) ledger: Arc<dyn ConfigStore>,
    pub(super) tokens: Arc<dyn TokenStore>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) throttle: Throttle,
    pub(super) failed: Mutex<FailedLogins>,
    /// Hash of the token of the host.
    pub(super) host: RwLock<Option<TokenHash>>,
    /// Ends of sessions that were moved since they were last written.
    pub(super) moved: Mutex<HashMap<TokenHash, Timestamp>>,
}

impl Accounts {
    /// Over what is kept.
    #[must_use]
    pub fn new(ledger: Arc<dyn ConfigStore>, tokens: Arc<dyn TokenStore>, clock: Arc<dyn Clock>) -> Self {
        Self {
            ledger,
            tokens,
            clock,
            throttle: Throttle::default(),
            failed: Mutex::default(),
            host: RwLock::default(),
            moved: Mutex::default(),
        }
    }

    /// The host itself, as an admin of `customer`: the command line and the server.
    #[must_use]
    pub fn host(customer: CustomerId, via: Via) -> Caller {
        Caller { customer, user: UserId(0), login: Arc::from("host"), role: Role::Admin, address: None, via }
    }
}

/// `caller` at `address`.
pub(super) fn at(address: IpAddr, caller: Caller) -> Caller {
    Caller { address: Some(address), ..caller }
}
