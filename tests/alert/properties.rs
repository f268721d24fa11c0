//! Properties that hold for any history.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use vigie::alerting::{Effect, NotificationDraft};
use vigie::domain::{EpisodeId, LocationId, LocationMode, NotificationKind, Outcome, RecipientId};
use vigie::evaluate::settle::Quorum;
use vigie::schedule::BlackoutTarget;

use crate::alert::harness::{Harness, MONITOR, Report};

/// A history: settings, what each location reports in each run (`None` is no result), and the statuses of
/// verifications.
#[derive(Clone, Debug)]
struct History {
    mode: LocationMode,
    pool: i64,
    rotates: bool,
    quorum: Quorum,
    /// For each recipient: notify on clear, start threshold, stop threshold.
    recipients: Vec<(bool, u32, u32)>,
    runs: Vec<Vec<Option<Reported>>>,
    answers: Vec<u16>,
    /// Target (0 alerts, 1 the monitor, otherwise a recipient), first run, last run.
    windows: Vec<(usize, i64, i64)>,
    /// After which runs the process restarts; repeated cyclically.
    restarts: Vec<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Reported {
    Passed,
    Failed(u16),
    OwnFault(Outcome),
}

fn reported() -> impl Strategy<Value = Option<Reported>> {
    prop_oneof![
        4 => Just(Some(Reported::Passed)),
        5 => prop::sample::select(vec![1, 2, 5, 7, 51, 7121]).prop_map(|code| Some(Reported::Failed(code))),
        2 => own_fault(),
    ]
}

fn own_fault() -> impl Strategy<Value = Option<Reported>> {
    prop_oneof![
        Just(Some(Reported::OwnFault(Outcome::Unknown))),
        Just(Some(Reported::OwnFault(Outcome::Missed))),
        Just(Some(Reported::OwnFault(Outcome::Blackout))),
        // Internal status codes count as own faults whatever the outcome says.
        Just(Some(Reported::Failed(21))),
        Just(Some(Reported::Failed(95))),
        Just(None),
    ]
}

fn history(reported: impl Strategy<Value = Option<Reported>> + 'static) -> impl Strategy<Value = History> {
    let run = prop::collection::vec(reported, 4);
    let quorum = prop_oneof![Just(Quorum::All), (1_u32..4).prop_map(Quorum::AtLeast)];
    (
        prop::sample::select(LocationMode::ALL.map(|(mode, _)| mode).to_vec()),
        1_i64..5,
        any::<bool>(),
        quorum,
        prop::collection::vec((any::<bool>(), 1_u32..4, 0_u32..4), 1..4),
        prop::collection::vec(run, 1..24),
        prop::collection::vec(prop::sample::select(vec![70_u16, 71, 72, 73, 79]), 1..8),
        prop::collection::vec((0_usize..5, 1_i64..24, 0_i64..6), 0..4),
        prop::collection::vec(any::<bool>(), 1..8),
    )
        .prop_map(|(mode, pool, rotates, quorum, recipients, runs, answers, windows, restarts)| {
            History {
                mode,
                pool,
                rotates: rotates && mode != LocationMode::Primary,
                quorum,
                recipients,
                runs,
                answers,
                windows: windows
                    .into_iter()
                    .map(|(subject, from, more)| (subject, from, from + more))
                    .collect(),
                restarts,
            }
        })
}

impl History {
    fn harness(&self) -> Harness {
        let mut harness = Harness::new();
        harness.policy.location_mode = self.mode;
        harness.policy.run_plan.location_pool = (1..=self.pool).map(LocationId).collect();
        harness.policy.run_plan.locations_per_run = if self.rotates {
            self.mode.default_location_count(harness.policy.run_plan.location_pool.len(), true)
        } else {
            harness.policy.run_plan.location_pool.len()
        };
        harness.policy.run_plan.rotates_locations = self.rotates;
        harness.policy.run_plan.staggered = self.mode == LocationMode::RoundRobin;
        harness.policy.quorum = self.quorum;
        harness.policy.no_data_threshold = 3;
        for (at, (clear, start, stop)) in self.recipients.iter().enumerate() {
            let person = harness.recipient(&format!("person{at}"));
            (person.notify_on_clear, person.start_threshold, person.stop_threshold) = (*clear, *start, *stop);
        }
        for (subject, from, thru) in &self.windows {
            let target = match subject {
                0 => BlackoutTarget::Alert(MONITOR),
                1 => BlackoutTarget::Monitor(MONITOR),
                other => BlackoutTarget::Recipient(RecipientId(i64::try_from(*other).unwrap() - 1)),
            };
            harness.window(target, *from, *thru);
        }
        harness.start();
        harness
    }

