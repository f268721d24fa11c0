//! Outages of a monitor at one location.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use vigie::alerting::MonitorHealth;
use vigie::domain::{NotificationKind, Outcome, RecordKind, Status};
use vigie::schema::MonitorMetadata;
use vigie::store::AlertStore;

use crate::alarms::world::{World, result, run, slot, until, watches};

#[tokio::test]
async fn an_error_and_its_end_are_told_in_the_transaction_of_their_results() {
    let mut world = World::new().await;
    let anna = world.recipient(json!({})).await;
    let shop = world.monitor(&[1], json!({})).await;
    for (number, outcome) in [(1, Outcome::Ok), (2, Outcome::Error), (3, Outcome::Error), (4, Outcome::Ok)] {
        world.at_home(shop, number, outcome).await;
    }
    assert_eq!(
        world.told().await,
        ["site_error of run 2, error 1", "site_error of run 3, error 2", "site_clear of run 4, error 0"]
    );
    let episodes = world.episodes().await;
    assert_eq!(
        (episodes.len(), episodes[0].since, episodes[0].ended_at),
        (1, slot(shop, run(2)), Some(slot(shop, run(4))))
    );
    assert_eq!(episodes[0].body["runs"], 2);
    let messages = world.messages().await;
    let (first, episode) = (&messages[0].message, episodes[0].id);
    assert_eq!(first.key, format!("site_error-{episode}-{}-{anna}", slot(shop, run(2)).as_micros()));
    let content = &first.content;
    assert_eq!(
        (content.status, content.status_text.as_str()),
        (Status::CONNECT_FAILED, "TCP connection failed")
    );
    assert_eq!((content.target.as_str(), content.location.as_str()), ("shop.example.test:443", "place 1"));
    assert_eq!((content.alert_note.as_str(), content.reasons[0].as_str()), ("call the shop", "it refused"));
    assert_eq!(content.phases, [("connect".to_owned(), 700)]);
    assert_eq!(content.locations[0].status, Some(Status::CONNECT_FAILED));
    assert_eq!(content.check_id, Some(result(shop, 1, run(2), Outcome::Error).check_id));
    let clear = &messages[2].message.content;
    assert_eq!(
        (clear.kind, clear.status, clear.since),
        (NotificationKind::SiteClear, Status::OK, Some(slot(shop, run(2))))
    );
    // Once the flapping time is over, nothing is remembered.
    for number in 5..12 {
        world.at_home(shop, number, Outcome::Ok).await;
    }
    assert_eq!(watches(&world).await, 0);
    assert_eq!(world.messages().await.len(), 3);
}

#[tokio::test]
async fn a_quiet_monitor_leaves_nothing_but_its_results() {
    let mut world = World::new().await;
    world.recipient(json!({})).await;
    let shop = world.monitor(&[1], json!({})).await;
    for number in 1..5 {
        world.at_home(shop, number, if number == 2 { Outcome::Warning } else { Outcome::Ok }).await;
        assert_eq!(watches(&world).await, 0, "after run {number}");
    }
    assert_eq!((world.messages().await.len(), world.episodes().await.len()), (0, 0));
    assert_eq!(world.ingestor.health(shop), MonitorHealth::Up);
}

