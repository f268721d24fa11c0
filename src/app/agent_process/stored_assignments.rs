//! Applies the assignments that the agent stored, so that it checks before it has a network.

use crate::agent::StoredAssignments;
use crate::bus::contract::{
    AppliedPosition, AssignmentBatch, AssignmentRevision, AssignmentSnapshot, LocationPort,
};
use crate::bus::messages::{AssignmentsMessage, BusMessage, Sealer, SnapshotReader};

/// Applies `stored`; returns up to where. What cannot be used is logged: the control plane sends it again.
pub(super) async fn apply(
    stored: StoredAssignments,
    port: &dyn LocationPort,
    sealer: &dyn Sealer,
) -> AppliedPosition {
    let StoredAssignments { position, snapshot, messages } = stored;
    let mut updates = match snapshot.map(|bytes| read_snapshot(&bytes, sealer)) {
        None => Vec::new(),
        Some(Ok(snapshot)) => snapshot.updates,
        Some(Err(error)) => {
            tracing::error!(
                error,
                "the stored assignments cannot be used; the agent waits for the control plane"
            );
            return AppliedPosition::default();
        }
    };
    let mut is_complete = true;
    for message in messages {
        let decoded = AssignmentsMessage::from_bytes(&message).and_then(|message| message.into_batch(sealer));
        match decoded {
            Ok(batch) => updates.extend(batch.updates),
            Err(error) => {
                tracing::warn!(error = %error, "a stored assignment cannot be used");
                is_complete = false;
            }
        }
    }
    if updates.is_empty() {
        return AppliedPosition::default();
    }
    // Later updates of a monitor replace earlier ones.
    let revision = AssignmentRevision(position.revision);
    let snapshot = AssignmentSnapshot { revision, updates: Vec::new() };
    let batch = AssignmentBatch { previous_revision: revision, revision, updates };
    let applied = async {
        port.apply_snapshot(snapshot).await?;
        port.apply_batch(batch).await
    };
    match applied.await {
        Ok(refused) => {
            tracing::info!(
                revision = revision.0,
                refused = refused.len(),
                "started from the stored assignments"
            );
            // With an incomplete set, everything is read again.
            if is_complete { position } else { AppliedPosition::default() }
        }
        Err(error) => {
            tracing::error!(error = %error, "the stored assignments were not applied");
            AppliedPosition::default()
        }
    }
}

fn read_snapshot(bytes: &[u8], sealer: &dyn Sealer) -> Result<AssignmentSnapshot, String> {
    let mut reader = SnapshotReader::default();
    reader.push(bytes, sealer).map_err(|error| error.to_string())?;
    reader.finish().map_err(|error| error.to_string())
}
