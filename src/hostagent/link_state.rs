//! Whether the server can be reached, and when it is tried again.

use std::time::Duration;

use tokio::time::Instant;

use super::report_client::SendOutcome;

/// Longest time until a server that could not be reached is tried again.
const MAX_RETRY_DELAY: Duration = Duration::from_mins(1);
/// Time until a server is tried again that takes no reports of this host.
const DENIED_RETRY_DELAY: Duration = Duration::from_mins(10);

/// Whether the server can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LinkState {
    /// It took the last report, or none was sent yet.
    Up,
    /// It did not: it is tried again at a time.
    Down {
        /// When.
        retry_at: Instant,
        /// Whether it takes no reports of this host.
        is_denied: bool,
    },
}

impl LinkState {
    /// Whether a report may be sent now.
    pub(super) fn may_send(&self, now: Instant) -> bool {
        match self {
            Self::Up => true,
            Self::Down { retry_at, .. } => *retry_at <= now,
        }
    }

    /// Returns the state after `outcome`, and logs a change. Without a pause that the server asks for, the next try is
    /// within the `interval` of reports and at most a minute, at a random time: agents that lost their server
    /// together must not return together. `random` is from 0 to 1.
    pub(super) fn after(&self, outcome: &SendOutcome, interval: Duration, random: f64, now: Instant) -> Self {
        match outcome {
            SendOutcome::Accepted(_) | SendOutcome::Refused(_) => {
                if *self != Self::Up {
                    tracing::info!("the server takes reports again");
                }
                Self::Up
            }
            SendOutcome::Denied(reason) => {
                if !matches!(self, Self::Down { is_denied: true, .. }) {
                    tracing::error!(
                        error = %reason,
                        "the server takes no reports of this host: give the agent a new token; retrying every 10 minutes"
                    );
                }
                Self::Down { retry_at: now + DENIED_RETRY_DELAY, is_denied: true }
            }
            SendOutcome::Later(reason, pause) => {
                if *self == Self::Up {
                    tracing::warn!(error = %reason, "failed to send a report: reports are kept and sent later");
                }
                let delay = interval.min(MAX_RETRY_DELAY);
                let delay = pause.unwrap_or_else(|| delay.mul_f64(random.mul_add(0.5, 0.5)));
                Self::Down { retry_at: now + delay, is_denied: false }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_try_depends_on_the_outcome() {
        let now = Instant::now();
        let after = |outcome: SendOutcome, interval: u64, random: f64| match LinkState::Up.after(
            &outcome,
            Duration::from_secs(interval),
            random,
            now,
        ) {
            LinkState::Up => None,
            state @ LinkState::Down { retry_at, .. } => {
                assert!(!state.may_send(now) && state.may_send(retry_at));
                Some((retry_at - now).as_secs())
            }
        };
        let later = |pause: Option<u64>| SendOutcome::Later(String::new(), pause.map(Duration::from_secs));
        assert_eq!(after(SendOutcome::Accepted(None), 60, 0.0), None);
        assert_eq!(after(SendOutcome::Refused(String::new()), 60, 0.0), None);
        assert_eq!(after(SendOutcome::Denied(String::new()), 1, 0.0), Some(600));
        assert_eq!(after(later(Some(90)), 1, 0.0), Some(90));
        assert_eq!(after(later(None), 3600, 0.0), Some(30));
        assert_eq!(after(later(None), 3600, 1.0), Some(60));
        assert_eq!(after(later(None), 4, 0.5), Some(3));
    }
}
