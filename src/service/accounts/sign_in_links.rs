//! The sign-in links of the host, in memory.

use std::collections::HashMap;
use std::time::Duration;

use super::issued_token::TokenHash;
use crate::domain::Timestamp;
use crate::service::caller::ServiceError;
use crate::sync::Mutex;

/// Lifetime of a sign-in link.
pub(super) const LINK_SECONDS: u64 = 600;
/// Most sign-in links that are valid at once.
const MAX_LINKS: usize = 1_000;

/// The sign-in links that were not used yet, as hashes, with their ends.
#[derive(Default)]
pub(super) struct SignInLinks {
    ends: Mutex<HashMap<TokenHash, Timestamp>>,
}

impl SignInLinks {
    /// Adds a link. Fails when too many are valid.
    pub(super) fn add(&self, hash: TokenHash, now: Timestamp) -> Result<(), ServiceError> {
        let mut ends = self.ends.lock();
        ends.retain(|_, end| *end > now);
        if ends.len() >= MAX_LINKS {
            return Err(ServiceError::RateLimited(LINK_SECONDS));
        }
        ends.insert(hash, now + Duration::from_secs(LINK_SECONDS));
        Ok(())
    }

    /// Whether the link is valid; it is not any more after this call.
    pub(super) fn take(&self, hash: &TokenHash, now: Timestamp) -> bool {
        self.ends.lock().remove(hash).is_some_and(|end| end > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_bounded_and_expired_ones_make_room() {
        let (links, start) = (SignInLinks::default(), Timestamp::from_seconds(1_800_000_000));
        let hash = |n: usize| {
            let mut hash = TokenHash::default();
            hash[..8].copy_from_slice(&n.to_be_bytes());
            hash
        };
        for n in 0..MAX_LINKS {
            links.add(hash(n), start).unwrap();
        }
        assert!(links.add(hash(MAX_LINKS), start).is_err());
        let end = start + Duration::from_secs(LINK_SECONDS);
        assert!(links.take(&hash(1), start) && !links.take(&hash(1), start), "used twice");
        assert!(!links.take(&hash(2), end), "used too late");
        links.add(hash(MAX_LINKS), end).unwrap();
        assert_eq!(links.ends.lock().len(), 1);
    }
}
