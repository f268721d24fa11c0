//! What holds for any history at all.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use vigie::alerting::{Effect, NotificationDraft};
use vigie::domain::{EpisodeId, LocationId, LocationMode, NotificationKind, Outcome, RecipientId};
use vigie::evaluate::settle::Quorum;
use vigie::schedule::BlackoutTarget;

use crate::alert::world::{MONITOR, Word, World};

/// A history: what is given, then what each location says in each run (`None` is silence), and what second
/// locations answer.
#[derive(Clone, Debug)]
struct History {
    mode: LocationMode,
    pool: i64,
    rotates: bool,
    quorum: Quorum,
    /// Of each recipient: wants clears, start threshold, stop threshold.
    people: Vec<(bool, u32, u32)>,
    runs: Vec<Vec<Option<Said>>>,
    answers: Vec<u16>,
    /// Subject (0 alerts, 1 the monitor, else a recipient), first run, last run.
    windows: Vec<(usize, i64, i64)>,
    /// After which runs the process starts anew.
    restarts: Vec<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Said {
    Good,
    Bad(u16),
    Ours(Outcome),
}

fn said() -> impl Strategy<Value = Option<Said>> {
    prop_oneof![
        4 => Just(Some(Said::Good)),
        5 => prop::sample::select(vec![1, 2, 5, 7, 51, 7121]).prop_map(|code| Some(Said::Bad(code))),
        2 => ours(),
    ]
}

fn ours() -> impl Strategy<Value = Option<Said>> {
    prop_oneof![
        Just(Some(Said::Ours(Outcome::Unknown))),
        Just(Some(Said::Ours(Outcome::Missed))),
        Just(Some(Said::Ours(Outcome::Blackout))),
        // An internal code, by whatever name.
        Just(Some(Said::Bad(21))),
        Just(Some(Said::Bad(95))),
        Just(None),
    ]
}

fn history(said: impl Strategy<Value = Option<Said>> + 'static) -> impl Strategy<Value = History> {
    let run = prop::collection::vec(said, 4);
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
        .prop_map(|(mode, pool, rotates, quorum, people, runs, answers, windows, restarts)| History {
            mode,
            pool,
            rotates: rotates && mode != LocationMode::Primary,
            quorum,
            people,
            runs,
            answers,
            windows: windows.into_iter().map(|(subject, from, more)| (subject, from, from + more)).collect(),
            restarts,
        })
}

impl History {
    fn world(&self) -> World {
        let mut world = World::new();
        world.policy.mode = self.mode;
        world.policy.run_plan.pool = (1..=self.pool).map(LocationId).collect();
        world.policy.run_plan.locations_per_run = if self.rotates {
            self.mode.default_location_count(world.policy.run_plan.pool.len(), true)
        } else {
            world.policy.run_plan.pool.len()
        };
        world.policy.run_plan.rotates = self.rotates;
        world.policy.run_plan.staggered = self.mode == LocationMode::RoundRobin;
        world.policy.quorum = self.quorum;
        world.policy.no_data_runs = 3;
        for (at, (clear, start, stop)) in self.people.iter().enumerate() {
            let person = world.recipient(&format!("person{at}"));
            (person.notify_on_clear, person.start_threshold, person.stop_threshold) = (*clear, *start, *stop);
        }
        for (subject, from, thru) in &self.windows {
            let target = match subject {
                0 => BlackoutTarget::Alert(MONITOR),
                1 => BlackoutTarget::Monitor(MONITOR),
                other => BlackoutTarget::Notifier(RecipientId(i64::try_from(*other).unwrap() - 1)),
            };
            world.window(target, *from, *thru);
        }
        world.begin();
        world
    }

