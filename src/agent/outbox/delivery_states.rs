//! How far each result in the spool is delivered.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use tokio::time::Instant;

use super::delivery_state::{DeliveryState, Progress};
use crate::domain::CheckId;

/// How long a result stays on disk after it was reported as committed: so long the control plane may find out that its
/// database lost its last commits.
pub(super) const KEEP_COMMITTED: Duration = Duration::from_mins(10);
/// A result that is not reported as committed for this long, although the control plane took everything, is sent again.
const RESEND_AFTER: Duration = Duration::from_mins(2);

/// How far each result in the spool is delivered. What the tasks ask for at each report is counted as it changes: there
/// are ten minutes of results, too many to look through each time.
#[derive(Debug, Default)]
pub(super) struct DeliveryStates {
    states: HashMap<CheckId, DeliveryState>,
    /// Number of results that have to be sent.
    waiting: usize,
    /// Number of results that are sent and not committed.
    unconfirmed: usize,
    /// Checks whose captures have to be sent.
    due_captures: HashSet<CheckId>,
    /// The timeline that the control plane told last.
    timeline: Option<String>,
}

impl DeliveryStates {
    /// Adds a result, with captures or without.
    pub(super) fn insert(&mut self, check_id: CheckId, result: Progress, has_captures: bool) {
        let captures = if has_captures { Progress::Waiting } else { Progress::Nothing };
        let state = DeliveryState { result, captures };
        if let Some(replaced) = self.states.insert(check_id, state) {
            self.uncount(check_id, replaced);
        }
        self.count(check_id, state);
    }

    /// Sets whether results have captures to deliver.
    pub(super) fn set_captures(&mut self, checks: impl Iterator<Item = (CheckId, bool)>) {
        for (check_id, has_captures) in checks {
            if has_captures {
                self.change(check_id, |state| state.captures = Progress::Waiting);
            }
        }
    }

    /// Marks results as sent, unless they are committed already.
    pub(super) fn mark_sent(&mut self, checks: &[CheckId], now: Instant) {
        for check_id in checks {
            self.change(*check_id, |state| state.result.mark_sent(now));
        }
    }

    /// Marks results whose first attempt failed as waiting.
    pub(super) fn mark_unsent(&mut self, checks: &[CheckId]) {
        for check_id in checks {
            self.change(*check_id, |state| {
                if state.result == Progress::Sending {
                    state.result = Progress::Waiting;
                }
            });
        }
    }

    /// Marks the captures of a result as sent.
    pub(super) fn mark_captures_sent(&mut self, check_id: CheckId, now: Instant) {
        self.change(check_id, |state| state.captures.mark_sent(now));
    }

    /// Marks a result as one without captures: they were dropped.
    pub(super) fn mark_captures_gone(&mut self, check_id: CheckId) {
        self.change(check_id, |state| state.captures = Progress::Nothing);
    }

    /// Marks results and captures as committed.
    pub(super) fn mark_committed(&mut self, checks: &[CheckId], captured: &[CheckId], now: Instant) {
        for check_id in checks {
            self.change(*check_id, |state| {
                if !matches!(state.result, Progress::Committed(_)) {
                    state.result = Progress::Committed(now);
                }
            });
        }
        for check_id in captured {
            self.change(*check_id, |state| state.captures = Progress::Committed(now));
        }
    }

    /// Whether the result has to be sent.
    pub(super) fn is_waiting(&self, check_id: CheckId) -> bool {
        self.states.get(&check_id).is_some_and(|state| state.result == Progress::Waiting)
    }

    /// Returns how many results have to be sent, and how many are sent and not committed.
    pub(super) fn waiting_and_unconfirmed(&self) -> (usize, usize) {
        (self.waiting, self.unconfirmed)
    }

    /// Returns at most `limit` checks whose captures have to be sent.
    pub(super) fn due_captures(&self, limit: usize) -> Vec<CheckId> {
        self.due_captures.iter().copied().take(limit).collect()
    }

