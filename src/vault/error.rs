//! Why a secret cannot be sealed or opened.

/// Number of a key in its file, from 1.
pub type KeyId = u32;

/// Why a secret cannot be sealed or opened, or a key file not be used. Never holds a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    /// The key file cannot be read, written or understood.
    #[error("{0}")]
    KeyFile(String),
    /// The secret was sealed with a key that the file does not have.
    #[error(
        "the secret was sealed with key {0}, which the key file does not have; put the old key file back"
    )]
    UnknownKey(KeyId),
    /// The bytes are not what was sealed, or were sealed for something else.
    #[error("a sealed secret was changed or belongs elsewhere")]
    AuthenticationFailed,
}
