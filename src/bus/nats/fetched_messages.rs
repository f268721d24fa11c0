//! Messages that were requested by their number.

use std::fmt::Display;
use std::time::Duration;

use async_nats::jetstream::Message;
use futures::{Stream, StreamExt};

use super::connection::NatsError;

/// How long the next message of a batch may take. They are there already: one that does not come was lost with its stream
/// or its connection, and the client would wait for it for ever.
const NEXT_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the next message of `batch`; `None` at its end.
///
/// # Errors
/// Fails when the bus fails, and when no message comes in time. `operation` is what the bus did not do then.
pub(super) async fn next_fetched<E: Display>(
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
        let error = next_fetched(&mut lost, "return the assignments").await.unwrap_err();
        assert!(error.to_string().contains("does not come"), "{error}");
        let mut ended = futures::stream::empty::<Result<Message, String>>();
        assert!(next_fetched(&mut ended, "return the assignments").await.unwrap().is_none());
    }
}
