//! Authentication tags that only this installation can compute: HMAC-SHA256. Its key is derived from a key of the
//! keyring (HKDF, RFC 5869), so that the sealing key itself is never used for it.

use aws_lc_rs::hkdf::{HKDF_SHA256, Salt};
use aws_lc_rs::hmac;

use super::key_file::SealingKey;

/// Length of a tag, in bytes.
pub const MAC_TAG_BYTES: usize = 32;
/// An HMAC-SHA256 authentication tag.
pub type MacTag = [u8; MAC_TAG_BYTES];

/// Computes the tag of `message` for `purpose` with `key`; `None` only if the library cannot derive a key.
pub(super) fn sign(key: &SealingKey, purpose: &str, message: &[u8]) -> Option<MacTag> {
    hmac::sign(&derive_key(key, purpose)?, message).as_ref().try_into().ok()
}

/// Whether `signature` is that of `message` for `purpose` with `key`, checked in constant time.
pub(super) fn verify(key: &SealingKey, purpose: &str, message: &[u8], signature: &[u8]) -> bool {
    derive_key(key, purpose).is_some_and(|key| hmac::verify(&key, message, signature).is_ok())
}

fn derive_key(key: &SealingKey, purpose: &str) -> Option<hmac::Key> {
    let pseudorandom_key = Salt::new(HKDF_SHA256, b"vigie/signature/1").extract(key.as_slice());
    let info = [purpose.as_bytes()];
    pseudorandom_key.expand(&info, hmac::HMAC_SHA256).ok().map(hmac::Key::from)
}
