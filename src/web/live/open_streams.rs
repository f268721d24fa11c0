//! How many streams of updates are open: each holds a connection, and costs a page a second.

use std::collections::HashMap;
use std::sync::Arc;

use crate::domain::CustomerId;
use crate::sync::Mutex;

/// Most streams at once. Connections of others must remain.
const MAX_STREAMS: usize = 192;
/// Most streams of one account, or of those who are not signed in.
const MAX_ACCOUNT_STREAMS: usize = 96;

/// Counts the open streams by account; `None` for viewers of all accounts.
#[derive(Debug, Default)]
pub(super) struct OpenStreams {
    counts: Mutex<HashMap<Option<CustomerId>, usize>>,
}

/// One of the open streams, until it is dropped.
#[derive(Debug)]
pub(super) struct StreamPermit {
    streams: Arc<OpenStreams>,
    account: Option<CustomerId>,
}

impl OpenStreams {
    /// Counts another stream of `account`; `None` when there are too many.
    pub(super) fn open(self: &Arc<Self>, account: Option<CustomerId>) -> Option<StreamPermit> {
        let mut counts = self.counts.lock();
        let total: usize = counts.values().sum();
        let count = counts.entry(account).or_default();
        if total >= MAX_STREAMS || *count >= MAX_ACCOUNT_STREAMS {
            return None;
        }
        *count += 1;
        Some(StreamPermit { streams: Arc::clone(self), account })
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut counts = self.streams.counts.lock();
        let remaining = counts.get(&self.account).map_or(0, |count| count.saturating_sub(1));
        if remaining == 0 {
            counts.remove(&self.account);
        } else {
            counts.insert(self.account, remaining);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_account_leaves_streams_to_others() {
        let streams = Arc::new(OpenStreams::default());
        let open_all = |account| std::iter::from_fn(|| streams.open(account)).collect::<Vec<_>>();
        let first = open_all(Some(CustomerId(2)));
        assert_eq!(first.len(), MAX_ACCOUNT_STREAMS);
        let second = open_all(Some(CustomerId(3)));
        assert_eq!(second.len(), MAX_STREAMS - MAX_ACCOUNT_STREAMS);
        assert!(open_all(None).is_empty());
        drop((first, second));
        assert!(streams.counts.lock().is_empty(), "memory of those who are gone");
        assert!(streams.open(None).is_some());
    }
}
