//! An agent that tries what it must not do: every attempt is refused, and the streams keep what they have.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream;
use vigie::bus::nats::jwt::{PublicKey, Token, UserClaims};
use vigie::bus::nats::subjects::{self, AgentSubject};
use vigie::bus::nats::{NatsLogin, NatsServerTrust};
use vigie::clock::{Clock, SystemClock};
use vigie::domain::{AgentId, LocationId, Timestamp};

use super::kit::{Connection, Kit, settle_control};
use super::permissions::create_streams;

struct Attack {
    kit: Kit,
    connection: Connection,
    control: async_nats::Client,
    location: LocationId,
    agent: AgentId,
}

async fn attack() -> Attack {
    let kit = Kit::start().await;
    let (_, secret) = kit.location("north").await;
    let agent = kit.enrol(&secret).await;
    let (location, id) = (agent.credential.location_id(), agent.credential.agent_id());
    let control = kit.control().await;
    create_streams(&control, location, id).await;
    let connection = agent.connect().await;
    Attack { kit, connection, control, location, agent: id }
}

#[tokio::test]
async fn a_hostile_agent_publishes_to_nothing_of_others() {
    let Attack { connection, location, agent, kit: _kit, .. } = attack().await;
    let other = LocationId(location.0 + 1);
    let mut subjects: Vec<String> = AgentSubject::ALL
        .iter()
        .flat_map(|one| [one.of(other, agent), one.of(location, AgentId(agent.0 + 1))])
        .collect();
    let api = subjects::AGENT_API_PREFIX;
    let (stream, results) = (subjects::ASSIGNMENTS_STREAM, subjects::RESULTS_STREAM);
    let (consumer, filter) = (subjects::assignments_consumer(agent), subjects::assignments_filter(location));
    subjects.extend([
        subjects::orders(location, AgentId(agent.0 + 1)),
        subjects::orders(location, agent),
        subjects::committed(location, agent),
        subjects::location(location),
        format!("$KV.{}.{location}.one", subjects::ASSIGNMENTS_BUCKET),
        format!("$KV.{}.{other}.one", subjects::ASSIGNMENTS_BUCKET),
        format!("$O.{}.M.x", subjects::snapshots_bucket(location)),
        "$SYS.REQ.CLAIMS.UPDATE".to_owned(),
        "$SYS.REQ.SERVER.PING".to_owned(),
        "$SYS.REQ.USER.INFO".to_owned(),
        "$JS.API.INFO".to_owned(),
        "$JS.API.STREAM.LIST".to_owned(),
        "$JS.API.STREAM.NAMES".to_owned(),
        format!("$JS.API.STREAM.CREATE.{results}"),
        format!("$JS.API.STREAM.UPDATE.{results}"),
        format!("$JS.API.STREAM.DELETE.{results}"),
        format!("$JS.API.STREAM.PURGE.{results}"),
        format!("$JS.API.STREAM.INFO.{results}"),
        format!("$JS.API.STREAM.MSG.GET.{results}"),
        format!("$JS.API.STREAM.MSG.DELETE.{results}"),
        format!("$JS.API.STREAM.MSG.GET.{stream}"),
        format!("$JS.API.STREAM.SNAPSHOT.{stream}"),
        format!("{api}.STREAM.DELETE.{results}"),
        format!("{api}.STREAM.INFO.{results}"),
        format!("{api}.CONSUMER.CREATE.{stream}.{consumer}"),
        format!("{api}.DIRECT.GET.{results}"),
        format!("{api}.DIRECT.GET.{stream}"),
        format!("{api}.DIRECT.GET.{stream}.{}", subjects::assignments_filter(other).replace('>', "one")),
        format!("{api}.DIRECT.GET.{}", subjects::snapshots_stream(other)),
        format!("{api}.CONSUMER.INFO.{stream}.{}", subjects::assignments_consumer(AgentId(agent.0 + 1))),
        format!("{api}.CONSUMER.MSG.NEXT.{stream}.{}", subjects::assignments_consumer(AgentId(agent.0 + 1))),
        format!("{api}.CONSUMER.MSG.NEXT.{results}.x"),
        format!("$JS.API.DIRECT.GET.{results}"),
        format!("$JS.API.DIRECT.GET.{stream}"),
        format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"),
        format!("$JS.API.DIRECT.GET.{stream}.{}", subjects::assignments_filter(other).replace('>', "one")),
        format!("$JS.API.DIRECT.GET.{}", subjects::snapshots_stream(other)),
        format!("$JS.API.CONSUMER.CREATE.{stream}"),
        format!("$JS.API.CONSUMER.CREATE.{stream}.{consumer}"),
        format!("$JS.API.CONSUMER.CREATE.{stream}.{consumer}.{}", filter.replace('>', "one")),
        format!("$JS.API.CONSUMER.DURABLE.CREATE.{stream}.{consumer}"),
        format!("$JS.API.CONSUMER.DELETE.{stream}.{consumer}"),
        format!("$JS.API.CONSUMER.LIST.{stream}"),
        format!("$JS.API.CONSUMER.CREATE.{}", subjects::snapshots_stream(location)),
        format!("$JS.API.CONSUMER.CREATE.{results}.x"),
        format!(
            "$JS.API.CONSUMER.MSG.NEXT.{stream}.{}",
            subjects::assignments_consumer(AgentId(agent.0 + 1))
        ),
        format!("$JS.API.CONSUMER.MSG.NEXT.{results}.x"),
        format!("$JS.ACK.{stream}.{consumer}.1.1.1.1.1"),
        format!("$JS.FC.{stream}.x.y"),
        format!("{}.x", subjects::inbox_prefix(location, agent)),
        format!("{}.x", subjects::inbox_prefix(location, AgentId(agent.0 + 1))),
        "_INBOX.x.y".to_owned(),
        "_R_.x.y".to_owned(),
        "anything".to_owned(),
    ]);
    for subject in subjects {
        connection.cannot_publish(&subject).await;
    }
}

