//! Stored tokens and sessions.

use crate::domain::{Timestamp, UserId};

use super::future::StoreFuture;

/// Kind of token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// An access token of version 3, valid for an hour after it was issued.
    Access,
    /// A session of the legacy API, which ends 15 minutes after its last use.
    Session,
    /// A session of the pages, which ends 12 hours after its last use and 7 days after it was issued. User 0 is the host.
    Page,
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
}

/// Stores tokens and sessions.
pub trait TokenStore: Send + Sync + 'static {
    /// Stores a new token.
    fn insert(&self, token: StoredToken) -> StoreFuture<'_, ()>;

    /// Returns the token with this hash, expired or not.
    fn token(&self, hash: [u8; 32]) -> StoreFuture<'_, Option<StoredToken>>;

    /// Extends a session.
    fn extend(&self, hash: [u8; 32], expires_at: Timestamp) -> StoreFuture<'_, ()>;

    /// Removes one token.
    fn revoke(&self, hash: [u8; 32]) -> StoreFuture<'_, ()>;

    /// Removes tokens that expired before `now`; returns how many.
    fn remove_expired(&self, now: Timestamp) -> StoreFuture<'_, u64>;
}
