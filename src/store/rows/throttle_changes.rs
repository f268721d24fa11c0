//! Stored codes of the login throttle, and what an update changes.

use crate::domain::Timestamp;
use crate::store::contract::{MAX_THROTTLE_COUNTERS, ThrottleCounter, ThrottleKey, ThrottleKind};

use super::decode::{DecodeError, RowLocator};

/// Returns the stored code of a kind.
pub(in crate::store) const fn throttle_kind_code(kind: ThrottleKind) -> i16 {
    match kind {
        ThrottleKind::Login => 0,
        ThrottleKind::LoginAtKnownAddress => 1,
        ThrottleKind::Address => 2,
        ThrottleKind::Network => 3,
        ThrottleKind::LastSuccess => 4,
    }
}

/// Decodes a stored counter of `kind`.
pub(in crate::store) fn throttle_counter_from_row(
    kind: ThrottleKind,
    failures: i64,
    last_at: i64,
) -> Result<ThrottleCounter, DecodeError> {
    let key = [("kind", i64::from(throttle_kind_code(kind)))];
    let locator = RowLocator { table: "login_throttles", key: &key };
    let failures = locator.require_decoded("failures", failures, u32::try_from(failures).ok())?;
    Ok(ThrottleCounter { failures, last_at: Timestamp::from_micros(last_at) })
}

/// Returns the time up to which counters of `kind` have expired at `now`, in microseconds.
pub(in crate::store) fn expired_until(kind: ThrottleKind, now: Timestamp) -> i64 {
    now.as_micros().saturating_sub(i64::try_from(kind.ttl().as_micros()).unwrap_or(i64::MAX))
}

/// What an update of counters changes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct ThrottleChanges {
    /// Counters to insert or to replace.
    pub(in crate::store) upserted: Vec<(ThrottleKey, ThrottleCounter)>,
    /// Counters to remove.
    pub(in crate::store) removed: Vec<ThrottleKey>,
    /// The kinds that get new counters, with the number of counters to insert or to replace.
    pub(in crate::store) growing_kinds: Vec<(ThrottleKind, usize)>,
}

impl ThrottleChanges {
    /// Compares the counters of `keys` before and after an update.
    pub(in crate::store) fn between(
        keys: &[ThrottleKey],
        before: &[Option<ThrottleCounter>],
        after: &[Option<ThrottleCounter>],
    ) -> Self {
        let mut changes = Self::default();
        let mut new_kinds = Vec::new();
        for ((key, before), after) in keys.iter().zip(before).zip(after) {
            match (before, after) {
                (before, Some(after)) if *before != Some(*after) => {
                    changes.upserted.push((*key, *after));
                    if before.is_none() && !new_kinds.contains(&key.kind) {
                        new_kinds.push(key.kind);
                    }
                }
                (Some(_), None) => changes.removed.push(*key),
                _ => {}
            }
        }
        let upsert_count =
            |kind: ThrottleKind| changes.upserted.iter().filter(|(key, _)| key.kind == kind).count();
        changes.growing_kinds = new_kinds.into_iter().map(|kind| (kind, upsert_count(kind))).collect();
        changes
    }
}

/// Returns how many of `stored_count` counters of a kind have to be removed before `upsert_count` are written: none, or
/// a quarter of the limit, so that it is seldom.
pub(in crate::store) fn eviction_count(stored_count: usize, upsert_count: usize) -> usize {
    let excess = (stored_count + upsert_count).saturating_sub(MAX_THROTTLE_COUNTERS);
    if excess == 0 { 0 } else { excess.max(MAX_THROTTLE_COUNTERS / 4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_what_differs() {
        let key = |kind, number| ThrottleKey { kind, hash: [number; 32] };
        let counter = |failures| Some(ThrottleCounter { failures, last_at: Timestamp::from_seconds(1) });
        let keys = [
            key(ThrottleKind::Login, 1),
            key(ThrottleKind::Address, 2),
            key(ThrottleKind::Address, 3),
            key(ThrottleKind::Network, 4),
            key(ThrottleKind::Network, 5),
            key(ThrottleKind::LastSuccess, 6),
        ];
        let before = [counter(1), None, counter(1), counter(1), counter(1), None];
        let after = [counter(2), counter(1), counter(3), None, counter(1), None];
        let changes = ThrottleChanges::between(&keys, &before, &after);
        let upserted: Vec<u8> = changes.upserted.iter().map(|(key, _)| key.hash[0]).collect();
        assert_eq!(upserted, [1, 2, 3]);
        assert_eq!(changes.removed, [keys[3]]);
        assert_eq!(changes.growing_kinds, [(ThrottleKind::Address, 2)]);
        assert_eq!(ThrottleChanges::between(&keys, &before, &before), ThrottleChanges::default());
    }

    #[test]
    fn a_quarter_makes_room_unless_more_is_written() {
        assert_eq!(eviction_count(MAX_THROTTLE_COUNTERS - 1, 1), 0);
        assert_eq!(eviction_count(MAX_THROTTLE_COUNTERS, 1), MAX_THROTTLE_COUNTERS / 4);
        assert_eq!(eviction_count(MAX_THROTTLE_COUNTERS, 4_000), 4_000);
    }
}