#[tokio::test]
async fn a_hostile_agent_subscribes_to_nothing_of_others() {
    let Attack { connection, location, agent, kit: _kit, .. } = attack().await;
    let (other, second) = (LocationId(location.0 + 1), AgentId(agent.0 + 1));
    let mut subjects = vec![
        subjects::orders(other, agent),
        subjects::orders(location, second),
        subjects::committed(location, second),
        subjects::location(other),
        format!("{}.>", subjects::inbox_prefix(location, second)),
        format!("{}.>", subjects::inbox_prefix(other, agent)),
        format!("vigie.orders.{location}.*"),
        format!("vigie.orders.{location}.>"),
        format!("_INBOX.vigie.{location}.>"),
    ];
    subjects.extend(AgentSubject::ALL.iter().map(|one| one.of(location, agent)));
    let wild = [
        ">",
        "*",
        "vigie.>",
        "vigie.*.*.*",
        "$SYS.>",
        "$JS.>",
        "$JS.API.>",
        "$JS.EVENT.>",
        "$KV.>",
        "$O.>",
        "_INBOX.>",
        "_INBOX.*.*",
        "_R_.>",
    ];
    subjects.extend(wild.map(str::to_owned));
    for subject in subjects {
        connection.cannot_subscribe(&subject).await;
    }
}

