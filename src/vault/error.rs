//! Errors of the vault.

/// Id of a key in its file, from 1.
pub type KeyId = u32;

/// Error of sealing or opening a secret, or of using a key file. Never contains a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    /// The key file cannot be read, written or parsed.
    #[error("{0}")]
    KeyFile(String),
    /// The secret was sealed with a key that the file does not have.
    #[error("the secret was sealed with key {0}, which the key file does not have; restore the old key file")]
    UnknownKey(KeyId),
    /// The bytes are not a sealed secret, or were sealed for another context.
    #[error("a sealed secret was changed or belongs elsewhere")]
    AuthenticationFailed,
}