    /// Plays it, then lets the target be well and every blackout pass.
    fn play(&self, restarts: bool, backwards: bool) -> World {
        let mut world = self.world();
        let mut answers = self.answers.iter().cycle();
        let well = vec![vec![Some(Said::Good); 4]; 8];
        let silent_until = self.windows.iter().map(|(.., thru)| *thru).max().unwrap_or(0);
        let until = silent_until.max(i64::try_from(self.runs.len()).unwrap());
        let more = usize::try_from(until).unwrap() - self.runs.len();
        let rest = vec![vec![Some(Said::Good); 4]; more];
        for (at, run) in self.runs.iter().chain(&rest).chain(&well).enumerate() {
            let number = i64::try_from(at).unwrap() + 1;
            self.run(&mut world, number, run, backwards, &mut answers);
            if restarts && self.restarts[at % self.restarts.len()] {
                world.restart();
            }
        }
        let number = i64::try_from(self.runs.len() + rest.len() + well.len()).unwrap() + 1;
        world.pass(world.run(number));
        world
    }

    fn run<'a>(
        &self,
        world: &mut World,
        number: i64,
        says: &[Option<Said>],
        backwards: bool,
        answers: &mut impl Iterator<Item = &'a u16>,
    ) {
        let planned_at = world.run(number);
        world.pass(planned_at);
        let resting = self
            .windows
            .iter()
            .any(|(subject, from, thru)| *subject == 1 && (*from..=*thru).contains(&number));
        let mut expected = world.policy.run_plan.expected_locations(planned_at);
        if backwards && self.mode != LocationMode::RoundRobin {
            expected.reverse();
        }
        for location in expected {
            let start = world.policy.run_plan.start_at(planned_at, location).unwrap();
            world.pass(start.max(world.now) + Duration::from_secs(1));
            let said = says[usize::try_from(location.0).unwrap() - 1];
            let Some(said) = said.map(|said| if resting { Said::Ours(Outcome::Blackout) } else { said })
            else {
                continue;
            };
            let word = match said {
                Said::Good => Word::default(),
                Said::Bad(status) => Word { outcome: Some(Outcome::Error), status, ..Word::default() },
                Said::Ours(outcome) => Word { outcome: Some(outcome), ..Word::default() },
            };
            world.hear(location, &word, planned_at);
        }
        // To the close of the run, and to the answer if one is wanted.
        world.pass(planned_at + Duration::from_secs(280));
        while world.is_asked() {
            world.answer(*answers.next().unwrap());
        }
    }
}

fn told(world: &World) -> impl Iterator<Item = (RecipientId, &NotificationDraft)> {
    world.effects.iter().filter_map(|effect| match effect {
        Effect::Notify { recipient, draft, .. } => Some((*recipient, draft)),
        _ => None,
    })
}

/// How often each outage was told to each recipient.
fn counted(world: &World, kind: NotificationKind) -> BTreeMap<(EpisodeId, RecipientId), u32> {
    let mut counts = BTreeMap::new();
    for (recipient, draft) in told(world).filter(|(_, draft)| draft.kind == kind) {
        *counts.entry((draft.episode.unwrap(), recipient)).or_default() += 1;
    }
    counts
}