    /// Plays the history, then passing runs until every blackout is over.
    fn play(&self, restarts: bool, backwards: bool) -> Harness {
        let mut harness = self.harness();
        let mut answers = self.answers.iter().cycle();
        let passing = vec![vec![Some(Reported::Passed); 4]; 8];
        let silent_until = self.windows.iter().map(|(.., thru)| *thru).max().unwrap_or(0);
        let until = silent_until.max(i64::try_from(self.runs.len()).unwrap());
        let more = usize::try_from(until).unwrap() - self.runs.len();
        let rest = vec![vec![Some(Reported::Passed); 4]; more];
        for (at, run) in self.runs.iter().chain(&rest).chain(&passing).enumerate() {
            let number = i64::try_from(at).unwrap() + 1;
            self.run(&mut harness, number, run, backwards, &mut answers);
            if restarts && self.restarts[at % self.restarts.len()] {
                harness.restart();
            }
        }
        let number = i64::try_from(self.runs.len() + rest.len() + passing.len()).unwrap() + 1;
        harness.advance_to(harness.run(number));
        harness
    }

    fn run<'a>(
        &self,
        harness: &mut Harness,
        number: i64,
        reports: &[Option<Reported>],
        backwards: bool,
        answers: &mut impl Iterator<Item = &'a u16>,
    ) {
        let planned_at = harness.run(number);
        harness.advance_to(planned_at);
        let in_blackout = self
            .windows
            .iter()
            .any(|(subject, from, thru)| *subject == 1 && (*from..=*thru).contains(&number));
        let mut expected = harness.policy.run_plan.locations_of_run(planned_at);
        if backwards && self.mode != LocationMode::RoundRobin {
            expected.reverse();
        }
        for location in expected {
            let start = harness.policy.run_plan.location_start_at(planned_at, location).unwrap();
            harness.advance_to(start.max(harness.now) + Duration::from_secs(1));
            let reported = reports[usize::try_from(location.0).unwrap() - 1];
            let Some(reported) = reported
                .map(|reported| if in_blackout { Reported::OwnFault(Outcome::Blackout) } else { reported })
            else {
                continue;
            };
            let report = match reported {
                Reported::Passed => Report::default(),
                Reported::Failed(status) => {
                    Report { outcome: Some(Outcome::Error), status, ..Report::default() }
                }
                Reported::OwnFault(outcome) => Report { outcome: Some(outcome), ..Report::default() },
            };
            harness.submit(location, &report, planned_at);
        }
        // The run closes, and pending verifications are answered.
        harness.advance_to(planned_at + Duration::from_secs(280));
        while harness.has_pending_verification() {
            harness.answer(*answers.next().unwrap());
        }
    }
}

fn notified(harness: &Harness) -> impl Iterator<Item = (RecipientId, &NotificationDraft)> {
    harness.effects.iter().filter_map(|effect| match effect {
        Effect::Notify { recipient_id: recipient, draft, .. } => Some((*recipient, draft)),
        _ => None,
    })
}

/// Counts the notifications of `kind` per outage and recipient.
fn notification_counts(harness: &Harness, kind: NotificationKind) -> BTreeMap<(EpisodeId, RecipientId), u32> {
    let mut counts = BTreeMap::new();
    for (recipient, draft) in notified(harness).filter(|(_, draft)| draft.kind == kind) {
        *counts.entry((draft.episode_id.unwrap(), recipient)).or_default() += 1;
    }
    counts
}

