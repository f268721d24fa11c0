//! Tokens of who is signed in.

use crate::domain::{Timestamp, UserId};

use super::future::StoreFuture;

/// What a token opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// An access token of version 3: lives for an hour from its issue.
    Access,
    /// A session of the legacy API: ends 15 minutes after its last use.
    Session,
}

/// A token as it is kept: never itself, only its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredToken {
    /// SHA-256 of the token.
    pub hash: [u8; 32],
    /// What it opens.
    pub kind: TokenKind,
    /// Whose it is.
    pub user: UserId,
    /// When it was given.
    pub issued_at: Timestamp,
    /// Until when it opens anything.
    pub expires_at: Timestamp,
}

/// Keeps the tokens of who is logged in.
pub trait TokenStore: Send + Sync + 'static {
    /// Keeps a new token.
    fn insert(&self, token: StoredToken) -> StoreFuture<'_, ()>;

    /// The token with this hash, expired or not.
    fn token(&self, hash: [u8; 32]) -> StoreFuture<'_, Option<StoredToken>>;

    /// Moves the end of a session.
    fn extend(&self, hash: [u8; 32], expires_at: Timestamp) -> StoreFuture<'_, ()>;

    /// Ends one token.
    fn revoke(&self, hash: [u8; 32]) -> StoreFuture<'_, ()>;

    /// Removes what expired before `now`; answers how many went.
    fn remove_expired(&self, now: Timestamp) -> StoreFuture<'_, u64>;
}
