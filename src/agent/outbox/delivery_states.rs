//! How far each result in the spool is delivered.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use super::delivery_state::{DeliveryState, Progress};
use crate::domain::CheckId;

/// How long a result stays on disk after it was reported as committed: so long the control plane may find out that its
/// database lost its last commits.
pub(super) const KEEP_COMMITTED: Duration = Duration::from_mins(10);
/// A result that is not reported as committed for this long, although the control plane took everything, is sent again.
const RESEND_AFTER: Duration = Duration::from_mins(2);

/// How far each result in the spool is delivered.
#[derive(Debug, Default)]
pub(super) struct DeliveryStates {
    states: HashMap<CheckId, DeliveryState>,
    /// The timeline that the control plane told last.
    timeline: Option<String>,
}

impl DeliveryStates {
    /// Adds a result, with captures or without.
    pub(super) fn insert(&mut self, check_id: CheckId, result: Progress, has_captures: bool) {
        let captures = if has_captures { Progress::Waiting } else { Progress::Nothing };
        self.states.insert(check_id, DeliveryState { result, captures });
    }

    /// Sets whether results have captures to deliver.
    pub(super) fn set_captures(&mut self, checks: impl Iterator<Item = (CheckId, bool)>) {
        for (check_id, has_captures) in checks {
            if let Some(state) = self.states.get_mut(&check_id)
                && has_captures
            {
                state.captures = Progress::Waiting;
            }
        }
    }

    /// Marks results as sent, unless they are committed already.
    pub(super) fn mark_sent(&mut self, checks: &[CheckId], now: Instant) {
        for check_id in checks {
            if let Some(state) = self.states.get_mut(check_id)
                && state.result == Progress::Waiting
            {
                state.result = Progress::Sent(now);
            }
        }
    }

    /// Marks the captures of a result as sent.
    pub(super) fn mark_captures_sent(&mut self, check_id: CheckId, now: Instant) {
        if let Some(state) = self.states.get_mut(&check_id)
            && state.captures == Progress::Waiting
        {
            state.captures = Progress::Sent(now);
        }
    }

    /// Marks a result as one without captures: they were dropped.
    pub(super) fn mark_captures_gone(&mut self, check_id: CheckId) {
        if let Some(state) = self.states.get_mut(&check_id) {
            state.captures = Progress::Nothing;
        }
    }

    /// Marks results and captures as committed.
    pub(super) fn mark_committed(&mut self, checks: &[CheckId], captured: &[CheckId], now: Instant) {
        for check_id in checks {
            if let Some(state) = self.states.get_mut(check_id)
                && !matches!(state.result, Progress::Committed(_))
            {
                state.result = Progress::Committed(now);
            }
        }
        for check_id in captured {
            if let Some(state) = self.states.get_mut(check_id) {
                state.captures = Progress::Committed(now);
            }
        }
    }

    /// Whether the result has to be sent.
    pub(super) fn is_waiting(&self, check_id: CheckId) -> bool {
        self.states.get(&check_id).is_some_and(|state| state.result == Progress::Waiting)
    }

    /// Returns whether a result has to be sent, and how many are sent and not committed.
    pub(super) fn waiting_and_unconfirmed(&self) -> (bool, usize) {
        let mut unconfirmed = 0;
        let mut has_waiting = false;
        for state in self.states.values() {
            has_waiting |= state.result == Progress::Waiting;
            unconfirmed += usize::from(matches!(state.result, Progress::Sent(_)));
        }
        (has_waiting, unconfirmed)
    }

    /// Returns at most `limit` checks whose captures have to be sent.
    pub(super) fn due_captures(&self, limit: usize) -> Vec<CheckId> {
        let due = self.states.iter().filter(|(_, state)| state.captures_are_due());
        due.map(|(check_id, _)| *check_id).take(limit).collect()
    }

    /// Takes a report of the control plane; returns whether something has to be sent again.
    pub(super) fn on_controller_status(&mut self, timeline: &str, is_caught_up: bool, now: Instant) -> bool {
        let previous = self.timeline.replace(timeline.to_owned());
        if previous.is_some_and(|previous| previous != timeline) {
            self.states.values_mut().for_each(DeliveryState::restart);
            return !self.states.is_empty();
        }
        let Some(sent_before) = now.checked_sub(RESEND_AFTER).filter(|_| is_caught_up) else { return false };
        let mut restarted = false;
        for state in self.states.values_mut() {
            restarted |= state.restart_if_sent_before(sent_before);
        }
        restarted
    }

    /// Removes and returns what was committed more than [`KEEP_COMMITTED`] ago.
    pub(super) fn take_done(&mut self, now: Instant) -> Vec<CheckId> {
        let is_done = |state: &DeliveryState| {
            state.committed_since().is_some_and(|at| now.duration_since(at) >= KEEP_COMMITTED)
        };
        self.states.extract_if(|_, state| is_done(state)).map(|(check_id, _)| check_id).collect()
    }

    /// Forgets results that the spool has dropped.
    pub(super) fn retain(&mut self, is_kept: impl Fn(CheckId) -> bool) {
        self.states.retain(|check_id, _| is_kept(*check_id));
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
}
