//! A revoked agent loses its connection at once, its token, and the next data key.

use std::time::Duration;

use http::StatusCode;
use serde_json::json;
use vigie::bus::nats::RenewalRequest;

use super::kit::{Agent, Kit, SOON};

async fn renew(kit: &Kit, agent: &Agent) {
    let request = agent.credential.renewal_request("1.2.4");
    let (location, id) = (agent.credential.location_id(), agent.credential.agent_id());
    let grant = kit.app.state.agent_service.renew_over_bus(location, id, request).await.unwrap();
    agent.credential.apply(grant).unwrap();
}

#[tokio::test]
async fn a_revoked_agent_is_disconnected_and_gets_nothing_new() {
    let kit = Kit::start().await;
    let (location, secret) = kit.location("north").await;
    let stolen = kit.enrol(&secret).await;
    let other = kit.enrol(&kit.secret(location).await).await;
    let (connection, kept) = (stolen.connect().await, other.connect().await);
    let notified = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = std::sync::Arc::clone(&notified);
    kit.app.state.agent_service.observe_revocations(std::sync::Arc::new(move |location, agent| {
        seen.lock().unwrap().push((location.0, agent.0));
    }));

    let revoked = kit.admin.delete(&format!("/agents/{}", stolen.id())).await.expect(200);
    assert_eq!(revoked.get("warnings"), None, "{revoked}");
    connection.event(&["disconnected"]).await;
    connection.event(&["authorization violation"]).await;
    assert!(stolen.try_connect().await.is_err(), "it connects again");
    assert_eq!(*notified.lock().unwrap(), [(location, stolen.id())]);
    let request = RenewalRequest::default();
    let (place, id) = (stolen.credential.location_id(), stolen.credential.agent_id());
    assert!(kit.app.state.agent_service.renew_over_bus(place, id, request).await.is_err());
    let shown = kit.admin.get(&format!("/agents/{}", stolen.id())).await.expect(200);
    assert!(shown["revoked_at"].is_string(), "{shown}");

    // The other agent stays connected, and has the new key after its next renewal.
    kept.settle(&other).await;
    assert_eq!(kept.client.connection_state(), async_nats::connection::State::Connected);
    assert_eq!(other.data_keys().into_keys().collect::<Vec<_>>(), [1]);
    renew(&kit, &other).await;
    assert_eq!(other.data_keys().into_keys().collect::<Vec<_>>(), [1, 2], "the old key still opens");
    // It tells with the next one that it has the new key; then no agent needs the old one.
    renew(&kit, &other).await;
    renew(&kit, &other).await;
    assert_eq!(other.data_keys().into_keys().collect::<Vec<_>>(), [2]);
}

#[tokio::test]
async fn an_old_data_key_stays_until_every_agent_has_the_new_one() {
    let kit = Kit::start().await;
    let (location, secret) = kit.location("north").await;
    let revoked = kit.enrol(&secret).await;
    let quick = kit.enrol(&kit.secret(location).await).await;
    let slow = kit.enrol(&kit.secret(location).await).await;
    kit.admin.delete(&format!("/agents/{}", revoked.id())).await.expect(200);
    for _ in 0..3 {
        renew(&kit, &quick).await;
    }
    assert_eq!(quick.data_keys().len(), 2, "the slow agent needs the old key");
    for _ in 0..2 {
        renew(&kit, &slow).await;
    }
    renew(&kit, &quick).await;
    assert_eq!(quick.data_keys().into_keys().collect::<Vec<_>>(), [2]);
    assert_eq!(quick.data_keys()[&2], slow.data_keys()[&2]);
}

#[tokio::test]
async fn a_revocation_while_nats_is_away_is_stored_and_pushed_later() {
    let mut kit = Kit::start().await;
    let (_, secret) = kit.location("north").await;
    let agent = kit.enrol(&secret).await;
    drop(agent.connect().await);
    kit.nats.kill();
    let reply = kit.admin.delete(&format!("/agents/{}", agent.id())).await;
    assert_eq!(reply.status, StatusCode::OK, "{}", reply.text);
    assert!(reply.text.contains("NATS could not be told"), "{}", reply.text);
    kit.nats.restart();
    assert!(agent.try_connect().await.is_ok(), "NATS knows it already: this test shows nothing");
    let connection = agent.connect().await;
    kit.app.state.agent_service.push_account_jwt().await.unwrap();
    connection.event(&["disconnected"]).await;
    assert!(agent.try_connect().await.is_err());
    // The servers keep the list over a restart.
    kit.nats.kill();
    kit.nats.restart();
    assert!(agent.try_connect().await.is_err(), "the list was lost");
}

#[tokio::test]
async fn a_location_with_agents_that_may_connect_is_not_removed() {
    let kit = Kit::start().await;
    let (location, secret) = kit.location("north").await;
    let agent = kit.enrol(&secret).await;
    let path = format!("/locations/{location}");
    let errors = kit.admin.delete(&path).await.refused(409);
    assert!(errors[0].contains("revoke them first"), "{errors:?}");
    kit.admin.delete(&format!("/agents/{}", agent.id())).await.expect(200);
    kit.admin.delete(&path).await.expect(204);
    kit.admin.get(&format!("/agents/{}", agent.id())).await.refused(404);
    let audit = kit.admin.get("/audit?limit=100").await.text;
    for action in ["enrol", "revoke"] {
        assert!(audit.contains(&json!(action).to_string()), "{action}: {audit}");
    }
    assert!(SOON > Duration::ZERO && !audit.contains(&secret));
}
