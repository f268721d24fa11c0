//! What an agent may do: exactly what it needs, over the names of subjects that the bus uses.

use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::{self, object_store, stream};
use futures::StreamExt;
use vigie::bus::nats::subjects::{self, AgentSubject};
use vigie::domain::{AgentId, LocationId};

use super::kit::{Kit, SOON, settle_control};

/// Creates the streams, and the consumer of the agent on the assignments of its location.
pub async fn create_streams(control: &async_nats::Client, location: LocationId, agent: AgentId) {
    let js = jetstream::new(control.clone());
    for (name, subject) in [
        (subjects::RESULTS_STREAM, AgentSubject::Results),
        (subjects::BACKLOG_STREAM, AgentSubject::Backlog),
        (subjects::CAPTURES_STREAM, AgentSubject::Captures),
    ] {
        let config = stream::Config {
            name: name.to_owned(),
            subjects: vec![subject.of_all()],
            ..stream::Config::default()
        };
        js.get_or_create_stream(config).await.unwrap();
    }
    // `create_key_value` reads fields of the account that servers before 2.10 do not send.
    let bucket = stream::Config {
        name: subjects::ASSIGNMENTS_STREAM.to_owned(),
        subjects: vec![format!("$KV.{}.>", subjects::ASSIGNMENTS_BUCKET)],
        max_messages_per_subject: 1,
        discard: stream::DiscardPolicy::New,
        allow_rollup: true,
        deny_delete: true,
        allow_direct: true,
        num_replicas: 1,
        ..stream::Config::default()
    };
    let bucket = js.create_stream(bucket).await.unwrap();
    let name = subjects::assignments_consumer(agent);
    let consumer = pull::Config {
        durable_name: Some(name),
        filter_subject: subjects::assignments_filter(location),
        ack_policy: AckPolicy::None,
        ..pull::Config::default()
    };
    bucket.create_consumer(consumer).await.unwrap();
}

async fn next<S: futures::Stream + Unpin>(stream: &mut S, what: &str) -> S::Item {
    tokio::time::timeout(SOON, stream.next()).await.expect(what).expect("the stream ended")
}

#[tokio::test]
async fn an_agent_publishes_asks_and_receives_below_its_location_and_id() {
    let kit = Kit::start().await;
    let (_, secret) = kit.location("north").await;
    let agent = kit.enrol(&secret).await;
    let (location, id) = (agent.credential.location_id(), agent.credential.agent_id());
    let control = kit.control().await;
    create_streams(&control, location, id).await;
    let connection = agent.connect().await;
    let client = &connection.client;
    let js = jetstream::new(client.clone());

    // Streams acknowledge what they stored.
    for subject in [AgentSubject::Results, AgentSubject::Backlog, AgentSubject::Captures] {
        let ack = js.publish(subject.of(location, id), "bytes".into()).await.unwrap().await.unwrap();
        assert_eq!(ack.sequence, 1);
    }

    // Messages and requests reach the control plane.
    let mut received = control.subscribe("vigie.*.*.*").await.unwrap();
    settle_control(&control).await;
    client.publish(AgentSubject::Presence.of(location, id), "alive".into()).await.unwrap();
    let message = next(&mut received, "presence").await;
    assert_eq!(AgentSubject::Presence.sender(&message.subject), Some((location, id)));
    for subject in [AgentSubject::Clock, AgentSubject::Renew, AgentSubject::Watch] {
        let answer = async {
            let message = next(&mut received, "a request").await;
            assert_eq!(subject.sender(&message.subject), Some((location, id)));
            control.publish(message.reply.unwrap(), "answer".into()).await.unwrap();
        };
        let (reply, ()) = tokio::join!(client.request(subject.of(location, id), "question".into()), answer);
        assert_eq!(reply.unwrap().payload, "answer");
    }

    // Orders are answered once.
    let mut orders = client.subscribe(subjects::orders(location, id)).await.unwrap();
    connection.settle(&agent).await;
    let work = async {
        let order = next(&mut orders, "an order").await;
        let reply = order.reply.unwrap();
        client.publish(reply.clone(), "done".into()).await.unwrap();
        reply
    };
    let (reply, again) = tokio::join!(control.request(subjects::orders(location, id), "go".into()), work);
    assert_eq!(reply.unwrap().payload, "done");
    connection.cannot_publish(&again).await;

    // What the control plane tells arrives.
    for subject in [subjects::committed(location, id), subjects::location(location)] {
        let mut subscriber = client.subscribe(subject.clone()).await.unwrap();
        connection.settle(&agent).await;
        control.publish(subject, "news".into()).await.unwrap();
        assert_eq!(next(&mut subscriber, "a broadcast").await.payload, "news");
    }
}

