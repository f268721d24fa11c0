//! Texts that many results share, stored once.

use aws_lc_rs::digest;

/// A text with the hash for its lookup.
#[derive(Clone, Debug)]
pub(in crate::store) struct SharedText {
    /// The first bytes of its SHA-256.
    pub(in crate::store) hash: [u8; 16],
    pub(in crate::store) text: String,
}

impl SharedText {
    pub(in crate::store) fn from_string(text: String) -> Self {
        let mut hash = [0; 16];
        hash.copy_from_slice(&digest::digest(&digest::SHA256, text.as_bytes()).as_ref()[..16]);
        Self { hash, text }
    }
}
