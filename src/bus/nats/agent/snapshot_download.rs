//! Downloads a snapshot from the object store of the location. An agent may read messages one by one only, so it does
//! what the client library does with a consumer.

use async_nats::jetstream::object_store::ObjectInfo;
use aws_lc_rs::digest::{Context, SHA256};
use base64::Engine as _;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};

use crate::bus::nats::connection::{NatsConnection, NatsError};
use crate::bus::nats::subjects::{snapshots_bucket, snapshots_stream};
use crate::domain::LocationId;

const DOWNLOAD: &str = "return a snapshot";
/// Largest snapshot.
const MAX_BYTES: usize = 1024 * 1024 * 1024;

/// Returns the content of the object `name`.
///
/// # Errors
/// Fails when it is missing, replaced while it is read, or damaged.
pub(super) async fn download(
    connection: &NatsConnection,
    location: LocationId,
    name: &str,
) -> Result<Vec<u8>, NatsError> {
    let damaged = |reason: String| NatsError::JetStream { operation: DOWNLOAD, reason };
    let bucket = snapshots_bucket(location);
    let stream = connection.jetstream().get_stream_no_info(snapshots_stream(location)).await;
    let stream = stream.map_err(NatsError::of(DOWNLOAD))?;
    let subject = format!("$O.{bucket}.M.{}", URL_SAFE.encode(name));
    let description = stream.direct_get_last_for_subject(subject).await.map_err(NatsError::of(DOWNLOAD))?;
    let info: ObjectInfo =
        serde_json::from_slice(&description.payload).map_err(|error| damaged(error.to_string()))?;
    if info.deleted || info.size > MAX_BYTES {
        return Err(damaged(format!("it has {} bytes and is deleted: {}", info.size, info.deleted)));
    }
    let chunk_subject = format!("$O.{bucket}.C.{}", info.nuid);
    let (mut content, mut digest, mut sequence) = (Vec::with_capacity(info.size), Context::new(&SHA256), 0);
    for _ in 0..info.chunks {
        let chunk = stream.direct_get_next_for_subject(chunk_subject.clone(), Some(sequence + 1)).await;
        let chunk = chunk.map_err(NatsError::of(DOWNLOAD))?;
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
        return Err(damaged(format!("{} of {} bytes, or its checksum is wrong", content.len(), info.size)));
    }
    Ok(content)
}