/// NATS checks no reply subject. Here, replies of the streams go to subjects that would delete or purge a stream, if they
/// arrived in the account of the streams.
#[tokio::test]
async fn reply_subjects_of_a_hostile_agent_reach_nothing_at_the_control_plane() {
    let Attack { connection, control, location, agent, kit: _kit } = attack().await;
    let js = jetstream::new(control.clone());
    let bucket = js.get_key_value(subjects::ASSIGNMENTS_BUCKET).await.unwrap();
    for at in 0..5 {
        bucket.put(format!("{location}.{at}"), "assigned".into()).await.unwrap();
    }
    let client = &connection.client;
    let own_results = AgentSubject::Results.of(location, agent);
    let next = format!(
        "{}.CONSUMER.MSG.NEXT.{}.{}",
        subjects::AGENT_API_PREFIX,
        subjects::ASSIGNMENTS_STREAM,
        subjects::assignments_consumer(agent)
    );
    let missing = format!(
        "{}.DIRECT.GET.{}.{}",
        subjects::AGENT_API_PREFIX,
        subjects::ASSIGNMENTS_STREAM,
        subjects::assignments_filter(location).replace('>', "missing")
    );
    let forbidden = [
        format!("$JS.API.STREAM.DELETE.{}", subjects::RESULTS_STREAM),
        format!("$JS.API.STREAM.PURGE.{}", subjects::ASSIGNMENTS_STREAM),
        format!("$JS.API.STREAM.PURGE.{}", subjects::RESULTS_STREAM),
        format!("{}.STREAM.DELETE.{}", subjects::AGENT_API_PREFIX, subjects::RESULTS_STREAM),
        subjects::committed(location, AgentId(agent.0 + 1)),
        subjects::location(LocationId(location.0 + 1)),
        format!("$KV.{}.{location}.forged", subjects::ASSIGNMENTS_BUCKET),
        "_INBOX.stolen".to_owned(),
    ];
    let mut inbox = control.subscribe("_INBOX.stolen").await.unwrap();
    let mut broadcasts = control.subscribe("vigie.location.*").await.unwrap();
    settle_control(&control).await;
    // The first request for messages gets them, later ones an empty status.
    for _ in 0..2 {
        for reply in &forbidden {
            for (subject, body) in
                [(&own_results, "x"), (&next, r#"{"batch":100,"no_wait":true}"#), (&missing, "")]
            {
                client.publish_with_reply(subject.clone(), reply.clone(), body.into()).await.unwrap();
            }
        }
    }
    client.flush().await.unwrap();
    // All of it has been handled when a request that follows it is answered.
    let own_js = jetstream::new(client.clone());
    let ack = own_js.publish(own_results, "last".into()).await.unwrap().await.unwrap();
    assert_eq!(ack.sequence, 17, "results were deleted, or are missing");
    let state = |name: &'static str| {
        let js = js.clone();
        async move { js.get_stream(name).await.unwrap().cached_info().state.clone() }
    };
    let results = state(subjects::RESULTS_STREAM).await;
    assert_eq!((results.messages, results.first_sequence), (17, 1));
    assert_eq!(state(subjects::ASSIGNMENTS_STREAM).await.messages, 5);
    settle_control(&control).await;
    for subscriber in [&mut inbox, &mut broadcasts] {
        assert!(futures::FutureExt::now_or_never(futures::StreamExt::next(subscriber)).is_none());
    }
}

/// Connects with `token` and the key `user`; returns whether the server let it in.
async fn gets_in(kit: &Kit, user: nkeys::KeyPair, token: String) -> bool {
    let trust = kit.app.state.agent_service.trust().unwrap();
    let server = NatsServerTrust::from_authority(&trust.ca_pem);
    let login = NatsLogin::new(Arc::new(user), Arc::new(move || Ok(token.clone())), server);
    login.connect_options().unwrap().connect(&trust.urls).await.is_ok()
}

#[tokio::test]
async fn forged_stolen_and_expired_tokens_do_not_connect() {
    let kit = Kit::start().await;
    let trust = kit.app.state.agent_service.trust().unwrap();
    let now = SystemClock.now();
    let user = nkeys::KeyPair::new_user;
    let token = |key: &nkeys::KeyPair, at: Timestamp| {
        trust.agent_jwt(LocationId(1), AgentId(2), PublicKey::of(key), at).unwrap().0
    };
    let (good, expired, stolen, forged) = (user(), user(), user(), user());
    let good_token = token(&good, now);
    assert!(gets_in(&kit, good, good_token.clone()).await, "{}", kit.nats.log());
    let old = token(&expired, now - Duration::from_hours(25));
    assert!(!gets_in(&kit, expired, old).await, "an expired token");
    assert!(!gets_in(&kit, stolen, good_token.clone()).await, "a token without its key");
    // The claims of a good token, for every subject, signed by an account that nobody knows.
    let (parsed, _) = Token::<UserClaims>::decode(&good_token).unwrap();
    let account = parsed.claims.account().unwrap().clone();
    let claims = UserClaims::unrestricted(account);
    let wider = Token { subject: PublicKey::of(&forged), claims, ..parsed };
    let wider = wider.encode(&nkeys::KeyPair::new_account()).unwrap();
    assert!(!gets_in(&kit, forged, wider).await, "a forged token");
    // Without a token at all, and without TLS.
    assert!(async_nats::connect(format!("nats://127.0.0.1:{}", kit.nats.port)).await.is_err());
}
