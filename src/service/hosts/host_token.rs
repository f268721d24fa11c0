//! The token of a host: `vgh_ID_SECRET`. Only the hash of the secret is stored, as the private data of the host.

use aws_lc_rs::constant_time::verify_slices_are_equal;

use crate::domain::{ConfigRecord, HostId, ReportToken};
use crate::service::accounts::{generate_token, hash_token};

/// A new secret with its hash.
pub(in crate::service) struct NewHostSecret {
    /// The secret.
    pub(in crate::service) secret: String,
    /// What is stored of it.
    pub(in crate::service) hash: Vec<u8>,
}

impl NewHostSecret {
    pub(in crate::service) fn generate() -> Self {
        let secret = generate_token();
        Self { hash: hash_token(&secret).to_vec(), secret: secret.to_string() }
    }

    /// Returns the token of the host `id`.
    pub(in crate::service) fn token_of(&self, id: HostId) -> String {
        ReportToken::text_of(id, &self.secret)
    }
}

/// Whether `secret` is that of the host. The time that it takes tells nothing about it.
pub(super) fn is_secret_of(host: &ConfigRecord, secret: &str) -> bool {
    let Some(stored) = &host.private_data else { return false };
    verify_slices_are_equal(stored, &hash_token(secret)).is_ok()
}