proptest! {
    #[test]
    fn an_error_that_verification_refutes_is_never_notified(history in history(reported())) {
        let harness = history.play(false, false);
        for (_, draft) in notified(&harness).filter(|(_, draft)| draft.kind == NotificationKind::SiteError) {
            let refuted = harness.effects.iter().any(|effect| matches!(
                effect,
                Effect::RecordVerification { planned_at, verification: answer, .. }
                    if *planned_at == draft.planned_at && answer.status.0 == 70
            ));
            prop_assert!(!refuted, "{draft:?}");
        }
    }

    #[test]
    fn every_notified_error_is_cleared_exactly_once(history in history(reported())) {
        let harness = history.play(true, false);
        let (errors, clears) = (notification_counts(&harness, NotificationKind::SiteError), notification_counts(&harness, NotificationKind::SiteClear));
        for key in errors.keys() {
            let wants = harness.contacts.recipient(key.1).unwrap().notify_on_clear;
            prop_assert_eq!(clears.get(key).copied().unwrap_or(0), u32::from(wants), "{:?}", &harness.output);
        }
        for key in clears.keys() {
            prop_assert!(errors.contains_key(key), "a clear of what was not told: {:?}", &harness.output);
        }
        // A clear never precedes its error.
        for (at, (recipient, draft)) in notified(&harness).enumerate() {
            if draft.kind == NotificationKind::SiteClear {
                let before = notified(&harness).take(at).any(|(who, what)| who == recipient && what.episode_id == draft.episode_id);
                prop_assert!(before);
            }
        }
    }

    #[test]
    fn data_that_return_are_notified_once_to_who_was_told_of_their_lack(history in history(own_fault())) {
        let harness = history.play(true, false);
        let mut open = std::collections::HashMap::new();
        for (id, draft) in notified(&harness) {
            let was_open = open.insert(id, draft.kind == NotificationKind::NoData).unwrap_or(false);
            if draft.kind == NotificationKind::NoDataClear {
                prop_assert!(was_open && harness.contacts.recipient(id).unwrap().notify_on_clear);
            } else if harness.contacts.recipient(id).unwrap().notify_on_clear {
                prop_assert!(!was_open, "{:?}", &harness.output);
            }
        }
    }

    #[test]
    fn an_own_fault_never_alerts(history in history(own_fault())) {
        let harness = history.play(true, false);
        for (_, draft) in notified(&harness) {
            prop_assert!([NotificationKind::NoData, NotificationKind::NoDataClear].contains(&draft.kind));
        }
        let target_effects = harness.effects.iter().any(|effect| matches!(
            effect,
            Effect::UpdateEpisode(_) | Effect::RunTraceroute { .. } | Effect::RequestVerification { .. }
        ));
        prop_assert!(!target_effects, "{:?}", harness.effects);
    }

    #[test]
    fn every_error_notification_is_about_a_failure_of_the_target(history in history(reported())) {
        let harness = history.play(false, false);
        for (_, draft) in notified(&harness).filter(|(_, draft)| draft.kind == NotificationKind::SiteError) {
            let cause = draft.deciding_result.as_ref().unwrap();
            prop_assert!(cause.outcome == Outcome::Error && ![21, 95].contains(&cause.status.0), "{draft:?}");
            prop_assert!(draft.location_results.iter().all(|result| result.outcome != Outcome::Blackout));
        }
    }

    #[test]
    fn thresholds_hold(history in history(reported())) {
        let harness = history.play(true, false);
        for ((_, id), count) in notification_counts(&harness, NotificationKind::SiteError) {
            let stop = harness.contacts.recipient(id).unwrap().stop_threshold;
            prop_assert!(stop == 0 || count <= stop);
        }
        for (id, draft) in notified(&harness).filter(|(_, draft)| draft.kind == NotificationKind::SiteError) {
            prop_assert!(draft.consecutive_runs >= harness.contacts.recipient(id).unwrap().start_threshold);
        }
    }

    /// Neither the same run of an outage nor the same stretch of missing data is notified twice.
    #[test]
    fn no_recipient_is_notified_twice_of_the_same(history in history(reported())) {
        let harness = history.play(true, false);
        let mut keys = std::collections::HashSet::new();
        for (id, draft) in notified(&harness) {
            let key = (id, draft.kind, draft.episode_id, draft.planned_at);
            prop_assert!(keys.insert(key), "{:?} {:?}", key, &harness.output);
        }
    }

    /// The monitor has reported before: a new process does not know of monitors that never reported.
    #[test]
    fn a_restart_makes_no_difference(mut history in history(reported())) {
        history.runs.insert(0, vec![Some(Reported::Passed); 4]);
        prop_assert_eq!(history.play(false, false).output, history.play(true, false).output);
    }

    #[test]
    fn the_order_of_results_makes_no_difference(history in history(reported())) {
        prop_assert_eq!(history.play(false, false).output, history.play(false, true).output);
    }

    #[test]
    fn repeated_results_change_nothing(history in history(reported())) {
        let mut harness = history.play(false, false);
        let before = harness.output.len();
        for (at, run) in history.runs.iter().enumerate() {
            let planned_at = harness.run(i64::try_from(at).unwrap() + 1);
            for location in 1..=history.pool {
                let report = Report { outcome: Some(Outcome::Error), status: 1, ..Report::default() };
                if run[0].is_some() {
                    harness.submit(LocationId(location), &report, planned_at);
                }
            }
        }
        prop_assert_eq!(&harness.output[before..], &[] as &[String]);
    }

    #[test]
    fn an_outage_is_open_exactly_while_the_state_is_down(history in history(reported())) {
        let mut harness = history.harness();
        let mut answers = history.answers.iter().cycle();
        for (at, run) in history.runs.iter().enumerate() {
            history.run(&mut harness, i64::try_from(at).unwrap() + 1, run, false, &mut answers);
            let health = format!("{:?}", harness.state.health());
            let open = harness.state.open_episode_id().is_some();
            prop_assert!(open && ["Down", "BlackedOut"].contains(&&*health) || !open && health != "Down");
        }
    }
}
