//! A failure that another location looks at, and locations that are away.

use std::time::Duration;

use serde_json::json;
use vigie::domain::{LocationId, MissedReason, Outcome, RecordKind, Status};
use vigie::store::{ConfigStore, RecordFilter};

use crate::alarms::world::{ALL, Says, World, result, run, until};

#[tokio::test]
async fn a_failure_that_nobody_else_sees_is_a_warning_and_tells_nobody() {
    let mut world = World::new().await;
    world.recipient(json!({})).await;
    let shop = world.monitor(&[1], json!({"mode": "Global Verify"})).await;
    world.places.says.lock().unwrap().insert(LocationId(3), Says::This(Outcome::Ok));
    world.at_home(shop, 1, Outcome::Error).await;
    let check = result(shop, 1, run(1), Outcome::Error).check_id;
    let kept = async || world.results().await.into_iter().find(|result| result.check_id == check).unwrap();
    until("it turned into a warning", async || kept().await.outcome == Outcome::Warning).await;
    let kept = kept().await;
    let verification = kept.verification.unwrap();
    assert_eq!(verification.status, Status::VERIFIED_NO_ERROR);
    assert_eq!(verification.location_id, Some(LocationId(3)), "the one that verifies");
    assert_eq!(kept.warning_status, Some(Status::CONNECT_FAILED));
    let state = world.ingestor.state_at(shop, LocationId(1)).unwrap();
    assert_eq!((state.outcome, state.status), (Outcome::Warning, Status::OK));
    world.at_home(shop, 2, Outcome::Ok).await;
    assert_eq!((world.messages().await.len(), world.episodes().await.len()), (0, 0));
}

#[tokio::test]
async fn a_confirmed_failure_is_told_with_who_confirmed_it() {
    let mut world = World::new().await;
    world.recipient(json!({})).await;
    let shop = world.monitor(&[1, 2], json!({"mode": "Primary"})).await;
    let ran = [(1, Outcome::Error), (2, Outcome::Ok)];
    world.hear(1, ran.map(|(place, outcome)| result(shop, place, run(1), outcome)).to_vec()).await;
    world.wait_for(1).await;
    let content = world.messages().await.remove(0).message.content;
    let verification = content.verification.unwrap();
    assert_eq!(verification.status, Status::VERIFIED_CONFIRMED);
    assert_eq!(verification.location_id, Some(LocationId(3)), "of another region rather than of the pool");
    assert_eq!(content.reasons, ["it refused"], "the result was read again");
    assert_eq!(content.locations.len(), 2);
}

#[tokio::test]
async fn where_nobody_can_be_asked_the_error_is_told_at_once() {
    let mut world = World::new().await;
    world.recipient(json!({})).await;
    *world.places.hosted.lock().unwrap() = vec![1];
    world.reach(run(0) + Duration::from_secs(5));
    let shop = world.monitor(&[1], json!({"mode": "Global Verify"})).await;
    world.at_home(shop, 1, Outcome::Error).await;
    let told = world.messages().await;
    assert_eq!(told.len(), 1, "in the transaction of the result");
    let verification = told[0].message.content.verification.clone().unwrap();
    assert_eq!(verification.status, Status::VERIFIED_UNAVAILABLE);
    assert!(world.places.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_second_location_that_does_not_answer_lets_the_error_be_told() {
    for says in [Says::Nothing, Says::Busy] {
        let mut world = World::new().await;
        world.recipient(json!({})).await;
        let shop = world.monitor(&[1], json!({"mode": "Global Verify"})).await;
        world.places.says.lock().unwrap().insert(LocationId(3), says);
        world.at_home(shop, 1, Outcome::Error).await;
        until("it was asked", async || !world.places.asked.lock().unwrap().is_empty()).await;
        assert_eq!(world.messages().await.len(), 0);
        until("the error is told", async || {
            world.clock.advance(Duration::from_secs(1));
            !world.messages().await.is_empty()
        })
        .await;
        let verification = world.messages().await.remove(0).message.content.verification.unwrap();
        assert_eq!(verification.status, Status::VERIFIED_NO_ANSWER);
    }
}

#[tokio::test]
async fn a_location_that_is_away_misses_its_runs_and_fails_none() {
    let mut world = World::new().await;
    world.recipient(json!({})).await;
    let shop = world.monitor(&[1, 2], json!({"mode": "SLA (MultiPOP)"})).await;
    world.places.away.lock().unwrap().push(2);
    world.reach(run(0) + Duration::from_secs(30));
    for number in 1..4 {
        world.at_home(shop, number, Outcome::Ok).await;
    }
    let missed = async || {
        let kept = world.results().await.into_iter();
        kept.filter(|result| result.missed.is_some()).collect::<Vec<_>>()
    };
    until("runs are recorded as missed", async || missed().await.len() == 3).await;
    let missed = missed().await;
    assert!(missed.iter().all(|result| result.location_id == LocationId(2)));
    assert_eq!(missed[0].missed.unwrap().reason, MissedReason::LocationAway);
    let events = async || {
        let events = world.store.records(RecordFilter::new(RecordKind::Event), ALL).await.unwrap();
        events
            .items
            .iter()
            .map(|event| event.fields["event"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    until("it is reported", async || !events().await.is_empty()).await;
    assert_eq!(events().await, ["location_away"], "once");
    // Both have to fail; of one that is away nothing is heard, so that the one that is there decides.
    world.at_home(shop, 4, Outcome::Error).await;
    world.wait_for(1).await;
    let content = world.messages().await.remove(0).message.content;
    let silent: Vec<_> = content.locations.iter().filter(|report| report.status.is_none()).collect();
    assert_eq!((silent.len(), silent[0].name.as_str()), (1, "place 2"));
    world.places.away.lock().unwrap().clear();
    world.hear(5, vec![result(shop, 1, run(5), Outcome::Ok), result(shop, 2, run(5), Outcome::Ok)]).await;
    until("it is reported that it is back", async || {
        world.clock.advance(Duration::from_secs(1));
        events().await.len() == 2
    })
    .await;
}
