//! Delivery state of one recipient: decides whether the next message is sent, held back, or has to wait.

use std::collections::VecDeque;
use std::time::Duration;

use super::backoff;
use super::settings::DeliverySettings;
use crate::domain::Timestamp;

/// Window of the rate limit.
const RATE_WINDOW: Duration = Duration::from_mins(1);
/// Attempts after which the message itself is assumed to be the cause, so that the next one is tried.
const SKIP_AFTER_ATTEMPTS: u32 = 3;

/// What to do with the next message of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeliveryDecision {
    /// Send it.
    Send,
    /// Hold it back: the recipient is over its limit.
    HoldBack,
    /// Wait: a message is being sent, or the last one failed recently.
    Wait,
}

/// Delivery state of one recipient.
#[derive(Debug, Default)]
pub(super) struct RecipientDeliveryState {
    /// A message is being sent, or its outcome is not stored yet.
    pub(super) is_busy: bool,
    /// Until when the queue waits after a failed attempt.
    retry_at: Option<Timestamp>,
    /// Consecutive failed attempts.
    consecutive_failures: u32,
    /// Set after a message that failed often was skipped: when that message is due again.
    skipped_until: Option<Timestamp>,
    /// When messages were accepted within the last minute.
    recent_sends: VecDeque<Timestamp>,
    /// When the digest of the messages held back is due.
    pub(super) digest_at: Option<Timestamp>,
    /// When an event about messages given up was last recorded.
    pub(super) dead_letter_reported_at: Option<Timestamp>,
}

impl RecipientDeliveryState {
    /// Returns what to do with the next message; `is_exempt` from the limit are digests and clears.
    pub(super) fn decide_next(
        &mut self,
        now: Timestamp,
        is_exempt: bool,
        settings: &DeliverySettings,
    ) -> DeliveryDecision {
        if self.is_busy || !self.is_ready(now, settings) {
            return DeliveryDecision::Wait;
        }
        self.prune_recent_sends(now);
        let max_per_minute = usize::try_from(settings.max_per_minute).unwrap_or(usize::MAX);
        if !is_exempt && max_per_minute > 0 && self.recent_sends.len() >= max_per_minute {
            return DeliveryDecision::HoldBack;
        }
        DeliveryDecision::Send
    }

    /// Schedules the digest of the messages held back for when the limit permits a message again.
    pub(super) fn schedule_digest(&mut self, now: Timestamp) {
        let limit_resets_at = self.recent_sends.front().map_or(now, |first| *first + RATE_WINDOW);
        self.digest_at.get_or_insert(limit_resets_at);
    }

    /// Whether the last attempt failed.
    pub(super) fn is_failing(&self) -> bool {
        self.consecutive_failures > 0
    }

    /// Whether no delay after a failed attempt holds the queue back.
    fn is_ready(&self, now: Timestamp, settings: &DeliverySettings) -> bool {
        // A longer delay than possible means that the clock was set back since.
        let max_delay = settings.max_retry_delay * 2 + Duration::from_hours(1);
        self.retry_at.is_none_or(|at| at <= now || at > now + max_delay)
    }

