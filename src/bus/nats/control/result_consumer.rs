//! Takes results from the bus: each is checked, delivered, committed, acknowledged, and reported to its agent.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::PullConsumer;
use futures::StreamExt;

use super::committed_reports::CommittedReports;
use super::control_parts::ControlParts;
use super::streams::Inbound;
use crate::bus::messages::{BusMessage, ResultsMessage};
use crate::bus::nats::connection::NatsError;
use crate::domain::{AgentId, LocationId};

/// Most messages that one commit may hold.
const MAX_MESSAGES: usize = 512;
/// Most messages and bytes that are requested at once.
const FETCH_MESSAGES: usize = 1_000;
/// How long a request for messages stands.
const FETCH_EXPIRES: Duration = Duration::from_secs(30);
/// Within this time the server shows that it is there.
const FETCH_HEARTBEAT: Duration = Duration::from_secs(5);

/// Takes results of `inbound` until the bus cannot be used.
pub(super) async fn run(parts: &Arc<ControlParts>, inbound: Inbound) -> Result<(), NatsError> {
    let (consumer, created) = inbound.take_over(&parts.connection).await?;
    parts.timeline.set_stream(inbound, created);
    let messages = messages_of(&consumer).await?;
    let mut chunks = std::pin::pin!(messages.ready_chunks(MAX_MESSAGES));
    while let Some(chunk) = chunks.next().await {
        let mut failure = None;
        let mut messages = Vec::with_capacity(chunk.len());
        for message in chunk {
            match message {
                Ok(message) => messages.push(message),
                Err(error) => failure = Some(NatsError::of("return results")(error)),
            }
        }
        take(parts, inbound, messages).await?;
        if let Some(failure) = failure {
            return Err(failure);
        }
    }
    Ok(())
}

/// Returns the messages of `consumer` as they come.
pub(super) async fn messages_of(
    consumer: &PullConsumer,
) -> Result<impl futures::Stream<Item = Result<Message, impl std::fmt::Display + use<>>> + use<>, NatsError> {
    let stream = consumer
        .stream()
        .max_messages_per_batch(FETCH_MESSAGES)
        .expires(FETCH_EXPIRES)
        .heartbeat(FETCH_HEARTBEAT);
    stream.messages().await.map_err(NatsError::of("return results"))
}

/// Delivers the results of `messages`, waits for their commit, and acknowledges them.
async fn take(parts: &Arc<ControlParts>, inbound: Inbound, messages: Vec<Message>) -> Result<(), NatsError> {
    if messages.is_empty() {
        return Ok(());
    }
    let mut reports = CommittedReports::default();
    for message in &messages {
        let Some(sender) = inbound.subject().sender(&message.subject) else { continue };
        let results = match ResultsMessage::from_bytes(&message.payload) {
            Ok(results) => results,
            Err(error) => {
                parts.refuse(sender, error.to_string());
                continue;
            }
        };
        take_results(parts, sender, results, &mut reports).await?;
    }
    parts.receiver.wait_until_committed().await;
    for message in &messages {
        // Without it, the message comes again and changes nothing.
        if let Err(error) = message.ack().await {
            tracing::debug!(error = %error, "results were not acknowledged to NATS");
        }
    }
    reports.send(&parts.connection).await;
    Ok(())
}

/// Delivers the results of one message that can come from its sender, and refuses the others.
async fn take_results(
    parts: &Arc<ControlParts>,
    sender: (LocationId, AgentId),
    message: ResultsMessage,
    reports: &mut CommittedReports,
) -> Result<(), NatsError> {
    let mut results = Vec::with_capacity(message.results.len());
    for result in message.into_results() {
        match result {
            Ok(result) => results.push(result),
            Err(error) => parts.refuse(sender, error.to_string()),
        }
    }
    let checked = parts.check_results(sender.0, &results).await?;
    for (result, checked) in results.into_iter().zip(checked) {
        // A refused one is reported too: the agent need not send it again.
        reports.add_result(sender, result.check_id);
        match checked {
            Ok(()) => parts.receiver.deliver(result).await,
            Err(reason) => parts.refuse(sender, reason),
        }
    }
    Ok(())
}
