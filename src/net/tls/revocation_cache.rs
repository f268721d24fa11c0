//! Keeps what authorities published for a while, bounded in number and size.

use std::collections::HashMap;
use std::sync::Arc;

use rustls_pki_types::UnixTime;

use crate::domain::EgressPrincipal;
use crate::sync::Mutex;

/// On whose behalf it was asked, where, and by which request; a revocation list has an empty one. Accounts share
/// nothing: what one may reach, another may not.
type CacheKey = (EgressPrincipal, String, Vec<u8>);

/// Most answers that are kept.
const MAX_ENTRIES: usize = 1024;
/// Most bytes of all of them.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// Longest time in seconds that an answer is used: its certificate may be revoked meanwhile.
const MAX_LIFETIME_SECONDS: u64 = 3600;

/// The answers that are kept.
#[derive(Debug, Default)]
pub(in crate::net) struct RevocationCache(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    by_key: HashMap<CacheKey, Entry>,
    total_bytes: usize,
}

#[derive(Debug)]
struct Entry {
    answer: Arc<[u8]>,
    /// End of its use, in seconds since 1970.
    until: u64,
}

impl RevocationCache {
    /// Returns the answer for `key`, if there is one that may still be used.
    pub(super) fn get(&self, key: &CacheKey, now: UnixTime) -> Option<Arc<[u8]>> {
        let entries = self.0.lock();
        entries.by_key.get(key).filter(|entry| entry.until > now.as_secs()).map(|entry| entry.answer.clone())
    }

    /// Keeps `answer` until `until`, in seconds since 1970, at most for an hour. When there is no room, old ones go
    /// first.
    pub(super) fn insert(&self, key: CacheKey, answer: Arc<[u8]>, until: u64, now: UnixTime) {
        let size = size_of_entry(&key, &answer);
        if size > MAX_BYTES {
            return;
        }
        let mut entries = self.0.lock();
        entries.remove(&key);
        if entries.has_no_room_for(size) {
            let outdated: Vec<CacheKey> = entries
                .by_key
                .iter()
                .filter(|(_, entry)| entry.until <= now.as_secs())
                .map(|(key, _)| key.clone())
                .collect();
            for key in &outdated {
                entries.remove(key);
            }
        }
        while entries.has_no_room_for(size) {
            let first_to_expire = entries.by_key.iter().min_by_key(|(_, entry)| entry.until);
            let Some(first_to_expire) = first_to_expire.map(|(key, _)| key.clone()) else { break };
            entries.remove(&first_to_expire);
        }
        entries.total_bytes += size;
        let until = until.min(now.as_secs() + MAX_LIFETIME_SECONDS);
        entries.by_key.insert(key, Entry { answer, until });
    }
}

impl Entries {
    fn has_no_room_for(&self, size: usize) -> bool {
        self.by_key.len() >= MAX_ENTRIES || self.total_bytes + size > MAX_BYTES
    }

    fn remove(&mut self, key: &CacheKey) {
        if let Some(entry) = self.by_key.remove(key) {
            self.total_bytes -= size_of_entry(key, &entry.answer);
        }
    }
}

fn size_of_entry(key: &CacheKey, answer: &[u8]) -> usize {
    key.1.len() + key.2.len() + answer.len()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(seconds: u64) -> UnixTime {
        UnixTime::since_unix_epoch(Duration::from_secs(seconds))
    }

    fn key(number: usize) -> CacheKey {
        (EgressPrincipal::Operator, format!("http://a.test/{number}"), Vec::new())
    }

    #[test]
    fn answers_are_kept_for_a_while_and_for_one_account() {
        let cache = RevocationCache::default();
        cache.insert(key(1), Arc::from(*b"x"), 1_000_000, at(100));
        assert!(cache.get(&key(1), at(3699)).is_some());
        assert!(cache.get(&key(1), at(3700)).is_none(), "an hour at most");
        let (_, url, request) = key(1);
        assert!(cache.get(&(EgressPrincipal::Vigie, url, request), at(100)).is_none());
    }

    #[test]
    fn number_and_size_are_bounded() {
        let cache = RevocationCache::default();
        for number in 0..2 * MAX_ENTRIES {
            cache.insert(key(number), Arc::from(*b"x"), 200, at(100));
        }
        assert_eq!(cache.0.lock().by_key.len(), MAX_ENTRIES);
        for number in 0..20 {
            cache.insert(key(number), vec![0; 4 * 1024 * 1024].into(), 300, at(100));
        }
        let entries = cache.0.lock();
        assert!(entries.total_bytes <= MAX_BYTES, "{}", entries.total_bytes);
        let sum: usize = entries.by_key.iter().map(|(key, entry)| size_of_entry(key, &entry.answer)).sum();
        assert_eq!(entries.total_bytes, sum);
    }
}
