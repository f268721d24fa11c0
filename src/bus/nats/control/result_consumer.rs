//! Takes results from the bus: each is checked, delivered, committed, acknowledged, and reported to its agent.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::PullConsumer;
use futures::StreamExt;
use futures::stream::FuturesUnordered;

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
    let open = inbound.take_over(&parts.connection).await?;
    parts.timeline.set_stream(inbound, open.created);
    let messages = messages_of(&open.consumer).await?;
    let mut chunks = std::pin::pin!(messages.ready_chunks(MAX_MESSAGES));
    // A commit takes its time: what comes meanwhile is delivered, and goes into the next one.
    let (mut commits, mut waiting_messages) = (FuturesUnordered::new(), 0);
    loop {
        let chunk = tokio::select! {
            chunk = chunks.next(), if waiting_messages < MAX_MESSAGES => chunk,
            Some(acknowledged) = commits.next(), if !commits.is_empty() => {
                waiting_messages -= acknowledged;
                continue;
            }
        };
        let Some(chunk) = chunk else { return Ok(()) };
        let mut failure = None;
        let mut messages = Vec::with_capacity(chunk.len());
        for message in chunk {
            match message {
                Ok(message) => messages.push(message),
                Err(error) => failure = Some(NatsError::of("return results")(error)),
            }
        }
        if !messages.is_empty() {
            waiting_messages += messages.len();
            let reports = deliver(parts, inbound, &messages).await?;
            commits.push(acknowledge(parts, messages, reports));
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
    }
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

/// Delivers the results of `messages`; returns what to report to their agents once they are committed.
async fn deliver(
    parts: &Arc<ControlParts>,
    inbound: Inbound,
    messages: &[Message],
) -> Result<CommittedReports, NatsError> {
    let mut reports = CommittedReports::default();
    for message in messages {
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
    Ok(reports)
}

/// Waits for the commit of what `messages` delivered, then acknowledges and reports it. Returns their number.
async fn acknowledge(parts: &ControlParts, messages: Vec<Message>, reports: CommittedReports) -> usize {
    parts.receiver.wait_until_committed().await;
    for message in &messages {
        // Without it, the message comes again and changes nothing.
        if let Err(error) = message.ack().await {
            tracing::debug!(error = %error, "results were not acknowledged to NATS");
        }
    }
    reports.send(&parts.connection).await;
    messages.len()
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
