//! Enrolment and renewal over the API.

use std::time::Duration;

use serde_json::{Value, json};
use vigie::bus::nats::NewCredential;
use vigie::domain::Role;
use vigie::service::agents::RenewalProof;

use super::kit::{Agent, Kit, enrolment};
use crate::support::app::App;

fn new_keys() -> NewCredential {
    NewCredential::create(tempfile::tempdir().unwrap().path()).unwrap()
}

#[tokio::test]
async fn a_secret_works_once_and_every_wrong_one_gets_the_same_answer() {
    let kit = Kit::start().await;
    let (location, used) = kit.location("north").await;
    let expired = kit.secret(location).await;
    let agent = kit.enrol(&used).await;
    assert_eq!(agent.credential.location_id().0, location);
    kit.app.clock.advance(Duration::from_hours(24));
    let client = kit.app.anonymous();
    let mut answers = Vec::new();
    for secret in [used.as_str(), &expired, "unknown"] {
        answers.push(client.post("/agents/enrol", enrolment(&new_keys(), secret)).await.refused(403));
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
    // The token of the first login has expired too.
    let admin = kit.app.login(Role::Admin).await;
    let agents = admin.get("/agents").await.expect(200);
    assert_eq!(agents["metadata"]["resultset"]["count"], 1, "{agents}");
}

#[tokio::test]
async fn two_agents_cannot_use_one_secret_at_the_same_time() {
    let kit = Kit::start().await;
    let (_, secret) = kit.location("north").await;
    let client = kit.app.anonymous();
    let keys: Vec<NewCredential> = (0..4).map(|_| new_keys()).collect();
    let calls = keys.iter().map(|keys| client.post("/agents/enrol", enrolment(keys, &secret)));
    let statuses: Vec<u16> =
        futures::future::join_all(calls).await.iter().map(|reply| reply.status.as_u16()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
}

#[tokio::test]
async fn guesses_are_delayed() {
    let kit = Kit::start().await;
    let (_, secret) = kit.location("north").await;
    let client = kit.app.anonymous();
    let mut statuses = Vec::new();
    for _ in 0..8 {
        let body = enrolment(&new_keys(), "a guess");
        statuses.push(client.post("/agents/enrol", body).await.status.as_u16());
    }
    assert_eq!((statuses[0], statuses[7]), (403, 429), "{statuses:?}");
    let delayed = client.post("/agents/enrol", enrolment(&new_keys(), &secret)).await;
    assert!(delayed.status == 429 && !delayed.header("retry-after").is_empty(), "{}", delayed.text);
    kit.app.clock.advance(Duration::from_mins(2));
    client.post("/agents/enrol", enrolment(&new_keys(), &secret)).await.expect(200);
}

#[tokio::test]
async fn wrong_keys_are_refused_and_leave_the_secret_usable() {
    let kit = Kit::start().await;
    let (location, secret) = kit.location("north").await;
    let client = kit.app.anonymous();
    let keys = new_keys();
    for (field, value) in [
        ("public_key", json!("U")),
        ("public_key", json!(keys.exchange_public_key())),
        ("exchange_key", json!(keys.public_key())),
        ("exchange_key", json!("X".repeat(56))),
        ("exchange_key", json!("é".repeat(28))),
        ("version", Value::Null),
        ("name", json!("")),
    ] {
        let mut body = enrolment(&keys, &secret);
        body[field] = value;
        let errors = client.post("/agents/enrol", body).await.refused(400);
        assert!(errors[0].contains(field) && !errors[0].contains(&secret), "{field}: {errors:?}");
    }
    client.post("/agents/enrol", enrolment(&keys, &secret)).await.expect(200);
    // The key of another agent, with a secret that is valid.
    let another = kit.secret(location).await;
    client.post("/agents/enrol", enrolment(&keys, &another)).await.refused(409);
}

#[tokio::test]
async fn without_nats_no_agent_enrols() {
    let app = App::start().await;
    let admin = app.login(Role::Admin).await;
    let created = admin.post("/locations", json!({"name": "north"})).await.expect(200);
    let body = enrolment(&new_keys(), created["enrolment_secret"].as_str().unwrap());
    let errors = app.anonymous().post("/agents/enrol", body).await.refused(409);
    assert!(errors[0].contains("vigie nats init"), "{errors:?}");
}

#[tokio::test]
async fn agents_are_shown_renamed_and_kept_from_others() {
    let kit = Kit::start().await;
    let (location, secret) = kit.location("north").await;
    let agent = kit.enrol(&secret).await;
    let path = format!("/agents/{}", agent.id());
    let shown = kit.admin.get(&path).await.expect(200);
    assert_eq!((&shown["location_id"], &shown["name"]), (&json!(location), &json!("rack 7")));
    assert_eq!((&shown["version"], &shown["revoked_at"]), (&json!("1.2.3"), &Value::Null));
    kit.admin.patch(&path, json!({"name": "rack 8"})).await.expect(200);
    assert_eq!(kit.admin.get(&path).await.expect(200)["name"], "rack 8");
    kit.admin.patch(&path, json!({"public_key": "x", "revoked_at": "x"})).await.expect(200);
    let unchanged = kit.admin.get(&path).await.expect(200);
    assert_eq!((&unchanged["public_key"], &unchanged["revoked_at"]), (&shown["public_key"], &Value::Null));
    let viewer = kit.app.login(Role::PowerUser).await;
    viewer.get(&path).await.expect(200);
    viewer.patch(&path, json!({"name": "x"})).await.refused(403);
    viewer.delete(&path).await.refused(403);
    viewer.post(&format!("/locations/{location}/enrolment-secrets"), json!({})).await.refused(403);
    kit.app.anonymous().get("/agents").await.refused(401);
    let theirs = kit.app.login_to(kit.app.account("other").await, Role::Admin).await;
    theirs.get(&path).await.refused(404);
    theirs.delete(&path).await.refused(404);
    theirs.post(&format!("/locations/{location}/enrolment-secrets"), json!({})).await.refused(404);
}

fn renewal(agent: &Agent, time: &str) -> Value {
    let proof = RenewalProof { agent: agent.credential.agent_id(), time, nonce: "n1" };
    json!({
        "time": time,
        "nonce": "n1",
        "signature": agent.credential.sign(&proof.text()).unwrap(),
        "version": "1.3.0",
        "newest_data_key": 1,
    })
}

#[tokio::test]
async fn an_expired_agent_renews_with_its_key_and_nobody_else_does() {
    let kit = Kit::start().await;
    let (location, secret) = kit.location("north").await;
    let agent = kit.enrol(&secret).await;
    let other = kit.enrol(&kit.secret(location).await).await;
    kit.app.clock.advance(Duration::from_hours(100));
    let now = vigie::clock::Clock::now(&*kit.app.clock);
    assert!(agent.credential.expires_at() < now);
    let client = kit.app.anonymous();
    let path = format!("/agents/{}/renew", agent.id());
    let body = renewal(&agent, &now.to_string());
    let granted = client.post(&path, body.clone()).await.expect(200);
    agent.credential.apply(serde_json::from_value(granted.clone()).unwrap()).unwrap();
    assert!(agent.credential.expires_at() > now);
    let admin = kit.app.login(Role::Admin).await;
    assert_eq!(admin.get(&format!("/agents/{}", agent.id())).await.expect(200)["version"], "1.3.0");
    // Repeated, it gives a token that only the owner of the key can use.
    client.post(&path, body.clone()).await.expect(200);
    assert!(other.credential.apply(serde_json::from_value(granted).unwrap()).is_err());

    let mut forged = Vec::new();
    for (field, value) in [
        ("nonce", json!("n2")),
        ("time", json!((now + Duration::from_secs(1)).to_string())),
        ("signature", json!("AAAA")),
        ("signature", renewal(&other, &now.to_string())["signature"].clone()),
    ] {
        let mut body = body.clone();
        body[field] = value;
        forged.push(client.post(&path, body).await.refused(403));
    }
    forged.push(client.post("/agents/999999/renew", body.clone()).await.refused(403));
    admin.delete(&format!("/agents/{}", agent.id())).await.expect(200);
    forged.push(client.post(&path, body).await.refused(403));
    assert!(forged.iter().all(|errors| *errors == forged[0]), "{forged:?}");
}

#[tokio::test]
async fn a_clock_that_is_too_far_off_is_told() {
    let kit = Kit::start().await;
    let (_, secret) = kit.location("north").await;
    let agent = kit.enrol(&secret).await;
    let now = vigie::clock::Clock::now(&*kit.app.clock);
    let path = format!("/agents/{}/renew", agent.id());
    let limit = Duration::from_mins(10);
    let send = async |time: vigie::domain::Timestamp| {
        kit.app.anonymous().post(&path, renewal(&agent, &time.to_string())).await
    };
    send(now + limit).await.expect(200);
    send(now - limit).await.expect(200);
    for time in [now + limit + Duration::from_secs(1), now - limit - Duration::from_secs(1)] {
        let errors = send(time).await.refused(400);
        assert!(errors[0].contains("set the clock") && errors[0].contains(&now.to_string()), "{errors:?}");
    }
}
