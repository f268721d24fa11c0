//! How many streams of updates are open: each holds a connection, and costs a page a second.

use std::collections::HashMap;
use std::sync::Arc;

use crate::domain::{CustomerId, UserId};
use crate::sync::Mutex;
use crate::web::viewer::Viewer;

/// Most streams at once. Connections of others must remain.
const MAX_STREAMS: usize = 192;
/// Most streams of one account, of the host, or of those who are not signed in.
const MAX_HOLDER_STREAMS: usize = 64;

/// Who has a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum StreamHolder {
    /// Those who are not signed in.
    Anonymous,
    /// The host.
    Host,
    /// Users of an account.
    Account(CustomerId),
}

impl StreamHolder {
    /// Returns who `viewer` is.
    pub(super) fn of(viewer: &Viewer) -> Self {
        match &viewer.caller {
            None => Self::Anonymous,
            Some(caller) if caller.user_id == UserId::HOST => Self::Host,
            Some(caller) => Self::Account(caller.customer),
        }
    }
}

/// Counts the open streams by their holders.
#[derive(Debug, Default)]
pub(super) struct OpenStreams {
    counts: Mutex<HashMap<StreamHolder, usize>>,
}

/// One of the open streams, until it is dropped.
#[derive(Debug)]
pub(super) struct StreamPermit {
    streams: Arc<OpenStreams>,
    holder: StreamHolder,
}

impl OpenStreams {
    /// Counts another stream of `holder`; `None` when there are too many.
    pub(super) fn open(self: &Arc<Self>, holder: StreamHolder) -> Option<StreamPermit> {
        let mut counts = self.counts.lock();
        let total: usize = counts.values().sum();
        let count = counts.get(&holder).copied().unwrap_or_default();
        if total >= MAX_STREAMS || count >= MAX_HOLDER_STREAMS {
            return None;
        }
        counts.insert(holder, count + 1);
        Some(StreamPermit { streams: Arc::clone(self), holder })
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut counts = self.streams.counts.lock();
        let remaining = counts.get(&self.holder).map_or(0, |count| count.saturating_sub(1));
        if remaining == 0 {
            counts.remove(&self.holder);
        } else {
            counts.insert(self.holder, remaining);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_account_leaves_streams_to_others() {
        let streams = Arc::new(OpenStreams::default());
        let open_all = |holder| std::iter::from_fn(|| streams.open(holder)).collect::<Vec<_>>();
        let anonymous = open_all(StreamHolder::Anonymous);
        assert_eq!(anonymous.len(), MAX_HOLDER_STREAMS);
        let (first, second) = (StreamHolder::Account(CustomerId(2)), StreamHolder::Account(CustomerId(3)));
        let (first, second) = (open_all(first), open_all(second));
        assert_eq!(first.len() + second.len(), MAX_STREAMS - MAX_HOLDER_STREAMS);
        assert!(open_all(StreamHolder::Host).is_empty());
        drop((anonymous, first, second));
        assert!(streams.counts.lock().is_empty(), "memory of those who are gone");
        assert!(streams.open(StreamHolder::Host).is_some());
    }
}