#[tokio::test]
async fn a_monitor_that_is_removed_disabled_or_paused_in_an_outage_gets_no_clear() {
    let mut world = World::new().await;
    world.recipient(json!({})).await;
    let (removed, disabled, paused) = (
        world.monitor(&[1], json!({})).await,
        world.monitor(&[1], json!({})).await,
        world.monitor(&[1], json!({})).await,
    );
    for monitor in [removed, disabled, paused] {
        world.at_home(monitor, 1, Outcome::Error).await;
        assert_eq!(world.ingestor.health(monitor), MonitorHealth::Down);
    }
    world.wait_for(3).await;
    world.ingestor.update_monitors(Vec::new(), vec![removed]).await;
    let off = crate::alarms::world::monitor(disabled, &[1], json!({"enabled": false})).document;
    world.change(disabled, |monitor| monitor.document = off).await;
    let rest = MonitorMetadata { paused_until: Some(run(60)), ..MonitorMetadata::default() };
    world.change(paused, |monitor| monitor.metadata = Arc::new(rest)).await;
    until("all outages ended", async || world.episodes().await.iter().all(|e| e.ended_at.is_some())).await;
    assert_eq!(world.episodes().await[0].body["end"]["recovered"], false);
    for monitor in [removed, disabled, paused] {
        world.at_home(monitor, 2, Outcome::Ok).await;
    }
    // It comes back and is well.
    world.change(paused, |monitor| monitor.metadata = Arc::default()).await;
    world.at_home(paused, 61, Outcome::Ok).await;
    assert_eq!(world.messages().await.len(), 3, "the errors alone");
    assert_eq!(watches(&world).await, 0);
}

#[tokio::test]
async fn an_acknowledged_outage_is_told_no_more_but_its_end_is() {
    let mut world = World::new().await;
    world.recipient(json!({})).await;
    let shop = world.monitor(&[1], json!({})).await;
    world.at_home(shop, 1, Outcome::Error).await;
    let episode = world.episodes().await.remove(0);
    let at = run(1);
    assert!(world.store.acknowledge(episode.customer, episode.id, "anna".to_owned(), at).await.unwrap());
    world.ingestor.acknowledge_episode(shop, episode.id).await;
    world.at_home(shop, 2, Outcome::Error).await;
    // Also where the process ended before the watch knew.
    let world = world.restart().await;
    world.at_home(shop, 3, Outcome::Error).await;
    world.at_home(shop, 4, Outcome::Ok).await;
    assert_eq!(world.told().await, ["site_error of run 1, error 1", "site_clear of run 4, error 0"]);
    assert_eq!(world.episodes().await[0].acknowledged_by, "anna");
}

#[tokio::test]
async fn recipients_and_blackouts_count_as_they_are_at_the_time() {
    let mut world = World::new().await;
    let shop = world.monitor(&[1], json!({})).await;
    world.at_home(shop, 1, Outcome::Error).await;
    assert_eq!(world.messages().await.len(), 0, "there is nobody");
    world.recipient(json!({"start_threshold": 3})).await;
    world.at_home(shop, 2, Outcome::Error).await;
    world.at_home(shop, 3, Outcome::Error).await;
    assert_eq!(world.told().await, ["site_error of run 3, error 3"]);
    let blackout = json!({"type": "Alert", "persistent": false, "from_date": "2026-03-01 00:04:00",
        "thru_date": "2026-03-01 00:05:00"});
    world.record(RecordKind::Blackout, Some(shop.0), blackout).await;
    world.accounts.invalidate();
    world.at_home(shop, 4, Outcome::Error).await;
    world.at_home(shop, 5, Outcome::Error).await;
    assert_eq!(world.told().await, ["site_error of run 3, error 3", "site_error of run 5, error 5"]);
}

#[tokio::test]
async fn runs_that_do_not_come_are_told_as_missing_data() {
    let mut world = World::new().await;
    world.recipient(json!({})).await;
    let shop = world.monitor(&[1], json!({})).await;
    world.at_home(shop, 1, Outcome::Ok).await;
    for step in 0..40 {
        if !world.messages().await.is_empty() {
            break;
        }
        // The loop looks at least each second of its clock: it is woken by every step, and waits again once what
        // it saw is kept.
        until("the loop waits", async || world.clock.sleepers() > 0).await;
        let waits = world.clock.sleep_count();
        world.reach(run(2) + Duration::from_secs(15 * step));
        until("the loop has looked", async || world.clock.sleep_count() > waits).await;
    }
    let told = world.messages().await;
    assert_eq!(told.len(), 1);
    assert_eq!(
        (told[0].message.content.kind, told[0].message.content.errcount),
        (NotificationKind::NoData, 5)
    );
    assert_eq!(world.ingestor.health(shop), MonitorHealth::Unknown);
}
