//! Snapshots of assignments in the object store of each location.

use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::StorageType;
use tokio::io::AsyncReadExt as _;

use crate::bus::nats::connection::{NatsConnection, NatsError};
use crate::bus::nats::subjects::snapshots_bucket;
use crate::domain::LocationId;

/// Name of the object with the snapshot.
pub(super) const SNAPSHOT_OBJECT: &str = "assignments";
/// Largest snapshot that is read.
const MAX_SNAPSHOT_BYTES: u64 = 1024 * 1024 * 1024;

/// The snapshots of one location.
pub(super) struct SnapshotStore {
    bucket: ObjectStore,
}

impl SnapshotStore {
    /// Opens the bucket of `location`, which is created when it is missing.
    pub(super) async fn open(connection: &NatsConnection, location: LocationId) -> Result<Self, NatsError> {
        let (jetstream, name) = (connection.jetstream(), snapshots_bucket(location));
        if let Ok(bucket) = jetstream.get_object_store(&name).await {
            return Ok(Self { bucket });
        }
        let config = object_store::Config {
            bucket: name,
            storage: StorageType::File,
            ..object_store::Config::default()
        };
        let created = jetstream.create_object_store(config).await;
        Ok(Self { bucket: created.map_err(NatsError::of("create the bucket of snapshots"))? })
    }

    /// Returns the bytes of the snapshot; `None` when there is none.
    pub(super) async fn read(&self) -> Result<Option<Vec<u8>>, NatsError> {
        let failed = |reason: String| NatsError::JetStream { operation: "read a snapshot", reason };
        let object = match self.bucket.get(SNAPSHOT_OBJECT).await {
            Ok(object) => object,
            Err(error) if error.kind() == object_store::GetErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error.to_string())),
        };
        let mut bytes = Vec::new();
        let mut object = object.take(MAX_SNAPSHOT_BYTES);
        object.read_to_end(&mut bytes).await.map_err(|error| failed(error.to_string()))?;
        Ok(Some(bytes))
    }

    /// Replaces the snapshot.
    pub(super) async fn write(&self, bytes: &[u8]) -> Result<(), NatsError> {
        let mut reader = bytes;
        let written = self.bucket.put(SNAPSHOT_OBJECT, &mut reader).await;
        written.map(|_| ()).map_err(NatsError::of("store a snapshot"))
    }
}
