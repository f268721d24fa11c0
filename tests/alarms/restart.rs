//! A process that ends in the middle of something.

use serde_json::{Value, json};
use vigie::domain::{LocationId, Outcome, Status};
use vigie::store::{AlertChanges, AlertStore};

use crate::alarms::world::{Says, World, result, run, slot, until};

#[tokio::test]
async fn a_restart_in_an_outage_repeats_nothing_and_loses_no_clear() {
    let mut world = World::new().await;
    world.recipient(json!({"stop_threshold": 2})).await;
    let shop = world.monitor(&[1], json!({})).await;
    world.at_home(shop, 1, Outcome::Error).await;
    let world = world.restart().await;
    world.at_home(shop, 2, Outcome::Error).await;
    let world = world.restart().await;
    world.at_home(shop, 3, Outcome::Error).await;
    let world = world.restart().await;
    world.at_home(shop, 4, Outcome::Ok).await;
    assert_eq!(
        world.told().await,
        ["site_error of run 1, error 1", "site_error of run 2, error 2", "site_clear of run 4, error 0"]
    );
    assert_eq!(world.episodes().await.len(), 1);
}

#[tokio::test]
async fn a_question_that_was_not_answered_is_asked_again_after_a_restart() {
    let mut world = World::new().await;
    world.recipient(json!({})).await;
    let shop = world.monitor(&[1], json!({"mode": "Global Verify"})).await;
    world.places.says.lock().unwrap().insert(LocationId(3), Says::Nothing);
    world.at_home(shop, 1, Outcome::Error).await;
    until("it was asked", async || !world.places.asked.lock().unwrap().is_empty()).await;
    world.places.says.lock().unwrap().insert(LocationId(3), Says::This(Outcome::Error));
    let world = world.restart().await;
    world.wait_for(1).await;
    assert_eq!(*world.places.asked.lock().unwrap(), [(shop, LocationId(3))]);
    let verification = world.messages().await.remove(0).message.content.verification.unwrap();
    assert_eq!(verification.status, Status::VERIFIED_CONFIRMED);
    assert_eq!(world.told().await, ["site_error of run 1, error 1"]);
}

#[tokio::test]
async fn outages_of_monitors_that_went_while_nothing_ran_are_over() {
    let mut world = World::new().await;
    world.recipient(json!({})).await;
    let (gone, forgotten) = (world.monitor(&[1], json!({})).await, world.monitor(&[1], json!({})).await);
    world.at_home(gone, 1, Outcome::Error).await;
    world.at_home(forgotten, 1, Outcome::Error).await;
    assert_eq!(crate::alarms::world::watches(&world).await, 2);
    world.monitors.retain(|monitor| monitor.id != gone);
    // Nothing is remembered of the other one any more.
    let gone_too = AlertChanges { alert_states: vec![(forgotten, None)], ..AlertChanges::default() };
    world.store.commit_alerts(gone_too).await.unwrap();
    let world = world.restart().await;
    until("both are over", async || world.episodes().await.iter().all(|e| e.ended_at.is_some())).await;
    world.at_home(forgotten, 2, Outcome::Error).await;
    let open: Vec<_> = world.episodes().await.into_iter().filter(|e| e.ended_at.is_none()).collect();
    assert_eq!((open.len(), open[0].since), (1, slot(forgotten, run(2))), "a new outage begins");
    assert_eq!(crate::alarms::world::watches(&world).await, 1);
}

/// Something that happens to the monitor at the locations 1 and 2.
#[derive(Clone, Copy)]
enum Event {
    /// A run that comes to this at location 1.
    Run(Outcome),
    /// A run that comes to this at the locations 1 and 2, in one batch.
    Both(Outcome, Outcome),
    /// Someone acknowledges the open episode.
    Acknowledge,
}

/// A monitor, a recipient, and what happens to them.
struct History {
    name: &'static str,
    locations: &'static [i64],
    monitor: Value,
    recipient: Value,
    events: &'static [Event],
    /// Notifications without a restart.
    sent: usize,
}

