//! Snapshots of assignments in the object store of each location.

use crate::bus::nats::connection::{NatsConnection, NatsError};
use crate::bus::nats::snapshot_object::{SnapshotError, read_snapshot};
use crate::bus::nats::subjects::snapshots_bucket;
use crate::domain::LocationId;
use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::StorageType;

/// Name of the object with the snapshot.
pub(super) const SNAPSHOT_OBJECT: &str = "assignments";

/// The snapshots of one location.
pub(super) struct SnapshotStore {
    connection: NatsConnection,
    location: LocationId,
    bucket: ObjectStore,
}

impl SnapshotStore {
    /// Opens the bucket of `location`, which is created when it is missing.
    pub(super) async fn open(connection: &NatsConnection, location: LocationId) -> Result<Self, NatsError> {
        let (jetstream, name) = (connection.jetstream(), snapshots_bucket(location));
        if let Ok(bucket) = jetstream.get_object_store(&name).await {
            return Ok(Self { connection: connection.clone(), location, bucket });
        }
        let config = object_store::Config {
            bucket: name,
            storage: StorageType::File,
            ..object_store::Config::default()
        };
        let created = jetstream.create_object_store(config).await;
        let bucket = created.map_err(NatsError::of("create the bucket of snapshots"))?;
        Ok(Self { connection: connection.clone(), location, bucket })
    }

    /// Returns the bytes of the snapshot.
    pub(super) async fn read(&self) -> Result<Vec<u8>, SnapshotError> {
        read_snapshot(&self.connection, self.location, SNAPSHOT_OBJECT).await
    }

    /// Replaces the snapshot.
    pub(super) async fn write(&self, bytes: &[u8]) -> Result<(), NatsError> {
        let mut reader = bytes;
        let written = self.bucket.put(SNAPSHOT_OBJECT, &mut reader).await;
        written.map(|_| ()).map_err(NatsError::of("store a snapshot"))
    }
}
