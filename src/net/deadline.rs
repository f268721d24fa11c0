//! When an attempt has to be over, and the one way to wait for less than that.

use std::time::Duration;

use tokio::time::Instant;

use crate::domain::{Failure, Phase};

/// When an attempt has to be over.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    /// The instant itself.
    pub at: Instant,
    /// The timeout that it came from, for messages.
    pub timeout: Duration,
}

impl Deadline {
    /// The deadline that lies `timeout` from now.
    #[must_use]
    pub fn within(timeout: Duration) -> Self {
        Self { at: Instant::now() + timeout, timeout }
    }

    /// Time that is left; zero when it has passed.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    /// Whether it has passed.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.remaining().is_zero()
    }

    /// The output of `work`, or a timeout (2) in `phase` when the deadline comes first.
    pub async fn enforce<F: Future>(&self, phase: Phase, work: F) -> Result<F::Output, Failure> {
        tokio::time::timeout_at(self.at, work).await.map_err(|_| self.timed_out(phase))
    }

    /// The failure of having waited in `phase` until this deadline.
    #[must_use]
    pub fn timed_out(&self, phase: Phase) -> Failure {
        Failure::timed_out(phase, self.timeout)
    }
}