#[tokio::test]
async fn an_agent_reads_the_assignments_and_snapshots_of_its_location_alone() {
    let kit = Kit::start().await;
    let (_, secret) = kit.location("north").await;
    let agent = kit.enrol(&secret).await;
    let (location, id) = (agent.credential.location_id(), agent.credential.agent_id());
    let control = kit.control().await;
    create_streams(&control, location, id).await;
    let control_js = jetstream::new(control);
    let bucket = control_js.get_key_value(subjects::ASSIGNMENTS_BUCKET).await.unwrap();
    bucket.put(format!("{location}.one"), "first".into()).await.unwrap();
    bucket.put(format!("{}.one", location.0 + 1), "of others".into()).await.unwrap();
    bucket.put(format!("{location}.two"), "second".into()).await.unwrap();
    let snapshots = object_store::Config {
        bucket: subjects::snapshots_bucket(location),
        ..object_store::Config::default()
    };
    let snapshots = control_js.create_object_store(snapshots).await.unwrap();
    let content: Vec<u8> = (0..400_000_u32).map(|at| at.to_le_bytes()[at as usize % 3]).collect();
    snapshots.put("current", &mut content.as_slice()).await.unwrap();

    let connection = agent.connect().await;
    let js = jetstream::with_prefix(connection.client.clone(), subjects::AGENT_API_PREFIX);
    let assignments = js.get_stream_no_info(subjects::ASSIGNMENTS_STREAM).await.unwrap();
    let consumer: jetstream::consumer::PullConsumer =
        assignments.get_consumer(&subjects::assignments_consumer(id)).await.unwrap();
    let mut messages = consumer.messages().await.unwrap();
    for expected in ["first", "second"] {
        assert_eq!(next(&mut messages, "an assignment").await.unwrap().payload, expected);
    }
    bucket.put(format!("{location}.one"), "changed".into()).await.unwrap();
    assert_eq!(next(&mut messages, "an assignment").await.unwrap().payload, "changed");
    let key = format!("$KV.{}.{location}.two", subjects::ASSIGNMENTS_BUCKET);
    assert_eq!(assignments.direct_get_last_for_subject(key).await.unwrap().payload, "second");

    // A snapshot is read by direct gets: its description, then its chunks one after another.
    let stream = js.get_stream_no_info(subjects::snapshots_stream(location)).await.unwrap();
    let bucket = subjects::snapshots_bucket(location);
    let encoded = base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE, "current");
    let description = stream.direct_get_last_for_subject(format!("$O.{bucket}.M.{encoded}")).await.unwrap();
    let info: object_store::ObjectInfo = serde_json::from_slice(&description.payload).unwrap();
    let (mut read, mut sequence) = (Vec::new(), 1);
    for _ in 0..info.chunks {
        let subject = format!("$O.{bucket}.C.{}", info.nuid);
        let chunk = stream.direct_get_next_for_subject(subject, Some(sequence)).await.unwrap();
        sequence = chunk.sequence + 1;
        read.extend_from_slice(&chunk.payload);
    }
    assert!(read == content, "{} of {} bytes", read.len(), content.len());
}
