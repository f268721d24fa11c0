//! Tokens of who is signed in.

use crate::domain::{Timestamp, UserId};

use super::error::Answer;

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
pub struct Token {
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
pub trait Tokens: Send + Sync + 'static {
    /// Keeps a new token.
    fn issue(&self, token: Token) -> Answer<'_, ()>;

    /// The token with this hash, expired or not.
    fn token(&self, hash: [u8; 32]) -> Answer<'_, Option<Token>>;

    /// Moves the end of a session.
    fn extend(&self, hash: [u8; 32], expires_at: Timestamp) -> Answer<'_, ()>;

    /// Ends one token.
    fn end(&self, hash: [u8; 32]) -> Answer<'_, ()>;

    /// Removes what expired before `now`; answers how many went.
    fn purge(&self, now: Timestamp) -> Answer<'_, u64>;
}
