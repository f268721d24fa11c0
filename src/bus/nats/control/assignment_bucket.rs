//! The bucket of assignments: writes entries, and reads those of a location.

use std::collections::VecDeque;

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::context::PublishAckFuture;
use async_nats::jetstream::stream::Stream;

use super::entry_key::EntryKey;
use super::publish_permission::PublishPermission;
use crate::bus::messages::{AssignmentUpdateMessage, AssignmentsMessage, BusMessage};
use crate::bus::nats::connection::{NatsConnection, NatsError};
use crate::bus::nats::read_to_end::read_to_end;
use crate::bus::nats::subjects::{ASSIGNMENTS_STREAM, assignments_consumer, assignments_filter};
use crate::domain::{AgentId, LocationId};

/// Most writes whose acknowledgement is outstanding.
const MAX_OUTSTANDING: usize = 256;
/// How long a consumer without a reader is kept.
const CONSUMER_TTL: std::time::Duration = std::time::Duration::from_mins(10);

/// The bucket of the assignments of all locations.
#[derive(Clone)]
pub(super) struct AssignmentBucket {
    connection: NatsConnection,
    stream: Stream,
    /// Distinguishes the stream from one that is created after it was lost.
    stream_id: String,
    may_publish: PublishPermission,
}

impl AssignmentBucket {
    pub(super) fn new(connection: NatsConnection, stream: Stream, may_publish: PublishPermission) -> Self {
        let stream_id = stream.cached_info().created.to_string();
        Self { connection, stream, stream_id, may_publish }
    }

    /// Checks that this process may still change what agents check.
    ///
    /// # Errors
    /// Fails when the lease of this controller has ended.
    pub(super) fn require_permission(&self) -> Result<(), NatsError> {
        if (self.may_publish)() {
            return Ok(());
        }
        Err(NatsError::of("take anything from this controller")("its lease has ended"))
    }

    /// Returns what distinguishes the stream from another one of the same name.
    pub(super) fn stream_id(&self) -> &str {
        &self.stream_id
    }

    /// Whether the stream is still the one that this was opened with.
    pub(super) async fn is_current(&self) -> Result<bool, NatsError> {
        let info = self.stream.get_info().await.map_err(NatsError::of("return the state of a stream"))?;
        Ok(info.created.to_string() == self.stream_id)
    }

    /// Returns the revision of the newest entry of all locations.
    pub(super) async fn last_revision(&self) -> Result<u64, NatsError> {
        let info = self.stream.get_info().await.map_err(NatsError::of("return the state of a stream"))?;
        Ok(info.state.last_sequence)
    }

    /// Tells agents that follow the entries of `location` to start again from its snapshot; returns the revision that it
    /// must have.
    pub(super) async fn announce_snapshot(&self, location: LocationId) -> Result<u64, NatsError> {
        const STORE: &str = "store an assignment";
        self.require_permission()?;
        let message = AssignmentsMessage { needs_snapshot: true, ..AssignmentsMessage::default() };
        let bytes = message.to_bytes().map_err(NatsError::of(STORE))?;
        let subject = EntryKey::Snapshot.subject(location);
        let published = self.connection.jetstream().publish(subject, bytes.into()).await;
        let acknowledged = published.map_err(NatsError::of(STORE))?.await;
        Ok(acknowledged.map_err(NatsError::of(STORE))?.sequence)
    }

    /// Writes entries of `location`, in their order; returns the revision of the last one.
    pub(super) async fn write(
        &self,
        location: LocationId,
        entries: Vec<(EntryKey, AssignmentUpdateMessage)>,
    ) -> Result<Option<u64>, NatsError> {
        let (mut outstanding, mut last) = (VecDeque::<PublishAckFuture>::new(), None);
        for (key, update) in entries {
            self.require_permission()?;
            // The revision is the sequence number that the stream gives it.
            let message = AssignmentsMessage { updates: vec![update], ..AssignmentsMessage::default() };
            let bytes = message.to_bytes().map_err(NatsError::of("take an assignment"))?;
            let published = self.connection.jetstream().publish(key.subject(location), bytes.into()).await;
            outstanding.push_back(published.map_err(NatsError::of("store an assignment"))?);
            if outstanding.len() >= MAX_OUTSTANDING
                && let Some(oldest) = outstanding.pop_front()
            {
                last = Some(oldest.await.map_err(NatsError::of("store an assignment"))?.sequence);
            }
        }
        for published in outstanding {
            last = Some(published.await.map_err(NatsError::of("store an assignment"))?.sequence);
        }
        Ok(last)
    }

    /// Returns the entries of `location` after `revision`, oldest first, and the revision of the last one.
    pub(super) async fn read_after(
        &self,
        location: LocationId,
        revision: u64,
    ) -> Result<(Vec<AssignmentUpdateMessage>, Option<u64>), NatsError> {
        const READ: &str = "return the assignments of a location";
        let config = pull::Config {
            filter_subject: assignments_filter(location),
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: revision + 1 },
            ack_policy: AckPolicy::None,
            memory_storage: true,
            inactive_threshold: std::time::Duration::from_secs(30),
            ..pull::Config::default()
        };
        let mut consumer = self.stream.create_consumer(config).await.map_err(NatsError::of(READ))?;
        // With the number of its messages.
        consumer.info().await.map_err(NatsError::of(READ))?;
        let (mut updates, mut last) = (Vec::new(), None);
        read_to_end(&consumer, READ, |message| {
            last = Some(message.info().map_err(NatsError::of(READ))?.stream_sequence);
            // One of a newer version is published again.
            let decoded = AssignmentsMessage::from_bytes(&message.payload);
            updates.extend(decoded.map(|decoded| decoded.updates).unwrap_or_default());
            Ok(())
        })
        .await?;
        let _ = self.stream.delete_consumer(&consumer.cached_info().name).await;
        Ok((updates, last))
    }

    /// Removes the entries of `location` up to `revision`: a snapshot has them.
    pub(super) async fn purge(&self, location: LocationId, revision: u64) -> Result<(), NatsError> {
        self.require_permission()?;
        let purge = self.stream.purge().filter(assignments_filter(location)).sequence(revision + 1);
        purge.await.map(|_| ()).map_err(NatsError::of("remove old assignments"))
    }

    /// Creates the consumer of an agent, which goes on after `revision`, in place of one that it had.
    pub(super) async fn create_agent_consumer(
        &self,
        location: LocationId,
        agent: AgentId,
        revision: u64,
    ) -> Result<(), NatsError> {
        let name = assignments_consumer(agent);
        let jetstream = self.connection.jetstream();
        // There may be none.
        let _ = jetstream.delete_consumer_from_stream(&name, ASSIGNMENTS_STREAM).await;
        let config = pull::Config {
            name: Some(name),
            filter_subject: assignments_filter(location),
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: revision + 1 },
            ack_policy: AckPolicy::None,
            memory_storage: true,
            inactive_threshold: CONSUMER_TTL,
            ..pull::Config::default()
        };
        let created = jetstream.create_consumer_on_stream(config, ASSIGNMENTS_STREAM).await;
        created.map(|_| ()).map_err(NatsError::of("create the consumer of an agent"))
    }
}
