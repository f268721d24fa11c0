//! Stored tokens and sessions.

use std::net::IpAddr;

use crate::domain::{Timestamp, TokenScopes, UserId};

use super::future::StoreFuture;

/// Kind of token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// An access token of version 3, valid for an hour after a login, or for as long as its maker says.
    Access,
    /// A session of the legacy API, which ends 15 minutes after its last use.
    LegacySession,
    /// A session of the pages, which ends 12 hours after its last use and 7 days after it was issued. User 0 is the
    /// host.
    PageSession,
}

/// A stored token, as its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredToken {
    /// SHA-256 of the token.
    pub hash: [u8; 32],
    /// Its kind.
    pub kind: TokenKind,
    /// Its user.
    pub user: UserId,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
    /// Name of the program that it is for; empty for a login.
    pub name: String,
    /// What it may do; `None` for all that its user may.
    pub scopes: Option<TokenScopes>,
    /// From where it was used last; empty if unknown.
    pub address: String,
    /// When it was used last.
    pub last_used_at: Timestamp,
}

impl StoredToken {
    /// Creates the token of a login at `issued_at`, which has no lifetime yet.
    #[must_use]
    pub const fn new(hash: [u8; 32], kind: TokenKind, user: UserId, issued_at: Timestamp) -> Self {
        Self {
            hash,
            kind,
            user,
            issued_at,
            expires_at: issued_at,
            name: String::new(),
            scopes: None,
            address: String::new(),
            last_used_at: issued_at,
        }
    }

    /// Returns it with this time at which it expires.
    #[must_use]
    pub const fn expiring_at(mut self, expires_at: Timestamp) -> Self {
        self.expires_at = expires_at;
        self
    }
}

/// A use of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenUse {
    /// When it was used.
    pub used_at: Timestamp,
    /// From where.
    pub address: IpAddr,
    /// When it expires then; sessions are extended by their use.
    pub expires_at: Timestamp,
}

/// Stores tokens and sessions.
pub trait TokenStore: Send + Sync + 'static {
    /// Stores a new token.
    fn insert(&self, token: StoredToken) -> StoreFuture<'_, ()>;

    /// Returns the token with this hash, expired or not.
    fn token(&self, hash: [u8; 32]) -> StoreFuture<'_, Option<StoredToken>>;

    /// Returns the tokens of a user, expired or not.
    fn tokens_for_user(&self, user: UserId) -> StoreFuture<'_, Vec<StoredToken>>;

    /// Records the last use of a token.
    fn record_use(&self, hash: [u8; 32], last_use: TokenUse) -> StoreFuture<'_, ()>;

    /// Removes one token.
    fn revoke(&self, hash: [u8; 32]) -> StoreFuture<'_, ()>;

    /// Removes tokens that expired at or before `now`; returns how many.
    fn remove_expired(&self, now: Timestamp) -> StoreFuture<'_, u64>;
}
