//! Takes pieces of captures from the bus and puts the files together.

use std::sync::Arc;

use futures::StreamExt;

use super::captures_by_agent::{AddedPiece, CapturesByAgent};
use super::committed_reports::CommittedReports;
use super::control_parts::ControlParts;
use super::result_consumer::messages_of;
use super::streams::Inbound;
use crate::bus::messages::{BusMessage, CapturePieceMessage};
use crate::bus::nats::connection::NatsError;
use crate::domain::{AgentId, CheckId, LocationId};

/// Takes captures until the bus cannot be used.
pub(super) async fn run(parts: &Arc<ControlParts>) -> Result<(), NatsError> {
    let inbound = Inbound::Captures;
    let open = inbound.take_over(&parts.connection).await?;
    parts.timeline.set_stream(inbound, open.created);
    let mut messages = std::pin::pin!(messages_of(&open.consumer).await?);
    let mut captures = CapturesByAgent::default();
    while let Some(message) = messages.next().await {
        let message = message.map_err(NatsError::of("return captures"))?;
        if let Some(sender) = inbound.subject().sender(&message.subject) {
            let finished = match CapturePieceMessage::from_bytes(&message.payload) {
                Ok(piece) => take_piece(parts, sender, &mut captures, piece).await,
                Err(error) => {
                    parts.refuse(sender, error.to_string());
                    None
                }
            };
            if let Some(check_id) = finished {
                parts.receiver.wait_until_committed().await;
                let mut reports = CommittedReports::default();
                reports.add_captures(sender, check_id);
                reports.send(&parts.connection).await;
            }
        }
        if let Err(error) = message.ack().await {
            tracing::debug!(error = %error, "captures were not acknowledged to NATS");
        }
    }
    Ok(())
}

/// Takes a piece; returns its check when it is the last one.
async fn take_piece(
    parts: &Arc<ControlParts>,
    sender: (LocationId, AgentId),
    captures: &mut CapturesByAgent,
    piece: CapturePieceMessage,
) -> Option<CheckId> {
    let (check_id, is_last) = (CheckId(piece.check_id), piece.is_last);
    if LocationId(piece.location_id) != sender.0 {
        parts.refuse(sender, "a capture of another location".to_owned());
        return None;
    }
    let AddedPiece { file, dropped } = captures.add(sender, piece);
    if let Some((agent, files)) = dropped {
        parts
            .refuse(agent, format!("captures: {files} files were dropped, since too many were not finished"));
    }
    match file {
        Ok(Some(captures)) => parts.receiver.deliver_captures(captures).await,
        Ok(None) => {}
        Err(error) => parts.refuse(sender, error.to_string()),
    }
    is_last.then_some(check_id)
}
