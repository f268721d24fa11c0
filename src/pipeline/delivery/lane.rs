//! The lane of one recipient: whether its next message may go now, be held back, or has to wait.

use std::collections::VecDeque;
use std::time::Duration;

use super::backoff;
use super::settings::DeliverySettings;
use crate::domain::Timestamp;

/// What the limit counts in.
const MINUTE: Duration = Duration::from_mins(1);
/// Tries after which a message is taken to fail by itself: the one behind it gets its chance.
const SUSPECT: u32 = 3;

/// What may happen to the next message of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// It goes out.
    Send,
    /// The recipient had its share of this minute.
    Hold,
    /// One is on its way, or the last one failed a moment ago.
    Wait,
}

/// What is remembered of a recipient.
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// A message is on its way, or how it ended is not noted yet.
    pub(super) busy: bool,
    not_before: Option<Timestamp>,
    /// Tries in a row that failed.
    failures: u32,
    /// A message that failed often stepped aside since the lane opened, until then.
    stepped_aside: Option<Timestamp>,
    /// When messages were taken within the last minute.
    taken: VecDeque<Timestamp>,
    /// When those that are held back are told of.
    pub(super) digest_at: Option<Timestamp>,
    /// When it was last reported that messages were given up.
    pub(super) reported_at: Option<Timestamp>,
}

impl Lane {
    /// What may happen to its next message; a digest is beyond the limit.
    pub(super) fn next(&mut self, now: Timestamp, is_digest: bool, settings: &DeliverySettings) -> Next {
        if self.busy || !self.is_open(now, settings) {
            return Next::Wait;
        }
        self.forget_old(now);
        let most = usize::try_from(settings.per_minute).unwrap_or(usize::MAX);
        if !is_digest && most > 0 && self.taken.len() >= most {
            let free_at = self.taken.front().map_or(now, |first| *first + MINUTE);
            self.digest_at.get_or_insert(free_at);
            return Next::Hold;
        }
        Next::Send
    }

    /// Whether its last try failed.
    pub(super) fn is_failing(&self) -> bool {
        self.failures > 0
    }

    fn is_open(&self, now: Timestamp, settings: &DeliverySettings) -> bool {
        // A pause that is longer than any can be was made before the clock was set back.
        let longest = settings.longest_pause * 2 + Duration::from_hours(1);
        self.not_before.is_none_or(|at| at <= now || at > now + longest)
    }

    /// When it opens, if it is closed.
    pub(super) fn opens_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.not_before.filter(|at| *at > now)
    }

    /// The receiver took a message.
    pub(super) fn took(&mut self, now: Timestamp, is_digest: bool) {
        (self.failures, self.not_before, self.stepped_aside) = (0, None, None);
        if !is_digest {
            self.taken.push_back(now);
        }
    }

    /// The receiver refused a message for good: that says nothing of the next one.
    pub(super) fn refused(&mut self) {
        self.not_before = None;
    }

    /// A try failed, the `attempts`th of its message. Answers when that one is tried again. The lane waits as
    /// long, so that messages stay in their order; only one that failed often lets the next one by, once.
    pub(super) fn failed(
        &mut self,
        now: Timestamp,
        key: &str,
        attempts: u32,
        asked: Option<Duration>,
        settings: &DeliverySettings,
    ) -> Timestamp {
        self.failures = self.failures.saturating_add(1);
        let pause = backoff::pause(settings, key, self.failures.max(attempts));
        let again_at = now + pause.max(asked.unwrap_or_default());
        if attempts >= SUSPECT && self.stepped_aside.is_none() && asked.is_none() {
            self.stepped_aside = Some(again_at);
            self.not_before = None;
        } else {
            // By then the one that stepped aside is due as well, and it is the older one.
            self.not_before = self.stepped_aside.take().max(Some(again_at));
        }
        again_at
    }

    /// Whether nothing of it has to be remembered.
    pub(super) fn is_idle(&mut self, now: Timestamp) -> bool {
        self.forget_old(now);
        !self.busy
            && self.taken.is_empty()
            && self.digest_at.is_none()
            && self.not_before.is_none()
            && self.failures == 0
            && self.reported_at.is_none_or(|at| now.since(at) > Duration::from_hours(1))
    }

    fn forget_old(&mut self, now: Timestamp) {
        // One from the future was taken before the clock was set back.
        self.taken.retain(|at| *at <= now && now.since(*at) < MINUTE);
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
        let mut lane = Lane::default();
        for second in [0, 10] {
            assert_eq!(lane.next(at(second), false, &settings), Next::Send);
            lane.took(at(second), false);
        }
        assert_eq!(lane.next(at(20), false, &settings), Next::Hold);
        assert_eq!(lane.digest_at, Some(at(60)));
        assert_eq!(lane.next(at(59), true, &settings), Next::Send, "a digest is beyond the limit");
        assert_eq!(lane.next(at(60), false, &settings), Next::Send);
        let unlimited = DeliverySettings { per_minute: 0, ..settings };
        assert_eq!(lane.next(at(20), false, &unlimited), Next::Send);
    }

    #[test]
    fn a_lane_that_fails_waits_and_opens_again() {
        let settings = DeliverySettings::default();
        let mut lane = Lane::default();
        let again = lane.failed(at(0), "a", 1, None, &settings);
        assert!(again > at(3) && again < at(7), "{again}");
        assert_eq!(lane.next(at(1), false, &settings), Next::Wait);
        assert_eq!(lane.next(again, false, &settings), Next::Send);
        let asked = lane.failed(at(10), "a", 2, Some(Duration::from_secs(90)), &settings);
        assert_eq!((asked, lane.next(at(99), false, &settings)), (at(100), Next::Wait));
        assert_eq!(lane.next(at(-7_200), false, &settings), Next::Send, "the clock was set back two hours");
    }

    #[test]
    fn a_message_that_fails_by_itself_lets_the_next_one_by_but_a_dead_receiver_is_left_alone() {
        let settings = DeliverySettings::default();
        let mut lane = Lane::default();
        lane.failed(at(0), "poison", 2, None, &settings);
        assert_eq!(lane.next(at(1), false, &settings), Next::Wait);
        lane.failed(at(20), "poison", 3, None, &settings);
        assert_eq!(lane.next(at(20), false, &settings), Next::Send, "the next message has its chance");
        lane.failed(at(20), "other", 1, None, &settings);
        assert_eq!(lane.next(at(20), false, &settings), Next::Wait, "that failed too: the receiver is down");
        lane.took(at(60), false);
        assert_eq!(lane.next(at(60), false, &settings), Next::Send);
    }
}
