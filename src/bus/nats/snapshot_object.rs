//! Reads a snapshot from the object store of a location. An agent may read messages one by one only, so both sides do what
//! the client library does with a consumer; that would wait for ever for a part that is missing.

use async_nats::jetstream::object_store::ObjectInfo;
use async_nats::jetstream::stream::{DirectGetError, DirectGetErrorKind};
use aws_lc_rs::digest::{Context, SHA256};
use base64::Engine as _;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};

use super::connection::{NatsConnection, NatsError};
use super::subjects::{snapshots_bucket, snapshots_stream};
use crate::domain::LocationId;

const DOWNLOAD: &str = "return a snapshot";
/// Largest snapshot.
const MAX_BYTES: usize = 1024 * 1024 * 1024;

/// Why a snapshot was not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SnapshotError {
    /// There is none.
    #[error("the location has no snapshot")]
    Missing,
    /// It can be read, now and later, by nobody: a new one has to be made.
    #[error("the snapshot is damaged: {0}")]
    Damaged(String),
    /// The bus cannot be used.
    #[error(transparent)]
    Bus(#[from] NatsError),
}

/// Returns the content of the object `name`.
///
/// # Errors
/// Fails when it is missing, replaced while it is read, or damaged.
pub(super) async fn read_snapshot(
    connection: &NatsConnection,
    location: LocationId,
    name: &str,
) -> Result<Vec<u8>, SnapshotError> {
    let bucket = snapshots_bucket(location);
    let stream = connection.jetstream().get_stream_no_info(snapshots_stream(location)).await;
    let stream = stream.map_err(NatsError::of(DOWNLOAD))?;
    let subject = format!("$O.{bucket}.M.{}", URL_SAFE.encode(name));
    let description = stream.direct_get_last_for_subject(subject).await;
    let description = description.map_err(|error| error_of(error, SnapshotError::Missing))?;
    let info: ObjectInfo = serde_json::from_slice(&description.payload)
        .map_err(|error| SnapshotError::Damaged(error.to_string()))?;
    if info.deleted {
        return Err(SnapshotError::Missing);
    }
    if info.size > MAX_BYTES {
        return Err(SnapshotError::Damaged(format!("it has {} bytes", info.size)));
    }
    let chunk_subject = format!("$O.{bucket}.C.{}", info.nuid);
    let (mut content, mut digest, mut sequence) = (Vec::with_capacity(info.size), Context::new(&SHA256), 0);
    let cut_off = |bytes: usize| format!("it ends after {bytes} of {} bytes", info.size);
    for _ in 0..info.chunks {
        let chunk = stream.direct_get_next_for_subject(chunk_subject.clone(), Some(sequence + 1)).await;
        let chunk = chunk.map_err(|error| error_of(error, SnapshotError::Damaged(cut_off(content.len()))))?;
        sequence = chunk.sequence;
        digest.update(&chunk.payload);
        content.extend_from_slice(&chunk.payload);
        if content.len() > info.size {
            break;
        }
    }
    let digest = digest.finish();
    let expected = info.digest.as_deref().unwrap_or_default();
    let found = [URL_SAFE.encode(digest.as_ref()), URL_SAFE_NO_PAD.encode(digest.as_ref())];
    let is_intact = found.iter().any(|found| expected == format!("SHA-256={found}"));
    if content.len() != info.size || !is_intact {
        let reason = format!("{} of {} bytes, or its checksum is wrong", content.len(), info.size);
        return Err(SnapshotError::Damaged(reason));
    }
    Ok(content)
}

/// Returns `not_found` for a message that the bus does not have, and that of the bus for any other error.
fn error_of(error: DirectGetError, not_found: SnapshotError) -> SnapshotError {
    match error.kind() {
        DirectGetErrorKind::NotFound => not_found,
        _ => SnapshotError::Bus(NatsError::of(DOWNLOAD)(error)),
    }
}
