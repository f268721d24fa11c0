//! A process that ends in the middle of something.

use serde_json::json;
use vigie::domain::{LocationId, Outcome, Status};
use vigie::store::{AlertChanges, AlertStore};

use crate::alarms::world::{Says, World, run, slot, until};

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
