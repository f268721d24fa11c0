//! Restarts during outages and verifications.

use serde_json::{Value, json};
use vigie::domain::{LocationId, Outcome, Status};
use vigie::store::{AlertChanges, AlertStore};

use crate::alerts::harness::{CheckResponse, Harness, result, run, slot, until};

#[tokio::test]
async fn a_restart_during_an_outage_repeats_nothing_and_loses_no_clear() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({"stop_threshold": 2})).await;
    let shop = harness.monitor(&[1], json!({})).await;
    harness.submit_outcome(shop, 1, Outcome::Error).await;
    let harness = harness.restart().await;
    harness.submit_outcome(shop, 2, Outcome::Error).await;
    let harness = harness.restart().await;
    harness.submit_outcome(shop, 3, Outcome::Error).await;
    let harness = harness.restart().await;
    harness.submit_outcome(shop, 4, Outcome::Ok).await;
    assert_eq!(
        harness.summaries().await,
        ["site_error of run 1, error 1", "site_error of run 2, error 2", "site_clear of run 4, error 0"]
    );
    assert_eq!(harness.episodes().await.len(), 1);
}

#[tokio::test]
async fn a_pending_verification_is_requested_again_after_a_restart() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let shop = harness.monitor(&[1], json!({"mode": "Global Verify"})).await;
    harness.locations.responses.lock().unwrap().insert(LocationId(3), CheckResponse::Pending);
    harness.submit_outcome(shop, 1, Outcome::Error).await;
    until("it was asked", async || !harness.locations.check_requests.lock().unwrap().is_empty()).await;
    harness
        .locations
        .responses
        .lock()
        .unwrap()
        .insert(LocationId(3), CheckResponse::Completed(Outcome::Error));
    let harness = harness.restart().await;
    harness.wait_for(1).await;
    assert_eq!(*harness.locations.check_requests.lock().unwrap(), [(shop, LocationId(3))]);
    let verification = harness.notifications().await.remove(0).message.content.verification.unwrap();
    assert_eq!(verification.status, Status::VERIFICATION_CONFIRMED);
    assert_eq!(harness.summaries().await, ["site_error of run 1, error 1"]);
}

#[tokio::test]
async fn outages_of_monitors_removed_while_stopped_are_ended() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let (removed, stateless) =
        (harness.monitor(&[1], json!({})).await, harness.monitor(&[1], json!({})).await);
    harness.submit_outcome(removed, 1, Outcome::Error).await;
    harness.submit_outcome(stateless, 1, Outcome::Error).await;
    assert_eq!(crate::alerts::harness::alert_state_count(&harness).await, 2);
    harness.monitors.retain(|monitor| monitor.id != removed);
    // The other monitor still exists but loses its alert state.
    let forget_state = AlertChanges { alert_states: vec![(stateless, None)], ..AlertChanges::default() };
    harness.store.commit_alerts(forget_state).await.unwrap();
    let harness = harness.restart().await;
    until("both are over", async || harness.episodes().await.iter().all(|e| e.ended_at.is_some())).await;
    harness.submit_outcome(stateless, 2, Outcome::Error).await;
    let open: Vec<_> = harness.episodes().await.into_iter().filter(|e| e.ended_at.is_none()).collect();
    assert_eq!((open.len(), open[0].started_at), (1, slot(stateless, run(2))), "a new outage begins");
    assert_eq!(crate::alerts::harness::alert_state_count(&harness).await, 1);
}

/// An event at the monitor.
#[derive(Clone, Copy)]
enum Event {
    /// A run with this outcome at location 1.
    Run(Outcome),
    /// A run with these outcomes at the locations 1 and 2, in one batch.
    Both(Outcome, Outcome),
    /// A user acknowledges the open episode.
    Acknowledge,
}

/// A monitor, a recipient, and a sequence of events.
struct History {
    name: &'static str,
    locations: &'static [i64],
    monitor: Value,
    recipient: Value,
    events: &'static [Event],
    /// Number of notifications without a restart.
    sent: usize,
}

impl History {
    /// Plays the events, with a restart before the one at `restart_at`. Returns the notifications, and for each episode
    /// whether it has ended.
    async fn play(&self, restart_at: Option<usize>) -> (Vec<String>, Vec<bool>) {
        let mut harness = Harness::new().await;
        harness.recipient(self.recipient.clone()).await;
        let shop = harness.monitor(self.locations, self.monitor.clone()).await;
        for (index, (number, event)) in (1..).zip(self.events).enumerate() {
            if restart_at == Some(index) {
                harness = harness.restart().await;
            }
            match *event {
                Event::Run(outcome) => harness.submit_outcome(shop, number, outcome).await,
                Event::Both(first, second) => {
                    let results = [(1, first), (2, second)];
                    let results =
                        results.map(|(location, outcome)| result(shop, location, run(number), outcome));
                    harness.submit_results(number, results.to_vec()).await;
                }
                Event::Acknowledge => {
                    let open =
                        harness.episodes().await.into_iter().find(|episode| episode.ended_at.is_none());
                    let episode = open.expect("an open episode");
                    let by = "anna".to_owned();
                    assert!(
                        harness
                            .store
                            .acknowledge(episode.customer, episode.id, by, run(number))
                            .await
                            .unwrap()
                    );
                    harness.ingestor.acknowledge_episode(shop, episode.id).await;
                }
            }
        }
        let over = harness.episodes().await.iter().map(|episode| episode.ended_at.is_some()).collect();
        (harness.summaries().await, over)
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

/// Alert state is stored with each result, so recipients must not notice a restart.
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
