//! Seals secrets at rest with XChaCha20-Poly1305 and opens them again; the keyring with its key file.

mod key_file;
mod keyring;

pub use key_file::KeyPlace;
pub use keyring::{KeyId, Keyring, VaultError};
