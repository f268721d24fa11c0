//! The deadline of an attempt.

use std::time::Duration;

use tokio::time::Instant;

use crate::domain::{Failure, Phase};

/// The deadline of an attempt.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    /// When the attempt must end.
    pub at: Instant,
    /// The timeout that it was computed from, for messages.
    pub timeout: Duration,
}

impl Deadline {
    /// Returns the deadline `timeout` from now.
    #[must_use]
    pub fn within(timeout: Duration) -> Self {
        Self { at: Instant::now() + timeout, timeout }
    }

    /// Returns the remaining time; zero after the deadline.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    /// Whether the deadline has passed.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.remaining().is_zero()
    }

    /// Returns the output of `future`, or a timeout (status 2) in `phase` when the deadline comes first.
    pub async fn enforce<F: Future>(&self, phase: Phase, future: F) -> Result<F::Output, Failure> {
        tokio::time::timeout_at(self.at, future).await.map_err(|_| self.timeout_failure(phase))
    }

    /// Returns the timeout failure for reaching this deadline in `phase`.
    #[must_use]
    pub fn timeout_failure(&self, phase: Phase) -> Failure {
        Failure::timed_out(phase, self.timeout)
    }
}
