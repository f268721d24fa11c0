//! Counters that throttle logins, shared by all servers of a store.

use std::sync::Arc;
use std::time::Duration;

use crate::domain::Timestamp;

use super::future::StoreFuture;

/// Most counters of a kind. Before more are stored, expired ones are removed, and then those with the fewest failures.
pub const MAX_THROTTLE_COUNTERS: usize = 10_000;

/// What a counter of the login throttle counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ThrottleKind {
    /// Failures of a login at addresses that are not known for it.
    Login,
    /// Failures of a login at an address that is known for it.
    LoginAtKnownAddress,
    /// Failures at an address, over all logins.
    Address,
    /// Failures in a network, over all logins.
    Network,
    /// The last success of a login at an address, which makes the address known for it; it has no failures.
    LastSuccess,
}

impl ThrottleKind {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::Login, Self::LoginAtKnownAddress, Self::Address, Self::Network, Self::LastSuccess];

    /// Returns how long a counter is valid after its last failure or success.
    #[must_use]
    pub const fn ttl(self) -> Duration {
        match self {
            Self::Login | Self::LoginAtKnownAddress => Duration::from_mins(15),
            Self::Address | Self::Network => Duration::from_hours(1),
            Self::LastSuccess => Duration::from_hours(30 * 24),
        }
    }
}

/// Identifies a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThrottleKey {
    /// What it counts.
    pub kind: ThrottleKind,
    /// Keyed hash of the login, the address or both, so that the store does not contain them.
    pub hash: [u8; 32],
}

/// A counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThrottleCounter {
    /// Number of failures.
    pub failures: u32,
    /// Time of the last failure, of [`ThrottleKind::LastSuccess`] of the success.
    pub last_at: Timestamp,
}

/// Returns the new counters for the stored ones, in the same order; `None` removes a counter. It may be called again
/// for the same update, so it has no side effects.
pub type ThrottleDecision =
    Arc<dyn Fn(&[Option<ThrottleCounter>]) -> Vec<Option<ThrottleCounter>> + Send + Sync>;

/// Stores the counters of the login throttle.
pub trait ThrottleStore: Send + Sync + 'static {
    /// Returns the counters of `keys` in their order, expired ones too; `None` for those that do not exist.
    fn throttle_counters(&self, keys: Vec<ThrottleKey>) -> StoreFuture<'_, Vec<Option<ThrottleCounter>>>;

    /// Stores what `decide` returns for the counters of `keys`, which differ. Returns the counters that the decision was
    /// based on. No other update of this store, by whatever server, comes between the reading and the commit.
    ///
    /// Keeps at most [`MAX_THROTTLE_COUNTERS`] of each kind; `now` decides which of them have expired.
    fn update_throttle_counters(
        &self,
        keys: Vec<ThrottleKey>,
        now: Timestamp,
        decide: ThrottleDecision,
    ) -> StoreFuture<'_, Vec<Option<ThrottleCounter>>>;

    /// Removes the counters that have expired at `now`; returns how many.
    fn remove_expired_throttle_counters(&self, now: Timestamp) -> StoreFuture<'_, u64>;
}
