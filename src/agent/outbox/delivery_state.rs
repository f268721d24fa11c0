//! How far one result and its captures are delivered.

use tokio::time::Instant;

/// How far something is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// There is nothing to deliver.
    Nothing,
    /// It is being sent for the first time.
    Sending,
    /// It was not sent, or has to be sent again.
    Waiting,
    /// The bus has it since then.
    Sent(Instant),
    /// The control plane is done with it since then.
    Committed(Instant),
}

impl Progress {
    /// Marks it as sent, if it waits or is being sent.
    pub(super) fn mark_sent(&mut self, now: Instant) {
        if matches!(self, Self::Waiting | Self::Sending) {
            *self = Self::Sent(now);
        }
    }
}

/// How far a result and its captures are delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeliveryState {
    pub(super) result: Progress,
    /// Sent after the result is committed: captures of a result that is not stored are dropped.
    pub(super) captures: Progress,
}

impl DeliveryState {
    /// Returns since when everything is committed.
    pub(super) fn committed_since(self) -> Option<Instant> {
        match (self.result, self.captures) {
            (Progress::Committed(at), Progress::Nothing) => Some(at),
            (Progress::Committed(at), Progress::Committed(captured_at)) => Some(at.max(captured_at)),
            _ => None,
        }
    }

    /// Whether the captures can be sent now.
    pub(super) fn captures_are_due(self) -> bool {
        matches!((self.result, self.captures), (Progress::Committed(_), Progress::Waiting))
    }

    /// Has everything sent again, except a result that is being sent.
    pub(super) fn restart(&mut self) {
        if self.result != Progress::Sending {
            self.result = Progress::Waiting;
        }
        if self.captures != Progress::Nothing {
            self.captures = Progress::Waiting;
        }
    }

    /// Has what was sent before `instant` sent again; returns whether something was.
    pub(super) fn restart_if_sent_before(&mut self, instant: Instant) -> bool {
        let mut restarted = false;
        for progress in [&mut self.result, &mut self.captures] {
            if matches!(progress, Progress::Sent(at) if *at < instant) {
                *progress = Progress::Waiting;
                restarted = true;
            }
        }
        restarted
    }
}