    /// Takes a report of the control plane; returns whether something has to be sent again.
    pub(super) fn on_controller_status(&mut self, timeline: &str, is_caught_up: bool, now: Instant) -> bool {
        let previous = self.timeline.replace(timeline.to_owned());
        if previous.is_some_and(|previous| previous != timeline) {
            self.states.values_mut().for_each(DeliveryState::restart);
            self.recount();
            return !self.states.is_empty();
        }
        let Some(sent_before) = now.checked_sub(RESEND_AFTER).filter(|_| is_caught_up) else { return false };
        let mut restarted = false;
        for state in self.states.values_mut() {
            restarted |= state.restart_if_sent_before(sent_before);
        }
        if restarted {
            self.recount();
        }
        restarted
    }

    /// Removes and returns what was committed more than [`KEEP_COMMITTED`] ago.
    pub(super) fn take_done(&mut self, now: Instant) -> Vec<CheckId> {
        self.take_committed(|since| now.duration_since(since) >= KEEP_COMMITTED)
    }

    /// Removes and returns everything that is committed.
    pub(super) fn take_all_committed(&mut self) -> Vec<CheckId> {
        self.take_committed(|_| true)
    }

    fn take_committed(&mut self, is_done: impl Fn(Instant) -> bool) -> Vec<CheckId> {
        let is_done = |state: &DeliveryState| state.committed_since().is_some_and(&is_done);
        // They are in none of the counts.
        self.states.extract_if(|_, state| is_done(state)).map(|(check_id, _)| check_id).collect()
    }

    /// Forgets results that the spool has dropped.
    pub(super) fn retain(&mut self, is_kept: impl Fn(CheckId) -> bool) {
        self.states.retain(|check_id, _| is_kept(*check_id));
        self.recount();
    }

    /// Changes the state of a check, if there is one.
    fn change(&mut self, check_id: CheckId, change: impl FnOnce(&mut DeliveryState)) {
        let Some(state) = self.states.get_mut(&check_id) else { return };
        let before = *state;
        change(state);
        let after = *state;
        self.uncount(check_id, before);
        self.count(check_id, after);
    }

    fn count(&mut self, check_id: CheckId, state: DeliveryState) {
        self.waiting += usize::from(state.result == Progress::Waiting);
        self.unconfirmed += usize::from(matches!(state.result, Progress::Sent(_)));
        if state.captures_are_due() {
            self.due_captures.insert(check_id);
        }
    }

    fn uncount(&mut self, check_id: CheckId, state: DeliveryState) {
        self.waiting -= usize::from(state.result == Progress::Waiting);
        self.unconfirmed -= usize::from(matches!(state.result, Progress::Sent(_)));
        self.due_captures.remove(&check_id);
    }

