//! The enrolment secrets of a location: each works once and expires. Only their hashes are stored.

use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::domain::{ConfigRecord, Timestamp, to_hex};
use crate::service::caller::ServiceError;

/// How long a secret works.
const SECRET_LIFETIME: Duration = Duration::from_hours(24);
/// Most secrets of a location that were not used yet.
const MAX_PENDING: usize = 100;
/// Bytes of a hash.
const HASH_BYTES: usize = 32;

/// The secrets of one location that were not used yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EnrolmentSecrets(Vec<PendingSecret>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PendingSecret {
    /// SHA-256 of the secret, as Base64 for URLs.
    hash: String,
    expires_at: Timestamp,
}

/// A new secret, in clear.
pub struct NewEnrolmentSecret {
    secret: String,
    expires_at: Timestamp,
}

impl NewEnrolmentSecret {
    /// Returns the fields of the response that shows it.
    #[must_use]
    pub fn into_response_fields(self) -> Map<String, Value> {
        Map::from_iter([
            ("enrolment_secret".to_owned(), json!(self.secret)),
            ("enrolment_expires_at".to_owned(), json!(self.expires_at.to_string())),
        ])
    }
}

impl EnrolmentSecrets {
    /// Reads the private data of a location. Earlier versions stored one hash alone.
    pub(super) fn of_location(location: &ConfigRecord) -> Self {
        let Some(data) = &location.private_data else { return Self::default() };
        if data.len() == HASH_BYTES {
            let (hash, expires_at) = (URL_SAFE_NO_PAD.encode(data), location.created_at + SECRET_LIFETIME);
            return Self(vec![PendingSecret { hash, expires_at }]);
        }
        serde_json::from_slice(data).unwrap_or_else(|error| {
            tracing::error!(location = location.id, %error, "the enrolment secrets of a location are damaged; make new ones");
            Self::default()
        })
    }

    /// Returns the private data of a location with these secrets.
    ///
    /// # Errors
    /// Never fails for secrets that exist.
    pub fn to_private_data(&self) -> Result<Vec<u8>, ServiceError> {
        serde_json::to_vec(self).map_err(|error| ServiceError::Unavailable(error.to_string()))
    }

    /// Adds a secret and removes the expired ones.
    ///
    /// # Errors
    /// Fails when there are too many, and when the system gives no random numbers.
    pub fn with_new(mut self, now: Timestamp) -> Result<(NewEnrolmentSecret, Self), ServiceError> {
        self.0.retain(|pending| pending.expires_at > now);
        if self.0.len() >= MAX_PENDING {
            let message =
                format!("{MAX_PENDING} enrolment secrets of this location are unused; use them first");
            return Err(ServiceError::Conflict(message));
        }
        let mut random = [0_u8; 32];
        aws_lc_rs::rand::fill(&mut random).map_err(|_| {
            ServiceError::Unavailable("Random numbers are not available now; try again".to_owned())
        })?;
        let (secret, expires_at) = (URL_SAFE_NO_PAD.encode(random), now + SECRET_LIFETIME);
        self.0.push(PendingSecret { hash: hash(&secret), expires_at });
        Ok((NewEnrolmentSecret { secret, expires_at }, self))
    }

    /// Returns the secrets without `secret`; `None` when it is not among them, or has expired. The time that it takes
    /// does not depend on which one it is.
    pub(super) fn without(&self, secret: &str, now: Timestamp) -> Option<Self> {
        let hash = hash(secret);
        let mut found = false;
        let mut rest = Vec::with_capacity(self.0.len());
        for pending in &self.0 {
            let is_equal = verify_slices_are_equal(pending.hash.as_bytes(), hash.as_bytes()).is_ok();
            let is_valid = pending.expires_at > now;
            found |= is_equal && is_valid;
            if is_valid && !is_equal {
                rest.push(pending.clone());
            }
        }
        found.then_some(Self(rest))
    }
}

/// Returns the start of the hash of `secret`, by which people tell secrets apart.
pub(super) fn fingerprint(secret: &str) -> String {
    to_hex(&digest(&SHA256, secret.as_bytes()).as_ref()[..4])
}

fn hash(secret: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, secret.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_works_once_and_until_it_expires() {
        let now = Timestamp::from_seconds(1_800_000_000);
        let (first, secrets) = EnrolmentSecrets::default().with_new(now).unwrap();
        let (second, secrets) = secrets.with_new(now).unwrap();
        let rest = secrets.without(&first.secret, now).unwrap();
        assert_eq!(rest.without(&first.secret, now), None, "it worked twice");
        assert_eq!(rest.without("other", now), None);
        assert_eq!(rest.without(&second.secret, now), Some(EnrolmentSecrets::default()));
        let end = now + SECRET_LIFETIME;
        assert!(rest.without(&second.secret, end - Duration::from_micros(1)).is_some());
        assert_eq!(rest.without(&second.secret, end), None, "it works after its time");
    }

    #[test]
    fn the_number_of_unused_secrets_is_limited_and_expired_ones_make_room() {
        let now = Timestamp::from_seconds(1_800_000_000);
        let mut secrets = EnrolmentSecrets::default();
        for _ in 0..MAX_PENDING {
            secrets = secrets.with_new(now).unwrap().1;
        }
        assert!(matches!(secrets.clone().with_new(now), Err(ServiceError::Conflict(_))));
        assert_eq!(secrets.with_new(now + SECRET_LIFETIME).unwrap().1.0.len(), 1);
    }
}
