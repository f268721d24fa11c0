//! The keys: the newest seals, all of them open.

use std::path::Path;

use zeroize::Zeroizing;

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
    Forged,
}

/// All keys of a file.
pub struct Keyring {
    // Filled by its author.
    _keys: (),
}

impl Keyring {
    /// Reads the key file at `path`.
    pub fn read(_path: &Path) -> Result<Self, VaultError> {
        todo!()
    }

    /// As [`Keyring::read`]; makes the file, with mode 0600 and one new key, when there is none.
    pub fn read_or_create(_path: &Path) -> Result<Self, VaultError> {
        todo!()
    }

    /// One new key that is kept nowhere: for tests and for a server that keeps nothing.
    #[must_use]
    pub fn ephemeral() -> Self {
        todo!()
    }

    /// Seals `plain` under the newest key, bound to `context`: version, key id, nonce, ciphertext, tag.
    #[must_use]
    pub fn seal(&self, _context: &str, _plain: &[u8]) -> Vec<u8> {
        todo!()
    }

    /// Opens what [`Keyring::seal`] made for the same `context`.
    pub fn open(&self, _context: &str, _sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        todo!()
    }

    /// What `sealed` is under the newest key; `None` when it is under that already, or cannot be opened.
    #[must_use]
    pub fn reseal(&self, _context: &str, _sealed: &[u8]) -> Option<Vec<u8>> {
        todo!()
    }
}