    fn recount(&mut self) {
        (self.waiting, self.unconfirmed) = (0, 0);
        self.due_captures.clear();
        let states: Vec<_> = self.states.iter().map(|(check_id, state)| (*check_id, *state)).collect();
        for (check_id, state) in states {
            self.count(check_id, state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECK: CheckId = CheckId(1);

    fn sent(has_captures: bool) -> (DeliveryStates, Instant) {
        let (mut states, now) = (DeliveryStates::default(), Instant::now());
        states.insert(CHECK, Progress::Waiting, has_captures);
        states.mark_sent(&[CHECK], now);
        (states, now)
    }

    #[tokio::test]
    async fn a_result_is_done_ten_minutes_after_it_and_its_captures_are_committed() {
        let (mut states, start) = sent(true);
        assert_eq!(states.due_captures(9), [], "captures before their result is committed");
        states.mark_committed(&[CHECK], &[], start);
        assert_eq!(states.due_captures(9), [CHECK]);
        states.mark_captures_sent(CHECK, start);
        assert_eq!(states.take_done(start + KEEP_COMMITTED), []);
        states.mark_committed(&[], &[CHECK], start + Duration::from_secs(5));
        assert_eq!(states.take_done(start + KEEP_COMMITTED), []);
        assert_eq!(states.take_done(start + KEEP_COMMITTED + Duration::from_secs(5)), [CHECK]);
        assert_eq!(states.take_done(start + KEEP_COMMITTED * 2), [], "it is returned once");
    }

    #[tokio::test]
    async fn everything_that_is_committed_can_make_room() {
        let (mut states, now) = sent(false);
        states.insert(CheckId(2), Progress::Waiting, false);
        states.mark_committed(&[CHECK], &[], now);
        assert_eq!(states.take_all_committed(), [CHECK]);
        assert_eq!(states.take_all_committed(), []);
        assert!(states.is_waiting(CheckId(2)));
    }

    #[tokio::test]
    async fn what_is_not_reported_is_sent_again_once_the_control_plane_has_taken_everything() {
        let (mut states, start) = sent(false);
        let later = start + RESEND_AFTER + Duration::from_secs(1);
        assert!(!states.on_controller_status("a", false, later), "it still waits in the bus");
        assert!(!states.is_waiting(CHECK));
        assert!(states.on_controller_status("a", true, later));
        assert!(states.is_waiting(CHECK));
        states.mark_sent(&[CHECK], later);
        assert!(!states.on_controller_status("a", true, later));
        states.mark_committed(&[CHECK], &[], later);
        assert!(!states.on_controller_status("a", true, later + RESEND_AFTER * 2));
    }

    #[tokio::test]
    async fn a_new_timeline_has_everything_sent_again_that_is_still_there() {
        let (mut states, now) = sent(true);
        assert!(!states.on_controller_status("a", true, now), "the first timeline is no change");
        states.mark_committed(&[CHECK], &[CHECK], now);
        assert!(states.on_controller_status("b", false, now));
        assert!(states.is_waiting(CHECK));
        assert_eq!(states.due_captures(9), [], "its result comes first");
        assert_eq!(states.take_done(now + KEEP_COMMITTED * 2), []);
    }

    #[tokio::test]
    async fn a_result_does_not_wait_while_its_first_attempt_lasts() {
        let (mut states, now) = (DeliveryStates::default(), Instant::now());
        let (slow, failing) = (CheckId(1), CheckId(2));
        for check_id in [slow, failing] {
            states.insert(check_id, Progress::Sending, false);
        }
        states.on_controller_status("a", true, now);
        states.on_controller_status("b", true, now);
        assert_eq!(states.waiting_and_unconfirmed(), (0, 0));
        states.mark_sent(&[slow], now);
        states.mark_unsent(&[slow, failing]);
        assert!(states.is_waiting(failing) && !states.is_waiting(slow));
        assert_eq!(states.waiting_and_unconfirmed(), (1, 1));
    }

    #[tokio::test]
    async fn the_counts_follow_every_change() {
        let (mut states, now) = (DeliveryStates::default(), Instant::now());
        let ids = [CheckId(1), CheckId(2), CheckId(3)];
        for check_id in ids {
            states.insert(check_id, Progress::Waiting, true);
        }
        assert_eq!(states.waiting_and_unconfirmed(), (3, 0));
        states.mark_sent(&ids, now);
        states.mark_sent(&ids, now);
        assert_eq!(states.waiting_and_unconfirmed(), (0, 3));
        states.mark_committed(&ids[..2], &[], now);
        states.mark_committed(&ids[..2], &[], now);
        assert_eq!((states.waiting_and_unconfirmed(), states.due_captures(9).len()), ((0, 1), 2));
        states.mark_captures_gone(ids[0]);
        assert_eq!(states.due_captures(9), [ids[1]]);
        // The same check again, as after a restart.
        states.insert(ids[1], Progress::Waiting, false);
        assert_eq!((states.waiting_and_unconfirmed(), states.due_captures(9).len()), ((1, 1), 0));
        states.retain(|check_id| check_id == ids[2]);
        assert_eq!(states.waiting_and_unconfirmed(), (0, 1));
        states.on_controller_status("a", false, now);
        assert!(states.on_controller_status("b", false, now));
        assert_eq!(states.waiting_and_unconfirmed(), (1, 0));
    }
}
