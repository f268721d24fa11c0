//! Seals secrets at rest with XChaCha20-Poly1305 and opens them again; signs what this installation wants to
//! recognise; the keyring with its key file.

mod error;
mod key_file;
mod keyring;
mod signature;

pub use error::{KeyId, VaultError};
pub use key_file::KeyFile;
pub use keyring::Keyring;
pub use signature::{SIGNATURE_BYTES, Signature};
