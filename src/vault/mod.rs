//! Seals secrets at rest with XChaCha20-Poly1305 and opens them; signs data that this installation must recognise
//! later; manages the keyring and its key file.

mod error;
mod key_file;
mod keyring;
mod signature;

pub use error::{KeyId, VaultError};
pub use key_file::KeyFile;
pub use keyring::Keyring;
pub use signature::{MAC_TAG_BYTES, MacTag};
