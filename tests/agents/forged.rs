//! What a stolen credential can send is refused by the running server as far as it is not of its location, counted and
//! told.

use std::time::{Duration, Instant};

use serde_json::json;
use vigie::bus::messages::{BusMessage, ResultMessage, ResultsMessage};
use vigie::bus::nats::subjects::AgentSubject;
use vigie::clock::{Clock, SystemClock};
use vigie::domain::{
    CheckMetadata, CheckResult, LocationId, MonitorId, MonitorType, Outcome, Revision, Status, Timestamp,
    Verdict,
};

use super::kit::{Kit, SOON};
use super::overview::Server;

/// Returns a check that failed.
fn failed(monitor: i64, revision: i64, location: LocationId, planned_at: Timestamp) -> CheckResult {
    let metadata = CheckMetadata {
        monitor_id: MonitorId(monitor),
        monitor_name: "monitor".into(),
        revision: Revision(revision),
        monitor_type: MonitorType::Tcp,
        location_id: location,
    };
    let (outcome, status) = (Outcome::Error, Status::CONNECT_FAILED);
    let verdict = Verdict { outcome, status, warning_status: None, reasons: Vec::new() };
    CheckResult::without_attempts(metadata, planned_at, planned_at, verdict)
}

#[tokio::test]
async fn forged_results_of_a_real_credential_are_refused_counted_and_told() {
    let kit = Kit::start().await;
    let (location, secret) = kit.location("north").await;
    let (elsewhere, _) = kit.location("south").await;
    let agent = kit.enrol(&secret).await;
    let mut monitors = Vec::new();
    for id in [location, elsewhere] {
        let fields = json!({"name": "shop", "hostname": "127.0.0.1", "port": 9, "interval": 1, "timeout": 1,
            "billing_plancode": "x", "locations": [{"id": id}], "home_location": id});
        let created = kit.admin.post("/monitors/tcp", fields).await.expect(200);
        monitors.push(created["id"].as_str().unwrap().parse::<i64>().unwrap());
    }
    let (own, of_other) = (monitors[0], monitors[1]);
    let Kit { app, nats, .. } = kit;
    let server = Server::start(app.stop().await).await;
    let connection = agent.connect().await;

    let (own_location, now) = (agent.credential.location_id(), SystemClock.now());
    let planned_at = |minutes: u64| now - Duration::from_secs(60 * minutes);
    let genuine = failed(own, 1, own_location, planned_at(9));
    let forged = [
        failed(of_other, 1, own_location, planned_at(5)),
        failed(of_other, 1, LocationId(elsewhere), planned_at(6)),
        failed(own, 99, own_location, planned_at(7)),
        failed(424_242, 1, own_location, planned_at(8)),
    ];
    let encoded = |result: &CheckResult| {
        let result = ResultMessage::from_result(result).unwrap().to_bytes().unwrap();
        ResultsMessage::from_encoded([result]).unwrap().to_bytes().unwrap()
    };
    let newer_version = vec![0x08, 2, 0x10, 12, 0x1a, 0];
    let messages = forged.iter().map(encoded).chain([b"garbage".to_vec(), newer_version, encoded(&genuine)]);
    // The streams may not be there yet; what is sent twice counts once, or is refused again.
    let messages: Vec<_> = messages.collect();
    let subject = AgentSubject::Results.of(own_location, agent.credential.agent_id());
    let context = async_nats::jetstream::new(connection.client.clone());
    let end = Instant::now() + SOON;
    for message in messages {
        loop {
            let sent = context.publish(subject.clone(), message.clone().into()).await.unwrap();
            if tokio::time::timeout(Duration::from_secs(1), sent.into_future())
                .await
                .is_ok_and(|sent| sent.is_ok())
            {
                break;
            }
            assert!(Instant::now() < end, "the server does not take results");
        }
    }
    let results = loop {
        let results = server.list("/results");
        if !results.is_empty() {
            break results;
        }
        assert!(Instant::now() < end, "the genuine result does not come");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!(results.len(), 1, "{results:?}");
    assert_eq!(results[0]["check_id"], genuine.check_id.to_string());
    let metrics = server.metrics();
    let series = r#"vigie_bus_events_total{event="agent_message_refused"} "#;
    let refused = metrics.lines().find_map(|line| line.strip_prefix(series)).unwrap_or_default();
    assert!(refused.parse::<u64>().is_ok_and(|count| count >= 6), "{metrics}");

    // One event tells of it; the count of the others is in the metric.
    let events = loop {
        let events = server.list("/events?event=agent_message_refused");
        if !events.is_empty() {
            break events;
        }
        assert!(Instant::now() < end, "no event");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let description = events[0]["description"].as_str().unwrap();
    let told = format!(
        "The agent {} of the location {location} sent a message that was refused: the monitor {of_other} is not assigned to the location",
        agent.id()
    );
    assert_eq!((events.len(), description), (1, told.as_str()));
    assert_eq!(server.list("/episodes").len(), 0);
    drop(nats);
}
