//! The streams and buckets of the control plane. They are created when they are missing.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType, Stream};
use async_nats::jetstream::{consumer, stream};

use crate::bus::nats::connection::{NatsConnection, NatsError};
use crate::bus::nats::subjects::{
    ASSIGNMENTS_BUCKET, ASSIGNMENTS_STREAM, AgentSubject, BACKLOG_STREAM, CAPTURES_STREAM, RESULTS_STREAM,
};

/// Name of the consumer of results and captures: every control plane takes from it.
const CONSUMER: &str = "control";
/// After this long, what was taken and not acknowledged is given out again.
const ACK_WAIT: Duration = Duration::from_mins(1);
/// Most messages that are taken and not acknowledged.
const MAX_ACK_PENDING: i64 = 20_000;
/// Most bytes of a stream, which NATS sets aside. Beyond it nothing is accepted; agents keep what they have.
const MAX_STREAM_BYTES: i64 = 1024 * 1024 * 1024;

/// Where results and captures come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inbound {
    /// Results of current runs.
    Results,
    /// Results that waited while an agent was offline.
    Backlog,
    /// Pieces of captures.
    Captures,
}

impl Inbound {
    const fn stream_and_subject(self) -> (&'static str, AgentSubject) {
        match self {
            Self::Results => (RESULTS_STREAM, AgentSubject::Results),
            Self::Backlog => (BACKLOG_STREAM, AgentSubject::Backlog),
            Self::Captures => (CAPTURES_STREAM, AgentSubject::Captures),
        }
    }

    /// Returns what the subjects of its messages are about.
    pub(super) const fn subject(self) -> AgentSubject {
        self.stream_and_subject().1
    }

    /// Like [`Self::open`]. What a control plane before this one took and did not acknowledge is given out at once.
    pub(super) async fn take_over(self, connection: &NatsConnection) -> Result<OpenInbound, NatsError> {
        let inbound = self.open(connection).await?;
        if inbound.consumer.cached_info().num_ack_pending == 0 && !inbound.skips_messages {
            return Ok(inbound);
        }
        self.delete_consumer(connection).await?;
        self.open(connection).await
    }

    /// Deletes its consumer; who reads from it opens it again. A new consumer of a work queue gets everything that is not
    /// acknowledged.
    pub(super) async fn delete_consumer(self, connection: &NatsConnection) -> Result<(), NatsError> {
        let (stream, _) = self.stream_and_subject();
        let deleted = connection.jetstream().delete_consumer_from_stream(CONSUMER, stream).await;
        deleted.map(drop).map_err(NatsError::of("replace the consumer of results"))
    }

    /// Opens it; stream and consumer are created when they are missing.
    pub(super) async fn open(self, connection: &NatsConnection) -> Result<OpenInbound, NatsError> {
        let (name, subject) = self.stream_and_subject();
        let config = Config {
            name: name.to_owned(),
            subjects: vec![subject.of_all()],
            retention: RetentionPolicy::WorkQueue,
            storage: StorageType::File,
            discard: DiscardPolicy::New,
            max_bytes: MAX_STREAM_BYTES,
            ..Config::default()
        };
        let stream = connection.jetstream().get_or_create_stream(config).await;
        let mut stream = stream.map_err(NatsError::of("create the stream of results"))?;
        let created = stream.cached_info().created.to_string();
        let config = pull::Config {
            durable_name: Some(CONSUMER.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: ACK_WAIT,
            max_ack_pending: MAX_ACK_PENDING,
            ..pull::Config::default()
        };
        let consumer = stream.get_or_create_consumer(CONSUMER, config).await;
        let consumer = consumer.map_err(NatsError::of("create the consumer of results"))?;
        // After the consumer's, so that the stream is never the older one of the two.
        let state = stream.info().await.map_err(NatsError::of("read the stream of results"))?.state.clone();
        let skips_messages = {
            let info = consumer.cached_info();
            skips_messages(&state, info.delivered.stream_sequence, info.ack_floor.stream_sequence)
        };
        Ok(OpenInbound { consumer, created, skips_messages })
    }
}

/// An open stream of results or captures.
pub(super) struct OpenInbound {
    /// Its consumer.
    pub(super) consumer: consumer::PullConsumer,
    /// When the stream was created.
    pub(super) created: String,
    /// Whether the consumer passes over messages that the stream holds.
    pub(super) skips_messages: bool,
}

/// Whether the consumer that has `delivered` messages up to this number, and had all up to `ack_floor` acknowledged, passes
/// over messages of its stream: NATS has lost the end of the stream, as when its disk was full, and gives the numbers of
/// what it lost to new messages, which the consumer takes for acknowledged.
const fn skips_messages(stream: &stream::State, delivered: u64, ack_floor: u64) -> bool {
    let has_lost_end = stream.last_sequence < delivered;
    // What is acknowledged leaves a work queue.
    let holds_acknowledged = stream.messages > 0 && stream.first_sequence <= ack_floor;
    has_lost_end || holds_acknowledged
}

/// Returns the stream of the bucket of assignments, which is created when it is missing.
///
/// It is created as a stream: what the client library has for buckets asks for figures of the account that NATS 2.9 does
/// not give.
pub(super) async fn open_assignments(connection: &NatsConnection) -> Result<Stream, NatsError> {
    let config = Config {
        name: ASSIGNMENTS_STREAM.to_owned(),
        description: Some("What the locations check".to_owned()),
        subjects: vec![format!("$KV.{ASSIGNMENTS_BUCKET}.>")],
        max_messages_per_subject: 1,
        storage: StorageType::File,
        discard: DiscardPolicy::New,
        allow_rollup: true,
        deny_delete: true,
        allow_direct: true,
        ..Config::default()
    };
    let stream = connection.jetstream().get_or_create_stream(config).await;
    stream.map_err(NatsError::of("create the bucket of assignments"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_stream_that_lost_its_end_is_told_from_one_that_is_behind() {
        let time = "2026-11-27T12:00:00Z";
        for (messages, first, last, delivered, ack_floor, expected) in [
            // Nothing yet; all acknowledged; some waiting; some delivered and not acknowledged.
            (0, 0, 0, 0, 0, false),
            (0, 11, 10, 10, 10, false),
            (5, 11, 15, 10, 10, false),
            (5, 11, 15, 15, 10, false),
            // The last ones are gone; new ones have their numbers.
            (0, 8, 7, 10, 10, true),
            (2, 8, 9, 10, 10, true),
            (6, 8, 13, 10, 10, true),
        ] {
            let state = json!({"messages": messages, "bytes": 0, "first_seq": first, "first_ts": time, "last_seq": last,
                               "last_ts": time, "consumer_count": 1, "num_subjects": 0, "num_deleted": 0});
            let state: stream::State = serde_json::from_value(state).unwrap();
            let skips = skips_messages(&state, delivered, ack_floor);
            assert_eq!(
                skips, expected,
                "{messages} from {first} to {last}, {delivered} delivered, {ack_floor} acknowledged"
            );
        }
    }
}
