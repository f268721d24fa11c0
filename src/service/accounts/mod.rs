//! Who may in: logins, tokens, sessions, and the users and accounts behind them.

mod customers;
mod login;
mod password;
mod throttle;
mod tokens;
mod users;

use crate::sync::{Mutex, RwLock};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use super::{Caller, Via};
use crate::clock::Clock;
use crate::domain::{CustomerId, Role, Timestamp, UserId};
use crate::store::{Ledger, Tokens};

pub use password::{hash_password, login_fault, password_fault, readable_password};
pub use users::{UserPermit, login_key, permit_user_change};

use login::FailedLogins;
use throttle::Throttle;

/// SHA-256 of a token: all that is kept of it.
type TokenHash = [u8; 32];

/// An access token as version 3 answers it (behaviour.md 1 "Token").
#[derive(Clone, PartialEq, Eq)]
pub struct Issued {
    /// The token; kept nowhere but with its owner.
    pub token: String,
    /// Seconds that it lives.
    pub expires_in: u64,
}

/// Shows no token.
impl std::fmt::Debug for Issued {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Issued").field("expires_in", &self.expires_in).finish_non_exhaustive()
    }
}

/// Accounts, users and what they are logged in with.
pub struct Accounts {
    ledger: Arc<dyn Ledger>,
    tokens: Arc<dyn Tokens>,
    clock: Arc<dyn Clock>,
    throttle: Throttle,
    failed: Mutex<FailedLogins>,
    /// Hash of the token of the host.
    host: RwLock<Option<TokenHash>>,
    /// Ends of sessions that were moved since they were last written.
    moved: Mutex<HashMap<TokenHash, Timestamp>>,
}

impl Accounts {
    /// Over what is kept.
    #[must_use]
    pub fn new(ledger: Arc<dyn Ledger>, tokens: Arc<dyn Tokens>, clock: Arc<dyn Clock>) -> Self {
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
fn at(address: IpAddr, caller: Caller) -> Caller {
    Caller { address: Some(address), ..caller }
}
