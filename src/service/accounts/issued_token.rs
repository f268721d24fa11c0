//! Access tokens as they are issued and stored.

/// SHA-256 of a token: all that is kept of it.
pub(super) type TokenHash = [u8; 32];

/// An access token as version 3 answers it (behaviour.md 1 "Token").
#[derive(Clone, PartialEq, Eq)]
pub struct IssuedToken {
    /// The token; kept nowhere but with its owner.
    pub token: String,
    /// Seconds that it lives.
    pub expires_in: u64,
}

/// Shows no token.
impl std::fmt::Debug for IssuedToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Issued").field("expires_in", &self.expires_in).finish_non_exhaustive()
    }
}
