//! Why a token or key of NATS cannot be used.

/// A token or key cannot be made or used. Never contains a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JwtError {
    /// It is longer than any token.
    #[error("the token has {0} bytes, more than 1 MiB")]
    TooLong(usize),
    /// It is no token, or not of the kind that was expected.
    #[error("the token cannot be read: {0}")]
    Malformed(String),
    /// Its signature is not that of its issuer.
    #[error("the signature of the token is wrong")]
    WrongSignature,
    /// A text is no key of the kind that was expected.
    #[error("a {0} key of NATS was expected")]
    WrongKey(&'static str),
    /// The system gave no random numbers, or the claims cannot be encoded.
    #[error("the token or key cannot be created: {0}")]
    NotCreated(String),
}