proptest! {
    #[test]
    fn no_run_is_told_as_an_error_whose_verification_found_none(history in history(said())) {
        let world = history.play(false, false);
        for (_, draft) in told(&world).filter(|(_, draft)| draft.kind == NotificationKind::SiteError) {
            let denied = world.effects.iter().any(|effect| matches!(
                effect,
                Effect::RecordVerification { planned_at, answer, .. }
                    if *planned_at == draft.planned_at && answer.status.0 == 70
            ));
            prop_assert!(!denied, "{draft:?}");
        }
    }

    #[test]
    fn every_error_that_was_told_is_cleared_exactly_once(history in history(said())) {
        let world = history.play(true, false);
        let (errors, clears) = (counted(&world, NotificationKind::SiteError), counted(&world, NotificationKind::SiteClear));
        for key in errors.keys() {
            let wants = world.contacts.recipient(key.1).unwrap().notify_on_clear;
            prop_assert_eq!(clears.get(key).copied().unwrap_or(0), u32::from(wants), "{:?}", &world.told);
        }
        for key in clears.keys() {
            prop_assert!(errors.contains_key(key), "a clear of what was not told: {:?}", &world.told);
        }
        // And after the error, never before.
        for (at, (recipient, draft)) in told(&world).enumerate() {
            if draft.kind == NotificationKind::SiteClear {
                let before = told(&world).take(at).any(|(who, what)| who == recipient && what.episode == draft.episode);
                prop_assert!(before);
            }
        }
    }

    #[test]
    fn a_fault_of_ours_never_alerts(history in history(ours())) {
        let world = history.play(true, false);
        for (_, draft) in told(&world) {
            prop_assert_eq!(draft.kind, NotificationKind::NoData);
        }
        let harm = world.effects.iter().any(|effect| matches!(
            effect,
            Effect::UpdateEpisode(_) | Effect::RunTraceroute { .. } | Effect::RequestVerification { .. }
        ));
        prop_assert!(!harm, "{:?}", world.effects);
    }

    #[test]
    fn every_error_tells_of_a_failure_of_the_target(history in history(said())) {
        let world = history.play(false, false);
        for (_, draft) in told(&world).filter(|(_, draft)| draft.kind == NotificationKind::SiteError) {
            let cause = draft.deciding_result.as_ref().unwrap();
            prop_assert!(cause.outcome == Outcome::Error && ![21, 95].contains(&cause.status.0), "{draft:?}");
            prop_assert!(draft.location_results.iter().all(|result| result.outcome != Outcome::Blackout));
        }
    }

    #[test]
    fn thresholds_hold(history in history(said())) {
        let world = history.play(true, false);
        for ((_, id), count) in counted(&world, NotificationKind::SiteError) {
            let stop = world.contacts.recipient(id).unwrap().stop_threshold;
            prop_assert!(stop == 0 || count <= stop);
        }
        for (id, draft) in told(&world).filter(|(_, draft)| draft.kind == NotificationKind::SiteError) {
            prop_assert!(draft.errcount >= world.contacts.recipient(id).unwrap().start_threshold);
        }
    }

    /// Nothing is told twice: neither the same run of the same outage, nor missing data of one stretch.
    #[test]
    fn nobody_is_told_the_same_twice(history in history(said())) {
        let world = history.play(true, false);
        let mut seen = std::collections::HashSet::new();
        for (id, draft) in told(&world) {
            let key = (id, draft.kind, draft.episode, draft.planned_at);
            prop_assert!(seen.insert(key), "{:?} {:?}", key, &world.told);
        }
    }

    /// Of a monitor that was heard of before: what nobody ever reported is not known to a new process.
    #[test]
    fn a_start_of_the_process_makes_no_difference(mut history in history(said())) {
        history.runs.insert(0, vec![Some(Said::Good); 4]);
        prop_assert_eq!(history.play(false, false).told, history.play(true, false).told);
    }

    #[test]
    fn the_order_of_answers_makes_no_difference(history in history(said())) {
        prop_assert_eq!(history.play(false, false).told, history.play(false, true).told);
    }

    #[test]
    fn answers_that_come_again_change_nothing(history in history(said())) {
        let mut world = history.play(false, false);
        let before = world.told.len();
        for (at, run) in history.runs.iter().enumerate() {
            let planned_at = world.run(i64::try_from(at).unwrap() + 1);
            for location in 1..=history.pool {
                let word = Word { outcome: Some(Outcome::Error), status: 1, ..Word::default() };
                if run[0].is_some() {
                    world.hear(LocationId(location), &word, planned_at);
                }
            }
        }
        prop_assert_eq!(&world.told[before..], &[] as &[String]);
    }

    #[test]
    fn an_outage_is_open_exactly_while_the_state_is_down(history in history(said())) {
        let mut world = history.world();
        let mut answers = history.answers.iter().cycle();
        for (at, run) in history.runs.iter().enumerate() {
            history.run(&mut world, i64::try_from(at).unwrap() + 1, run, false, &mut answers);
            let health = format!("{:?}", world.watch.health());
            let open = world.watch.open_episode().is_some();
            prop_assert!(open && ["Down", "BlackedOut"].contains(&&*health) || !open && health != "Down");
        }
    }
}
