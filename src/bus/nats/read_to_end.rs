//! Reads all messages that a consumer has now.

use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::PullConsumer;
use futures::{Stream, StreamExt};

use super::connection::NatsError;

/// Most messages that are requested at once.
const MAX_MESSAGES: usize = 1_000;
/// How long a request for messages stands. They are there already, so it is over at once, unless there are fewer than the
/// server counted: one that does not expire would then be waited for without end.
const EXPIRES: Duration = Duration::from_secs(2);
/// How long the next message of a batch, or its end, may take: the client may miss the end of a request that expired.
const NEXT_TIMEOUT: Duration = Duration::from_secs(10);

/// Hands each message that `consumer` has to `take`, in order.
///
/// # Errors
/// Fails when the bus fails, or `take` does. `operation` is what the bus did not do then.
pub(super) async fn read_to_end(
    consumer: &PullConsumer,
    operation: &'static str,
    mut take: impl FnMut(Message) -> Result<(), NatsError>,
) -> Result<(), NatsError> {
    let mut pending = consumer.cached_info().num_pending;
    while pending > 0 {
        let count = usize::try_from(pending).unwrap_or(MAX_MESSAGES).min(MAX_MESSAGES);
        let batch = consumer.batch().max_messages(count).expires(EXPIRES).messages().await;
        let mut batch = batch.map_err(NatsError::of(operation))?;
        let mut came = 0;
        while let Some(message) = next_of(&mut batch, operation).await? {
            came += 1;
            pending = message.info().map_err(NatsError::of(operation))?.pending;
            take(message)?;
        }
        if came < count {
            // Some were replaced meanwhile, or the stream is gone, which this finds.
            let info = consumer.get_info().await.map_err(NatsError::of(operation))?;
            if came == 0 {
                // The server still counts what was replaced.
                return Ok(());
            }
            pending = info.num_pending;
        }
    }
    Ok(())
}

/// Returns the next message of `batch`; `None` at its end.
async fn next_of<E: std::fmt::Display>(
    batch: &mut (impl Stream<Item = Result<Message, E>> + Unpin),
    operation: &'static str,
) -> Result<Option<Message>, NatsError> {
    match tokio::time::timeout(NEXT_TIMEOUT, batch.next()).await {
        Ok(message) => message.transpose().map_err(NatsError::of(operation)),
        Err(_) => Err(NatsError::of(operation)("a message that it has does not come")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_message_that_never_comes_is_an_error() {
        let mut lost = futures::stream::pending::<Result<Message, String>>();
        let error = next_of(&mut lost, "return the assignments").await.unwrap_err();
        assert!(error.to_string().contains("does not come"), "{error}");
        let mut ended = futures::stream::empty::<Result<Message, String>>();
        assert!(next_of(&mut ended, "return the assignments").await.unwrap().is_none());
    }
}