impl History {
    /// Plays the events and restarts before the one at `restart_at`; returns the notifications and how many episodes
    /// are open or over.
    async fn play(&self, restart_at: Option<usize>) -> (Vec<String>, Vec<bool>) {
        let mut world = World::new().await;
        world.recipient(self.recipient.clone()).await;
        let shop = world.monitor(self.locations, self.monitor.clone()).await;
        for (index, (number, event)) in (1..).zip(self.events).enumerate() {
            if restart_at == Some(index) {
                world = world.restart().await;
            }
            match *event {
                Event::Run(outcome) => world.at_home(shop, number, outcome).await,
                Event::Both(first, second) => {
                    let results = [(1, first), (2, second)];
                    let results =
                        results.map(|(location, outcome)| result(shop, location, run(number), outcome));
                    world.hear(number, results.to_vec()).await;
                }
                Event::Acknowledge => {
                    let open = world.episodes().await.into_iter().find(|episode| episode.ended_at.is_none());
                    let episode = open.expect("an open episode");
                    let by = "anna".to_owned();
                    assert!(
                        world.store.acknowledge(episode.customer, episode.id, by, run(number)).await.unwrap()
                    );
                    world.ingestor.acknowledge_episode(shop, episode.id).await;
                }
            }
        }
        let over = world.episodes().await.iter().map(|episode| episode.ended_at.is_some()).collect();
        (world.told().await, over)
    }
}

fn histories() -> Vec<History> {
    use Event::{Acknowledge, Both, Run};
    use Outcome::{Error, Ok, Unknown, Warning};
    vec![
        History {
            name: "a threshold of three errors",
            locations: &[1],
            monitor: json!({}),
            recipient: json!({"start_threshold": 3}),
            events: &[Run(Error), Run(Error), Run(Error), Run(Error), Run(Ok)],
            sent: 3,
        },
        History {
            name: "a threshold that is not reached",
            locations: &[1],
            monitor: json!({}),
            recipient: json!({"start_threshold": 3}),
            events: &[Run(Error), Run(Error), Run(Ok), Run(Error), Run(Error), Run(Ok)],
            sent: 0,
        },
        History {
            name: "errors beyond the stop threshold",
            locations: &[1],
            monitor: json!({}),
            recipient: json!({"stop_threshold": 2}),
            events: &[Run(Error), Run(Error), Run(Error), Run(Error), Run(Ok), Run(Error)],
            sent: 4,
        },
        History {
            name: "unknown and warning results in an outage",
            locations: &[1],
            monitor: json!({}),
            recipient: json!({}),
            events: &[Run(Error), Run(Unknown), Run(Error), Run(Warning), Run(Ok)],
            sent: 3,
        },
        History {
            name: "an acknowledged outage, and the next one",
            locations: &[1],
            monitor: json!({}),
            recipient: json!({}),
            events: &[Run(Error), Acknowledge, Run(Error), Run(Ok), Run(Error), Run(Ok)],
            sent: 4,
        },
        History {
            name: "two locations of which both must fail",
            locations: &[1, 2],
            monitor: json!({"mode": "SLA (MultiPOP)"}),
            recipient: json!({}),
            events: &[Both(Error, Ok), Both(Error, Error), Both(Ok, Error), Both(Error, Error), Both(Ok, Ok)],
            sent: 4,
        },
    ]
}

/// Alert state is stored with each result, so a restart must not be visible in what people get.
#[tokio::test]
async fn a_restart_between_any_two_results_changes_no_notification() {
    for history in histories() {
        let (sent, over) = history.play(None).await;
        assert_eq!(sent.len(), history.sent, "{}: {sent:?}", history.name);
        for restart_at in 0..history.events.len() {
            let played = history.play(Some(restart_at)).await;
            assert_eq!(played, (sent.clone(), over.clone()), "{}, restart before {restart_at}", history.name);
        }
    }
}