    /// Returns when the queue is ready, unless it is ready now.
    pub(super) fn blocked_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.retry_at.filter(|at| *at > now)
    }

    /// Records that the receiver accepted a message.
    pub(super) fn on_sent(&mut self, now: Timestamp, is_exempt: bool) {
        (self.consecutive_failures, self.retry_at, self.skipped_until) = (0, None, None);
        if !is_exempt {
            self.recent_sends.push_back(now);
        }
    }

    /// Records that the receiver rejected a message for good, which does not delay the next one.
    pub(super) fn on_rejected(&mut self) {
        self.retry_at = None;
    }

    /// Records the failed attempt number `attempts` of a message; returns when to retry it. The queue waits as long, so
    /// that messages stay in order. Only a message that failed often lets the next one go first, once.
    pub(super) fn on_failed(
        &mut self,
        now: Timestamp,
        message_key: &str,
        attempts: u32,
        retry_after: Option<Duration>,
        settings: &DeliverySettings,
    ) -> Timestamp {
        self.consecutive_failures = self.consecutive_failures.saturating_add(1);
        let delay = backoff::retry_delay(settings, message_key, self.consecutive_failures.max(attempts));
        let retry_at = now + delay.max(retry_after.unwrap_or_default());
        if attempts >= SKIP_AFTER_ATTEMPTS && self.skipped_until.is_none() && retry_after.is_none() {
            self.skipped_until = Some(retry_at);
            self.retry_at = None;
        } else {
            // Wait until the skipped message is due as well: it is older and goes first.
            self.retry_at = self.skipped_until.take().max(Some(retry_at));
        }
        retry_at
    }

    /// Whether the queue has no state worth keeping.
    pub(super) fn is_discardable(&mut self, now: Timestamp) -> bool {
        self.prune_recent_sends(now);
        !self.is_busy
            && self.recent_sends.is_empty()
            && self.digest_at.is_none()
            && self.retry_at.is_none()
            && self.consecutive_failures == 0
            && self.dead_letter_reported_at.is_none_or(|at| now.since(at) > Duration::from_hours(1))
    }

    fn prune_recent_sends(&mut self, now: Timestamp) {
        // A time in the future is from before the clock was set back.
        self.recent_sends.retain(|at| *at <= now && now.since(*at) < RATE_WINDOW);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(1_000 + seconds)
    }

    #[test]
    fn messages_over_the_limit_are_held_back_until_the_minute_is_over() {
        let settings = DeliverySettings { max_per_minute: 2, ..DeliverySettings::default() };
        let mut state = RecipientDeliveryState::default();
        for second in [0, 10] {
            assert_eq!(state.decide_next(at(second), false, &settings), DeliveryDecision::Send);
            state.on_sent(at(second), false);
        }
        assert_eq!(state.decide_next(at(20), false, &settings), DeliveryDecision::HoldBack);
        state.schedule_digest(at(20));
        assert_eq!(state.digest_at, Some(at(60)));
        assert_eq!(
            state.decide_next(at(59), true, &settings),
            DeliveryDecision::Send,
            "a digest is beyond the limit"
        );
        assert_eq!(state.decide_next(at(60), false, &settings), DeliveryDecision::Send);
        let unlimited = DeliverySettings { max_per_minute: 0, ..settings };
        assert_eq!(state.decide_next(at(20), false, &unlimited), DeliveryDecision::Send);
    }

    #[test]
    fn a_failing_queue_waits_and_then_sends_again() {
        let settings = DeliverySettings::default();
        let mut state = RecipientDeliveryState::default();
        let retry_at = state.on_failed(at(0), "a", 1, None, &settings);
        assert!(retry_at > at(3) && retry_at < at(7), "{retry_at}");
        assert_eq!(state.decide_next(at(1), false, &settings), DeliveryDecision::Wait);
        assert_eq!(state.decide_next(retry_at, false, &settings), DeliveryDecision::Send);
        let requested = state.on_failed(at(10), "a", 2, Some(Duration::from_secs(90)), &settings);
        assert_eq!(
            (requested, state.decide_next(at(99), false, &settings)),
            (at(100), DeliveryDecision::Wait)
        );
        assert_eq!(
            state.decide_next(at(-7_200), false, &settings),
            DeliveryDecision::Send,
            "the clock was set back two hours"
        );
    }

    #[test]
    fn a_message_that_fails_often_is_skipped_unless_the_next_one_fails_too() {
        let settings = DeliverySettings::default();
        let mut state = RecipientDeliveryState::default();
        state.on_failed(at(0), "poison", 2, None, &settings);
        assert_eq!(state.decide_next(at(1), false, &settings), DeliveryDecision::Wait);
        state.on_failed(at(20), "poison", 3, None, &settings);
        assert_eq!(
            state.decide_next(at(20), false, &settings),
            DeliveryDecision::Send,
            "the next message has its chance"
        );
        state.on_failed(at(20), "other", 1, None, &settings);
        assert_eq!(
            state.decide_next(at(20), false, &settings),
            DeliveryDecision::Wait,
            "that failed too: the receiver is down"
        );
        state.on_sent(at(60), false);
        assert_eq!(state.decide_next(at(60), false, &settings), DeliveryDecision::Send);
    }
}
