//! Who may in: logins, tokens, sessions, and the users and accounts behind them.

use std::net::IpAddr;
use std::sync::Arc;

use super::{Caller, Refusal, Via};
use crate::clock::Clock;
use crate::model::{CustomerId, Role, UserId};
use crate::store::{Ledger, StoreError, Tokens};

/// An access token as version 3 answers it (behaviour.md 1 "Token").
#[derive(Clone, PartialEq, Eq)]
pub struct Issued {
    /// The token; kept nowhere but with its owner.
    pub token: String,
    /// Seconds that it lives.
    pub expires_in: u64,
}

/// Accounts, users and what they are logged in with.
pub struct Accounts {
    ledger: Arc<dyn Ledger>,
    tokens: Arc<dyn Tokens>,
    clock: Arc<dyn Clock>,
}

impl Accounts {
    /// Over what is kept.
    #[must_use]
    pub fn new(ledger: Arc<dyn Ledger>, tokens: Arc<dyn Tokens>, clock: Arc<dyn Clock>) -> Self {
        Self { ledger, tokens, clock }
    }

    /// Version 3 login. Throttled per login and per address, without locking the owner out.
    pub async fn log_in(
        &self,
        _username: &str,
        _password: &str,
        _address: IpAddr,
    ) -> Result<Issued, Refusal> {
        let _ = (&self.ledger, &self.tokens, &self.clock);
        todo!()
    }

    /// Who holds this access token.
    pub async fn bearer(&self, _token: &str, _address: IpAddr) -> Result<Caller, Refusal> {
        todo!()
    }

    /// Legacy login: answers a session, which ends 15 minutes after its last use.
    pub async fn open_session(
        &self,
        _login: &str,
        _password: &str,
        _address: IpAddr,
    ) -> Result<String, Refusal> {
        todo!()
    }

    /// Who holds `session` of `login`; moves its end.
    pub async fn session(&self, _login: &str, _session: &str, _address: IpAddr) -> Result<Caller, Refusal> {
        todo!()
    }

    /// The token of the host itself: opens everything of account 1 for as long as this process lives. Written
    /// by the server to a file that only its user reads.
    #[must_use]
    pub fn host_token(&self) -> String {
        todo!()
    }

    /// Makes account 1 and its user `admin` when there is no user yet; answers the password when one was made.
    pub async fn first_admin(&self, _password: Option<String>) -> Result<Option<String>, Refusal> {
        todo!()
    }

    /// Makes an account with its first admin; answers its number.
    pub async fn add_customer(&self, _caller: &Caller, _name: &str) -> Result<CustomerId, Refusal> {
        todo!()
    }

    /// Makes a user.
    pub async fn add_user(
        &self,
        _caller: &Caller,
        _customer: CustomerId,
        _login: &str,
        _role: Role,
        _password: &str,
    ) -> Result<UserId, Refusal> {
        todo!()
    }

    /// Removes what expired.
    pub async fn purge(&self) -> Result<u64, StoreError> {
        todo!()
    }

    /// The host itself, as an admin of `customer`: the command line and the server.
    #[must_use]
    pub fn host(customer: CustomerId, via: Via) -> Caller {
        Caller { customer, user: UserId(0), login: Arc::from("host"), role: Role::Admin, address: None, via }
    }
}
