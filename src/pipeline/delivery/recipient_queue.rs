//! The lane of one recipient: whether its next message may go now, be held back, or has to wait.

use std::collections::VecDeque;
use std::time::Duration;

use super::backoff;
use super::settings::DeliverySettings;
use crate::domain::Timestamp;

/// What the limit counts in.
const RATE_WINDOW: Duration = Duration::from_mins(1);
/// Tries after which a message is taken to fail by itself: the one behind it gets its chance.
const SKIP_AFTER_ATTEMPTS: u32 = 3;

/// What may happen to the next message of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextAction {
    /// It goes out.
    Send,
    /// The recipient had its share of this minute.
    HoldBack,
    /// One is on its way, or the last one failed a moment ago.
    Wait,
}

/// What is remembered of a recipient.
#[derive(Debug, Default)]
pub(super) struct RecipientQueue {
    /// A message is on its way, or how it ended is not noted yet.
    pub(super) is_busy: bool,
    not_before: Option<Timestamp>,
    /// Tries in a row that failed.
    failures: u32,
    /// A message that failed often stepped aside since the lane opened, until then.
    skipped_until: Option<Timestamp>,
    /// When messages were taken within the last minute.
    sent_at: VecDeque<Timestamp>,
    /// When those that are held back are told of.
    pub(super) digest_at: Option<Timestamp>,
    /// When it was last reported that messages were given up.
    pub(super) reported_at: Option<Timestamp>,
}

impl RecipientQueue {
    /// What may happen to its next message; a digest is beyond the limit.
    pub(super) fn next_action(
        &mut self,
        now: Timestamp,
        is_digest: bool,
        settings: &DeliverySettings,
    ) -> NextAction {
        if self.is_busy || !self.is_ready(now, settings) {
            return NextAction::Wait;
        }
        self.prune_window(now);
        let max = usize::try_from(settings.per_minute).unwrap_or(usize::MAX);
        if !is_digest && max > 0 && self.sent_at.len() >= max {
            let free_at = self.sent_at.front().map_or(now, |first| *first + RATE_WINDOW);
            self.digest_at.get_or_insert(free_at);
            return NextAction::HoldBack;
        }
        NextAction::Send
    }

    /// Whether its last try failed.
    pub(super) fn is_failing(&self) -> bool {
        self.failures > 0
    }

    fn is_ready(&self, now: Timestamp, settings: &DeliverySettings) -> bool {
        // A pause that is longer than any can be was made before the clock was set back.
        let longest = settings.max_retry_delay * 2 + Duration::from_hours(1);
        self.not_before.is_none_or(|at| at <= now || at > now + longest)
    }

    /// When it opens, if it is closed.
    pub(super) fn ready_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.not_before.filter(|at| *at > now)
    }

    /// The receiver took a message.
    pub(super) fn on_sent(&mut self, now: Timestamp, is_digest: bool) {
        (self.failures, self.not_before, self.skipped_until) = (0, None, None);
        if !is_digest {
            self.sent_at.push_back(now);
        }
    }

    /// The receiver refused a message for good: that says nothing of the next one.
    pub(super) fn on_rejected(&mut self) {
        self.not_before = None;
    }

    /// A try failed, the `attempts`th of its message. Answers when that one is tried again. The lane waits as
    /// long, so that messages stay in their order; only one that failed often lets the next one by, once.
    pub(super) fn on_failed(
        &mut self,
        now: Timestamp,
        key: &str,
        attempts: u32,
        asked: Option<Duration>,
        settings: &DeliverySettings,
    ) -> Timestamp {
        self.failures = self.failures.saturating_add(1);
        let pause = backoff::retry_delay(settings, key, self.failures.max(attempts));
        let again_at = now + pause.max(asked.unwrap_or_default());
        if attempts >= SKIP_AFTER_ATTEMPTS && self.skipped_until.is_none() && asked.is_none() {
            self.skipped_until = Some(again_at);
            self.not_before = None;
        } else {
            // By then the one that stepped aside is due as well, and it is the older one.
            self.not_before = self.skipped_until.take().max(Some(again_at));
        }
        again_at
    }

    /// Whether nothing of it has to be remembered.
    pub(super) fn is_idle(&mut self, now: Timestamp) -> bool {
        self.prune_window(now);
        !self.is_busy
            && self.sent_at.is_empty()
            && self.digest_at.is_none()
            && self.not_before.is_none()
            && self.failures == 0
            && self.reported_at.is_none_or(|at| now.since(at) > Duration::from_hours(1))
    }

    fn prune_window(&mut self, now: Timestamp) {
        // One from the future was taken before the clock was set back.
        self.sent_at.retain(|at| *at <= now && now.since(*at) < RATE_WINDOW);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(1_000 + seconds)
    }

    #[test]
    fn a_share_of_a_minute_goes_out_and_the_rest_is_held_until_the_minute_is_over() {
        let settings = DeliverySettings { per_minute: 2, ..DeliverySettings::default() };
        let mut queue = RecipientQueue::default();
        for second in [0, 10] {
            assert_eq!(queue.next_action(at(second), false, &settings), NextAction::Send);
            queue.on_sent(at(second), false);
        }
        assert_eq!(queue.next_action(at(20), false, &settings), NextAction::HoldBack);
        assert_eq!(queue.digest_at, Some(at(60)));
        assert_eq!(
            queue.next_action(at(59), true, &settings),
            NextAction::Send,
            "a digest is beyond the limit"
        );
        assert_eq!(queue.next_action(at(60), false, &settings), NextAction::Send);
        let unlimited = DeliverySettings { per_minute: 0, ..settings };
        assert_eq!(queue.next_action(at(20), false, &unlimited), NextAction::Send);
    }

    #[test]
    fn a_lane_that_fails_waits_and_opens_again() {
        let settings = DeliverySettings::default();
        let mut queue = RecipientQueue::default();
        let again = queue.on_failed(at(0), "a", 1, None, &settings);
        assert!(again > at(3) && again < at(7), "{again}");
        assert_eq!(queue.next_action(at(1), false, &settings), NextAction::Wait);
        assert_eq!(queue.next_action(again, false, &settings), NextAction::Send);
        let asked = queue.on_failed(at(10), "a", 2, Some(Duration::from_secs(90)), &settings);
        assert_eq!((asked, queue.next_action(at(99), false, &settings)), (at(100), NextAction::Wait));
        assert_eq!(
            queue.next_action(at(-7_200), false, &settings),
            NextAction::Send,
            "the clock was set back two hours"
        );
    }

    #[test]
    fn a_message_that_fails_by_itself_lets_the_next_one_by_but_a_dead_receiver_is_left_alone() {
        let settings = DeliverySettings::default();
        let mut queue = RecipientQueue::default();
        queue.on_failed(at(0), "poison", 2, None, &settings);
        assert_eq!(queue.next_action(at(1), false, &settings), NextAction::Wait);
        queue.on_failed(at(20), "poison", 3, None, &settings);
        assert_eq!(
            queue.next_action(at(20), false, &settings),
            NextAction::Send,
            "the next message has its chance"
        );
        queue.on_failed(at(20), "other", 1, None, &settings);
        assert_eq!(
            queue.next_action(at(20), false, &settings),
            NextAction::Wait,
            "that failed too: the receiver is down"
        );
        queue.on_sent(at(60), false);
        assert_eq!(queue.next_action(at(60), false, &settings), NextAction::Send);
    }
}
