//! Access tokens as they are issued and stored.

/// SHA-256 of a token; the token itself is not stored.
pub(in crate::service) type TokenHash = [u8; 32];

/// An access token as version 3 returns it (behaviour.md 1 "Token").
#[derive(Clone, PartialEq, Eq)]
pub struct IssuedToken {
    /// The token, which only its owner has.
    pub token: String,
    /// Lifetime in seconds.
    pub expires_in: u64,
}

/// Omits the token.
impl std::fmt::Debug for IssuedToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Issued").field("expires_in", &self.expires_in).finish_non_exhaustive()
    }
}
