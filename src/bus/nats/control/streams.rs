//! The streams and buckets of the control plane. They are created when they are missing.

use std::time::Duration;

use async_nats::jetstream::consumer;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType, Stream};

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
    pub(super) async fn take_over(
        self,
        connection: &NatsConnection,
    ) -> Result<(consumer::PullConsumer, String), NatsError> {
        let (consumer, created) = self.open(connection).await?;
        if consumer.cached_info().num_ack_pending == 0 {
            return Ok((consumer, created));
        }
        // A new consumer of a work queue gets everything that is not acknowledged.
        let (stream, _) = self.stream_and_subject();
        let deleted = connection.jetstream().delete_consumer_from_stream(CONSUMER, stream).await;
        deleted.map_err(NatsError::of("replace the consumer of results"))?;
        self.open(connection).await
    }

    /// Returns its consumer, which is created with its stream when they are missing, and when the stream was created.
    pub(super) async fn open(
        self,
        connection: &NatsConnection,
    ) -> Result<(consumer::PullConsumer, String), NatsError> {
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
        let stream = stream.map_err(NatsError::of("create the stream of results"))?;
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
        Ok((consumer, created))
    }
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
